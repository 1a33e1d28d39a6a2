// @ts-check
/**
 * `npm run reader [-- --json | --build]`: builds the package `@proviso/reader` into `packages/reader/dist` and prints its size: the
 * unpacked package and what `parse` alone takes in a browser bundle, minified and gzipped. Exit code 1 beyond a limit; `--build` only builds.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'tsdown'
import { root } from './setup.mjs'

const folder = join(root, 'packages', 'reader')

/** Bytes. */
export const limits = { bundle: 60_000, package: 2_000_000 }

/** Files that the light reader replaces with smaller ones. */
const standIns =
  /\/src\/(schema\/compile\/(ajv|limit-words)|schema\/patterns\/(formats|regex)|base\/(closest|keep-alive|errors\/error-table)|output\/(fast-paths|report\/events|find\/xml-calls|decode\/(plain|quick-strict|tree\/(edit-log|tree-sink))))\.ts$/

const light = {
  name: 'light-reader',
  /** @param {string} source @param {string | undefined} importer */
  resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.') || importer.includes('/light/')) return null
    const path = join(importer, '..', source)
    return standIns.test(path) ? path.replace(/\/([\w-]+\.ts)$/, '/light/$1') : null
  },
}

/** @type {import('tsdown').InlineConfig} */
const common = {
  config: false,
  cwd: folder,
  platform: 'neutral',
  target: 'node20',
  logLevel: 'error',
  hash: false,
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
  // No property of the reader does anything when it is read.
  treeshake: { propertyReadSideEffects: false, unknownGlobalSideEffects: false },
}

/** Builds both readers, as ESM and CommonJS with types. */
export async function buildReader() {
  for (const [name, plugins] of /** @type {const} */ ([
    ['full', []],
    ['light', [light]],
  ])) {
    await build({
      ...common,
      entry: { [name]: join(root, 'src', 'output', 'index.ts') },
      outDir: join(folder, 'dist'),
      format: ['esm', 'cjs'],
      dts: true,
      outputOptions: {
        comments: { jsdoc: false },
        // A module of its own, which a bundler leaves out whole: `parse` does not hash.
        codeSplitting: { groups: [{ name: `${name}-hash`, test: /@noble.hashes/ }] },
      },
      clean: name === 'full',
      plugins: [...plugins],
      // ESM-only packages, bundled because the CommonJS build cannot require them.
      deps: { alwaysBundle: ['canonicalize', /^@noble\/hashes/] },
      outExtensions: ({ format }) =>
        format === 'cjs' ? { js: '.cjs', dts: '.d.cts' } : { js: '.js', dts: '.d.ts' },
    })
  }
}

/**
 * Bundles an entry with the light reader and its dependencies for browsers, minified. Returns the path of the bundle.
 * @param {Record<string, string>} entry
 * @param {string} outDir
 */
export async function bundleLight(entry, outDir) {
  await build({
    ...common,
    cwd: root,
    entry,
    outDir,
    format: 'esm',
    platform: 'browser',
    minify: true,
    dts: false,
    plugins: [light],
    deps: { alwaysBundle: [/./] },
    outExtensions: () => ({ js: '.js' }),
  })
  return join(outDir, `${Object.keys(entry)[0]}.js`)
}

/** Measures `parse` alone in a browser bundle of the built package, with the usual settings of a bundler. */
export async function measureBundle() {
  const scratch = mkdtempSync(join(tmpdir(), 'proviso-reader-'))
  try {
    const entry = join(scratch, 'entry.js')
    writeFileSync(entry, `export { parse } from ${JSON.stringify(join(folder, 'dist', 'light.js'))}\n`)
    await build({
      ...common,
      treeshake: true,
      entry: { parse: entry },
      outDir: join(scratch, 'out'),
      format: 'esm',
      platform: 'browser',
      minify: true,
      dts: false,
      deps: { alwaysBundle: [/./] },
    })
    const files = readdirSync(join(scratch, 'out'))
    return files.reduce(
      (sum, file) => sum + gzipSync(readFileSync(join(scratch, 'out', file)), { level: 9 }).length,
      0,
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function measurePackage() {
  const files = readdirSync(join(folder, 'dist'))
  return files.reduce((sum, file) => sum + statSync(join(folder, 'dist', file)).size, 0)
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, build: { type: 'boolean', default: false } },
  })
  await buildReader()
  // `--build` is for the tests, which check the limits themselves.
  if (values.build) process.exit(0)
  const sizes = { bundle: await measureBundle(), package: measurePackage() }
  if (values.json) console.log(JSON.stringify({ sizes, limits }))
  else {
    console.log(`parse in a browser bundle, gzipped: ${sizes.bundle} bytes (limit ${limits.bundle})`)
    console.log(`@proviso/reader, unpacked:          ${sizes.package} bytes (limit ${limits.package})`)
  }
  process.exitCode = sizes.bundle > limits.bundle || sizes.package > limits.package ? 1 : 0
}
