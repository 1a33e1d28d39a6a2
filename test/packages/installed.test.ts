/** Both packages, packed and installed by npm into one empty project: imported, required, typed, and one reader in two places. */
import { execFile } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { limits, measureBundle } from '../../scripts/reader.mjs'
import { root } from '../support.ts'
import { installPacked, type Project } from './install.ts'

const run = promisify(execFile)
const manifest = JSON.parse(readFileSync(join(root, 'packages/reader/package.json'), 'utf8'))
let project: Project

beforeAll(async () => {
  project = await installPacked(['proviso', '@proviso/reader'], ['zod'])
}, 300_000)

afterAll(() => project?.remove())

/** The packages and everything that they depend on, as npm has put them into the project. */
function packagesOf(names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const file = join(project.folder, 'node_modules', name, 'package.json')
    packagesOf(Object.keys(JSON.parse(readFileSync(file, 'utf8')).dependencies ?? {}), found)
  }
  return found
}

function sizeOf(path: string): number {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

const program = `
  const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }
  const unsafe = { type: 'string', pattern: '^(a+)+$' }
  console.log(JSON.stringify([
    parse("Sure: {age: '36',}", schema).value,
    parse('"aaa"', unsafe, { untrusted: true }).issues.map(({ code }) => code),
  ]))`

/** A run typed by a schema of Zod, and by a JSON Schema literal. */
const typedProgram = `
import { createApp, defineCapability, type RunHandle } from 'proviso'
import type { AskRow } from 'proviso/types'
import { z } from 'zod'

const Line = z.object({ line: z.string() })
const write = defineCapability({
  id: 'write',
  input: z.object({ topic: z.string() }),
  output: Line,
  run: ({ topic }) => ({ line: topic.trim() }),
})
const app = await createApp({ capabilities: [write] })
const run: RunHandle<{ line: string }> = await app.start({ objective: 'x', output: Line, approve: 'final' })
for await (const ask of run.asks()) await ask.approve({ by: 'ann' })
const result = await run.result()
export const line: string | undefined = result.output?.line
const { output } = await app.run({ objective: 'x', output: { type: 'integer' } })
export const count: number | undefined = output
export type Row = AskRow
// @ts-expect-error: not an envelope
await app.run(42)
// @ts-expect-error: a misspelled key
await app.run({ objectiv: 'x', output: Line })
// @ts-expect-error: the line is a number
defineCapability({ id: 'a', input: Line, output: Line, run: () => ({ line: 1 }) })
`

describe('@proviso/reader', () => {
  it('reads when it is imported, required, and where code must not be generated', async () => {
    const expected = [{ age: 36 }, []]
    const esm = `import { parse } from '@proviso/reader'\n${program}`
    expect(await project.run('a.mjs', esm)).toEqual(expected)
    const cjs = `const { parse } = require('@proviso/reader')\n${program}`
    expect(await project.run('a.cjs', cjs)).toEqual(expected)
    expect(await project.run('b.mjs', esm, ['--disallow-code-generation-from-strings'])).toEqual(expected)
    expect(await project.run('full.mjs', esm.replace('/reader', '/reader/full'))).toEqual(expected)
  })

  it('is light outside of Node: without Ajv and re2js, whose patterns it refuses', async () => {
    const file = join(project.folder, 'node_modules', '@proviso', 'reader', 'dist', 'light')
    for (const ending of ['.js', '.cjs']) {
      const text = readFileSync(`${file}${ending}`, 'utf8')
      expect(text).not.toMatch(/(from|require\()\s*["'](re2js|ajv\/)/)
    }
    const light = `import { parse } from ${JSON.stringify(`${file}.js`)}\n${program}`
    expect(await project.run('light.mjs', light)).toEqual([{ age: 36 }, ['schema/limit']])
  })

  it('has at most 6 dependencies, in the versions of proviso, and 8 MB with all that they bring', () => {
    const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(manifest.version).toBe(own.version)
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(6)
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect({ name, version }).toEqual({ name, version: own.dependencies[name] })
    const packages = [...packagesOf(['@proviso/reader'])]
    const brought = packages.map((name) => sizeOf(join(project.folder, 'node_modules', name)))
    expect(brought.reduce((sum, size) => sum + size, 0)).toBeLessThan(8_000_000)
    const files = packages.flatMap((name) =>
      readdirSync(join(project.folder, 'node_modules', name), { recursive: true, encoding: 'utf8' }),
    )
    expect(files.filter((file) => /\.node$|binding\.gyp$/.test(file))).toEqual([])
  })

  it('takes at most 60 kB for parse in a browser bundle, gzipped', async () => {
    expect(await measureBundle()).toBeLessThanOrEqual(limits.bundle)
  }, 120_000)
})

describe('proviso and @proviso/reader side by side', () => {
  it('export the same names and read the same', async () => {
    const compare = `
      import * as reader from '@proviso/reader'
      import * as output from 'proviso/output'
      const text = "Sure: {age: '36', tags: [a, 'b',],}"
      const schema = { type: 'object', properties: { age: { type: 'integer' } } }
      console.log(JSON.stringify({
        names: [Object.keys(reader), Object.keys(output)],
        results: [reader, output].map(({ parse, explain }) => [parse(text, schema), explain(parse(text, schema))]),
      }))`
    const { names, results } = (await project.run('compare.mjs', compare)) as {
      readonly names: readonly string[][]
      readonly results: readonly unknown[]
    }
    expect(names[0]).toEqual(names[1])
    expect(results[0]).toEqual(results[1])
  })

  it('take results and errors of each other: imported, required, from either package', async () => {
    const cross = `
      import { createRequire } from 'node:module'
      import * as proviso from 'proviso'
      import * as output from 'proviso/output'
      import * as imported from '@proviso/reader'
      const required = createRequire(import.meta.url)('@proviso/reader')
      const copies = [proviso, output, imported, required]
      const errors = copies.map(({ parse }) => {
        try { parse('1', true, { aop: 'nonsense' }) } catch (error) { return error }
      })
      const result = required.parse("{'a': 1}")
      console.log(JSON.stringify({
        seen: copies.map(({ ProvisoError }) => errors.map((error) => error instanceof ProvisoError)),
        checked: copies.map(({ ProvisoError }) => errors.map((error) => ProvisoError.is(error))),
        others: copies.map(({ ProvisoError }) => [new Error('x'), {}, null, 'x'].some((other) => other instanceof ProvisoError)),
        replayed: copies.map(({ replay }) => replay(result.raw, result.repairs)),
      }))`
    const yes = [true, true, true, true]
    expect(await project.run('cross.mjs', cross)).toEqual({
      seen: [yes, yes, yes, yes],
      checked: [yes, yes, yes, yes],
      others: [false, false, false, false],
      replayed: [{ a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }],
    })
  })

  it('have types for both kinds of modules and both ways of finding them', async () => {
    const use = `
      const result = parse('1', { type: 'integer' })
      const issues: readonly { readonly code: string }[] = result.issues
      if (result.ok) void result.value
      // @ts-expect-error there is no such option
      parse('1', true, { nonsense: 1 })
      export { issues }\n`
    const both = `
      import { parse as read } from 'proviso/output'
      const repairs: ReturnType<typeof read>['repairs'] = parse('1').repairs
      export { repairs }\n`
    const write = (file: string, text: string) => writeFileSync(join(project.folder, file), text)
    write('use.mts', `import { parse } from '@proviso/reader'\n${use}${both}`)
    write('use.cts', `import { parse } from '@proviso/reader'\n${use}`)
    write(
      'front.mts',
      `import { createApp, type ParseResult } from 'proviso'\nexport type A = ParseResult\nvoid createApp\n`,
    )
    write('typed.mts', typedProgram)
    const tsc = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc')
    for (const resolution of ['node16', 'bundler'] as const) {
      const modules = resolution === 'bundler' ? 'preserve' : 'node16'
      const options = ['--module', modules, '--moduleResolution', resolution, '--target', 'es2023']
      const files = ['use.mts', 'front.mts', 'typed.mts', ...(resolution === 'bundler' ? [] : ['use.cts'])]
      const flags = ['--pretty', 'false', '--noEmit', '--strict', '--skipLibCheck', ...options, ...files]
      await run(process.execPath, [tsc, ...flags], { cwd: project.folder })
    }
    // Without `skipLibCheck` the declarations of the reader themselves hold.
    const strict = ['--noEmit', '--strict', '--module', 'node16', '--moduleResolution', 'node16', 'use.cts']
    await run(process.execPath, [tsc, ...strict, '--target', 'es2023'], { cwd: project.folder })
  }, 180_000)
})
