import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasOtherNodes, installNodes, otherNodes } from '../node-versions.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** The part of vitest's report that is read. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const long = process.env['PROVISO_LONG'] === '1'

describe.runIf(long && hasOtherNodes)('stores on other versions of Node', () => {
  let folder: string
  let binary: (version: string) => string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'proviso-nodes-'))
    binary = await installNodes(folder)
  }, 300_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(otherNodes)(
    'the conformance suite holds on Node %s, with libsql and with node:sqlite',
    { timeout: 600_000 },
    async (version) => {
      const vitest = join(root, 'node_modules/vitest/vitest.mjs')
      const args = [vitest, 'run', 'src/adapters/stores/sqlite', '--reporter=json']
      const env = { ...process.env, PROVISO_LONG: '', NODE_OPTIONS: '' }
      // A failed test makes the command fail, but its report says why.
      const { stdout } = await promisify(execFile)(binary(version), args, {
        cwd: root,
        env,
        maxBuffer: 1 << 28,
      }).catch((error: { stdout: string }) => error)
      const report = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Report
      const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
      const suites = new Set(tests.map(({ ancestorTitles }) => ancestorTitles[0]))
      expect(tests.filter(({ status }) => status === 'failed')).toEqual([])
      expect([...suites].join()).toMatch(/sqlite \(libsql\)/)
      expect([...suites].join()).toMatch(/sqlite \(node\)/)
    },
  )
})
