/** The tables of `docs/reference/planning.md` are the code's; `PROVISO_UPDATE=1 npx vitest run test/docs/planning-page` prints them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  aversionTable,
  builtinCapabilities,
  defaultCutoff,
  goalTable,
  promptLimits,
  scoreTable,
  supplyMethodTable,
} from 'proviso/plan'
import { expect, it } from 'vitest'
import { root } from '../support.ts'

const path = join(root, 'docs/reference/planning.md')
const page = readFileSync(path, 'utf8')

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

const printed: Readonly<Record<string, string>> = {
  scores: table(
    ['part', 'weight', 'considers'],
    Object.entries(scoreTable).map(([part, { weight, sentence }]) => [part, weight, sentence]),
  ),
  ways: table(
    ['way', 'surcharge', 'who supplies it'],
    Object.entries(supplyMethodTable).map(([way, { surcharge, sentence }]) => [way, surcharge, sentence]),
  ),
  aversions: table(
    ['against it', 'surcharge', 'because'],
    Object.entries(aversionTable).map(([name, { surcharge, sentence }]) => [name, surcharge, sentence]),
  ),
  goals: table(
    ['goal', 'counts', 'call', 'per 1,000 tokens', 'highest tier', 'score of 0', 'takes'],
    Object.entries(goalTable).map(([goal, row]) => [
      goal,
      row.counts,
      row.call,
      row.tokens,
      row.expense,
      row.doubt,
      row.sentence,
    ]),
  ),
}

it('has the tables of the code', () => {
  const wanted = Object.entries(printed).reduce(
    (text, [name, rows]) =>
      text.replace(
        new RegExp(`(<!-- printed: ${name} -->\n)[^]*?(<!-- end -->)`),
        (_, before: string, after: string) => `${before}${rows}\n${after}`,
      ),
    page,
  )
  for (const rows of Object.values(printed)) expect(wanted).toContain(rows)
  if (process.env['PROVISO_UPDATE'] !== undefined) writeFileSync(path, wanted)
  else expect(page).toBe(wanted)
})

it('names the numbers and the built-in capabilities as they are', () => {
  expect(page).toContain(`the cut-off of ${defaultCutoff}`)
  expect(page).toContain(
    `at most ${promptLimits.capabilities}; values are cut at ${promptLimits.value} characters, lists at ${promptLimits.rows} entries`,
  )
  for (const { capabilityId, kind, nodeKind } of builtinCapabilities)
    expect(page).toContain(`| \`${capabilityId}\` | ${kind} | ${nodeKind} |`)
})
