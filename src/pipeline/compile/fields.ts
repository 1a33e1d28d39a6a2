/**
 * Combines the output requirements of a step with the schema of its worker: `output_schema`,
 * `processing.schema` and `validate_fields`; and its limits, constraints and contract with the inherited ones.
 */
import { closest } from '../../base/closest.ts'
import { child } from '../../base/pointer.ts'
import type { NodeConstraints } from '../../domain/plan.ts'
import { both } from '../../schema/build/combine.ts'
import { listMembers } from '../../schema/build/project.ts'
import { checkFit } from '../../schema/fit/fit.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { isVacant } from '../../schema/values/schema-values.ts'
import type { CallStep } from '../parse/pipeline.ts'
import { addFunction, asBinding, complain, type Inherited, nodeValue, type Scope } from './build.ts'
import type { Value } from './value.ts'

/** The output schema that the step itself declares. */
export function saidSchema({ outputSchema, processing }: CallStep): JsonSchema | undefined {
  return outputSchema ?? processing?.schema
}

/** Pointer to that schema, for messages. */
function pointToSchema({ outputSchema, at }: CallStep): string {
  return outputSchema === undefined ? `${at}/processing/schema` : `${at}/output_schema`
}

/** The output schema of a step whose worker has a schema of its own. Reports an issue if no value satisfies both. */
export function promisedOver(scope: Scope, step: CallStep, declared: JsonSchema): JsonSchema {
  const said = saidSchema(step)
  const schema = said === undefined ? declared : both(declared, said)
  if (said !== undefined && isVacant(schema) && !isVacant(said))
    complain(scope, pointToSchema(step), {
      code: 'pipeline/output',
      message: `${step.worker.name} never yields anything that satisfies this schema`,
      hint: `Change it to what ${step.worker.name} yields, or leave it out`,
    })
  return withFields(scope, step, schema)
}

/** Does the step declare anything about its output? */
export function hasPromise(step: CallStep): boolean {
  return saidSchema(step) !== undefined || step.validateFields !== undefined
}

/**
 * Ensures that a value satisfies a schema before other steps read it: statically where that can be proved,
 * else by a node that checks it at run time.
 */
export function held(
  scope: Scope,
  value: Value,
  { id, schema, label }: { readonly id: string; readonly schema: JsonSchema; readonly label: string },
): Value {
  if (value.certain && checkFit(value.schema, schema).kind === 'yes') return value
  const output = both(value.schema, schema)
  const node = addFunction(scope, { id, name: 'take', inputs: { value: asBinding(value) }, output })
  return nodeValue(Object.assign(node, { label }), output, scope.region)
}

/** Adds `validate_fields`: members that the output must have. */
export function withFields(scope: Scope, { validateFields, at }: CallStep, schema: JsonSchema): JsonSchema {
  if (validateFields === undefined) return schema
  const required = validateFields === true ? listMembers(schema).map(({ name }) => name) : validateFields
  if (required.length === 0) return schema
  checkFields(scope, `${at}/validate_fields`, { required, schema })
  const wanted = both(schema, { type: 'object', required: [...required] })
  if (isVacant(wanted))
    complain(scope, `${at}/validate_fields`, {
      code: 'pipeline/fields',
      message: `the schema of the answer rules out a member that validate_fields names`,
      hint: 'Take it out of validate_fields, or let the schema have it',
    })
  return wanted
}

/** Reports fields that are probably misspelled: they would be missing in every output and fail the step. */
function checkFields(
  scope: Scope,
  at: string,
  { required, schema }: { readonly required: readonly string[]; readonly schema: JsonSchema },
): void {
  const members = listMembers(schema).map(({ name }) => name)
  for (const [index, field] of required.entries()) {
    const meant = members.includes(field) ? undefined : closest(field, members)
    if (meant === undefined) continue
    complain(scope, child(at, index), {
      code: 'pipeline/fields',
      message: `the schema of the answer has no member ${field}`,
      hint: `Did you mean ${meant}?`,
    })
  }
}

/** Merges the limits, constraints and contract of a step with those inherited from the importing steps. */
export function mergeStepSettings({ inherited }: Scope, { node }: CallStep): CallStep['node'] {
  return inherited === undefined ? node : { ...node, ...inherit(inherited, node) }
}

/** For `onFail` the inner setting wins; constraints accumulate, and the strictest applies. */
export function inherit(outer: Inherited, own: Inherited): Inherited {
  const onFail = own.onFail ?? outer.onFail
  const constraints = stricter(outer.constraints, own.constraints)
  return { ...(onFail && { onFail }), ...(constraints && { constraints }) }
}

function stricter(
  a: NodeConstraints | undefined,
  b: NodeConstraints | undefined,
): NodeConstraints | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const least = Math.min(a.max_duration_ms ?? Infinity, b.max_duration_ms ?? Infinity)
  const flag = (key: Exclude<keyof NodeConstraints, 'max_duration_ms'>) =>
    (a[key] || b[key]) && { [key]: true }
  return {
    ...(Number.isFinite(least) && { max_duration_ms: least }),
    ...flag('no_credential_access'),
    ...flag('no_execution_authority'),
    ...flag('no_network_access'),
  }
}
