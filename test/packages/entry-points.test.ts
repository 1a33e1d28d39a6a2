/** Promises about the package as users get it: every entry point loads, and `proviso/output` stays light and browser-safe. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { readImports } from '../../scripts/direction-check.mjs'
import { bundleClient } from '../client/bundle-client.ts'
import { requireBuild, root, runNode } from '../support.ts'

const { exports, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entryPoints = Object.entries(exports as Record<string, string | object>)
  .filter(([, entryPoint]) => typeof entryPoint === 'object')
  .map(([name]) => name.replace(/^\./, 'proviso'))

beforeAll(() => requireBuild())

describe('entry points', () => {
  it.each(entryPoints)('%s loads and exports by name only', async (entryPoint) => {
    const program = `const loaded = await import(${JSON.stringify(entryPoint)}); console.log(Object.keys(loaded).join(' '))`
    const done = await runNode(['--input-type=module', '--eval', program])
    expect(done.stderr).toBe('')
    expect(done.stdout.trim()).not.toBe('')
    expect(done.stdout.trim().split(' ')).not.toContain('default')
  })

  it('gives the same functions at the root entry point and at proviso/output, besides the functions of runs', async () => {
    const program = `
      const front = await import('proviso'), output = await import('proviso/output')
      console.log(Object.keys(front).filter((name) => front[name] !== output[name]).join(' '))`
    const done = await runNode(['--input-type=module', '--eval', program])
    expect(done.stdout.trim().split(' ').sort()).toEqual([
      'createApp',
      'defineAgent',
      'defineCapability',
      'tool',
      'tracedProvider',
    ])
  })

  it('exports at most 60 names at the root, types included', () => {
    const exported = [
      ...readFileSync(join(root, 'src/index.ts'), 'utf8').matchAll(/^export [^{]*\{([^}]*)\}/gm),
    ]
    const names = exported.flatMap(([, list = '']) => list.split(',')).filter((name) => name.trim() !== '')
    expect(names.length).toBeGreaterThan(40)
    expect(names.length).toBeLessThanOrEqual(60)
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

describe('threads', () => {
  // `next build` traces the whole package, and fails at its types, where it cannot evaluate the address of a thread.
  it('are started from files that bundlers find, or from code', () => {
    const started = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js') && !file.startsWith('ui'))
      .flatMap((file) => {
        const code = readFileSync(join(root, 'dist', file), 'utf8')
        return [...code.matchAll(/new Worker\((.*)$/gm)].map(([, rest = '']) => ({ file, rest }))
      })
    const addresses = started.filter(
      ({ rest }) => !rest.includes('eval: true') && !rest.startsWith('copySource'),
    )
    expect(addresses).toHaveLength(1)
    for (const { file, rest } of addresses) {
      const [, script] = /^new URL\("(.+?)", import\.meta\.url\)/.exec(rest) ?? []
      expect(script, rest).toBeDefined()
      expect(existsSync(join(root, 'dist', dirname(file), script ?? '')), script).toBe(true)
    }
  })
})

describe('provider packages', () => {
  it.each(['proviso', 'proviso/models', 'proviso/testing'])(
    'are not loaded by importing %s',
    async (entryPoint) => {
      const hook = `import { writeSync } from 'node:fs'
      export async function resolve(name, context, next) {
        if (name.startsWith('@ai-sdk/')) writeSync(1, name)
        return next(name, context)
      }`
      const program = `
      const { register } = await import('node:module')
      register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hook))})
      const { createApp } = await import(${JSON.stringify(entryPoint)})
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

describe('proviso/client', () => {
  it('imports no Node module and shares no code with the server', () => {
    expect(reachable(join(root, 'dist/client/index.js'))).toEqual(['eventsource-parser'])
  })

  it('bundles for browsers into a few kilobytes', async () => {
    const code = await bundleClient()
    expect(code).not.toMatch(/\bfrom\s*["']|\brequire\(|\bprocess\.|\bBuffer\b/)
    const size = gzipSync(code).length
    console.log(`proviso/client: ${code.length} bytes minified, ${size} gzipped`)
    expect(size).toBeLessThan(7_000)
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
