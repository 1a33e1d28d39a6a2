/** V-C3: long texts in the pipeline that belong in files. */

import type { YamlNode, YamlScalar } from '../../yaml/yaml-tree.ts'
import type { Rule } from '../rule.ts'
import { findEntry, type LintView } from '../view/lint-view.ts'

/** Characters. */
const large = 50_000

export const vC3: Rule<'V-C3'> = {
  id: 'V-C3',
  title: 'A very long text',
  severity: 'warning',
  help: `A text of ${large} characters or more is sent with every call of its step, and makes the file hard to read and to compare. Put prompts into a file (\`system_prompt: { from_file: prompt.md }\`), and data into the input of the run.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    input: "Write about {{ input }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    input: "${'Tea. '.repeat(10_000)}"
`,
  *check(view: LintView) {
    const texts = [
      ...view.steps.map((step) => ({ step, value: findEntry(step.node, 'input')?.value })),
      ...[...view.agents.values()].map(({ node }) => ({ value: findEntry(node, 'system_prompt')?.value })),
    ]
    for (const { value, ...about } of texts) {
      for (const text of textsIn(value)) {
        yield {
          range: [text.range[0], text.range[0] + 1],
          ...about,
          message: `this text has ${String(text.value).length} characters`,
          hint: 'Put it into a file (from_file), or into the input of the run',
        }
      }
    }
  },
}

function textsIn(node: YamlNode | undefined): YamlScalar[] {
  if (node === undefined) return []
  if (node.kind === 'scalar')
    return typeof node.value === 'string' && node.value.length >= large ? [node] : []
  return node.kind === 'list'
    ? node.items.flatMap(textsIn)
    : node.entries.flatMap(({ value }) => textsIn(value))
}
