/** What the pages show in TypeScript compiles against the built package, as strictly as a careful reader's own project. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { requireBuild, root } from '../support.ts'

/** What snippets take from the reader. */
const given: Readonly<Record<string, string>> = {
  app: `import('proviso').App`,
  createApp: `typeof import('proviso').createApp`,
  clock: '{ advance(ms: number): void }',
  draft: `import('proviso').Draft`,
  envelope: `import('proviso').WireEnvelope`,
  line: `{ type: 'object' }`,
  openMine: `() => Promise<import('proviso').Store>`,
  options: `import('proviso/output').ParseOptions`,
  schema: '{ [key: string]: unknown }',
  text: 'string',
  write: `import('proviso').DefinedCapability`,
}

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs/reference')).map((name) => `docs/reference/${name}`),
]
const snippets = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
    ([, code = ''], index) => ({
      name: `${page.replaceAll(/\W/g, '-')}-${index + 1}.ts`,
      code,
    }),
  ),
)
let project = ''

beforeAll(() => {
  requireBuild()
  project = mkdtempSync(join(tmpdir(), 'proviso-snippets-'))
  mkdirSync(join(project, 'node_modules'))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  symlinkSync(root, join(project, 'node_modules/proviso'), 'junction')
  for (const other of ['vitest', 'zod', 'fastify', '@types'])
    symlinkSync(join(root, 'node_modules', other), join(project, 'node_modules', other), 'junction')
})

afterAll(() => rmSync(project, { recursive: true, force: true }))

it('there are snippets to check', () => {
  expect(snippets.length).toBeGreaterThan(12)
})

it('every snippet compiles', { timeout: 60_000 }, () => {
  const files = snippets.map(({ name, code }) => {
    const file = join(project, name)
    writeFileSync(file, withGiven(code))
    return file
  })
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  })
  const said = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? '' : `${file.fileName} ${file.text.slice(start).split('\n')[0]}`
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
  expect(said).toEqual([])
})

/** The snippet as a module, with what it uses and neither imports nor declares. */
function withGiven(code: string): string {
  const own = new Set(
    [...code.matchAll(/(?:const|using|function|import) ?[{[]? ?([^=('"]*)/g)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    ),
  )
  const needed = Object.entries(given).filter(
    ([name]) => new RegExp(`\\b${name}\\b`).test(code) && !own.has(name),
  )
  return [...needed.map(([name, type]) => `declare const ${name}: ${type}`), code, 'export {}', ''].join('\n')
}
