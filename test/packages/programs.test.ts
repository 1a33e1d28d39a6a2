/**
 * The packed package as programs use it: under every way of finding modules that TypeScript has, imported and required, with
 * every schema library; and what type checking such a program costs.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support.ts'
import { installPacked, type Project } from './install.ts'
import { imported, inFunction, snippets } from './read-snippets.ts'

const run = promisify(execFile)
const tools = join(root, 'node_modules')
const long = process.env['PROVISO_LONG'] === '1'
let project: Project

beforeAll(async () => {
  project = await installPacked(['proviso', '@proviso/reader'])
  const others = ['zod-3', 'zod-4.0', 'zod-4.1', 'zod-4.2', 'valibot', '@valibot/to-json-schema', 'arktype']
  for (const name of [...imported, ...others]) {
    const path = join(project.folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    if (!existsSync(path)) symlinkSync(join(tools, name), path, 'junction')
  }
}, 300_000)

afterAll(() => project?.remove())

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entryPoints = Object.entries(manifest.exports as Record<string, unknown>)
  .filter(([, target]) => typeof target === 'object')
  .map(([name]) => name.replace(/^\./, 'proviso'))

describe.each(['proviso', '@proviso/reader'])('the packed %s', (name) => {
  const packed = () => {
    const files = readdirSync(join(project.folder, 'packed'))
    const file = files.find((each) => each.includes('reader') === name.includes('reader'))
    return join(project.folder, 'packed', file ?? '')
  }

  it('has the right types wherever TypeScript looks for them (attw)', { timeout: 120_000 }, async () => {
    const cli = join(tools, '@arethetypeswrong/cli/dist/index.js')
    // `node10` is deprecated in TypeScript 6 and gone in 7.
    const flags = ['--profile', 'node16', '--format', 'ascii', '--no-color', '--no-emoji']
    const done = await run(process.execPath, [cli, packed(), ...flags]).catch((failed) => failed)
    expect(done.code ?? 0, done.stdout).toBe(0)
  })

  it('is described correctly by its package.json (publint)', { timeout: 60_000 }, async () => {
    const cli = join(tools, 'publint/src/cli.js')
    const done = await run(process.execPath, [cli, packed(), '--strict'], { cwd: root }).catch(
      (failed) => failed,
    )
    expect(done.code ?? 0, done.stdout + done.stderr).toBe(0)
  })
})

describe('require', () => {
  it('loads every entry point, without a warning, as the same module that import loads', async () => {
    const program = `
      const names = ${JSON.stringify(entryPoints)}
      const loaded = names.map((name) => [name, require(name)])
      Promise.all(loaded.map(async ([name, required]) => {
        const imported = await import(name)
        return [name, Object.keys(required).length > 0 && Object.keys(required).every((key) => required[key] === imported[key])]
      })).then((same) => console.log(JSON.stringify(Object.fromEntries(same))))`
    expect(await project.run('require.cjs', program)).toEqual(
      Object.fromEntries(entryPoints.map((name) => [name, true])),
    )
  })
})

const examples = readdirSync(join(root, 'examples'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, code: readFileSync(join(root, 'examples', name), 'utf8') }))
/** Examples that run until they are stopped. */
const notRun = new Set(['agent.ts'])

/** Ways to compile a program: the options of the compiler, and the type of its package. */
const settings = {
  bundler: { type: 'module', options: { module: 'esnext', moduleResolution: 'bundler' } },
  nodenext: { type: 'module', options: { module: 'nodenext', moduleResolution: 'nodenext' } },
  'CommonJS (nodenext)': { type: 'commonjs', options: { module: 'nodenext', moduleResolution: 'nodenext' } },
  // `attw` has resolved every entry point in these ways, too.
  ...(long && {
    'CommonJS (node16)': { type: 'commonjs', options: { module: 'node16', moduleResolution: 'node16' } },
    'CommonJS (bundler)': { type: 'commonjs', options: { module: 'commonjs', moduleResolution: 'bundler' } },
  }),
} as const

describe.each(Object.entries(settings))('under %s', (name, { type, options }) => {
  const folder = () => join(project.folder, name.replaceAll(/\W/g, '-'))

  it('every example and every program of the pages compiles', { timeout: 300_000 }, async () => {
    mkdirSync(folder())
    writeFileSync(join(folder(), 'package.json'), JSON.stringify({ type }))
    const compilerOptions = {
      ...options,
      target: 'es2023',
      types: ['node'],
      typeRoots: [join(tools, '@types')],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      outDir: 'out',
      rootDir: '.',
    }
    writeFileSync(join(folder(), 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    for (const { name: file, code } of [...examples, ...snippets])
      writeFileSync(join(folder(), file), type === 'module' ? code : inFunction(code))
    const tsc = join(tools, 'typescript-7/bin/tsc')
    const done = await run(process.execPath, [tsc, '--pretty', 'false', '-p', folder()]).catch(
      (failed) => failed,
    )
    expect(done.stdout).toBe('')
  })

  // `test/docs/examples.test.ts` runs the modules; node16 and bundlers emit what was run before.
  it.runIf(name === 'CommonJS (nodenext)' || (long && type === 'module'))(
    'every example prints what it says',
    { timeout: 300_000 },
    async () => {
      for (const { name: file, code } of examples.filter(({ name: each }) => !notRun.has(each))) {
        const { stdout, stderr } = await run(process.execPath, [join('out', file.replace(/ts$/, 'js'))], {
          cwd: folder(),
        })
        const [, says = ''] = code.split('\n// Prints:\n')
        const said = says.replaceAll(/^\/\/ ?/gm, '')
        expect({ file, stdout: stdout.trimEnd(), stderr }).toEqual({
          file,
          stdout: said.trimEnd(),
          stderr: '',
        })
      }
    },
  )
})

/** A program of usual size: two capabilities, a typed run with asks, a generated value, and a client. */
const usual = `
import { createApp, defineCapability } from 'proviso'
import { createClient } from 'proviso/client'
import { z } from 'zod'
const Brief = z.object({ topic: z.string(), tone: z.enum(['dry', 'warm']), words: z.number().int().max(50) })
const Line = z.object({ line: z.string(), tags: z.array(z.string()), score: z.number().optional() })
const write = defineCapability({ id: 'write', input: Brief, output: Line, run: ({ topic }) => ({ line: topic, tags: [] }) })
const judge = defineCapability({
  id: 'judge',
  input: Line,
  output: { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] },
  run: ({ line }) => ({ score: line.length }),
})
await using app = await createApp({ capabilities: [write, judge] })
const run = await app.start({ objective: 'A line', inputs: { topic: 'tea' }, output: Line, approve: 'final' })
for await (const ask of run.asks()) await ask.approve({ by: 'ann' })
const result = await run.result()
if (result.status === 'completed') console.log(result.output.tags.length)
const made = await app.generate({ objective: 'A line', schema: Line, onPartial: ({ value }) => value?.line })
if (made.outcome === 'ok') console.log(made.output.value.line)
const client = createClient({ url: 'http://127.0.0.1:3003' })
const remote = await client.runs.start({ objective: 'A line', outputContract: { schema: true } }, { output: Line })
console.log((await remote.output()).line)
`

/** Without this package: what Zod and the libraries of the language cost. */
const bare = usual
  .split('\n')
  .filter((line) => /^import \{ z \}|^const (Brief|Line)/.test(line))
  .join('\n')

async function countTypes(file: string, code: string) {
  writeFileSync(join(project.folder, file), code)
  // The counters of the compiler are the same on every machine; its times are not.
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--extendedDiagnostics', '--module', 'nodenext']
  const more = ['--target', 'es2023', '--lib', 'es2023,esnext.disposable', '--types', 'node']
  const roots = ['--typeRoots', join(tools, '@types'), '--ignoreConfig']
  const tsc = join(tools, 'typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, ...flags, ...more, ...roots, file], {
    cwd: project.folder,
  })
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(stdout)?.[1])
  return { types: read('Types'), instantiations: read('Instantiations') }
}

describe('type checking a program', () => {
  it('of usual size stays within its budget', { timeout: 120_000 }, async () => {
    const whole = await countTypes('usual.mts', usual)
    const without = await countTypes('bare.mts', bare)
    const own = {
      types: whole.types - without.types,
      instantiations: whole.instantiations - without.instantiations,
    }
    console.log(`type check: ${JSON.stringify(whole)}, without proviso ${JSON.stringify(without)}`)
    expect(own.types).toBeGreaterThan(100)
    expect(own.types).toBeLessThan(budget.types)
    expect(own.instantiations).toBeLessThan(budget.instantiations)
  })
})

/** What this package may add to the counters of the compiler for a program of usual size. */
const budget = { types: 5_000, instantiations: 15_000 }

describe('schema libraries', () => {
  it.each([
    ['Zod 3', `import { z } from 'zod-3'`, 'z.object({ stars: z.number(), tags: z.array(z.string()) })'],
    ['Zod 4.0', `import { z } from 'zod-4.0'`, 'z.object({ stars: z.number(), tags: z.array(z.string()) })'],
    ['Zod 4.1', `import { z } from 'zod-4.1'`, 'z.object({ stars: z.number(), tags: z.array(z.string()) })'],
    ['Zod 4.2', `import { z } from 'zod-4.2'`, 'z.object({ stars: z.number(), tags: z.array(z.string()) })'],
    ['Valibot', `import * as v from 'valibot'`, 'v.object({ stars: v.number(), tags: v.array(v.string()) })'],
    [
      'Valibot with its converter',
      `import * as v from 'valibot'; import { toStandardJsonSchema } from '@valibot/to-json-schema'`,
      'toStandardJsonSchema(v.object({ stars: v.number(), tags: v.array(v.string()) }))',
    ],
    ['ArkType', `import { type } from 'arktype'`, `type({ stars: 'number', tags: 'string[]' })`],
    [
      'a library without JSON Schema',
      '',
      `{ '~standard': { version: 1, vendor: 'mine', validate: (value) => ({ value }) } }`,
    ],
  ])('%s', async (library, imports, schema) => {
    const program = `
      import { createApp, defineCapability, parse } from 'proviso'
      ${imports}
      const schema = ${schema}
      const text = "Sure: {stars: '5', tags: 'tea'}"
      const model = { name: 'scripted', generate: async () => ({ kind: 'text', text, finish: 'stop', usage: {} }) }
      const codes = ({ issues }) => issues.map(({ code, hint }) => [code, hint])
      const attempt = async (act) => { try { return await act() } catch ({ code, hint }) { return [code, hint] } }
      const read = parse(text, schema)
      const app = await createApp({ providers: [model] })
      const made = await app.generate({ model: 'scripted/any', objective: 'Judge', schema })
      const defined = await attempt(() => {
        const { capability } = defineCapability({ id: 'judge', input: schema, output: schema, run: (input) => input })
        return [capability.inputContract.type, Object.keys(capability.outputContract.properties)]
      })
      const started = await attempt(async () => {
        const judge = defineCapability({
          id: 'judge', input: { type: 'object' },
          output: { type: 'object', properties: { stars: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } } }, required: ['stars', 'tags'] },
          run: () => ({ stars: 5, tags: ['tea'] }),
        })
        const own = await createApp({ capabilities: [judge] })
        return own.run({ objective: 'Judge', output: schema }).then(({ output }) => output).finally(own.close)
      })
      await app.close()
      console.log(JSON.stringify({ read: [read.value, codes(read)], made: [made.output?.value, codes(made)], defined, started }))`
    const file = `${library.replaceAll(/\W/g, '-')}.mjs`
    const value = { stars: 5, tags: ['tea'] }
    const guided = {
      read: [value, []],
      made: [value, []],
      defined: ['object', ['stars', 'tags']],
      started: value,
    }
    const install = expect.stringContaining('zod@^4.2')
    const unguided = {
      read: [{ stars: '5', tags: 'tea' }, [['schema/unguided', install]]],
      made: [{ stars: '5', tags: 'tea' }, [['schema/unguided', install]]],
      defined: ['option/invalid', install],
      started: ['envelope/invalid', install],
    }
    expect(await project.run(file, program)).toEqual(imports === '' ? unguided : guided)
  })
})

describe('examples and pages', () => {
  it('need no cast and silence no error of the compiler', () => {
    const cast = /\bas (any|never|unknown)\b|@ts-(ignore|expect-error|nocheck)|<any>/
    expect(snippets.length).toBeGreaterThan(12)
    const found = [...examples, ...snippets].filter(({ code }) => cast.test(code)).map(({ name }) => name)
    expect(found).toEqual([])
  })
})
