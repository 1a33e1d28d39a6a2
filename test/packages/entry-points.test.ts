/** Promises about the package as users get it: every door opens, and `proviso/output` stays light and browser-safe. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readImports } from '../../scripts/direction-check.mjs'
import { requireBuild, root, runNode } from '../support.ts'

const { exports, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const doors = Object.entries(exports as Record<string, string | object>)
  .filter(([, door]) => typeof door === 'object')
  .map(([name]) => name.replace(/^\./, 'proviso'))

beforeAll(() => requireBuild())

describe('doors', () => {
  it.each(doors)('%s opens and exports by name only', async (door) => {
    const program = `const door = await import(${JSON.stringify(door)}); console.log(Object.keys(door).join(' '))`
    const done = await runNode(['--input-type=module', '--eval', program])
    expect(done.stderr).toBe('')
    expect(done.stdout.trim()).not.toBe('')
    expect(done.stdout.trim().split(' ')).not.toContain('default')
  })

  it('gives the same functions at the front door and at proviso/output, besides those of runs', async () => {
    const program = `
      const front = await import('proviso'), output = await import('proviso/output')
      console.log(Object.keys(front).filter((name) => front[name] !== output[name]).join(' '))`
    const done = await runNode(['--input-type=module', '--eval', program])
    expect(done.stdout.trim().split(' ').sort()).toEqual(['createApp', 'defineCapability', 'tracedProvider'])
  })

  it('loads no database before one is used', async () => {
    const program = `
      await import('proviso')
      const { createRequire } = await import('node:module')
      console.log(Object.keys(createRequire(import.meta.url).cache).filter((file) => /libsql|[/]pg[/]/.test(file)).length)`
    const done = await runNode(['--input-type=module', '--eval', program])
    expect(done).toEqual({ code: 0, stdout: '0\n', stderr: '' })
  })
})

describe('provider packages', () => {
  it.each(['proviso', 'proviso/models', 'proviso/testing'])(
    'are not loaded by importing %s',
    async (door) => {
      const hook = `import { writeSync } from 'node:fs'
      export async function resolve(name, context, next) {
        if (name.startsWith('@ai-sdk/')) writeSync(1, name)
        return next(name, context)
      }`
      const program = `
      const { register } = await import('node:module')
      register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hook))})
      const { createApp } = await import(${JSON.stringify(door)})
      await (await createApp?.({ env: { openaiApiKey: 'sk-none' } }))?.close()`
      const done = await runNode(['--input-type=module', '--eval', program])
      expect(done).toEqual({ code: 0, stdout: '', stderr: '' })
    },
  )
})

describe('proviso/output', () => {
  it('imports no Node module and nothing of the command line or a server', () => {
    const packages = reachable(join(root, 'dist/output/index.js'))
    expect(packages.filter((name) => name.startsWith('node:'))).toEqual([])
    const light = ['@noble/hashes', 'ajv', 'ajv-formats', 'canonicalize', 're2js']
    expect(
      packages.filter((name) => !light.some((own) => name === own || name.startsWith(`${own}/`))),
    ).toEqual([])
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(light))
  })
})

/** The packages that a built file imports, directly or through other built files. */
function reachable(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return []
  seen.add(file)
  return readImports(file).flatMap(({ specifier }) =>
    specifier.startsWith('.') ? reachable(join(dirname(file), specifier), seen) : [specifier],
  )
}
