// @ts-check
/**
 * `npm test`: everything that has to hold, on a fresh clone too. Installs, builds, checks (format, lint, types,
 * import direction), then runs every test with coverage and closes with the counts on a line of their own.
 * `--long` runs the long forms of the tests; any other argument goes to vitest as a filter, without coverage.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, tryRun } from './setup.mjs'

const args = process.argv.slice(2)
const long = args.includes('--long')
const filters = args.filter((arg) => arg !== '--long')

ensureInstalled()
ensureBuilt()

const checkCode = tryRun('npm', ['run', '--silent', 'check'])

const folder = mkdtempSync(join(tmpdir(), 'proviso-test-'))
const report = join(folder, 'vitest.json')
const vitest = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...filters]
const testCode = tryRun(
  process.execPath,
  [
    ...vitest,
    ...(filters.length === 0 ? ['--coverage'] : []),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  // A quarter of an hour is the aim. A machine that others use may take several times as long, and every test has a limit
  // of its own: this one is for what hangs in between.
  long ? { env: { PROVISO_LONG: '1' } } : { timeoutMs: 60 * 60_000 },
)
const minutes = (performance.now() / 60_000).toFixed(1)
const counts = countTests(report)
rmSync(folder, { recursive: true, force: true })

if (checkCode !== 0) console.log('\nThe check failed: see above, or run `npm run check`.')
if (testCode !== 0 && counts.failed === 0) console.log('\nNo test failed, but vitest did: see above.')
console.log(`\nTook ${minutes} minutes.`)
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exit(checkCode !== 0 || testCode !== 0 || counts.failed > 0 ? 1 : 0)

/**
 * The counts of vitest's JSON report; a file that could not even be loaded counts as one failure.
 * @param {string} file
 */
function countTests(file) {
  if (!existsSync(file)) return { passed: 0, failed: 0, skipped: 0 }
  const result = JSON.parse(readFileSync(file, 'utf8'))
  const unloaded = result.testResults.filter(
    (/** @type {{ status: string, assertionResults: unknown[] }} */ suite) =>
      suite.status === 'failed' && suite.assertionResults.length === 0,
  )
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + unloaded.length,
    skipped: result.numPendingTests + result.numTodoTests,
  }
}
