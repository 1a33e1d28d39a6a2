/**
 * The examples are true: each is compiled, run by Node against the built package as a user would, and compared with
 * the `// Prints:` block at its end; the README shows two of them word for word.
 * `PROVISO_UPDATE=1` writes what was printed into the examples and the README instead.
 */
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requireBuild, root, runNode } from '../support.ts'

const update = process.env['PROVISO_UPDATE'] !== undefined
const folder = join(root, 'examples')
const names = readdirSync(folder).filter((name) => name.endsWith('.ts'))
/** Examples that run until they are stopped; `test/agents/examples.test.ts` runs them. */
const servers = new Set(['agent.ts'])
const marker = '\n// Prints:\n'
let project = ''

beforeAll(() => {
  requireBuild()
  // A project of its own that has the package installed: only its entry points can be imported.
  project = mkdtempSync(join(tmpdir(), 'proviso-examples-'))
  mkdirSync(join(project, 'node_modules'))
  symlinkSync(root, join(project, 'node_modules/proviso'), 'junction')
  symlinkSync(join(root, 'node_modules/zod'), join(project, 'node_modules/zod'), 'junction')
})

afterAll(() => rmSync(project, { recursive: true, force: true }))

describe('examples', () => {
  it.each(names.filter((name) => !servers.has(name)))('%s prints what it says', async (name) => {
    const source = readFileSync(join(folder, name), 'utf8')
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
    })
    const program = join(project, name.replace(/\.ts$/, '.mjs'))
    writeFileSync(program, outputText)

    const done = await runNode([program], { cwd: project })

    expect(done.stderr).toBe('')
    expect(done.code).toBe(0)
    const [code = '', says = ''] = source.split(marker)
    if (update) writeFileSync(join(folder, name), code + marker + asComment(done.stdout))
    else expect(asComment(done.stdout)).toBe(says)
  })

  it('are all listed in their README', () => {
    const listed = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^\| \[(.+?)\]/gm)]
    expect(listed.map(([, name]) => name).sort()).toEqual([...names].sort())
  })
})

describe('README', () => {
  it('shows the example of the reader word for word, with what it prints', () => {
    const path = join(root, 'README.md')
    const readme = readFileSync(path, 'utf8')
    const example = readFileSync(join(folder, 'read-messy-output.ts'), 'utf8')
    const block = /^```ts\n(import \{ parse[\s\S]*?)^```\n/m
    expect(readme).toMatch(block)
    if (update)
      writeFileSync(
        path,
        readme.replace(block, () => `\`\`\`ts\n${example}\`\`\`\n`),
      )
    else expect(block.exec(readme)?.[1]).toBe(example)
  })

  it('shows the run of its example word for word', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const [, shown = '-'] = /^```ts\n(import \{ createApp[\s\S]*?)^```\n/m.exec(readme) ?? []
    expect(readFileSync(join(folder, 'typed-run.ts'), 'utf8')).toContain(shown)
  })
})

function asComment(text: string): string {
  return text
    .trimEnd()
    .replaceAll(/^(?=.)/gm, '// ')
    .replaceAll(/^$/gm, '//')
    .concat('\n')
}
