/** V-T6: JSON built as text, for a worker that expects a value. */

import type { Rule } from '../rule.ts'
import { findEntry, type LintStep, textAt } from '../view/lint-view.ts'
import { builtinName } from '../view/output-kind.ts'

export const vT6: Rule<'V-T6'> = {
  id: 'V-T6',
  title: 'JSON put together as text',
  severity: 'warning',
  help: `The \`input\` is a text that looks like JSON, with templates in it, and goes to \`ensure_object\`, to your own function or to an imported pipeline, which need a value. Values are inserted without quoting: a quotation mark or a line break in one makes the text invalid JSON. Or the text is not valid JSON even before.

Write the value as YAML, which is filled in part by part and needs no quoting: \`input: { topic: "{{ previous_step }}" }\`. Inside a text, \`| tojson\` without quotes around it is safe. Inputs of agents are left alone: a prompt may look like JSON.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
  - name: keep
    uses: ensure_object
    input: { text: "{{ previous_step }}", tags: [tea] }
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
  - name: keep
    uses: ensure_object
    input: '{ "text": "{{ previous_step }}", "tags": ["tea"] }'
`,
  *check({ steps }) {
    for (const step of steps) {
      const input = findEntry(step.node, 'input')?.value
      if (!needsValue(step) || input?.kind !== 'scalar' || typeof input.value !== 'string') continue
      const why = input.value.includes('{{') ? wrongWith(input.value) : undefined
      if (why === undefined) continue
      yield {
        range: input.alias ?? input.range,
        step,
        message: `this looks like JSON, and ${why}`,
        hint: 'Write it as YAML without quotes around the whole: input: { key: "{{ … }}" }',
      }
    }
  },
}

/** All workers but agents, which read text, and the built-ins that accept any value. */
function needsValue(step: LintStep): boolean {
  if (step.kind !== 'step' || step.agent || textAt(step.node, 'uses') === undefined) return false
  const name = builtinName(step)
  return name !== 'wrap_dict' && name !== 'extract_from_text'
}

const mark = /\{\{([^{}]*)\}\}/g

function wrongWith(text: string): string | undefined {
  const bare = text.replaceAll(mark, '0').trim()
  const looksSo = (bare.startsWith('{') && bare.endsWith('}')) || (bare.startsWith('[') && bare.endsWith(']'))
  if (!looksSo) return undefined
  if (!isJson(bare)) return 'is not valid JSON: it cannot be parsed after the values are inserted'
  let isQuoted = false
  let at = 0
  for (const found of text.matchAll(mark)) {
    isQuoted = endsInQuotes(text.slice(at, found.index), isQuoted)
    at = found.index + found[0].length
    const isJsonText = /\|\s*tojson\s*$/.test(found[1] ?? '')
    if (isQuoted && !isJsonText) return 'what is filled in may have quotes and line breaks of its own'
    if (isQuoted) return 'what | tojson makes has quotes of its own'
    if (!isJsonText) return 'a text that is filled in without | tojson is not JSON'
  }
  return undefined
}

/** Does a chunk of JSON end inside a string, given whether it began inside one? */
function endsInQuotes(part: string, began: boolean): boolean {
  let inside = began
  for (let at = 0; at < part.length; at++) {
    if (inside && part[at] === '\\') at++
    else if (part[at] === '"') inside = !inside
  }
  return inside
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
