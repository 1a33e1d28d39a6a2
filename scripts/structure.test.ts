/** The structure check is seen to fail on small trees, and its measurements are compared with counted ones. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkStructure, measureStructure, measureTestImports, type StructureRules } from './structure.mjs'

const rules: StructureRules = {
  filesPerFolder: 2,
  functionLines: 4,
  lists: { 'src/rules': 'one rule each' },
  suites: ['src/suites/', 'src/suite.ts'],
  namedOf: ['indexOf'],
  longer: { h: 6 },
}

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function measure(tree: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-structure-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(tree)) {
    const path = join(folder, 'src', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return measureStructure(folder)
}

const check = (tree: Record<string, string>) =>
  checkStructure(measure(tree), rules).map(({ rule, at, message }) => `${at} ${rule} ${message}`)

const empty = 'export {}\n'
/** A function of so many lines. */
const lines = (count: number, head = 'function f() {') => `${head}\n${'  g()\n'.repeat(count - 2)}}\n`

describe('folders', () => {
  it('reports a folder with too many source files', () => {
    expect(check({ 'a/1.ts': empty, 'a/2.ts': empty, 'a/3.ts': empty, 'b/1.ts': empty })).toEqual([
      'src/a folder 3 source files; at most 2 fit into one folder',
    ])
  })

  it('counts neither tests nor the files of folders inside', () => {
    expect(
      check({
        'a/1.ts': empty,
        'a/2.ts': empty,
        'a/2.test.ts': empty,
        'a/b/3.ts': empty,
        'a/1.bench.ts': empty,
      }),
    ).toEqual([])
  })

  it('leaves lists with one file per item alone', () => {
    expect(check({ 'rules/1.ts': empty, 'rules/2.ts': empty, 'rules/3.ts': empty })).toEqual([])
  })
})

describe('functions', () => {
  it.each([
    ['f', 'function f() {'],
    ['f', 'const f = () => {'],
    ['f', 'export async function* f() {'],
    ['m', 'const o = { m() {', '}'],
    ['m', 'const o = { m: function () {', '}'],
    ['constructor', 'class A { constructor() {', '}'],
  ])('reports %s of `%s` when it is too long', (name, head, tail = '') => {
    expect(check({ 'a.ts': lines(5, head) + tail })).toEqual([
      `src/a.ts:1 function ${name} has 5 lines; at most 4 fit into one function`,
    ])
    expect(check({ 'a.ts': lines(4, head) + tail })).toEqual([])
  })

  it('counts no comment above a function', () => {
    expect(check({ 'a.ts': `/**\n * One\n * two\n */\n${lines(4)}` })).toEqual([])
  })

  it('leaves suites alone', () => {
    expect(check({ 'suites/a.ts': lines(9), 'suite.ts': lines(9) })).toEqual([])
  })
})

describe('names', () => {
  const message = 'must begin with a verb that says what it does, such as get, to, find, list or build'

  it.each([
    'export function nameOf() {}\n',
    'export async function nameOf() {}\n',
    'export const nameOf = () => 1\n',
  ])('reports an exported function named xOf: `%s`', (text) => {
    expect(check({ 'a.ts': text })).toEqual([`src/a.ts:1 name nameOf ${message}`])
  })

  it.each([
    'function nameOf() {}\n',
    'const nameOf = () => 1\n',
    'export const a = { nameOf: () => 1 }\n',
    'export function getName() {}\n',
    'export function indexOf() {}\n',
    'export const nameOf = 1\n',
  ])('accepts `%s`', (text) => {
    expect(check({ 'a.ts': text })).toEqual([])
  })
})

it('measures files, lines, folders, single importers and the longest function', () => {
  const structure = measure({
    'a.ts': `import './b.ts'\nimport './c/d.ts'\nimport 'node:fs'\n`,
    'b.ts': `import type { D } from './c/d.ts'\nimport { d } from './c/d.ts'\n`,
    'c/d.ts': lines(3),
    'c/d.test.ts': `import '../b.ts'\n`,
  })
  expect(structure).toEqual({
    files: 3,
    lines: 8,
    folders: [
      { folder: 'src', files: 2 },
      { folder: 'src/c', files: 1 },
    ],
    // b has one; d has two, although b names it twice; a has none.
    singleImporter: { files: 1, share: 1 / 3 },
    testImports: { modules: [], behindSeams: [] },
    functions: [{ name: 'f', file: 'src/c/d.ts', line: 1, lines: 3, exported: false }],
  })
})

it('lists the modules behind entry points that tests import, apart from those of seams', () => {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-structure-'))
  folders.push(folder)
  const files = {
    'a/a.test.ts':
      "import '../../src/output/index.ts'\nimport type { A } from '../../src/output/inner.ts'\nexport type B = A\n",
    'seams/output.ts': "export { parse } from '../../src/output/parse.ts'\n",
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, 'test', name)), { recursive: true })
    writeFileSync(join(folder, 'test', name), text)
  }
  expect(measureTestImports(folder)).toEqual({
    modules: ['src/output/inner.ts'],
    behindSeams: ['src/output/parse.ts'],
  })
})

it('accepts a function that is still to be split up to its own limit', () => {
  expect(check({ 'a.ts': lines(6, 'function h() {') })).toEqual([])
  expect(check({ 'a.ts': lines(7, 'function h() {') })).toEqual([
    'src/a.ts:1 function h has 7 lines; at most 4 fit into one function',
  ])
})
