/** The search for unused exports is held to a small tree with one of each way to name an export. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { afterEach, expect, it } from 'vitest'
import { findUnusedExports } from './unused-exports.mjs'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function unused(tree: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-unused-'))
  folders.push(folder)
  const files = Object.entries(tree).map(([name, text]) => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  })
  const compilerOptions: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: [],
    // The smallest library with promises: it is read anew for each tree.
    lib: ['lib.es2015.d.ts'],
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const found = findUnusedExports(folder, { files, entries: ['src/index.ts'], compilerOptions })
  return found.unused.map(({ file, line, name, usedBy }) => `${file}:${line} ${name} ${usedBy}`)
}

it('reports what no other file names, also when the own file uses it or another declares the same name', () => {
  expect(
    unused({
      'src/a.ts': 'export const one = 1\nexport const two = one\nexport interface Three { n: 1 }\n',
      'src/b.ts': `import { two } from './a.ts'\nconst one = 2\nconsole.log(one, two)\n`,
    }),
  ).toEqual(['src/a.ts:1 one nothing', 'src/a.ts:3 Three nothing'])
})

it.each([
  ['an import', `import { x } from './a.ts'`],
  ['an import under another name', `import { x as y } from './a.ts'`],
  ['a type import', `import type { x } from './a.ts'`],
  ['a type written as import()', `type T = typeof import('./a.ts').x`],
  ['a namespace', `import * as a from './a.ts'\nconsole.log(a.x)`],
  ['import() and a property', `console.log((await import('./a.ts')).x)`],
  ['import() taken apart', `const { x } = await import('./a.ts')`],
  ['import() taken apart under another name', `const { x: y } = await import('./a.ts')`],
  ['a re-export', `export { x } from './a.ts'`],
])('counts %s as naming it', (_, text) => {
  const naming = `${text}\nexport {}\n`
  expect(unused({ 'src/a.ts': 'export const x = 1\n', 'src/b.ts': naming })).toEqual([])
})

it('leaves out what an entry point exports, also by way of another file', () => {
  expect(
    unused({
      'src/index.ts': `export { a } from './b.ts'\nexport const own = 1\n`,
      'src/b.ts': `export { a } from './a.ts'\n`,
      'src/a.ts': 'export const a = 1\nexport const b = 2\n',
    }),
  ).toEqual(['src/a.ts:2 b nothing'])
})

it('says when only tests name it; scripts are users', () => {
  expect(
    unused({
      'src/a.ts': 'export const inner = 1\nexport const outer = 2\nexport const script = 3\n',
      'src/a.test.ts': `import { inner } from './a.ts'\n`,
      'test/b.test.ts': `import { outer } from '../src/a.ts'\n`,
      'scripts/c.ts': `import { script } from '../src/a.ts'\n`,
    }),
  ).toEqual(['src/a.ts:1 inner tests', 'src/a.ts:2 outer tests'])
})
