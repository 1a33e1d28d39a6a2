/**
 * The README, the tutorial and the how-to pages are true: their programs run from the packed packages in an empty project, as
 * a reader would run them, and print what the pages say. Only ports differ. `test/packages/programs.test.ts` checks their types.
 * They run as ES modules, which compilers emit under `nodenext` and `bundler`, and as CommonJS; the short form takes one of
 * them for each program.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasPython } from '../agents/python.ts'
import { listen } from '../agents/support.ts'
import { hasOtherNodes, installNodes, otherNodes } from '../node-versions.ts'
import { installPacked, type Project } from '../packages/install.ts'
import { inFunction } from '../packages/read-snippets.ts'
import { root, runNode } from '../support.ts'
import { type PageProgram, readPrograms, trimLines } from './programs.ts'

const howtos = readdirSync(join(root, 'docs/howto')).map((name) => `docs/howto/${name}`)
const tutorial = readPrograms('docs/tutorial.md')
const others = ['README.md', ...howtos].flatMap(readPrograms)
const programs = [...tutorial, ...others].filter(({ language }) => language === 'ts')

const long = process.env['PROVISO_LONG'] === '1'
const ways = ['module', 'commonjs'] as const
type Way = (typeof ways)[number]
const cases = others.flatMap((program, index) =>
  (long ? ways : [ways[index % 2]!]).map((way) => ({ program, file: program.file, way })),
)

/** What the model does with tools: searches, wants to send, reports. */
const turns = [
  { content: null, tool_calls: [toCall('search', { query: 'tea' })] },
  { content: null, tool_calls: [toCall('send', { to: 'ann', text: 'Tea grows in hills' })] },
  { content: '{"summary":"Tea grows in hills","informed":["ann"]}' },
]

function toCall(name: string, input: object) {
  return { id: `call_${name}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

/** Answers like a model behind an API that is compatible with OpenAI's. */
const model: Server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const { tools, messages = [] } = JSON.parse(text)
  const turn = messages.filter(({ role }: { readonly role: string }) => role === 'assistant').length
  const said = tools ? turns[turn] : { content: 'Sure! {line: "Tea warms the afternoon."}' }
  const message = { role: 'assistant', ...said }
  const answer = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(answer))
})

let project: Project
/** Where the programs of the pages expect others. */
let ports: Readonly<Record<string, number>> = {}
const children = new Set<ChildProcess>()

beforeAll(async () => {
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
  const address = model.address()
  if (address === null || typeof address === 'string') throw new Error('The model has no port')
  ports = { '3003': await findFreePort(), '11434': address.port }
  project = await installPacked(['proviso', '@proviso/reader'], ['zod', '@ai-sdk/openai-compatible'])
  for (const name of ['react', 'react-dom', 'vue'])
    symlinkSync(join(root, 'node_modules', name), join(project.folder, 'node_modules', name), 'junction')
  mkdirSync(join(project.folder, 'out'))
  for (const program of programs)
    for (const way of ways) {
      const code = withPorts(program.code)
      const module = way === 'module' ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS
      const compilerOptions = { module, target: ts.ScriptTarget.ES2023, esModuleInterop: true }
      const source = way === 'module' ? code : inFunction(code)
      writeFileSync(compiledFile(program, way), ts.transpileModule(source, { compilerOptions }).outputText)
    }
}, 300_000)

afterEach(async () => {
  for (const child of children) {
    const gone = once(child, 'exit')
    if (child.kill('SIGKILL')) await gone
  }
  children.clear()
})

afterAll(() => {
  model.close()
  project?.remove()
})

it('no program casts, and those of the tutorial have at most 30 lines', () => {
  const casts = programs.filter(({ code }) => /\bas (?!const\b)|\bany\b|@ts-|\w!\./.test(code))
  expect(casts.map(({ file }) => file)).toEqual([])
  expect(tutorial.filter(({ code }) => code.trim().split('\n').length > 31)).toEqual([])
  // An agent takes two steps (a server, and this program) and at most 15 lines, beside the name of its file.
  const agents = [...tutorial, ...readPrograms('docs/reference/agents.md')].filter(({ code }) =>
    /serveAgent|serve_agent/.test(code),
  )
  expect(agents.length).toBeGreaterThan(2)
  expect(agents.filter(({ code }) => code.trim().split('\n').length > 16).map(({ file }) => file)).toEqual([])
  expect(howtos.filter((page) => readFileSync(join(root, page), 'utf8').split('\n').length > 65)).toEqual([])
})

describe('README and how-to pages', () => {
  it.each(cases)('$file prints what its page says ($way)', { timeout: 120_000 }, async ({ program, way }) => {
    const done = await runNode([compiledFile(program, way)], { cwd: newFolder(`${program.file}-${way}`) })
    expect(done.stderr).toBe('')
    expect(program.prints, 'the page says what it prints').toHaveLength(1)
    expect(trimLines(done.stdout)).toBe(trimLines(program.prints[0]!))
    expect(done.code).toBe(0)
  })

  it('cover every entry point of the packages', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const names = Object.keys(exports).filter((name) => name !== './package.json')
    const index = readFileSync(join(root, 'docs/README.md'), 'utf8')
    const rows = [...index.matchAll(/^\| .+ \| (`.+`) \| \[.+\]\((\S+\.md)(?:#\S+)?\) \|$/gm)]
    const listed = rows.flatMap(([, imports = '', page = '']) =>
      [...imports.matchAll(/`(.+?)`/g)].map(([, name = '']) => ({ name, page: join('docs', page) })),
    )
    const expected = [...names.map((name) => name.replace(/^\./, 'proviso')), '@proviso/reader']
    expect([...new Set(listed.map(({ name }) => name))].sort()).toEqual(expected.sort())
    const without = listed.filter(
      ({ name, page }) =>
        !existsSync(join(root, page)) || !readPrograms(page).some(({ code }) => code.includes(`'${name}'`)),
    )
    expect(without).toEqual([])
    const pages = new Set(listed.map(({ page }) => page))
    expect(howtos.filter((page) => !pages.has(page))).toEqual([])
  })
})

describe.each(long ? ways : ([ways[0]] as const))('tutorial (%s)', (way) => {
  it.each(['read.ts', 'run.ts', 'approve.ts'])('%s prints what the page says', async (name) => {
    const program = find(name)
    const done = await runNode([compiledFile(program, way)], { cwd: newFolder(`${name}-${way}`) })
    expect(done.stderr).toBe('')
    expect(trimLines(done.stdout)).toBe(trimLines(program.prints[0]!))
  })

  it('restart.ts is killed while it waits, and continues with what it had', async () => {
    const program = find('restart.ts')
    const [first = '', second = ''] = program.prints
    const cwd = newFolder(`restart.ts-${way}`)
    const waiting = start([process.execPath, compiledFile(program, way)], cwd)
    await waiting.until((text) => trimLines(text) === trimLines(first))
    const gone = once(waiting.child, 'exit')
    waiting.child.kill('SIGKILL')
    await gone
    const done = await runNode([compiledFile(program, way), 'ann'], { cwd })
    expect(done.stderr).toBe('')
    expect(trimLines(done.stdout)).toBe(trimLines(second))
  })

  it.each([
    { name: 'agent.ts', command: () => [process.execPath, compiledFile(find('agent.ts'), way)] },
    { name: 'agent.py', command: () => ['python3', 'agent.py'] },
  ])('$name pays for a run of client.ts on server.ts', async ({ name, command }) => {
    if (name.endsWith('.py') && !hasPython()) return
    const cwd = newFolder(`with-${name}-${way}`)
    copyFileSync(
      join(project.folder, 'node_modules/proviso/agents/python/proviso_agent.py'),
      join(cwd, 'proviso_agent.py'),
    )
    writeFileSync(join(cwd, 'agent.py'), withPorts(find('agent.py').code))
    const server = start([process.execPath, compiledFile(find('server.ts'), way)], cwd)
    await server.until((text) => trimLines(text) === trimLines(withPorts(find('server.ts').prints[0]!)))
    const agent = start(command(), cwd)
    await agent.until((text) => trimLines(text) === trimLines(find('agent.ts').prints[0]!))
    const client = find('client.ts')
    const done = await runNode([compiledFile(client, way)], { cwd })
    expect(done.stderr).toBe('')
    expect(trimLines(done.stdout)).toBe(trimLines(client.prints[0]!))
  })
})

describe.runIf(long && hasOtherNodes)('other versions of Node', () => {
  let binary: (version: string) => string
  beforeAll(async () => {
    binary = await installNodes(newFolder('nodes'))
  }, 300_000)

  it.each(otherNodes.flatMap((version) => cases.map((each) => ({ version, ...each }))))(
    'Node $version: $file prints what its page says ($way)',
    { timeout: 120_000 },
    async ({ version, program, way }) => {
      const cwd = newFolder(`${program.file}-${way}-node-${version}`)
      const done = await promisify(execFile)(binary(version), [compiledFile(program, way)], { cwd })
      expect(done.stderr).toBe('')
      expect(trimLines(done.stdout)).toBe(trimLines(program.prints[0]!))
    },
  )
})

function find(file: string): PageProgram {
  const found = tutorial.find((program) => program.file === file)
  if (found === undefined) throw new Error(`The tutorial has no program ${file}`)
  return found
}

function compiledFile({ file }: PageProgram, way: Way): string {
  return join(project.folder, 'out', file.replace(/\.ts$/, way === 'module' ? '.mjs' : '.cjs'))
}

/** An empty folder for the files that a program makes. */
function newFolder(name: string): string {
  const folder = join(project.folder, 'runs', name)
  mkdirSync(folder, { recursive: true })
  return folder
}

function withPorts(code: string): string {
  return Object.entries(ports).reduce((text, [shown, port]) => text.replaceAll(shown, String(port)), code)
}

/** A port that was free a moment ago. */
async function findFreePort(): Promise<number> {
  const { port, server } = await listen(() => {})
  await new Promise((resolve) => server.close(resolve))
  return port
}

function start([command = '', ...args]: readonly string[], cwd: string) {
  const child = spawn(command, args, { cwd, env: { ...process.env, NO_COLOR: '1' } })
  children.add(child)
  const said = { stdout: '', stderr: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text
  })
  /** Waits until what it has printed satisfies the condition; rejects if it ends before. */
  const until = (isReached: (stdout: string) => boolean) =>
    new Promise<void>((resolve, reject) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said.stdout += text
        if (isReached(said.stdout)) resolve()
      })
      child.on('exit', (code) => reject(new Error(`It ended with ${code}: ${said.stdout}${said.stderr}`)))
    })
  return { child, until }
}
