/** `@proviso/reader` is a light package of its own: installed alone it reads, as ESM and CommonJS, with types, in few bytes. */
import { execFile } from 'node:child_process'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildReader, limits, measureBundle } from '../scripts/reader.mjs'
import { root } from './support.ts'

const run = promisify(execFile)
const source = join(root, 'packages', 'reader')
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
let project: string

/** A project that has the package and its dependencies, and nothing else. */
beforeAll(async () => {
  await buildReader()
  project = mkdtempSync(join(tmpdir(), 'proviso-reader-project-'))
  const installed = join(project, 'node_modules', '@proviso', 'reader')
  mkdirSync(installed, { recursive: true })
  for (const file of ['package.json', 'README.md', 'LICENSE', 'dist'])
    cpSync(join(source, file), join(installed, file), { recursive: true })
  for (const name of packagesOf(Object.keys(manifest.dependencies))) {
    mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name))
  }
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
}, 300_000)

afterAll(() => rmSync(project, { recursive: true, force: true }))

/** The packages and everything that they depend on. */
function packagesOf(names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'),
    )
    packagesOf(Object.keys(dependencies), found)
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

async function play(name: string, text: string, flags: readonly string[] = []): Promise<unknown> {
  writeFileSync(join(project, name), text)
  const { stdout, stderr } = await run(process.execPath, [...flags, join(project, name)], { cwd: project })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('@proviso/reader', () => {
  it('reads when it is imported, required, and where code must not be generated', async () => {
    const expected = [{ age: 36 }, []]
    const esm = `import { parse } from '@proviso/reader'\n${program}`
    expect(await play('a.mjs', esm)).toEqual(expected)
    expect(await play('a.cjs', `const { parse } = require('@proviso/reader')\n${program}`)).toEqual(expected)
    expect(await play('b.mjs', esm, ['--disallow-code-generation-from-strings'])).toEqual(expected)
    expect(await play('full.mjs', esm.replace('/reader', '/reader/full'))).toEqual(expected)
  })

  it('is light outside of Node: without Ajv and re2js, whose patterns it refuses', async () => {
    const file = join(project, 'node_modules', '@proviso', 'reader', 'dist', 'light')
    for (const ending of ['.js', '.cjs']) {
      const text = readFileSync(`${file}${ending}`, 'utf8')
      expect(text).not.toMatch(/(from|require\()\s*["'](re2js|ajv\/)/)
    }
    const light = `import { parse } from ${JSON.stringify(`${file}.js`)}\n${program}`
    expect(await play('light.mjs', light)).toEqual([{ age: 36 }, ['schema/limit']])
  })

  it('has types for both kinds of modules', async () => {
    const use = `
      const result = parse('1', { type: 'integer' })
      const issues: readonly { readonly code: string }[] = result.issues
      if (result.ok) void result.value
      // @ts-expect-error there is no such option
      parse('1', true, { nonsense: 1 })
      export { issues }\n`
    writeFileSync(join(project, 'use.mts'), `import { parse } from '@proviso/reader'\n${use}`)
    writeFileSync(join(project, 'use.cts'), `import { parse } from '@proviso/reader'\n${use}`)
    const tsc = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc')
    for (const resolution of ['node16', 'bundler'] as const) {
      const modules = resolution === 'bundler' ? 'preserve' : 'node16'
      const options = ['--module', modules, '--moduleResolution', resolution, '--target', 'es2023']
      const files = resolution === 'bundler' ? ['use.mts'] : ['use.mts', 'use.cts']
      await run(process.execPath, [tsc, '--pretty', 'false', '--noEmit', '--strict', ...options, ...files], {
        cwd: project,
      })
    }
  }, 180_000)

  it('has at most 6 dependencies, in the versions of proviso, and 8 MB with all that they bring', () => {
    const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(manifest.version).toBe(own.version)
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(6)
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect({ name, version }).toEqual({ name, version: own.dependencies[name] })
    const packages = [...packagesOf(Object.keys(manifest.dependencies))]
    const brought = packages.reduce((sum, name) => sum + sizeOf(join(root, 'node_modules', name)), 0)
    expect(brought + sizeOf(join(source, 'dist'))).toBeLessThan(8_000_000)
  })

  it('takes at most 60 kB for parse in a browser bundle, gzipped', async () => {
    expect(await measureBundle()).toBeLessThanOrEqual(limits.bundle)
  }, 120_000)
})
