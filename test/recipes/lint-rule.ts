import { expect } from 'vitest'
import type { Recipe } from './scratch.ts'

/** Steps must not be called `todo`. */
export const lintRule: Recipe = {
  title: 'Add a lint rule',
  apply({ create, insertAfter }) {
    create(
      'src/pipeline/lint/rules/todo-001.ts',
      `/** TODO-001: a step that is called \`todo\`. */
import type { Rule } from '../rule.ts'
import { findEntry } from '../view/lint-view.ts'

export const todo001: Rule<'TODO-001'> = {
  id: 'TODO-001',
  title: 'A step called todo',
  severity: 'warning',
  help: 'The name of a step says what it does. Rename the step.',
  good: \`version: "0.1"
agents: { writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } } }
steps: [{ name: write, agent: writer }]
\`,
  bad: \`version: "0.1"
agents: { writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } } }
steps: [{ name: todo, agent: writer }]
\`,
  *check({ steps }) {
    for (const step of steps) {
      const entry = findEntry(step.node, 'name')
      if (step.name === 'todo' && entry) yield { range: entry.value.range, step, message: 'a step is called "todo"' }
    }
  },
  fixer: {
    stage: 'text',
    title: 'renames the step',
    fix: (_, { range }) => ({ edits: [{ span: range, text: 'task' }] }),
  },
}
`,
    )
    insertAfter(
      'src/pipeline/lint/rule-table.ts',
      "import { template001 } from './rules/template-001.ts'\n",
      "import { todo001 } from './rules/todo-001.ts'\n",
    )
    insertAfter('src/pipeline/lint/rule-table.ts', '  ...[template001, ', 'todo001, ')
  },
  entries: ['src/pipeline/index.ts'],
  async check({ import: load }) {
    const { fixText, lint, readYaml, ruleNamed } =
      await load<typeof import('../../src/pipeline/index.ts')>('src/pipeline/index.ts')
    const { bad = '', good = '' } = ruleNamed('TODO-001') ?? {}
    const codesOf = (text: string) => {
      const read = readYaml(text)
      return 'document' in read ? lint(read.document).issues.map(({ code }) => code) : ['unreadable']
    }
    expect(codesOf(good)).not.toContain('TODO-001')
    expect(codesOf(bad)).toContain('TODO-001')
    expect(fixText(bad).text).toContain('name: task')
  },
}
