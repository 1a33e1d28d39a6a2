/** Entry points are listed once, in package.json: everything else that names them derives from it or is compared here. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import type { AliasOptions } from 'vite'
import { describe, expect, it } from 'vitest'
import build from '../tsdown.config.ts'
import vitest from '../vitest.config.ts'
import { rules } from './direction-rules.mjs'
import { entryPoints, readEntryPoints, typescriptPaths, unlistedEntries } from './entry-points.mjs'
import { root } from './setup.mjs'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const specifiers = Object.keys(manifest.exports)
  .filter((subpath) => subpath !== './package.json')
  .map((subpath) => subpath.replace(/^\./, 'proviso'))

it('reads every export of package.json, each with a source that exists', () => {
  expect(entryPoints.map(({ specifier }) => specifier)).toEqual(specifiers)
  for (const { source } of entryPoints) expect(existsSync(join(root, 'src', source)), source).toBe(true)
})

it('refuses an export whose source cannot be derived', () => {
  const outside = { './x': { types: './dist/x.d.ts', default: './lib/x.js' } }
  const mismatch = { './x': { types: './dist/y.d.ts', default: './dist/x.js' } }
  for (const exports of [outside, mismatch]) {
    expect(() => readEntryPoints({ name: 'p', exports })).toThrow('Cannot read the entry point "./x"')
  }
})

describe.each(entryPoints)('$specifier', ({ specifier, source }) => {
  it('is built', () => {
    expect(Object.values((build as { entry: Record<string, string> }).entry)).toContain(`src/${source}`)
  })

  it('has an alias in the tests that matches it and nothing longer', () => {
    const aliases = vitest.resolve?.alias as Extract<AliasOptions, readonly unknown[]>
    const matching = aliases.filter(({ find }) => (find as RegExp).test(specifier))
    expect(matching.map(({ replacement }) => replacement)).toEqual([join(root, 'src', source)])
  })

  it('is visible to other folders', () => {
    const [folder = '', ...rest] = source.split('/')
    if (rest.length > 0) expect(rules.entryFiles[folder]).toContain(rest.join('/'))
  })
})

it('has the same paths in tsconfig.json', () => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  expect(config.compilerOptions.paths).toEqual(typescriptPaths())
})

it('builds the command and the worker besides, which package.json and the reader load by path', () => {
  expect(Object.values(manifest.bin as Record<string, string>)).toEqual(['dist/cli/main.js'])
  const entries = Object.values((build as { entry: Record<string, string> }).entry)
  expect(entries).toEqual(expect.arrayContaining(unlistedEntries.map((source) => `src/${source}`)))
  expect(entries).toHaveLength(entryPoints.length + unlistedEntries.length)
})
