/**
 * The suites of other projects, one JSON object per line, run against the reader; they are never copied into this one.
 * What our policies contradict is in `contradicted.ts` and is counted apart; of the rest at least 95 % must agree, and
 * all of the valid JSON documents (`jts_y`). `npx vitest run test/cases` prints every miss.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/index.ts'
import { parse } from '../../src/output/index.ts'
import { sameJson } from '../../src/testing/index.ts'
import { CONTRADICTED, POLICIES } from './contradicted.ts'

interface ExternalCase {
  readonly id: string
  readonly suite: string
  readonly schema: JsonSchema | null
  readonly input: string
  readonly expected?: unknown
  readonly expectReject?: boolean
}

/** These suites expect a string that was cut off to be kept, which is opt-in here. */
const KEEP_CUT_STRINGS = new Set(['json_repair', 'jsonrepair'])

const suites = loadCases()

if (suites === undefined) {
  const line = `No external cases in ${casesFolder()}: set PROVISO_CASES to the folder with the *.jsonl suites.`
  if (process.env['CI'] === 'true') it('finds the external cases', () => expect.fail(line))
  else {
    console.log(`Skipped: ${line}`)
    describe.skip('external cases', () => it('are absent', () => {}))
  }
}

interface Run {
  readonly one: ExternalCase
  readonly agrees: boolean
  readonly got: string
}

function run(one: ExternalCase): Run {
  const options = { acceptTruncated: KEEP_CUT_STRINGS.has(one.suite) }
  try {
    const result =
      one.schema === null ? parse(one.input, undefined, options) : parse(one.input, one.schema, options)
    const agrees = one.expectReject ? !result.ok : result.ok && sameJson(one.expected, result.value)
    const got = result.ok
      ? JSON.stringify(result.value)
      : `refused: ${result.issues[0]?.message ?? 'no issue given'}`
    return { one, agrees, got }
  } catch (error) {
    return { one, agrees: false, got: `threw: ${String(error)}` }
  }
}

function describeMiss({ one, got }: Run): string {
  const short = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text)
  return [
    `  ${one.id}${one.schema === null ? '' : ` with ${short(JSON.stringify(one.schema))}`}`,
    `    input    ${short(JSON.stringify(one.input))}`,
    `    expected ${one.expectReject ? 'a refusal' : short(JSON.stringify(one.expected))}`,
    `    got      ${short(got)}`,
  ].join('\n')
}

for (const [suite, cases] of suites ?? []) {
  describe(`external suite ${suite}`, () => {
    it('agrees with every case but a few, policies aside', () => {
      const runs = cases.map(run)
      const judged = runs.filter(({ one }) => !CONTRADICTED.has(one.id))
      const apart = runs.filter(({ one }) => CONTRADICTED.has(one.id))
      const misses = judged.filter(({ agrees }) => !agrees)
      const surprises = apart.filter(({ agrees }) => agrees)
      const share = (judged.length - misses.length) / judged.length
      const lines = [
        `${suite}: ${judged.length - misses.length} of ${judged.length} agree (${(share * 100).toFixed(1)} %), ${apart.length} apart by policy`,
        ...misses.map(describeMiss),
        ...surprises.map(
          ({ one }) => `  passes although "${POLICIES[CONTRADICTED.get(one.id)!]}": ${one.id}`,
        ),
      ]
      console.log(lines.join('\n'))
      expect(runs.filter(({ got }) => got.startsWith('threw')).map(({ one }) => one.id)).toEqual([])
      expect(share).toBeGreaterThanOrEqual(suite === 'jts_y' ? 1 : 0.95)
    })
  })
}

describe.runIf(suites !== undefined)('the table of contradicted cases', () => {
  it('names only cases that exist', () => {
    const ids = new Set([...(suites?.values() ?? [])].flat().map((one) => one.id))
    expect([...CONTRADICTED.keys()].filter((id) => !ids.has(id))).toEqual([])
  })
})

/** `PROVISO_CASES`, else the folder `shared/cases` beside the project. */
function casesFolder(): string {
  return process.env['PROVISO_CASES'] ?? fileURLToPath(new URL('../../../shared/cases', import.meta.url))
}

/** The suites by name; `undefined` when there is no folder with cases. */
function loadCases(folder = casesFolder()): Map<string, ExternalCase[]> | undefined {
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.jsonl')) : []
  if (files.length === 0) return undefined
  return new Map(
    files.sort().map((file) => [
      file.replace('.jsonl', ''),
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => JSON.parse(line) as ExternalCase),
    ]),
  )
}
