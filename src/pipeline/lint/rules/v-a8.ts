/** V-A8: a schema with an object or a list, without structured output to enforce it. */
import { addEntries, flowEntries, type NewEntry, written } from '../../yaml/yaml-edits.ts'
import { plainValue, type YamlNode } from '../../yaml/yaml-tree.ts'
import type { Rule } from '../rule.ts'
import { findEntry, type LintView, perView, plainAt } from '../view/lint-view.ts'
import {
  callsNoModel,
  classifyOutput,
  findProcessing,
  findSchemaNode,
  outputKind,
} from '../view/output-kind.ts'

export const vA8: Rule<'V-A8'> = {
  id: 'V-A8',
  title: 'A schema without structured output',
  severity: 'warning',
  help: `The step has a schema with an object or a list at its root, but neither the step nor its agent nor \`[aros]\` switches structured output on. The model is then free to answer in prose, and the reader has to find the value in it.

Say \`processing: { structured_output: openai_json }\`, or \`auto\`. \`structured_output: off\` says that it is meant as it is. Schemas of texts and numbers are left alone: plain answers need no structure.

With \`aros.auto_promote\`, which is the default, such a step gets structured output anyway. The message says so; it is a warning all the same, because the file does not say it and another configuration would change what it does.`,
  good: `version: "0.1"
agents:
  writer:
    model: openai/gpt-4o-mini
    system_prompt: Write a headline.
    output_schema: { type: object, properties: { title: { type: string } } }
  plain:
    model: openai/gpt-4o-mini
    system_prompt: Write a headline.
    output_schema: { type: string }
steps:
  - name: write
    agent: writer
    processing: { structured_output: auto }
  - name: say
    agent: plain
`,
  bad: `version: "0.1"
agents:
  writer:
    model: openai/gpt-4o-mini
    system_prompt: Write a headline.
    output_schema: { type: object, properties: { title: { type: string } } }
steps:
  - name: write
    agent: writer
`,
  *check({ steps, settings }) {
    for (const step of steps) {
      const schema = findSchemaNode(step)
      const processing = findProcessing(step.node)
      if (!schema || plainAt(processing?.value, 'structured_output') !== undefined) continue
      if (plainAt(findEntry(step.agent?.node, 'processing')?.value, 'structured_output') !== undefined)
        continue
      if (settings.structuredOutput !== 'off' || step.kind !== 'step' || callsNoModel(step)) continue
      if (!['object', 'array'].includes(outputKind(step))) continue
      const kind = classifyOutput(plainValue(schema)) === 'array' ? 'a list' : 'an object'
      yield {
        range: getRange(step.node),
        step,
        message: settings.autoPromote
          ? `"${step.label}" must yield ${kind}, and only aros.auto_promote switches structured output on for it`
          : `"${step.label}" must yield ${kind}, but structured output is off`,
        hint: 'Add processing.structured_output: openai_json, or off if that is meant',
      }
    }
  },
  /** Enables structured output for the step, with the schema of its agent. */
  fixer: {
    stage: 'keys',
    title: 'adds processing.structured_output and the schema',
    fix(view, { step }) {
      const { source } = view.document
      const schema = step && findSchemaNode(step)
      if (!step || !schema) return { cannot: 'the step has no schema' }
      const processing = findProcessing(step.node)
      const entries: NewEntry[] = [{ key: 'structured_output', value: 'openai_json' }]
      if (findEntry(processing?.value, 'schema') === undefined)
        entries.push({ key: 'schema', value: aliasAt(view, schema, step.node.range[1]) ?? written(schema) })
      const behind = ['agent', 'uses', 'name']
      if (!processing || processing.merged || isInSharedMeta(step.node)) {
        const value = processing
          ? over(view, processing.value, { entries, offset: step.node.range[1] })
          : entries
        return { edits: [addEntries(source, step.node, { entries: [{ key: 'processing', value }], behind })] }
      }
      const { value } = processing
      // A value shared through an anchor is overridden here, not edited.
      if (value.alias)
        return {
          edits: [{ span: value.alias, text: over(view, value, { entries, offset: value.alias[0] }) }],
        }
      if (value.anchor !== undefined && isSharedBeyond(view, value))
        return { cannot: `its processing is shared through &${value.anchor} with steps that need no change` }
      if (value.kind === 'map') return { edits: [addEntries(source, value, { entries })] }
      if (value.kind === 'scalar' && value.value === null) {
        const text = `{${flowEntries(entries)}}`
        return { edits: [{ span: value.range, text: value.range[0] === value.range[1] ? ` ${text}` : text }] }
      }
      return { cannot: 'its processing is not a map' }
    },
  },
}

function getRange(node: Parameters<typeof findEntry>[0] & object) {
  const entry = findEntry(node, 'agent') ?? findEntry(node, 'uses')
  return entry && !entry.merged ? entry.keyRange : (node.alias ?? node.range)
}

/** Is this value also used, through an alias, by steps that need no fix? */
function isSharedBeyond(view: LintView, { range }: YamlNode): boolean {
  const flagged = new Set([...vA8.check(view)].map(({ step }) => step))
  return view.steps.some(
    (step) => findProcessing(step.node)?.value.range[0] === range[0] && !flagged.has(step),
  )
}

/** A `meta` that other steps share is not edited: the step gets a block of its own, which overrides it. */
function isInSharedMeta(node: YamlNode): boolean {
  if (findEntry(node, 'processing')) return false
  const meta = findEntry(node, 'meta')
  return meta?.merged === true || meta?.value.alias !== undefined || meta?.value.anchor !== undefined
}

interface Adding {
  readonly entries: readonly NewEntry[]
  /** Offset at which the map is inserted. */
  readonly offset: number
}

/** Returns a flow map with all entries of another map plus some more. */
function over(view: LintView, under: YamlNode, { entries, offset }: Adding): string {
  const alias = aliasAt(view, under, offset)
  const shared =
    alias !== undefined ? `<<: ${alias}` : JSON.stringify(plainValue(under)).replace(/^\{|\}$/g, '')
  return `{${[shared, flowEntries(entries)].filter(Boolean).join(', ')}}`
}

/**
 * Returns `*name` where an alias can name the value: only after its anchor, and only until the anchor name is redefined.
 * Returns `undefined` where the value must be written out.
 */
function aliasAt(view: LintView, { anchor, range }: YamlNode, offset: number): string | undefined {
  if (anchor === undefined) return undefined
  const last = getAnchors(view)
    .get(anchor)
    ?.findLast((start) => start < offset)
  return last === range[0] ? `*${anchor}` : undefined
}

/** For each anchor name, the offsets of its values, in order of the text. */
const getAnchors = perView(({ document: { root } }) => {
  const found = new Map<string, number[]>()
  const look = (node: YamlNode): void => {
    // Values that come from an alias or a merge are visited at their anchor.
    if (node.alias) return
    if (node.anchor !== undefined) found.set(node.anchor, [...(found.get(node.anchor) ?? []), node.range[0]])
    if (node.kind === 'list') node.items.forEach(look)
    if (node.kind === 'map') for (const { value, merged } of node.entries) if (!merged) look(value)
  }
  look(root)
  for (const starts of found.values()) starts.sort((a, b) => a - b)
  return found
})
