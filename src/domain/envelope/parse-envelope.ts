/**
 * Parses what a caller sent into an Envelope: validated, migrated to the current format, defaults filled. There is no
 * other way to create one.
 */

import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { child, tokens } from '../../base/pointer.ts'
import type { Constraint, OutputContract } from '../contract.ts'
import type { Envelope } from '../envelope.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import {
  addBelow,
  checkCondition,
  checkNoun,
  checkSchema,
  type FoundIssues,
  nearMisses,
  type Parsed,
  type ParseNounOptions,
  repeatIssues,
  settle,
  shareParsed,
} from '../parse/parsed.ts'
import { plainCopy } from '../parse/plain-copy.ts'
import { withFacts } from '../policy/migrate-policies.ts'
import { parsePolicies } from '../policy/parse-policies.ts'
import { contractSchema, envelopeSchema, requestSchema } from '../schemas/envelope-schema.ts'
import { modelSettingsIssues } from '../settings/model-settings.ts'

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
  findings.issues.push(...modelSettingsIssues(own(copy.value, 'modelSettings'), '/modelSettings'))
  const policies = parsePolicies(own(copy.value, 'policies'), options)
  addBelow(findings, '/policies', policies)
  const contract = parsePlainContract((own(copy.value, 'outputContract') ?? null) as Json, options)
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
    ...(envelope.modelSettings && { modelSettings: envelope.modelSettings }),
    metadata: envelope.metadata ?? {},
  }))
}

type GivenEnvelope = Partial<Envelope> &
  Pick<Envelope, 'objective'> & { readonly goal_condition?: GoalCondition | readonly GoalCondition[] }

const requestKeys = Object.keys(requestSchema.properties)

/** Policies, contract and model settings have parsers of their own. */
const outline = {
  ...envelopeSchema,
  properties: { ...envelopeSchema.properties, policies: true, outputContract: true, modelSettings: true },
} as const

/** What a goal says and a constraint says too is one constraint. */
function withGoals(contract: OutputContract, goals: readonly Constraint[]): OutputContract {
  if (goals.length === 0) return contract
  const constraints = new Map(contract.constraints.map((constraint) => [constraint.constraintId, constraint]))
  for (const goal of goals) if (!constraints.has(goal.constraintId)) constraints.set(goal.constraintId, goal)
  return { ...contract, constraints: [...constraints.values()] }
}

// Converts `goal_condition`, the older name of hard constraints on facets (C59). Its condition reads the value of a
// facet, a constraint reads the whole answer, so every variable gets the facet's path as prefix.

interface GoalCondition {
  readonly facet: string
  /** Where in the facet the condition looks. Default: at all of it. */
  readonly path?: string
  readonly condition: { readonly [operator: string]: Json }
}

interface Goals {
  readonly constraints: readonly Constraint[]
  readonly issues: readonly ParseIssue[]
}

/** The constraints that goal conditions stand for. Expects one or a list that satisfies the envelope's schema. */
function goalConstraints(given: GoalCondition | readonly GoalCondition[], options: ParseNounOptions): Goals {
  const constraints: Constraint[] = []
  const issues: ParseIssue[] = []
  for (const [index, goal] of [given].flat().entries()) {
    const at = Array.isArray(given) ? child('', index) : ''
    const path = [goal.facet, ...tokens(goal.path ?? '')]
    const refusal = refuse(goal, path, at)
    issues.push(...(refusal ? [refusal] : checkCondition(goal.condition, child(at, 'condition'), options)))
    const expr = prefixed(goal.condition, path.join('.'))
    constraints.push(identified({ expr, level: 'hard', rationale: `Goal of ${goal.facet}` }))
  }
  return { constraints, issues }
}

function refuse(goal: GoalCondition, path: readonly string[], at: string): ParseIssue | undefined {
  if (Object.hasOwn(goal.condition, 'dsl')) {
    return {
      code: 'contract/goal',
      at: { pointer: child(at, 'condition') },
      message: 'a condition must be JSON-Logic, got text',
      hint: 'Write the condition as JSON-Logic',
    }
  }
  if (path.every((name) => name !== '' && !name.includes('.'))) return undefined
  return {
    code: 'contract/goal',
    at: { pointer: child(at, 'path') },
    message: 'conditions cannot name properties that are empty or have dots',
    hint: 'Express it in `outputContract.schema`',
  }
}

/** Operators whose second argument is evaluated on the items of a list. */
const quantifiers = new Set(['some', 'all', 'none'])

function prefixed(expression: Json, path: string): Json {
  if (Array.isArray(expression)) return expression.map((part: Json) => prefixed(part, path))
  if (!isObject(expression)) return expression
  return Object.fromEntries(
    Object.entries(expression).map(([operator, args]) => [
      operator,
      prefixedArguments(operator, args as Json, path),
    ]),
  )
}

function prefixedArguments(operator: string, args: Json, path: string): Json {
  if (operator === 'var' || operator === 'missing') return withPath(args, path)
  if (quantifiers.has(operator) && Array.isArray(args)) {
    return args.map((part: Json, index) => (index === 0 ? prefixed(part, path) : part))
  }
  return prefixed(args, path)
}

function withPath(names: Json, path: string): Json {
  if (Array.isArray(names)) return names.map((name: Json) => withPath(name, path))
  if (typeof names !== 'string') return names
  return names === '' ? path : `${path}.${names}`
}

// Parses the caller's output contract: a schema that compiles, constraints with ids and levels.

/** Checks a contract and fills its defaults. Never throws. */
export function parseContract(given: unknown, options: ParseNounOptions = {}): Parsed<OutputContract> {
  const copy = plainCopy(given)
  return copy.ok ? parsePlainContract(copy.value, options) : { ok: false, issues: [copy.issue], warnings: [] }
}

const parsePlainContract = shareParsed((value, options): Parsed<OutputContract> => {
  if (isBareSchema(value)) return { ok: false, issues: [bareSchema], warnings: [] }
  const findings: FoundIssues = {
    issues: checkNoun(contractSchema, value, 'Put wishes about the form into hints'),
    warnings: [],
  }
  if (findings.issues.length > 0) return { ok: false, ...findings }
  // The schema has said that it is one.
  const contract = value as unknown as GivenContract
  const constraints = (contract.constraints ?? []).map(identified)
  findings.issues.push(
    ...checkSchema(contract.schema, '/schema'),
    ...constraints.flatMap(({ expr }, index) => checkCondition(expr, `/constraints/${index}/expr`, options)),
    ...repeatIssues(
      constraints.map(({ constraintId }) => constraintId),
      'constraint',
      { code: 'contract/duplicate', pointer: (index) => `/constraints/${index}` },
    ),
  )
  findings.warnings.push(...missingLevels(contract))
  return settle(findings, () => ({ ...contract, constraints }))
})

/** The usual first mistake: the schema in the place of the contract that holds it. One issue says it, not one for every keyword. */
function isBareSchema(value: Json): boolean {
  return (
    isObject(value) && !('schema' in value) && ['$schema', 'type', 'properties'].some((key) => key in value)
  )
}

const bareSchema: ParseIssue = {
  code: 'schema/required',
  at: { pointer: '/schema' },
  message: 'the property "schema" is missing: this is the JSON Schema itself',
  hint: 'Write { "schema": … } around it',
}

type GivenContract = Omit<OutputContract, 'constraints'> & {
  readonly constraints?: readonly GivenConstraint[]
}

function missingLevels({ constraints = [] }: GivenContract): ParseIssue[] {
  return constraints.flatMap(({ level }, index) => {
    if (level !== undefined) return []
    const message = 'the constraint has no level and was taken as hard'
    const hint = 'Write level: hard, soft or informational'
    return [{ code: 'contract/level', at: { pointer: `/constraints/${index}` }, message, hint }]
  })
}

/** The id of a constraint that came without one: made from what it says, so that two drafts speak of the same constraint. */
type GivenConstraint = Pick<Constraint, 'expr'> & Partial<Constraint>

/** A constraint without a level is hard: it must hold unless explicitly relaxed. */
function identified({ constraintId, level = 'hard', ...rest }: GivenConstraint): Constraint {
  const id = constraintId ?? `constraint_${sha256Hex(canonicalJson({ expr: rest.expr, level })).slice(0, 16)}`
  return { constraintId: id, level, ...rest }
}
