/** The engine and an interpreter that shares no code with it agree on what drafts mean (`npm run interpret`). */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mutants } from './interpreter/mutants.ts'
import type { CaseSummary } from './interpreter/run-cases.ts'

const long = process.env['PROVISO_LONG'] === '1'
const minutes = 60_000
const drafts = long ? 40_000 : 3_000

describe('random drafts', () => {
  it(
    'run as an independent interpreter says: which nodes, how often, with which inputs, and the answer',
    async () => {
      const { disagreeing, cases, completed, skipped } = await interpret<CaseSummary>(
        '--drafts',
        String(drafts),
      )
      expect(disagreeing).toEqual([])
      expect(cases).toBe(drafts)
      // Neither side has an easy time: most drafts are accepted and run, and much of them is skipped.
      expect(completed).toBeGreaterThan(drafts / 2)
      expect(skipped).toBeGreaterThan(drafts)
    },
    long ? 60 * minutes : 10 * minutes,
  )

  it(
    'show every defect of earlier versions that is put back',
    async () => {
      const { caught, missed } = await interpret<{ caught: unknown[]; missed: string[] }>('--mutants')
      expect(missed).toEqual([])
      expect(caught).toHaveLength(mutants.length)
    },
    long ? 60 * minutes : 10 * minutes,
  )
})

/** What `npm run interpret` prints with these arguments. */
function interpret<T>(...args: readonly string[]): Promise<T> {
  const script = fileURLToPath(new URL('../scripts/interpret.mjs', import.meta.url))
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [script, ...args, '--json'],
      { maxBuffer: 2 ** 28 },
      (error, stdout, stderr) => {
        try {
          resolve(JSON.parse(stdout) as T)
        } catch {
          reject(error ?? new Error(stderr))
        }
      },
    )
  })
}
