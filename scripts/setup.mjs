// @ts-check
/**
 * Makes a fresh clone usable: installs and builds only what is missing or stale, and prints the reason.
 * Called by `npm start` and `npm test`, so it runs before anything is installed and uses Node alone.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const oldestNode = [20, 19]
const stamp = join(root, 'node_modules', '.proviso-installed')
const buildInputs = [
  'src',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsdown.config.ts',
  'scripts/commonjs.mjs',
  'scripts/entry-points.mjs',
]
const readerInputs = ['src/base', 'src/schema', 'src/output', 'package-lock.json']

/** Runs `npm ci` when node_modules is missing or was installed from another package-lock.json. */
export function ensureInstalled() {
  checkNode()
  const wanted = lockHash()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  if (!installedByHand()) {
    say(existsSync(join(root, 'node_modules')) ? 'Dependencies have changed' : 'First run', 'npm ci')
    run('npm', ['ci', '--no-audit', '--no-fund'])
  }
  writeFileSync(stamp, wanted)
}

/**
 * Builds with their outputs and inputs: the package, the console that it contains, the reader package, the playground script.
 * @type {Record<'build' | 'ui' | 'reader' | 'playground', { outputs: () => string[], inputs: string[] }>}
 */
const builds = {
  build: { outputs: () => builtFiles('.'), inputs: buildInputs },
  ui: { outputs: () => ['dist/ui/index.html'], inputs: ['ui', 'src/client', 'package-lock.json'] },
  reader: {
    outputs: () => builtFiles('packages/reader'),
    inputs: [...readerInputs, 'packages/reader/package.json', 'scripts/reader.mjs'],
  },
  playground: {
    outputs: () => ['docs/playground/playground.js'],
    inputs: [
      ...readerInputs,
      'src/cli/diagnostics',
      'docs/playground/src',
      'scripts/reader.mjs',
      'scripts/playground.mjs',
    ],
  },
}

/**
 * Runs a build when one of its outputs is missing or older than one of its inputs.
 * @param {keyof typeof builds} [name]
 */
export function ensureBuilt(name = 'build') {
  const reason = staleBuild(name)
  if (reason === undefined) return
  say(reason, `npm run ${name}`)
  run('npm', ['run', '--silent', name, ...(name === 'reader' ? ['--', '--build'] : [])])
}

/**
 * Returns why a build has to run again; `undefined` when it is up to date.
 * @param {keyof typeof builds} [name]
 */
export function staleBuild(name = 'build') {
  const outputs = builds[name].outputs()
  const missing = outputs.find((file) => !existsSync(join(root, file)))
  if (missing !== undefined) return `${missing} is missing`
  const built = Math.min(...outputs.map((file) => statSync(join(root, file)).mtimeMs))
  const changed = builds[name].inputs.find((input) => newest(join(root, input)) > built)
  return changed === undefined ? undefined : `${changed} is newer than what \`npm run ${name}\` built`
}

/**
 * Runs a command in the repository with the terminal attached; exits with its code when it fails.
 * @param {string} command
 * @param {string[]} args
 */
export function run(command, args) {
  const code = tryRun(command, args)
  if (code !== 0) {
    console.error(`\n\`${[command, ...args].join(' ')}\` failed with exit code ${code}.`)
    process.exit(code)
  }
}

/**
 * Runs a command in the repository with the terminal attached and returns its exit code.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, timeoutMs?: number }} [options]
 */
export function tryRun(command, args, { env = {}, timeoutMs } = {}) {
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32',
    // Kills without a grace period: a process that hangs may ignore SIGTERM.
    ...(timeoutMs !== undefined && { timeout: timeoutMs, killSignal: 'SIGKILL' }),
  })
  if (done.error) {
    const late = 'code' in done.error && done.error.code === 'ETIMEDOUT'
    const what = late ? `did not end within ${timeoutMs} ms` : `could not be started: ${done.error.message}`
    console.error(`\n\`${command}\` ${what}`)
  }
  return done.status ?? 1
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [wantedMajor = 0, wantedMinor = 0] = oldestNode
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return
  console.error(
    `Proviso needs Node ${oldestNode.join('.')} or newer; this is ${process.version}. Please update Node.`,
  )
  process.exit(2)
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/** Detects a manual install: npm writes its own lock into node_modules when an install has succeeded. */
function installedByHand() {
  const hidden = join(root, 'node_modules', '.package-lock.json')
  return existsSync(hidden) && statSync(hidden).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs
}

/**
 * Returns the files that a package.json publishes: every file of an entry point, and the command.
 * @param {string} folder
 */
function builtFiles(folder) {
  const { exports, bin = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  return [...filesOf(Object.values(exports)), ...filesOf(Object.values(bin))]
    .filter((file) => file.includes('dist/'))
    .map((file) => join(folder, file))
}

/**
 * Returns the files of entry points, at any nesting depth of conditions.
 * @param {unknown[]} entries
 * @returns {string[]}
 */
function filesOf(entries) {
  return entries.flatMap((entry) =>
    typeof entry === 'string' ? [entry] : filesOf(Object.values(/** @type {object} */ (entry))),
  )
}

/**
 * Returns the newest modification time below a path; a folder's own time shows removed files.
 * @param {string} path
 * @returns {number}
 */
function newest(path) {
  if (!existsSync(path)) return 0
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

/**
 * @param {string} reason
 * @param {string} command
 */
function say(reason, command) {
  console.log(`${reason}: running \`${command}\` …`)
}
