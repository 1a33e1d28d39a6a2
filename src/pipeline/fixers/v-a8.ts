/** V-A8: switches structured output on for the step, with the schema of its agent. */
import { entryOf } from '../lint-view.ts'
import { schemaOf } from '../output-kind.ts'
import type { Fixer } from '../rule.ts'
import { addEntries, flowEntries, type NewEntry, written } from '../yaml-edits.ts'
import { plainValue, type YamlNode } from '../yaml-node.ts'

export const fixA8: Fixer = {
  rule: 'V-A8',
  title: 'adds processing.structured_output and the schema',
  fix({ document: { source } }, { step }) {
    const schema = step && schemaOf(step)
    if (!step || !schema) return { cannot: 'the step has no schema' }
    const processing = entryOf(step.node, 'processing')
    const entries: NewEntry[] = [{ key: 'structured_output', value: 'openai_json' }]
    if (entryOf(processing?.value, 'schema') === undefined)
      entries.push({ key: 'schema', value: written(schema) })
    const behind = ['agent', 'uses', 'name']
    if (!processing || processing.merged) {
      const value = processing ? over(processing.value, entries) : entries
      return { edits: [addEntries(source, step.node, { entries: [{ key: 'processing', value }], behind })] }
    }
    const { value } = processing
    // What others share through an anchor stays theirs.
    if (value.alias) return { edits: [{ span: value.alias, text: over(value, entries) }] }
    if (value.kind === 'map') return { edits: [addEntries(source, value, { entries })] }
    if (value.kind === 'scalar' && value.value === null) {
      const text = `{${flowEntries(entries)}}`
      return { edits: [{ span: value.span, text: value.span[0] === value.span[1] ? ` ${text}` : text }] }
    }
    return { cannot: 'its processing is no map' }
  },
}

/** A map with everything of another one, and some entries more. */
function over(under: YamlNode, entries: readonly NewEntry[]): string {
  const shared =
    under.anchor !== undefined
      ? `<<: *${under.anchor}`
      : JSON.stringify(plainValue(under)).replace(/^\{|\}$/g, '')
  return `{${[shared, flowEntries(entries)].filter(Boolean).join(', ')}}`
}
