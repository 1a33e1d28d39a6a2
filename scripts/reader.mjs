// @ts-check
/**
 * `npm run reader [-- --json]`: builds the package `@proviso/reader` into `packages/reader/dist` and prints its size: the
 * unpacked package and what `parse` alone takes in a browser bundle, minified and gzipped. Exit code 1 beyond a limit.
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

/** Files that the light reader has stand-ins for. */
const standIns = /\/src\/schema\/(ajv|re2)\.ts$/

const light = {
  name: 'light-reader',
  /** @param {string} source @param {string | undefined} importer */
  resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.') || importer.includes('/schema/light/')) return null
    const path = join(importer, '..', source)
    return standIns.test(path) ? path.replace('/src/schema/', '/src/schema/light/') : null
  },
}

/** @type {import('tsdown').InlineConfig} */
const common = {
  config: false,
  cwd: folder,
  platform: 'neutral',
  target: 'node20',
  logLevel: 'error',
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
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
      clean: name === 'full',
      plugins: [...plugins],
      // Packages that are ESM only: a CommonJS build could not require them.
      deps: { alwaysBundle: ['canonicalize', /^@noble\/hashes/] },
      outExtensions: ({ format }) =>
        format === 'cjs' ? { js: '.cjs', dts: '.d.cts' } : { js: '.js', dts: '.d.ts' },
    })
  }
}

/** What `parse` alone takes in a browser, with everything that it needs. */
export async function measureBundle() {
  const scratch = mkdtempSync(join(tmpdir(), 'proviso-reader-'))
  try {
    const entry = join(scratch, 'entry.js')
    writeFileSync(entry, `export { parse } from ${JSON.stringify(join(root, 'src', 'output', 'parse.ts'))}\n`)
    await build({
      ...common,
      cwd: root,
      entry: { parse: entry },
      outDir: join(scratch, 'out'),
      format: 'esm',
      platform: 'browser',
      minify: true,
      dts: false,
      plugins: [light],
      deps: { alwaysBundle: [/./] },
    })
    const files = readdirSync(join(scratch, 'out'))
    return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(scratch, 'out', file))).length, 0)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function measurePackage() {
  const files = readdirSync(join(folder, 'dist'))
  return files.reduce((sum, file) => sum + statSync(join(folder, 'dist', file)).size, 0)
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
  await buildReader()
  const sizes = { bundle: await measureBundle(), package: measurePackage() }
  if (values.json) console.log(JSON.stringify({ sizes, limits }))
  else {
    console.log(`parse in a browser bundle, gzipped: ${sizes.bundle} bytes (limit ${limits.bundle})`)
    console.log(`@proviso/reader, unpacked:          ${sizes.package} bytes (limit ${limits.package})`)
  }
  process.exitCode = sizes.bundle > limits.bundle || sizes.package > limits.package ? 1 : 0
}
