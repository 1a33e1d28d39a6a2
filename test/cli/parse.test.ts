/** Promises of the command `proviso`, tested on the built file with real pipes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { proviso, requireBuild, root, runCommand } from '../support.ts'

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
}
const messy = 'Sure! Here you go:\n```json\n{"name": "Ada", "age": "36",}\n```\nAnything else?'

let folder = ''
let schemaFile = ''

/** Writes a file for one test and returns its path. */
function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

beforeAll(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'proviso-cli-'))
  schemaFile = file('schema.json', JSON.stringify(schema))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('proviso parse', () => {
  it('prints the value of a messy text on stdout and nothing else', async () => {
    expect(await runCommand(['parse', '--schema', schemaFile], { stdin: messy })).toEqual({
      code: 0,
      stdout: '{\n  "name": "Ada",\n  "age": 36\n}\n',
      stderr: '',
    })
  })

  it('reads a file, and stdin by the name "-"', async () => {
    const fromFile = await runCommand(['parse', '-s', schemaFile, file('answer.txt', messy)])
    const fromStdin = await runCommand(['parse', '-s', schemaFile, '-'], { stdin: messy })
    expect(fromFile).toEqual(fromStdin)
    expect(fromFile.code).toBe(0)
  })

  it('notes an unknown $schema on stderr and reads on', async () => {
    const unknown = file('unknown.json', '{"$schema": "https://example.com/mine", "type": "object"}')
    const { code, stdout, stderr } = await runCommand(['parse', '--schema', unknown], { stdin: messy })
    expect({ code, value: JSON.parse(stdout) }).toEqual({ code: 0, value: { name: 'Ada', age: '36' } })
    expect(stderr).toContain('"https://example.com/mine"')
  })

  it('reads without a schema', async () => {
    const done = await runCommand(['parse'], { stdin: 'The list is [1, 2, 3].' })
    expect(done.code).toBe(0)
    expect(JSON.parse(done.stdout)).toEqual([1, 2, 3])
  })

  it('explains on stderr and leaves stdout to the value', async () => {
    const done = await runCommand(['parse', '--schema', schemaFile, '--explain'], { stdin: messy })
    expect(done.code).toBe(0)
    expect(JSON.parse(done.stdout)).toEqual({ name: 'Ada', age: 36 })
    expect(done.stderr).toContain('36')
  })

  it('prints one object on one line with --json', async () => {
    const done = await runCommand(['parse', '--schema', schemaFile, '--json'], { stdin: messy })
    expect(done.code).toBe(0)
    expect(done.stdout.trimEnd()).not.toContain('\n')
    const result = JSON.parse(done.stdout)
    expect(Object.keys(result)).toEqual([
      'ok',
      'value',
      'repairs',
      'issues',
      'truncated',
      'branches',
      'diagnostics',
    ])
    expect(result).toMatchObject({ ok: true, value: { name: 'Ada', age: 36 }, issues: [], truncated: false })
    expect(result.repairs.length).toBeGreaterThan(0)
  })

  it('says where the contract is unmet, prints no value and exits with 3', async () => {
    const done = await runCommand(['parse', '--schema', schemaFile], { stdin: '{"name": "Ada"}' })
    expect(done.code).toBe(3)
    expect(done.stdout).toBe('')
    expect(done.stderr).toContain('age')
  })

  it('gives the same account as data with --json', async () => {
    const done = await runCommand(['parse', '--schema', schemaFile, '--json'], { stdin: '{"name": "Ada"}' })
    expect(done.code).toBe(3)
    const result = JSON.parse(done.stdout)
    expect(result.ok).toBe(false)
    expect(result).not.toHaveProperty('value')
    expect(result.issues.length).toBeGreaterThan(0)
  })

  it('reads strictly with --aop off', async () => {
    expect((await runCommand(['parse', '--aop', 'off'], { stdin: messy })).code).toBe(3)
    expect((await runCommand(['parse', '--aop', 'off'], { stdin: '{"a": 1}' })).code).toBe(0)
  })

  it('never converts types with --aop minimal', async () => {
    const done = await runCommand(['parse', '--schema', schemaFile, '--aop', 'minimal'], { stdin: messy })
    expect(done.code).toBe(3)
    expect(done.stderr).toContain('/age')
  })

  it('passes --prefer on', async () => {
    const stdin = 'Either {"a": 1} or {"a": 2}.'
    expect(JSON.parse((await runCommand(['parse', '--prefer', 'first'], { stdin })).stdout)).toEqual({ a: 1 })
    expect(JSON.parse((await runCommand(['parse', '--prefer', 'last'], { stdin })).stdout)).toEqual({ a: 2 })
  })

  it('keeps a string that was cut off only with --accept-truncated', async () => {
    const stdin = '{"name": "Ada Lovel'
    const strict = await runCommand(['parse', '--json'], { stdin })
    expect(JSON.parse(strict.stdout).truncated).toBe(true)
    expect(strict.stdout).not.toContain('"name":"Ada Lovel"')
    const lenient = await runCommand(['parse', '--json', '--accept-truncated'], { stdin })
    expect(lenient.code).toBe(0)
    expect(JSON.parse(lenient.stdout)).toMatchObject({ value: { name: 'Ada Lovel' }, truncated: true })
  })

  it('changes nothing with --shadow and says what it would have done', async () => {
    const done = await runCommand(['parse', '--schema', schemaFile, '--shadow', '--json'], { stdin: messy })
    expect(done.code).toBe(3)
    const result = JSON.parse(done.stdout)
    expect(result.ok).toBe(false)
    expect(result.shadow).toMatchObject({ ok: true, value: { name: 'Ada', age: 36 } })
    expect(done.stderr).not.toBe('')
  })

  it('prints finished parts and then the result with --stream', async () => {
    const done = await runCommand(['parse', '--stream'], { stdin: '{"a": 1, "b": [true]}' })
    const lines = done.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(done.code).toBe(0)
    expect(lines).toContainEqual({ finished: '/a', value: 1 })
    expect(lines).toContainEqual({ finished: '/b', value: [true] })
    expect(lines.at(-1)).toMatchObject({ ok: true, value: { a: 1, b: [true] }, repairs: [] })
  })

  it('shows a part while the rest of the text is still to come', async () => {
    const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'parse', '--stream'])
    child.stdin.write('{"first": {"done": true}, "second": ')
    const [chunk] = await once(child.stdout, 'data')
    expect(String(chunk)).toContain('"finished":"/first/done"')
    child.stdin.end('2}')
    expect((await once(child, 'close'))[0]).toBe(0)
  })
})

describe('proviso schema portability', () => {
  it('says what each provider enforces, weakens or refuses, and why', async () => {
    const path = file(
      'map.json',
      JSON.stringify({ type: 'object', additionalProperties: { type: 'number' } }),
    )
    const done = await runCommand(['schema', 'portability', path])
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.stdout).toContain('openai  refused')
    expect(done.stdout).toContain('refused  (root): an object with free keys cannot be said')
    expect(done.stdout).toContain('xgrammar  enforced')
  })

  it('prints the same as data, with the schema that would be sent', async () => {
    const { code, stdout } = await runCommand(['schema', 'portability', schemaFile, '--json'])
    expect(code).toBe(0)
    const { providers } = JSON.parse(stdout)
    expect(providers.map(({ provider }: { provider: string }) => provider)).toEqual([
      'openai',
      'anthropic',
      'google',
      'outlines',
      'xgrammar',
    ])
    expect(providers[0]).toMatchObject({ verdict: 'enforced', schema: { additionalProperties: false } })
  })

  it('ends with 2 for a schema that cannot be used', async () => {
    const path = file('broken-schema.json', '{"type": "nonsense"}')
    expect(await runCommand(['schema', 'portability', path])).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('input that cannot be read ends with 2 and says what to do', () => {
  it.each([
    ['a missing file', () => [join(folder, 'nowhere.txt')], 'no such file'],
    ['a folder', () => [folder], 'it is a folder'],
    ['a schema that is missing', () => ['--schema', join(folder, 'nowhere.json')], 'no such file'],
    [
      'a schema that is not JSON, with the place',
      () => ['--schema', file('broken.json', '{\n  "type": "object",\n}')],
      'broken.json:3:1',
    ],
    [
      'a schema that is not JSON, with a location that V8 does not report',
      () => ['--schema', file('yaml.json', '{"type": object}')],
      'yaml.json:1:10',
    ],
    [
      'a schema that is no schema',
      () => ['--schema', file('list.json', '[]')],
      'must be an object, true or false',
    ],
    [
      'a schema that breaks its own rules',
      () => ['--schema', file('bad.json', '{"type": "nonsense"}')],
      '/type',
    ],
    ['a text that is too long', () => ['--max-bytes', '3', file('long.txt', '{"a": 1}')], '--max-bytes'],
    [
      'a text in another encoding, with the byte',
      () => [file('latin.txt', Buffer.from('{"a": "caf\xe9"}', 'latin1'))],
      'near offset 10',
    ],
    ['UTF-16', () => [file('utf16.txt', Buffer.from('\ufeff{"a": 1}', 'utf16le'))], 'UTF-16'],
    [
      'a text that ends inside a character',
      () => [file('cut.txt', Buffer.from('{"a": "é').subarray(0, -1))],
      'middle of a character',
    ],
  ])('%s', async (_, args, message) => {
    const done = await runCommand(['parse', ...args()], { stdin: '{}' })
    expect(done.stderr).toContain(message)
    expect(done.stderr.trimEnd().split('\n').length, done.stderr).toBe(2)
    expect(done.stdout).toBe('')
    expect(done.code).toBe(2)
  })

  it('also when stdin is longer than the limit', async () => {
    const done = await runCommand(['parse', '--max-bytes', '1000'], { stdin: ' '.repeat(1_000_000) })
    expect(done.code).toBe(2)
    expect(done.stderr).toContain('stdin is longer than 1000 bytes')
  })
})

describe('usage', () => {
  it.each([
    ['an unknown command', ['parze'], 'Did you mean parse?'],
    ['an unknown option', ['parse', '--shema', 'x'], 'Did you mean --schema?'],
    ['a value outside the choices', ['parse', '--tolerance', '3'], 'Allowed choices are 0, 1, 2'],
    ['a limit that is no number', ['parse', '--max-bytes', 'many'], 'whole number'],
    ['two files', ['parse', 'a', 'b'], 'too many arguments'],
    ['no command', [], 'Usage: proviso'],
  ])('refuses %s with 2', async (_, args, message) => {
    const done = await runCommand(args)
    expect(done.code).toBe(2)
    expect(done.stderr).toContain(message)
  })

  it.each([[['--help']], [['parse', '--help']], [['help', 'parse']]])('helps on %j', async (args) => {
    const done = await runCommand(args)
    expect(done.code).toBe(0)
    expect(done.stdout).toContain('Exit codes:')
  })

  it('knows its version', async () => {
    expect((await proviso(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('proviso schema', () => {
  it('prints the same hash for every spelling of a schema', async () => {
    const other = file(
      'other.json',
      '{"required":["name","age"],\n"properties":{"age":{"type":"integer"},"name":{"type":"string"}},"type":"object"}',
    )
    const hash = await runCommand(['schema', 'hash', schemaFile])
    expect(hash.stdout).toMatch(/^[0-9a-f]{64}\n$/)
    expect((await runCommand(['schema', 'hash', other])).stdout).toBe(hash.stdout)
  })

  it('prints a simplified schema', async () => {
    const done = await runCommand(['schema', 'simplify', schemaFile])
    expect(done.code).toBe(0)
    expect(JSON.parse(done.stdout)).toHaveProperty('properties')
  })

  it.each(['hash', 'simplify'])('refuses to %s what is no schema', async (command) => {
    expect((await runCommand(['schema', command, join(folder, 'nowhere.json')])).code).toBe(2)
  })
})

describe('being a good neighbour', () => {
  it('ends quietly when the reader of a pipe has seen enough', async () => {
    const big = file('big.json', JSON.stringify(Array.from({ length: 50_000 }, (_, i) => `item ${i}`)))
    const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'parse', big])
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code] = await once(child, 'close')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('exits with 130 when interrupted', async () => {
    const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'parse', '--stream'])
    child.stdin.write('{"a": 1, ')
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    expect((await once(child, 'close'))[0]).toBe(130)
  })
})
