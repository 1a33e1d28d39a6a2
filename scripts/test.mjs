// @ts-check
/**
 * `npm test`: runs all checks, also on a fresh clone. Installs, builds, checks (format, lint, types,
 * import direction), then runs every test and prints the counts on the last line.
 * `--long` runs the long forms of the tests, `--coverage` measures what they cover and fails below the limits of
 * `vitest.config.ts`; any other argument goes to vitest as a filter.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, tryRun } from './setup.mjs'

const args = process.argv.slice(2)
const long = args.includes('--long')
const coverage = args.includes('--coverage')
const filters = args.filter((arg) => arg !== '--long' && arg !== '--coverage')

ensureInstalled()
ensureBuilt()
ensureBuilt('ui')
ensureBuilt('reader')
ensureBuilt('playground')

const checkCode = tryRun('npm', ['run', '--silent', 'check'])

const folder = mkdtempSync(join(tmpdir(), 'proviso-test-'))
const report = join(folder, 'vitest.json')
const vitest = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...filters]
const testCode = tryRun(
  process.execPath,
  [
    ...vitest,
    // Costs almost half as much processor time again.
    ...(coverage ? ['--coverage'] : []),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  // The target is a quarter of an hour; a shared machine may take several times as long. Every test has its own limit:
  // this one stops a process that hangs between tests.
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
 * Reads the counts of vitest's JSON report; a file that fails to load counts as one failure.
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
