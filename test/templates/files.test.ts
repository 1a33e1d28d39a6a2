/** Templates from the command line: every example runs and answers as it says, hostile files are refused, runs can be carried on. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requireBuild, root, runCommand } from '../support.ts'

let folder = ''

beforeAll(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'proviso-templates-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const examples = 'examples/templates'
const offline = ['--use', `${examples}/offline.mjs`]

const runs: readonly [file: string, input: readonly string[], output: unknown][] = [
  ['list-files.xml', ['dir=/src'], ['a.ts', 'b.ts']],
  ['free-text.xml', ['name=Ada'], 'Hello, Ada'],
  ['file-info.xml', ['filepath=a.ts'], { name: 'a.ts', size: 1200, language: 'ts' }],
  [
    'review.xml',
    ['{"path": "a.ts"}'],
    { file: 'a.ts', verdict: 'Two halves of 600 bytes', more: 'a.ts, long' },
  ],
  [
    'merge-notes.xml',
    ['{"notes": {"monday": "tea milk", "tuesday": "rain"}}'],
    { topics: ['tea', 'milk', 'rain'] },
  ],
  ['context.xml', ['topic=tea'], ['topic: tea', 'title: All about tea']],
]

describe('the examples', () => {
  it.each(runs)('%s answers as it says', async (file, inputs, output) => {
    const given = inputs.flatMap((input) => ['--input', input])
    const done = await runCommand(['run', `${examples}/${file}`, ...given, ...offline])
    expect(done.stderr).toContain('completed')
    expect(done.code).toBe(0)
    expect(JSON.parse(done.stdout)).toEqual(output)
    const proved = await runCommand(['prove', `${examples}/${file}`, ...given, ...offline])
    expect(proved).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ accepted') })
  })

  it('are all run here', () => {
    const files = readdirSync(join(root, examples)).filter((name) => name.endsWith('.xml'))
    expect(runs.map(([file]) => file).sort()).toEqual(files.sort())
  })
})

describe('hostile files', () => {
  const hostile: readonly [name: string, content: () => string | Uint8Array, says: string][] = [
    ['bomb.xml', () => '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><task>&b;</task>', 'no DOCTYPE'],
    ['huge.xml', () => new Uint8Array(50 * 1024 * 1024).fill(0x41), '52428800 bytes, more than the 262144'],
    ['deep.xml', () => '<task>'.repeat(40_000), 'nested more than 64 deep'],
    ['latin.xml', () => Uint8Array.from([0x3c, 0x74, 0x3e, 0xe9, 0x3c]), 'is not UTF-8'],
  ]

  it.each(hostile)('%s is refused with its place', async (name, content, says) => {
    const file = join(folder, name)
    writeFileSync(file, content())
    const done = await runCommand(['run', file])
    expect(done).toMatchObject({ code: 2, stdout: '' })
    expect(done.stderr).toContain(says)
    expect(done.stderr).toContain(`${file}:1:`)
  })
})

describe('proviso run of a template', () => {
  it('shows what is wrong, with a caret', async () => {
    const done = await runCommand(['run', `${examples}/review.xml`])
    expect(done.code).toBe(2)
    expect(done.stderr).toContain('"path" is not visible here')
    expect(done.stderr).toMatch(/\n +\d+ \| .*\{\{path\}\}.*\n +\| +\^{8}/)
  })

  it('takes inputs from a file, and later ones count', async () => {
    const file = join(folder, 'inputs.json')
    writeFileSync(file, '{"name": "Bob"}')
    const run = ['run', `${examples}/free-text.xml`, ...offline, '--input', `@${file}`]
    expect((await runCommand(run)).stdout).toBe('"Hello, Bob"\n')
    expect((await runCommand([...run, '-i', 'name=Eve'])).stdout).toBe('"Hello, Eve"\n')
  })

  it.each([
    [['--input', 'nonsense'], 'cannot be read'],
    [['--input', '[1]'], 'cannot be read'],
    [['--input', '@/does/not/exist.json'], 'no such file'],
  ])('refuses %j', async (input, says) => {
    const done = await runCommand(['run', `${examples}/free-text.xml`, ...input])
    expect(done.code).toBe(2)
    expect(done.stderr).toContain(says)
  })

  it('says that a run file takes no --input', async () => {
    const done = await runCommand(['run', 'examples/tea.json', '--input', 'a=1'])
    expect(done).toMatchObject({ code: 2, stderr: expect.stringContaining('is neither') })
  })

  it('says what was expected and what came', async () => {
    const use = join(folder, 'wrong.mjs')
    writeFileSync(
      use,
      `import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
       export const wrong = defineCapability({ capabilityId: 'proviso.answer', inputContract: { type: 'object' }, outputContract: {}, run: () => ({}) })`,
    )
    const done = await runCommand(['run', `${examples}/list-files.xml`, '-i', 'dir=/', '--use', use])
    expect(done).toMatchObject({ code: 3, stdout: '' })
    expect(done.stderr).toContain('Expected output of type "string[]" but got "object"')
  })

  it('waits for a person who does a task, and continues from the file when it was answered', async () => {
    const use = join(folder, 'person.mjs')
    writeFileSync(
      use,
      `import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
       export const person = defineCapability({ capabilityId: 'proviso.answer', kind: 'human', inputContract: { type: 'object' }, outputContract: {} })`,
    )
    const [file, store] = [`${examples}/free-text.xml`, `sqlite:${join(folder, 'runs.db')}`]
    const more = ['--use', use, '--store', store]
    const waiting = await runCommand(['run', file, '-i', 'name=Ada', '--run-id', 'r1', ...more])
    expect(waiting.code).toBe(6)
    const done = await runCommand([
      ...['reply', 'r1:ask:1', 'answer', '--value', '"{\\"greeting\\": \\"Hello\\"}"', '--by', 'ada'],
      ...['--file', file, ...more],
    ])
    // A person's text is read like a model's: JSON becomes its value.
    expect(done).toMatchObject({ code: 0, stdout: '{\n  "greeting": "Hello"\n}\n' })
  })
})
