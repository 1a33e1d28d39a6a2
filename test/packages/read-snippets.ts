/** The TypeScript programs of the pages, each as a module that compiles on its own. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../support.ts'

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

interface Snippet {
  readonly name: string
  readonly code: string
}

const pages = [
  'README.md',
  'docs/tutorial.md',
  ...['docs/howto', 'docs/reference'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  ),
]
export const snippets: readonly Snippet[] = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
    ([, code = ''], index) => ({
      name: `${page.replaceAll(/\W/g, '-')}-${index + 1}.ts`,
      code: withGiven(code),
    }),
  ),
)
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

/** CommonJS has no top-level await: everything but imports and types goes into a function. */
export function inFunction(code: string): string {
  const source = ts.createSourceFile('program.ts', code, ts.ScriptTarget.Latest, true)
  const top = source.statements.filter(
    (each) =>
      ts.isImportDeclaration(each) || ts.isExportDeclaration(each) || /^declare /.test(each.getText()),
  )
  const rest = source.statements.filter((each) => !top.includes(each))
  const text = (each: ts.Statement) =>
    each.getFullText().replace(/^(\s*)export (?=const|type|interface|function|async function)/m, '$1')
  return `${top.map(text).join('\n')}\nasync function main() {${rest.map(text).join('')}\n}\nvoid main()\n`
}

/** Packages that snippets import besides this one and Node. */
export const imported = [
  'vitest',
  'zod',
  'fastify',
  'react',
  'react-dom',
  'vue',
  '@ai-sdk',
  '@types',
] as const
