/** V-I4: findings in an imported pipeline. */

import type { Rule } from '../rule.ts'
import { findEntry, textAt } from '../view/lint-view.ts'

export const vI4: Rule<'V-I4'> = {
  id: 'V-I4',
  title: 'Findings in an imported pipeline',
  severity: 'warning',
  help: `The linter has found something in a pipeline that this one imports. It is said here too, in one line, so that it is not overlooked: as a warning where there is an error or a warning, else as a note.

Check the file by itself: \`proviso validate FILE\`. An imported file that cannot be used at all is an error of its own (\`import/failed\`), with what is wrong in it.

In the original project the findings of an import are repeated at the step that uses it; so are they here, once for each import.`,
  good: `version: "0.1"
imports: { title: good.yaml }
steps:
  - name: title
    uses: imports.title
`,
  bad: `version: "0.1"
imports: { title: bad.yaml }
steps:
  - name: title
    uses: imports.title
`,
  beside: {
    'good.yaml': `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
`,
    'bad.yaml': `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    fallback: agents.writer
`,
  },
  *check({ document, seen, steps }) {
    const imports = findEntry(document.root, 'imports')?.value
    for (const { key, value } of imports?.kind === 'map' ? imports.entries : []) {
      const { issues = [] } = seen.get(key) ?? {}
      if (issues.length === 0) continue
      const user = steps.find(({ node }) => textAt(node, 'uses') === `imports.${key}`)
      const rules = [...new Set(issues.map(({ code }) => code))]
      yield {
        range: value.alias ?? value.range,
        ...(user && { step: user }),
        ...(issues.every(({ severity }) => severity === 'note') && { severity: 'note' as const }),
        message: `the imported pipeline "${key}" has ${issues.length === 1 ? 'an issue' : `${issues.length} issues`}: ${rules.slice(0, 5).join(', ')}${rules.length > 5 ? ' …' : ''}`,
        hint: 'Check that file by itself: proviso validate FILE',
      }
    }
  },
}
