/**
 * Parses what a caller sent into an Envelope: validated, migrated to the current format, defaults filled. There is no
 * other way to create one.
 */
import { isObject, own } from '../../base/json.ts'
import type { Constraint, OutputContract } from '../contract.ts'
import type { Envelope } from '../envelope.ts'
import { checkNoun } from '../parse/check-schema.ts'
import { nearMisses } from '../parse/near-misses.ts'
import { addBelow, type FoundIssues, type Parsed, type ParseNounOptions, settle } from '../parse/parsed.ts'
import { plainCopy } from '../parse/plain-copy.ts'
import { withFacts } from '../policy/flat-policies.ts'
import { parsePolicies } from '../policy/parse-policies.ts'
import { envelopeSchema, requestSchema } from '../schemas/envelope-schema.ts'
import { type GoalCondition, goalConstraints } from './goal-condition.ts'
import { parseContract } from './parse-contract.ts'

/**
 * Reads an envelope. Never throws: what is wrong is located by JSON Pointer with a hint, all of it at once; what was only
 * said in an older way is a warning.
 *
 * @example
 * parseEnvelope({ objective: 'Two slogans', outputContract: { schema: { type: 'array', minItems: 2 } } })
 */
export function parseEnvelope(given: unknown, options: ParseNounOptions = {}): Parsed<Envelope> {
  const copy = plainCopy(given)
  if (!copy.ok) return { ok: false, issues: [copy.issue], warnings: [] }
  const findings: FoundIssues = {
    issues: checkNoun(outline, copy.value, 'Remove it, or put it into metadata'),
    warnings: [],
  }
  if (!isObject(copy.value)) return { ok: false, ...findings }
  findings.issues.push(...nearMisses(own(copy.value, 'constraints'), requestKeys, '/constraints'))
  const policies = parsePolicies(own(copy.value, 'policies'), options)
  addBelow(findings, '/policies', policies)
  const contract = parseContract(own(copy.value, 'outputContract') ?? null, options)
  if (own(copy.value, 'outputContract') !== undefined) addBelow(findings, '/outputContract', contract)
  if (!policies.ok || !contract.ok || findings.issues.length > 0) return { ok: false, ...findings }
  // The schema has said that it is one.
  const envelope = copy.value as unknown as GivenEnvelope
  const goals = goalConstraints(envelope.goal_condition ?? [], options)
  addBelow(findings, '/goal_condition', goals)
  const { inputs, warnings } = withFacts(envelope.inputs ?? {}, policies.value.inputs)
  findings.warnings.push(...warnings)
  return settle(findings, () => ({
    objective: envelope.objective,
    inputs,
    constraints: envelope.constraints ?? {},
    outputContract: withGoals(contract.value, goals.constraints),
    policies: policies.value.policies,
    specialInstructions: envelope.specialInstructions ?? [],
    metadata: envelope.metadata ?? {},
  }))
}

type GivenEnvelope = Partial<Envelope> &
  Pick<Envelope, 'objective'> & { readonly goal_condition?: GoalCondition | readonly GoalCondition[] }

const requestKeys = Object.keys(requestSchema.properties)

/** Policies and contract have parsers of their own. */
const outline = {
  ...envelopeSchema,
  properties: { ...envelopeSchema.properties, policies: true, outputContract: true },
} as const

/** What a goal says and a constraint says too is one constraint. */
function withGoals(contract: OutputContract, goals: readonly Constraint[]): OutputContract {
  const constraints = new Map(contract.constraints.map((constraint) => [constraint.constraintId, constraint]))
  for (const goal of goals) if (!constraints.has(goal.constraintId)) constraints.set(goal.constraintId, goal)
  return { ...contract, constraints: [...constraints.values()] }
}
