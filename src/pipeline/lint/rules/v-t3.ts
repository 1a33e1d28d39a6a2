/** V-T3: a filter that does not exist. */

import { closest } from '../../../base/closest.ts'
import { templateFilters } from '../../templates/filters.ts'
import type { Rule } from '../rule.ts'

export const vT3: Rule<'V-T3'> = {
  id: 'V-T3',
  title: 'An unknown filter in a template',
  severity: 'error',
  help: `The word after \`|\` in a template must be one of the filters that exist: ${templateFilters.map((name) => `\`${name}\``).join(', ')}. Anything else ends the run when the template is filled in.`,
  good: `version: "0.1"
context: { topic: tea }
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    input: "Write about {{ context.topic | upper }}"
`,
  bad: `version: "0.1"
context: { topic: tea }
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    input: "Write about {{ context.topic | uper }}"
`,
  *check({ steps }) {
    for (const step of steps) {
      for (const { text, range } of step.marks.flatMap(({ filters }) => filters)) {
        if (templateFilters.includes(text)) continue
        const meant = closest(text, templateFilters)
        yield {
          range,
          step,
          message: `filter "${text}" not found`,
          hint: meant === undefined ? `There are ${templateFilters.join(', ')}` : `Did you mean ${meant}?`,
        }
      }
    }
  },
  /** Replaces the filter by the known filter with the closest name, if there is one. */
  fixer: {
    stage: 'text',
    title: 'corrects the name of the filter',
    fix({ document: { source } }, { range }) {
      const meant = closest(source.text.slice(...range), templateFilters)
      if (meant === undefined) return { cannot: 'no filter has a name like it' }
      return { edits: [{ span: range, text: meant }] }
    },
  },
}
