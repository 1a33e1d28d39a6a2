/** `proviso parse --lines`: many texts through one process, for programs in other languages. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { proviso, requireBuild, root } from '../support.ts'

let folder = ''
const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const encode = (...texts: unknown[]) => texts.map((text) => `${JSON.stringify(text)}\n`).join('')
const answers = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

beforeAll(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'proviso-lines-'))
  writeFileSync(join(folder, 's.json'), JSON.stringify(schema))
  writeFileSync(join(folder, 'bad.json'), '{"type": "nonsense"}')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (stdin: string | Uint8Array, ...args: string[]) =>
  proviso(['parse', '--lines', ...args], { cwd: folder, stdin })

it('answers each text with one line, in order', async () => {
  const done = await run(encode('Here:\n{"n": "1",}', '{"n": 2}'), '-s', 's.json')
  expect(done.code).toBe(0)
  expect(answers(done.stdout)).toMatchObject([
    { ok: true, value: { n: 1 }, diagnostics: [{}, { range: { start: { line: 1 } } }, {}] },
    { ok: true, value: { n: 2 }, diagnostics: [] },
  ])
})

it('continues after a text that does not meet the contract and ends with 3', async () => {
  const done = await run(encode('Sorry.', '{"n": 2}'), '-s', 's.json')
  expect(done.code).toBe(3)
  expect(answers(done.stdout).map(({ ok }) => ok)).toEqual([false, true])
})

it('answers a line that is no JSON string, and one without a line end', async () => {
  const done = await run(`${encode(5)}{"n": 1}\n\n${JSON.stringify('{"n": 3}')}`, '-s', 's.json')
  expect(answers(done.stdout)).toMatchObject([
    { ok: false, issues: [{ code: 'input/unreadable', message: expect.stringContaining('Line 1') }] },
    { ok: false, issues: [{ message: expect.stringContaining('Line 2') }] },
    { ok: false, issues: [{ message: expect.stringContaining('Line 3') }] },
    { ok: true, value: { n: 3 } },
  ])
})

it('answers while stdin is open', async () => {
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'parse', '--lines'], { cwd: folder })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  for (const text of ['[1,]', '[2]']) {
    child.stdin.write(encode(text))
    expect(JSON.parse((await lines.next()).value)).toMatchObject({
      ok: true,
      value: JSON.parse(text.replace(',', '')),
    })
  }
  const closed = once(child, 'close')
  child.stdin.end()
  expect((await closed)[0]).toBe(0)
})

it.each([
  ['a schema that cannot be used', encode('{}'), ['-s', 'bad.json'], '/type'],
  ['a schema that is missing', encode('{}'), ['-s', 'nowhere.json'], 'no such file'],
  ['a line that is too long', encode('x'.repeat(2000)), ['--max-bytes', '1000'], '--max-bytes'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22, 0x0a]), [], 'not UTF-8'],
])('ends with 2 for %s, and says why on both streams', async (_, stdin, args, message) => {
  const done = await run(stdin, ...args)
  expect(done.code).toBe(2)
  expect(done.stderr).toContain(message)
  expect(answers(done.stdout)).toMatchObject([{ ok: false, issues: [{}] }])
})

it.each(['--watch', '--stream'])('cannot be combined with %s', async (flag) => {
  expect(await run('', flag)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--lines'),
  })
})
