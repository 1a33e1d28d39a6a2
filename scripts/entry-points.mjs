// @ts-check
/**
 * The entry points of the package, read from the one list of them: `exports` in package.json. The build, the aliases of the
 * tests and the direction check derive from it; tsconfig.json cannot and is compared with it by `entry-points.test.ts`.
 * Uses Node alone, because the build configuration loads it.
 */
import { readFileSync } from 'node:fs'

/**
 * @typedef {object} EntryPoint
 * @property {string} specifier what users import, such as `proviso/output`
 * @property {string} source its file below `src`, such as `output/index.ts`
 */

/** Files that are built as entries of their own but have no import specifier: the command, and the worker that is loaded by URL. */
export const unlistedEntries = ['cli/main.ts', 'output/thread/off-thread-worker.ts']

/**
 * Reads the entry points of a package.json. Each maps to the source with the path of its built file.
 * @param {{ name: string, exports: Record<string, string | { require?: { types: string, default: string }, types: string, default: string }> }} manifest
 * @returns {EntryPoint[]}
 */
export function readEntryPoints({ name, exports }) {
  return Object.entries(exports).flatMap(([subpath, target]) => {
    // package.json itself is exported as a plain string.
    if (typeof target === 'string') return []
    const [, path] = /^\.\/dist\/(.+)\.js$/.exec(target.default) ?? []
    if (path === undefined || target.types !== `./dist/${path}.d.ts`) {
      throw new Error(
        `Cannot read the entry point "${subpath}" of package.json: "default" must be ./dist/<path>.js and "types" the .d.ts beside it`,
      )
    }
    const { require } = target
    if (require?.types !== `./dist/${path}.d.cts` || require.default !== `./dist/${path}.cjs`)
      throw new Error(
        `Cannot read the entry point "${subpath}" of package.json: "require" must have ./dist/${path}.d.cts and ./dist/${path}.cjs`,
      )
    return [{ specifier: subpath.replace(/^\./, name), source: `${path}.ts` }]
  })
}

export const entryPoints = readEntryPoints(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
)

/** The entries of the build: path without extension and source. @returns {Record<string, string>} */
export function buildEntries() {
  const sources = [...entryPoints.map(({ source }) => source), ...unlistedEntries]
  return Object.fromEntries(sources.map((source) => [source.replace(/\.ts$/, ''), `src/${source}`]))
}

/** The `paths` of tsconfig.json. @returns {Record<string, string[]>} */
export function typescriptPaths() {
  return Object.fromEntries(entryPoints.map(({ specifier, source }) => [specifier, [`./src/${source}`]]))
}

/** Files that other folders may import, by top folder of `src`. @returns {Record<string, string[]>} */
export function publicFiles() {
  /** @type {Record<string, string[]>} */
  const files = {}
  for (const { source } of entryPoints) {
    const [folder = '', ...rest] = source.split('/')
    // `index.ts` directly in src belongs to no folder.
    if (rest.length > 0) files[folder] = [...(files[folder] ?? []), rest.join('/')]
  }
  return files
}
