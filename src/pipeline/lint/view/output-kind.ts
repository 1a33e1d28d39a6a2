/** Infers the kind of value that a step yields, as far as the file declares it. */
import { isObject, type Json } from '../../../base/json.ts'
import { getBuiltin, isBuiltinName } from '../../parse/builtins.ts'
import { plainValue, type YamlEntry, type YamlNode } from '../../yaml/yaml-tree.ts'
import { findEntry, type LintStep, plainAt, textAt } from './lint-view.ts'

export type OutputKind = 'object' | 'array' | 'text' | 'scalar' | 'unknown'

export function outputKind(step: LintStep): OutputKind {
  if (step.kind === 'parallel') return textAt(step.node, 'merge_strategy') === 'list' ? 'array' : 'object'
  if (step.kind === 'map') return 'array'
  if (step.kind === 'hitl') return classifyOutput(plainAt(step.node, 'input_schema') ?? true)
  if (step.kind !== 'step') return 'unknown'
  if (isUnheld(step)) return 'unknown'
  const schema = findSchemaNode(step)
  if (schema) return classifyOutput(plainValue(schema))
  if (step.agent) return 'text'
  const name = builtinName(step) ?? ''
  return (isBuiltinName(name) ? getBuiltin(name).output : undefined) ?? 'unknown'
}

/** The effective schema of a step: its own, else its agent's, in the order of the compiler. */
export function findSchemaNode(step: LintStep): YamlNode | undefined {
  return (
    findEntry(step.node, 'output_schema')?.value ??
    ofProcessing(step.node) ??
    step.agent?.schema ??
    ofProcessing(step.agent?.node)
  )
}

/** With `enforcement: off` the model gets the schema, but the answer is not checked against it. */
export function isUnheld(step: LintStep): boolean {
  const said = (key: string) =>
    textAt(findProcessing(step.node)?.value, key) ?? textAt(findProcessing(step.agent?.node)?.value, key)
  return said('enforcement') === 'off' && said('structured_output') !== 'off'
}

/** An empty schema declares nothing, so the next source is used. */
function ofProcessing(node: YamlNode | undefined): YamlNode | undefined {
  const schema = findEntry(findProcessing(node)?.value, 'schema')?.value
  const isEmpty =
    (schema?.kind === 'map' && schema.entries.length === 0) ||
    (schema?.kind === 'scalar' && schema.value === true)
  return isEmpty ? undefined : schema
}

/** The `processing` of a step, which may also be under `meta`. */
export function findProcessing(node: YamlNode | undefined): YamlEntry | undefined {
  return findEntry(node, 'processing') ?? findEntry(findEntry(node, 'meta')?.value, 'processing')
}

/** Names of the original project end in `builtins.NAME`. */
export function builtinName({ node }: LintStep): string | undefined {
  return textAt(node, 'uses')?.replace(/^([\w.]*\.)?builtins\./, '')
}

/** Does the step call an import or a built-in function? Those have no structured output. */
export function callsNoModel(step: LintStep): boolean {
  const uses = textAt(step.node, 'uses') ?? ''
  const name = builtinName(step) ?? ''
  return uses.startsWith('imports.') || (isBuiltinName(name) && getBuiltin(name).calls !== 'model')
}

export function classifyOutput(schema: unknown): OutputKind {
  if (!isObject(schema)) return 'unknown'
  const { type, properties, items, anyOf, oneOf, allOf } = schema as Record<string, Json>
  if (typeof type === 'string') return ofName(type)
  if (Array.isArray(type)) return common(type.map((name) => ofName(String(name))))
  for (const branches of [anyOf, oneOf])
    if (Array.isArray(branches)) return common(branches.map(classifyOutput))
  if (Array.isArray(allOf)) return allOf.map(classifyOutput).find((kind) => kind !== 'unknown') ?? 'unknown'
  if (properties !== undefined) return 'object'
  return items === undefined ? 'unknown' : 'array'
}

function ofName(name: string): OutputKind {
  if (name === 'array') return 'array'
  if (name === 'object') return 'object'
  if (name === 'string') return 'text'
  return ['number', 'integer', 'boolean', 'null'].includes(name) ? 'scalar' : 'unknown'
}

function common(kinds: readonly OutputKind[]): OutputKind {
  const [first = 'unknown', ...rest] = kinds
  return rest.every((kind) => kind === first) ? first : 'unknown'
}

/** Does the output of the step go into the context? */
export function updatesContext({ node }: LintStep): boolean {
  return plainAt(node, 'updates_context') === true
}
