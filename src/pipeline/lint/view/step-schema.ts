/** Infers the schemas of outputs, inputs and references of steps, as far as the file and its imports declare them. */
import { isObject, type Json } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import { checkSchema } from '../../../domain/parse/parsed.ts'
import { buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import { listMembers, project } from '../../../schema/build/project.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { declares, getValueLookup } from '../../../schema/values/schema-values.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'
import { splitReference, templateMarks } from '../../templates/template-marks.ts'
import { plainValue, type YamlNode } from '../../yaml/yaml-tree.ts'
import { findEntry, type LintStep, type LintView, perView, plainAt, textAt } from './lint-view.ts'
import { builtinName, findSchemaNode, isUnheld } from './output-kind.ts'
import { stepNamed } from './step-scope.ts'

/** The target of a reference: the schema of the whole value, and the path into it. */
interface Referred {
  readonly schema: JsonSchema
  readonly path: readonly string[]
  /** What has the schema, for messages. */
  readonly whose: string
}

const checked = new WeakMap<YamlNode, JsonSchema | undefined>()
const known = perView(() => ({ schemas: new Map<LintStep, JsonSchema | undefined>(), isAsked: false }))

/** The schema of a step's output; `undefined` where the file does not declare one. */
export function outputSchema(view: LintView, step: LintStep): JsonSchema | undefined {
  const kept = known(view)
  // Computes the schemas from the first step on, so that each finds the earlier ones cached and the recursion
  // stays shallow.
  if (!kept.isAsked) {
    kept.isAsked = true
    for (const each of view.steps) outputSchema(view, each)
  }
  // The placeholder ends cycles: a step that depends on itself gets `undefined`.
  if (!kept.schemas.has(step)) {
    kept.schemas.set(step, undefined)
    kept.schemas.set(step, schemaOfKind(view, step))
  }
  return kept.schemas.get(step)
}

function schemaOfKind(view: LintView, step: LintStep): JsonSchema | undefined {
  if (step.kind === 'hitl') return usable(findEntry(step.node, 'input_schema')?.value) ?? true
  if (step.kind === 'parallel') return schemaOfBranches(view, step)
  if (step.kind === 'map') {
    const last = step.inside.findLast(({ sequence, index }) => index === sequence.length - 1)
    return { type: 'array', items: (last && outputSchema(view, last)) ?? true }
  }
  if (step.kind !== 'step') return undefined
  if (isUnheld(step)) return undefined
  const own = findSchemaNode(step)
  if (own) return usable(own)
  if (step.agent) return { type: 'string' }
  const uses = textAt(step.node, 'uses') ?? ''
  if (uses.startsWith('imports.')) return importedOutput(view, uses.slice('imports.'.length))
  const key = textAt(findEntry(step.node, 'params')?.value, 'key') ?? 'value'
  if (builtinName(step) === 'wrap_dict')
    return buildMapSchema({ [key]: { schema: small(givenSchema(view, step)), certain: true } })
  if (builtinName(step) === 'extract_from_text')
    return usable(findEntry(findEntry(step.node, 'params')?.value, 'schema')?.value)
  return undefined
}

const keep = 'keep_branches'

function schemaOfBranches(view: LintView, step: LintStep): JsonSchema | undefined {
  const branches = findEntry(step.node, 'branches')?.value
  if (branches?.kind !== 'map' || (textAt(step.node, 'merge_strategy') ?? keep) !== keep) return undefined
  const members = branches.entries.map(({ key, value }) => {
    const node = value.kind === 'list' ? value.items.at(-1) : value
    const last = step.inside.findLast((inner) => inner.node === node)
    return [key, { schema: (last && outputSchema(view, last)) ?? true, certain: true }] as const
  })
  return buildMapSchema(Object.fromEntries(members))
}

function importedOutput(view: LintView, name: string): JsonSchema | undefined {
  return view.seen.get(name)?.pipeline?.outputSchema
}

/** Replaces a large schema by `true`, so that values wrapped repeatedly do not grow without bound. */
function small(schema: JsonSchema | undefined): JsonSchema {
  return schema !== undefined && JSON.stringify(schema).length <= longestWrapped ? schema : true
}

/** Characters. */
const longestWrapped = 2_000

/** A schema of the file; `undefined` if it is not a valid schema, which another check reports. */
export function usable(node: YamlNode | undefined): JsonSchema | undefined {
  if (node === undefined) return undefined
  if (!checked.has(node)) {
    const plain = plainValue(node)
    const fits = (plain === true || isObject(plain)) && checkSchema(plain, '').length === 0
    checked.set(node, fits ? (plain as JsonSchema) : undefined)
  }
  return checked.get(node)
}

/** The schema of `previous_step` for a step. */
export function findPreviousSchema(view: LintView, step: LintStep): Omit<Referred, 'path'> | undefined {
  const before = step.sequence[step.index - 1]
  if (before) return named(view, before)
  const { parent } = step
  if (parent === undefined) return inputOfFile(view)
  if (parent.kind === 'map') return getItem(view, parent)
  // The first step of a loop body gets the value before the loop or, from the second iteration on, the last
  // output of the body.
  if (parent.kind === 'loop') return undefined
  const input = findEntry(parent.node, 'input')?.value
  if (input === undefined) return findPreviousSchema(view, parent)
  const schema = givenSchema(view, parent)
  return schema === undefined ? undefined : { schema, whose: `the input of "${parent.label}"` }
}

function named(view: LintView, step: LintStep): Omit<Referred, 'path'> | undefined {
  const schema = outputSchema(view, step)
  return schema === undefined ? undefined : { schema, whose: `the output of "${step.label}"` }
}

function inputOfFile({ document }: LintView): Omit<Referred, 'path'> | undefined {
  const schema = usable(findEntry(document.root, 'input_schema')?.value)
  return schema === undefined ? undefined : { schema, whose: 'the input of the pipeline' }
}

function getItem(view: LintView, map: LintStep): Omit<Referred, 'path'> | undefined {
  const over = textAt(findEntry(map.node, 'map')?.value, 'iterable_input')
  const path = over?.replace(/^\{\{\s*|\s*\}\}$/g, '') ?? ''
  const list = /^[\w.-]+$/.test(path) ? referred(view, map, splitReference(path)) : undefined
  if (list === undefined || list.path.length > 0 || !isObject(list.schema)) return undefined
  const items = list.schema['items']
  // A schema with `$ref` cannot be used outside of its document.
  if (!isObject(items) || JSON.stringify(items).includes('"$ref"')) return undefined
  return { schema: items, whose: `an item of "${map.label}"` }
}

/** Resolves a reference in a template of a step; `undefined` where the target is not known. */
export function referred(
  view: LintView,
  step: LintStep,
  [root = '', ...rest]: readonly string[],
): Referred | undefined {
  if (root === 'previous_step') {
    const found = findPreviousSchema(view, step)
    // V-T1 reports `.output` here; the rest of the path is checked without it.
    const isMisnamed = rest[0] === 'output' && found !== undefined && !declares(found.schema, ['output'])
    return onward(found, isMisnamed ? rest.slice(1) : rest)
  }
  if (root === 'input' || root === 'initial_input') return onward(inputOfFile(view), rest)
  if (root === 'item') {
    for (let at: LintStep | undefined = step.parent; at; at = at.parent)
      if (at.kind === 'map') return onward(getItem(view, at), rest)
  }
  if (root !== 'steps') return undefined
  const [name = '', ...path] = rest
  const found = stepNamed(view, step, name)
  if (found.kind !== 'seen') return undefined
  return onward(named(view, found.step), path[0] === 'output' ? path.slice(1) : path)
}

function onward(found: Omit<Referred, 'path'> | undefined, path: readonly string[]): Referred | undefined {
  return found && { ...found, path }
}

/** The schema of a step's input: its `input`, else `previous_step`. */
export function givenSchema(view: LintView, step: LintStep): JsonSchema | undefined {
  const input = findEntry(step.node, 'input')?.value
  return input === undefined ? findPreviousSchema(view, step)?.schema : filledSchema(view, step, input)
}

function filledSchema(view: LintView, step: LintStep, node: YamlNode): JsonSchema | undefined {
  if (node.kind === 'list') return { type: 'array' }
  if (node.kind === 'map') {
    const properties = node.entries.map(({ key, value }) => [key, filledSchema(view, step, value) ?? true])
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: node.entries.map(({ key }) => key),
      additionalProperties: false,
    }
  }
  if (typeof node.value !== 'string') return { const: node.value }
  const [mark, ...others] = templateMarks(view.document.source.text, node)
  if (mark === undefined) return { const: node.value }
  if (others.length > 0 || !mark.whole) return { type: 'string' }
  const [reference] = mark.references
  const found =
    reference && mark.filters.length === 0 ? referred(view, step, splitReference(reference.text)) : undefined
  return found?.path.length === 0 ? found.schema : undefined
}

/** The context before the first step. */
export const getInitialContext = perView(({ document }): { readonly [key: string]: Json } => {
  const context = plainAt(document.root, 'context')
  return isObject(context) ? (context as { [key: string]: Json }) : {}
})

// Finds where a path leaves the members that a schema declares.

interface UndeclaredMember {
  /** The first part of the path that the schema does not declare. */
  readonly member: string
  /** The members that the schema declares there. */
  readonly names: readonly string[]
  /** The schema explicitly allows other members, so naming one is not wrong. */
  readonly allowsMore: boolean
}

/** Returns `undefined` where the schema rules out any value at the path: `leadsNowhere` reports that. */
export function openAt(schema: JsonSchema, path: readonly string[]): UndeclaredMember | undefined {
  if (leadsNowhere(schema, path)) return undefined
  const count = path.findIndex((_, index) => !declares(schema, path.slice(0, index + 1)))
  const member = path[count]
  if (member === undefined) return undefined
  const pointer = path.slice(0, count).reduce<string>(child, '')
  const parent = project(schema, pointer).schema
  return {
    member,
    names: listMembers(parent).map(({ name }) => name),
    allowsMore: allowsMore(parent),
  }
}

export function leadsNowhere(schema: JsonSchema, path: readonly string[]): boolean {
  return path.length > 0 && isAbsent(getValueLookup(schema)(path))
}

const saysMore = ['additionalProperties', 'patternProperties', 'unevaluatedProperties', 'propertyNames']
/** Keywords that are not analysed. */
const says = ['$ref', '$dynamicRef', 'if', 'not', 'dependentSchemas']

function allowsMore(schema: JsonSchema): boolean {
  return isObject(schema) && [...saysMore, ...says].some((keyword) => Object.hasOwn(schema, keyword))
}
