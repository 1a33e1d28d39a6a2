/** V-A8: enables structured output for the step, with the schema of its agent. */

import { addEntries, flowEntries, type NewEntry, written } from '../../yaml/yaml-edits.ts'
import { plainValue, type YamlNode } from '../../yaml/yaml-node.ts'
import type { Fixer } from '../rule.ts'
import { vA8 } from '../rules/v-a8.ts'
import { aliasAt } from '../view/alias-at.ts'
import { entryOf, type LintView } from '../view/lint-view.ts'
import { processingOf, schemaOf } from '../view/output-kind.ts'

export const fixA8: Fixer = {
  rule: 'V-A8',
  title: 'adds processing.structured_output and the schema',
  fix(view, { step }) {
    const { source } = view.document
    const schema = step && schemaOf(step)
    if (!step || !schema) return { cannot: 'the step has no schema' }
    const processing = processingOf(step.node)
    const entries: NewEntry[] = [{ key: 'structured_output', value: 'openai_json' }]
    if (entryOf(processing?.value, 'schema') === undefined)
      entries.push({ key: 'schema', value: aliasAt(view, schema, step.node.span[1]) ?? written(schema) })
    const behind = ['agent', 'uses', 'name']
    if (!processing || processing.merged || isInSharedMeta(step.node)) {
      const value = processing ? over(view, processing.value, { entries, place: step.node.span[1] }) : entries
      return { edits: [addEntries(source, step.node, { entries: [{ key: 'processing', value }], behind })] }
    }
    const { value } = processing
    // A value shared through an anchor is overridden here, not edited.
    if (value.alias)
      return { edits: [{ span: value.alias, text: over(view, value, { entries, place: value.alias[0] }) }] }
    if (value.anchor !== undefined && isSharedBeyond(view, value))
      return { cannot: `its processing is shared through &${value.anchor} with steps that need no change` }
    if (value.kind === 'map') return { edits: [addEntries(source, value, { entries })] }
    if (value.kind === 'scalar' && value.value === null) {
      const text = `{${flowEntries(entries)}}`
      return { edits: [{ span: value.span, text: value.span[0] === value.span[1] ? ` ${text}` : text }] }
    }
    return { cannot: 'its processing is no map' }
  },
}

/** Is this value also used, through an alias, by steps that need no fix? */
function isSharedBeyond(view: LintView, { span }: YamlNode): boolean {
  const flagged = new Set([...vA8.check(view)].map(({ step }) => step))
  return view.steps.some((step) => processingOf(step.node)?.value.span[0] === span[0] && !flagged.has(step))
}

/** A `meta` that other steps share is not edited: the step gets a block of its own, which overrides it. */
function isInSharedMeta(node: YamlNode): boolean {
  if (entryOf(node, 'processing')) return false
  const meta = entryOf(node, 'meta')
  return meta?.merged === true || meta?.value.alias !== undefined || meta?.value.anchor !== undefined
}

interface Adding {
  readonly entries: readonly NewEntry[]
  /** Offset at which the map is inserted. */
  readonly place: number
}

/** Returns a flow map with all entries of another map plus some more. */
function over(view: LintView, under: YamlNode, { entries, place }: Adding): string {
  const alias = aliasAt(view, under, place)
  const shared =
    alias !== undefined ? `<<: ${alias}` : JSON.stringify(plainValue(under)).replace(/^\{|\}$/g, '')
  return `{${[shared, flowEntries(entries)].filter(Boolean).join(', ')}}`
}
