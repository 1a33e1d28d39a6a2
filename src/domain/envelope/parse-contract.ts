/** Parses the caller's output contract: a schema that compiles, constraints with ids and levels. */

import { canonicalJson } from '../../base/canonical.ts'
import { sha256Hex } from '../../base/hash.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Constraint, OutputContract } from '../contract.ts'
import { checkCondition, checkNoun, checkSchema } from '../parse/check-schema.ts'
import { repeatIssues } from '../parse/duplicates.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import { type FoundIssues, type Parsed, type ParseNounOptions, settle } from '../parse/parsed.ts'
import { plainCopy } from '../parse/plain-copy.ts'
import { contractSchema } from '../schemas/envelope-schema.ts'

/** Checks a contract and fills its defaults. Never throws. */
export function parseContract(given: unknown, options: ParseNounOptions = {}): Parsed<OutputContract> {
  const copy = plainCopy(given)
  if (!copy.ok) return { ok: false, issues: [copy.issue], warnings: [] }
  if (isBareSchema(copy.value)) return { ok: false, issues: [bareSchema], warnings: [] }
  const findings: FoundIssues = {
    issues: checkNoun(contractSchema, copy.value, 'Put wishes about the form into hints'),
    warnings: [],
  }
  if (findings.issues.length > 0) return { ok: false, ...findings }
  // The schema has said that it is one.
  const contract = copy.value as unknown as GivenContract
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
}

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
export function identified({ constraintId, level = 'hard', ...rest }: GivenConstraint): Constraint {
  const id = constraintId ?? `constraint_${sha256Hex(canonicalJson({ expr: rest.expr, level })).slice(0, 16)}`
  return { constraintId: id, level, ...rest }
}
