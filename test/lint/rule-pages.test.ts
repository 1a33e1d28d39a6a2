/** `docs/rules` is printed from the rules; `npx vitest run test/lint/rule-pages.test.ts -u` prints it anew. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { renderUnneededRule, rulePage, ruleTable, unneededRules } from '../../src/pipeline/index.ts'
import { root } from '../support.ts'

const folder = join(root, 'docs/rules')

it.each(ruleTable)('$id has its page', async (rule) => {
  await expect(rulePage(rule)).toMatchFileSnapshot(join(folder, `${rule.id}.md`))
})

it.each(unneededRules)('$id has its page, although it is no rule here', async (rule) => {
  await expect(renderUnneededRule(rule)).toMatchFileSnapshot(join(folder, `${rule.id}.md`))
})

it('lists every rule on one page', async () => {
  const rows = ruleTable.map(({ id, title, severity }) => `| [${id}](${id}.md) | ${severity} | ${title} |`)
  const others = unneededRules.map(
    ({ id, title, instead }) =>
      `| [${id}](${id}.md) | ${instead ? `\`${instead}\`` : 'nothing'} | ${title} |`,
  )
  const page = `# Rules of the linter

What \`proviso validate\` looks for in [pipelines](../reference/cli.md#proviso-validate-file). Printed from the rules; do not edit by hand.

| rule | severity | what is wrong |
|---|---|---|
${rows.join('\n')}

## Rules of the original project without a counterpart

Their subjects are refused before any rule runs, or cannot occur. \`proviso validate --explain\` has their pages, too.

| rule | reported instead | subject |
|---|---|---|
${others.join('\n')}
`
  await expect(page).toMatchFileSnapshot(join(folder, 'README.md'))
})

it('has no page of a rule that is gone', () => {
  const known = new Set(['README', ...[...ruleTable, ...unneededRules].map(({ id }) => id)])
  expect(readdirSync(folder).filter((name) => !known.has(name.replace(/\.md$/, '')))).toEqual([])
})
