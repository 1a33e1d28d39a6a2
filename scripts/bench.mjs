/** `npm run bench -- output|plan|engine|scale|agents|server|health|console|slips [--quick] [--json] [--write]`: installs peers, builds what is stale, runs one bench. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bench = join(root, 'bench')
const [name, ...rest] = process.argv.slice(2)
const known = readdirSync(bench)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.replace('.mjs', ''))

if (name === undefined || !known.includes(name)) {
  console.error(`Usage: npm run bench -- ${known.join('|')} [--quick] [--json] [--write]`)
  process.exit(2)
}

// The plan, server, health and console benches have no peers to install: they measure against their own targets.
if (
  name !== 'plan' &&
  name !== 'server' &&
  name !== 'health' &&
  name !== 'console' &&
  isOlder(join(bench, 'node_modules', '.package-lock.json'), [join(bench, 'package-lock.json')])
) {
  // Skips install scripts: one peer depends on a package whose script sends telemetry.
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], bench)
}
// One peer of this bench has a binary that only its install script builds; if that fails, its row reports it.
if (
  (name === 'engine' || name === 'agents') &&
  !existsSync(join(bench, 'node_modules', 'better-sqlite3', 'build'))
)
  spawnSync('npm', ['rebuild', 'better-sqlite3'], { cwd: bench, stdio: ['inherit', 2, 'inherit'] })
if (isOlder(join(root, 'dist', 'output', 'index.js'), filesIn(join(root, 'src'))))
  run('npm', ['run', '--silent', 'build'], root)
if (name === 'console' && isOlder(join(root, 'dist', 'ui', 'index.html'), filesIn(join(root, 'ui', 'src'))))
  run('npm', ['run', '--silent', 'ui'], root)
run(process.execPath, ['--expose-gc', join(bench, `${name}.mjs`), ...rest], root, 'inherit')

function run(command, args, cwd, stdout = 2) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['inherit', stdout, 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}

function isOlder(target, sources) {
  if (!existsSync(target)) return true
  const made = statSync(target).mtimeMs
  return sources.some((file) => statSync(file).mtimeMs > made)
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}
