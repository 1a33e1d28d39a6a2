// @ts-check
/**
 * Makes a fresh clone usable: installs and builds only what is missing or stale, and says so.
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
const buildInputs = ['src', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsdown.config.ts']

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

/** Runs the build when a file that it makes is missing, or older than anything that it is made from. */
export function ensureBuilt() {
  const reason = staleBuild()
  if (reason === undefined) return
  say(reason, 'npm run build')
  run('npm', ['run', '--silent', 'build'])
}

/** Why the build has to run again, in words; `undefined` when it is up to date. */
export function staleBuild() {
  const outputs = builtFiles()
  const missing = outputs.find((file) => !existsSync(join(root, file)))
  if (missing !== undefined) return `${missing} is missing`
  const built = Math.min(...outputs.map((file) => statSync(join(root, file)).mtimeMs))
  const changed = buildInputs.find((input) => newest(join(root, input)) > built)
  return changed === undefined ? undefined : `${changed} is newer than dist`
}

/**
 * Runs a command in the repository with the terminal attached; ends the process with its code when it fails.
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
    // What does not come back by itself does not listen to a polite signal either.
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

/** npm writes its own lock into node_modules when an install has succeeded. */
function installedByHand() {
  const hidden = join(root, 'node_modules', '.package-lock.json')
  return existsSync(hidden) && statSync(hidden).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs
}

/** What package.json promises to users: every file behind a door, and the command. */
function builtFiles() {
  const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const doors = Object.values(exports).flatMap((door) =>
    typeof door === 'string' ? [] : Object.values(door),
  )
  return [...doors, ...Object.values(bin)].map((file) => file.replace(/^\.\//, ''))
}

/**
 * The newest change below a path; a folder's own time tells of files that were removed.
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
