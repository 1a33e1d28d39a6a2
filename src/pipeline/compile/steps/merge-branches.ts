/** Compiles `merge_strategy` of `kind: parallel`: one value of the outputs of the branches. */
import { child } from '../../../base/pointer.ts'
import type { Binding } from '../../../domain/plan.ts'
import { buildAnyOf, buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import { listMembers, project } from '../../../schema/build/project.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { ParallelStep } from '../../parse/pipeline.ts'
import { addFunction, asBinding, complain, nodeValue, type Scope } from '../build.ts'
import type { FunctionName } from '../functions.ts'
import { mayBeObject, type Value } from '../value.ts'

type Outputs = Readonly<Record<string, Value>>

export function mergeBranches(scope: Scope, step: ParallelStep, outputs: Outputs): Value {
  const { mergeStrategy } = step
  const byName = Object.entries(outputs)
  const inOrder = () => byName.map(([, value], index) => [`m${index}`, asBinding(value)] as const)
  if (mergeStrategy === 'keep_branches')
    return addMerge(scope, step, {
      name: 'pass',
      inputs: Object.fromEntries(byName.map(([name, value]) => [name, asBinding(value)])),
      output: buildMapSchema(outputs),
    })
  if (mergeStrategy === 'list')
    return addMerge(scope, step, {
      name: 'list',
      inputs: Object.fromEntries(inOrder()),
      output: listSchema(byName.map(([, value]) => value)),
    })
  reportOthers(scope, step, outputs)
  if (mergeStrategy === 'overwrite')
    return addMerge(scope, step, {
      name: 'merge',
      inputs: Object.fromEntries(inOrder()),
      output: mergedSchema(byName.map(([, value]) => value)),
    })
  reportConflict(scope, step, outputs)
  return addMerge(scope, step, {
    name: 'merge_distinct',
    inputs: { names: { value: byName.map(([name]) => name) }, ...Object.fromEntries(inOrder()) },
    output: mergedSchema(byName.map(([, value]) => value)),
  })
}

interface Merge {
  readonly name: FunctionName
  readonly inputs: Record<string, Binding>
  readonly output: JsonSchema
}

function addMerge(scope: Scope, step: ParallelStep, { name, inputs, output }: Merge): Value {
  const id = `${scope.prefix}${step.name}`
  return nodeValue(addFunction(scope, { id, name, inputs, output }), output, scope.region)
}

function listSchema(values: readonly Value[]): JsonSchema {
  const items = buildAnyOf(values.map(({ schema }) => schema))
  // A schema with definitions cannot be put below another one as it is.
  const isPlain = !JSON.stringify(items).includes('"$ref"')
  return { type: 'array', minItems: values.length, maxItems: values.length, ...(isPlain && { items }) }
}

/** A certain member of a later branch replaces that of an earlier one; an open branch may replace any. */
function mergedSchema(values: readonly Value[]): JsonSchema {
  let members: Record<string, { schema: JsonSchema; certain: boolean }> = {}
  for (const { schema } of values) {
    if (!isClosed(schema))
      members = Object.fromEntries(
        Object.entries(members).map(([name, { certain }]) => [name, { schema: true, certain }]),
      )
    for (const { name, required } of listMembers(schema)) {
      const own = project(schema, child('', name)).schema
      const before = Object.hasOwn(members, name) ? members[name] : undefined
      members[name] = {
        schema: required || !before ? own : buildAnyOf([before.schema, own]),
        certain: required || (before?.certain ?? false),
      }
    }
  }
  return buildMapSchema(members)
}

function isClosed(schema: JsonSchema): boolean {
  return (
    typeof schema === 'object' &&
    (schema as { additionalProperties?: unknown }).additionalProperties === false
  )
}

/** Only maps can be laid over each other. */
function reportOthers(scope: Scope, step: ParallelStep, outputs: Outputs): void {
  for (const [name, value] of Object.entries(outputs)) {
    if (mayBeObject(value)) continue
    complain(scope, child(`${step.at}/branches`, name), {
      code: 'pipeline/merge',
      key: true,
      message: `merge_strategy: ${step.mergeStrategy} merges maps, and the branch ${name} yields none`,
      hint: 'Wrap it with uses: wrap_dict, or use merge_strategy: keep_branches or list',
    })
  }
}

/** Reports a member that two branches always have: every run would fail. */
function reportConflict(scope: Scope, step: ParallelStep, outputs: Outputs): void {
  const owners = new Map<string, string>()
  for (const [branch, { schema }] of Object.entries(outputs))
    for (const { name, required } of listMembers(schema)) {
      if (!required) continue
      const owner = owners.get(name)
      if (owner !== undefined)
        complain(scope, `${step.at}/merge_strategy`, {
          code: 'pipeline/merge',
          message: `the branches ${owner} and ${branch} both have the member "${name}"`,
          hint: 'Rename it in one of them, or set merge_strategy: overwrite',
        })
      owners.set(name, branch)
    }
}
