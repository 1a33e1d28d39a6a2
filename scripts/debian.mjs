// @ts-check
/** Runs apt-get one process at a time, under a lock: tests in several processes install Debian packages. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs apt-get under a lock of the project; returns whether it succeeded.
 * @param {string[]} args
 * @param {{ cwd?: string, timeoutMs?: number }} [options]
 */
function aptGet(args, { cwd, timeoutMs = 5 * 60_000 } = {}) {
  const done = spawnSync('flock', [join(tmpdir(), 'proviso-apt.lock'), 'apt-get', ...args], {
    ...(cwd !== undefined && { cwd }),
    stdio: 'ignore',
    timeout: timeoutMs,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return done.status === 0
}

/**
 * Runs apt-get; if it fails, updates the package lists, which may be missing or old, and retries once.
 * @param {string[]} args
 * @param {{ cwd?: string }} [options]
 */
export function aptGetFresh(args, options) {
  if (aptGet(args, options)) return
  aptGet(['update'])
  aptGet(args, options)
}

/**
 * Installs a package only where that is harmless: as root on Debian, as on CI and disposable machines.
 * @param {string} name
 */
export function installDebianPackage(name) {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  console.warn(`${name} is missing: apt-get install ${name}`)
  const install = ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', name]
  aptGetFresh(install)
}
