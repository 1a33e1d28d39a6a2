// @ts-check
/** Bundles sources into one file each, for processes that are started hundreds of times and for benches of code without an entry point. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Compiles sources of the repository; `dispose` deletes the results.
 * @template {string} Name
 * @param {Readonly<Record<Name, string>>} sources paths by name
 * @param {string} [cwd] folder with the sources, such as those of an earlier commit; default: this repository
 * @returns {Promise<{ programs: Record<Name, string>, dispose: () => void }>}
 */
export async function compile(sources, cwd = root) {
  // Inside the repository, so that packages with binaries resolve from there.
  const folder = mkdtempSync(join(root, 'node_modules', '.proviso-compiled-'))
  const names = /** @type {Name[]} */ (Object.keys(sources))
  await build({
    config: false,
    cwd,
    entry: sources,
    outDir: folder,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    dts: false,
    clean: false,
    logLevel: 'silent',
    outExtensions: () => ({ js: '.mjs' }),
    deps: { alwaysBundle: [/./], neverBundle: [/^node:/, 'libsql', 'pg', 'pg-native'] },
  })
  const programs = Object.fromEntries(names.map((name) => [name, join(folder, `${name}.mjs`)]))
  return {
    programs: /** @type {Record<Name, string>} */ (programs),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  }
}
