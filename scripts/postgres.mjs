// @ts-check
/**
 * Starts a disposable PostgreSQL server for tests and harnesses: its own cluster in a temporary folder, on a loopback
 * port, with fsync on. It stops when the process that started it ends, even if that is killed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { installDebianPackage } from './debian.mjs'

/**
 * @typedef {object} Cluster
 * @property {string} url
 * @property {() => void} restartImmediate restarts as after a crash: connections are cut, nothing is flushed
 * @property {() => void} stop
 */

/** Returns why PostgreSQL is not available; `undefined` if it is. In CI, a missing one throws. */
export function missingPostgres() {
  if (findBinaries() !== undefined) return undefined
  installDebianPackage('postgresql')
  if (findBinaries() !== undefined) return undefined
  const reason =
    'PostgreSQL is not installed: initdb and pg_ctl are neither in PATH nor in /usr/lib/postgresql'
  if (process.env['CI'] === 'true') throw new Error(`${reason}; in CI its tests must not be skipped`)
  console.warn(`${reason}; its tests are skipped.`)
  return reason
}

/**
 * @param {{ readonly port?: number }} [options] default: a free port
 * @returns {Promise<Cluster>}
 */
export async function start(options = {}) {
  const binaries = findBinaries()
  if (binaries === undefined) throw new Error(missingPostgres())
  const folder = mkdtempSync(join(tmpdir(), 'proviso-postgres-'))
  const user = unprivilegedUser()
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  const port = options.port ?? (await freePort())

  /** @param {string} program @param {string[]} args */
  const command = (program, args) => {
    const whole = [join(binaries, program), ...args]
    return user === undefined
      ? whole
      : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', ...whole]
  }
  /** @param {string} program @param {string[]} args */
  const run = (program, args) => {
    const [first = '', ...rest] = command(program, args)
    const done = spawnSync(first, rest, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if (done.status === 0) return
    const said = existsSync(log) ? readFileSync(log, 'utf8') : ''
    throw new Error(`${program} failed: ${done.error?.message ?? done.stderr}\n${said}`)
  }

  run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'])
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} -c fsync=on`
  // Without a log file the server would keep the pipe of pg_ctl open.
  run('pg_ctl', ['-D', data, '-w', '-l', log, '-o', settings, 'start'])

  // Stops the server when this process ends, for any reason, because its end of the pipe closes.
  const halt = [...command('pg_ctl', ['-D', data, '-m', 'immediate', 'stop'])]
  const watcher = spawn(
    'sh',
    ['-c', 'read _; folder="$1"; shift; "$@"; rm -rf "$folder"', 'sh', folder, ...halt],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
    },
  )
  watcher.unref()

  let stopped = false
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    restartImmediate: () => run('pg_ctl', ['-D', data, '-w', '-l', log, '-m', 'immediate', 'restart']),
    stop() {
      if (stopped) return
      stopped = true
      run('pg_ctl', ['-D', data, '-m', 'immediate', 'stop'])
      watcher.stdin?.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the folder with initdb and pg_ctl, of the newest version. */
function findBinaries() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((one, other) => Number(other) - Number(one))
    : []
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')))
}

/** Finds a user to run as, because PostgreSQL does not run as root. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const [, , uid, gid] =
    users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
