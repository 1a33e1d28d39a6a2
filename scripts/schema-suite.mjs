// @ts-check
/**
 * Finds the official JSON Schema test suite: `PROVISO_SCHEMA_SUITE`, else the copy in a Debian package, extracted into
 * the cache of `node_modules` without installing it. No package of the npm registry contains the suite.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { aptGetFresh } from './debian.mjs'
import { root } from './setup.mjs'

const debianPackage = 'libtest-json-schema-acceptance-perl'
const inPackage = 'usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance'
const cached = join(root, 'node_modules', '.cache', 'proviso', 'json-schema-suite')

export const missingSuite = `The official suite was not found: set PROVISO_SCHEMA_SUITE to a checkout of json-schema-org/JSON-Schema-Test-Suite, or make the Debian package ${debianPackage} available to apt-get.`

/** Returns the folder of the suite, or `undefined` if there is none. In CI, a missing one throws. */
export function suiteFolder() {
  const given = process.env['PROVISO_SCHEMA_SUITE']
  if (given !== undefined) {
    if (hasTests(given)) return given
    throw new Error(`PROVISO_SCHEMA_SUITE must be a checkout with tests/draft2020-12, got ${given}`)
  }
  if (!hasTests(cached)) unpackDebianPackage()
  if (hasTests(cached)) return cached
  if (process.env['CI'] === 'true') throw new Error(`${missingSuite} In CI its tests must not be skipped.`)
  return undefined
}

/** @param {string} folder */
const hasTests = (folder) => existsSync(join(folder, 'tests', 'draft2020-12'))

function unpackDebianPackage() {
  mkdirSync(dirname(cached), { recursive: true })
  const folder = mkdtempSync(join(dirname(cached), 'download-'))
  try {
    const options = { cwd: folder, stdio: /** @type {const} */ ('ignore'), timeout: 2 * 60_000 }
    aptGetFresh(['download', debianPackage], { cwd: folder })
    const file = readdirSync(folder).find((name) => name.endsWith('.deb'))
    if (file === undefined) return
    spawnSync('dpkg-deb', ['-x', file, 'content'], options)
    const content = join(folder, 'content', inPackage)
    // Another process may have extracted it first; both copies are the same.
    if (hasTests(content) && !hasTests(cached)) renameSync(content, cached)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
