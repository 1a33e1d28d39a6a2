/** Diagnostics of `proviso parse`: every issue and repair has a range that an editor understands, and a line that a problem matcher reads. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ParseOptions, parse } from '../../src/output/index.ts'
import { noiseCorpus } from '../../src/testing/index.ts'
import { type Diagnostic, locateResult, problemLine, toDiagnostics } from '../seams/cli.ts'
import { proviso, requireBuild, root } from '../support.ts'

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' }, tags: { type: 'array' } },
  required: ['name', 'age'],
  additionalProperties: false,
}

/** What an editor does with a position: it takes the byte order mark off, and lines end with CRLF, LF or CR. */
function toOffset(text: string, { line, character }: { line: number; character: number }): number {
  const mark = text.startsWith('\ufeff') ? 1 : 0
  const lines = text.slice(mark).split(/(?<=\r\n|\r(?!\n)|\n)/)
  // A text that ends with a line end has one more, empty line.
  if (/[\r\n]$/.test(text)) lines.push('')
  const found = lines[line]
  if (found === undefined && !(line === 0 && text.length === mark)) throw new Error(`no line ${line}`)
  const width = (found ?? '').replace(/[\r\n]+$/, '').length
  if (character > width) throw new Error(`no character ${character} in line ${line}`)
  return mark + lines.slice(0, line).join('').length + character
}

function diagnose(text: string, schema?: object, options?: ParseOptions): Diagnostic[] {
  return toDiagnostics(parse(text, schema as never, options), 'a.txt', undefined)
}

/** The text under each diagnostic, by code. */
function marked(text: string, schema?: object, options?: ParseOptions): Record<string, string> {
  return Object.fromEntries(
    diagnose(text, schema, options).map(({ code, range }) => [
      code,
      text.slice(toOffset(text, range.start), toOffset(text, range.end)),
    ]),
  )
}

describe('ranges', () => {
  it('marks what was changed, and the value that breaks the schema', () => {
    const text = 'Sure:\n{"name": \'Ada\', "Age": "36", "tags": "[1]", "extra": {"a": 1},}'
    expect(marked(text, person)).toEqual({
      'repair/surroundings': 'Sure:\n',
      'repair/single-quotes': "'Ada'",
      'repair/trailing-comma': ',',
      'repair/key': '"Age"',
      'repair/str->int': '"36"',
      'repair/str->array': '"[1]"',
      'repair/drop-key': '"extra": {"a": 1}',
    })
    expect(marked('{"name": "Ada", "age": [1, 2]}', person)).toMatchObject({ 'schema/type': '[1, 2]' })
  })

  it('marks the opening bracket of an object that lacks a property', () => {
    expect(diagnose('\n  {"name": "Ada"}', person)).toEqual([
      {
        file: 'a.txt',
        range: { start: { line: 1, character: 2 }, end: { line: 1, character: 3 } },
        severity: 1,
        code: 'schema/required',
        source: 'proviso',
        message: 'the property "age" is missing',
        pointer: '/age',
      },
    ])
  })

  it.each([
    ['CRLF', 'a\r\nb\r\n{"name": "Ada", "age": "36"}', { line: 2, character: 23 }],
    ['CR alone', 'a\rb\r{"name": "Ada", "age": "36"}', { line: 2, character: 23 }],
    ['a surrogate pair, which counts two', '{"name": "🍵", "age": "36"}', { line: 0, character: 22 }],
    ['a tab, which counts one', '{\t"name": "Ada",\t"age": "36"}', { line: 0, character: 24 }],
    [
      'a byte order mark, which counts nothing',
      '\ufeff{"name": "Ada", "age": "36"}',
      { line: 0, character: 23 },
    ],
    ['line separators, which end no line', '{"name": "\u2028", "age": "36"}', { line: 0, character: 21 }],
  ])('counts as editors do: %s', (_, text, start) => {
    const found = diagnose(text, person).find(({ code }) => code === 'repair/str->int')
    expect(found?.range).toEqual({ start, end: { ...start, character: start.character + 4 } })
  })

  it('has an empty range where something was inserted, also at the end of the text', () => {
    const text = '{"name": "Ada",\r\n"age": 36'
    const found = diagnose(text, person).filter(({ code }) => code.startsWith('repair/'))
    const end = { line: 1, character: 9 }
    expect(found.length).toBeGreaterThan(0)
    for (const { range } of found) expect(range).toEqual({ start: end, end })
  })

  it('has a range for an empty text', () => {
    const start = { line: 0, character: 0 }
    expect(diagnose('', person)).toMatchObject([{ code: 'output/empty', range: { start, end: start } }])
    expect(diagnose('\ufeff', person)[0]?.range.start).toEqual(start)
  })

  it('follows a value out of its wrapper and through renamed keys', () => {
    const text = '{"result": {"Name": "Ada", "AGE": "36"}}'
    expect(marked(text, person)).toMatchObject({ 'repair/lift': text, 'repair/str->int': '"36"' })
    const nested = {
      type: 'object',
      properties: { people: { type: 'array', items: person } },
      required: ['people'],
    }
    const list = '{"People": [{"Name": "Ada", "age": "x"}]}'
    expect(marked(list, nested)).toMatchObject({ 'schema/type': '"x"' })
    const single = '{"people": {"name": "Ada", "Age": 36}}'
    expect(marked(single, nested)).toMatchObject({
      'repair/wrap': single.slice(11, -1),
      'repair/key': '"Age"',
    })
  })

  it('marks a whole string for what was unfolded from it', () => {
    const text = '{"name": "Ada", "age": 36, "tags": "[1, 2]"}'
    const tags = {
      ...person,
      properties: { ...person.properties, tags: { type: 'array', items: { type: 'string' } } },
    }
    const ranges = diagnose(text, tags).map(({ range }) => range.start.character)
    expect(new Set(ranges)).toEqual(new Set([35]))
  })
})

describe('pointers', () => {
  it('names the member around an edit of the text', () => {
    const text = '{"name": "Ada", "age": 36, "tags": [{"a": \'x\'}, 2,]}'
    const found = Object.fromEntries(diagnose(text, person).map(({ code, pointer }) => [code, pointer]))
    expect(found).toEqual({ 'repair/single-quotes': '/tags/0/a', 'repair/trailing-comma': '/tags' })
  })
})

describe('for every text', () => {
  const schemas = [
    undefined,
    person,
    { type: 'array', items: person },
    { type: 'string' },
    { type: 'integer' },
  ]
  const fragments = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      ':',
      ',',
      '\r',
      '\n',
      '\r\n',
      '\t',
      '\ufeff',
      '🍵',
      '\ud83c',
      '```json\n',
    ],
    ...[
      '"name"',
      '"age"',
      'name',
      'Age',
      '"36"',
      '36',
      'true',
      'None',
      ' ',
      '<think>',
      '\\',
      '//x\n',
      '\u2028',
    ],
  )
  const texts = fc.oneof(
    fc.array(fragments, { maxLength: 24 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(...[...noiseCorpus({ seed: 15, count: 400, combine: true })].map(({ text }) => text)),
    fc
      .constantFrom(...[...noiseCorpus({ seed: 16, count: 200 })].map(({ text }) => text))
      .map((text) => `\ufeff${text.replaceAll('\n', '\r\n')}`),
  )

  it('ranges lie in the text, start before they end, and lead back to the same offsets', {
    timeout: 120_000,
  }, () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...schemas), fc.boolean(), (text, schema, acceptTruncated) => {
        const result = parse(text, schema, { acceptTruncated })
        const { issues, repairs } = locateResult(result)
        const ranges = [...issues, ...repairs].map(({ range }) => range)
        const diagnostics = toDiagnostics(result, 'a.txt', undefined)
        expect(diagnostics.length).toBe(ranges.length)
        diagnostics.forEach(({ range }, i) => {
          const [start, end] = (ranges[i] as [number, number]).map((offset) => visible(text, offset))
          expect([toOffset(text, range.start), toOffset(text, range.end)]).toEqual([start, end])
          expect(start).toBeLessThanOrEqual(end as number)
          expect(end).toBeLessThanOrEqual(text.length)
        })
      }),
      { seed: 15, numRuns: 1_500 },
    )
  })

  it('an edit of the text is marked where it was made', () => {
    for (const { text, schema } of noiseCorpus({ seed: 17, count: 300 })) {
      const result = parse(text, schema)
      const located = locateResult(result).repairs
      result.repairs.forEach(({ at, before }, i) => {
        if ('span' in at) expect(text.slice(...(located[i]?.range ?? [0, 0]))).toBe(before)
      })
    }
  })

  /** Editors know no place before the byte order mark nor inside of a CRLF. */
  function visible(text: string, offset: number): number {
    if (offset === 0 && text.startsWith('\ufeff')) return 1
    return text[offset] === '\n' && text[offset - 1] === '\r' ? offset - 1 : offset
  }
})

describe('proviso parse', () => {
  let folder = ''
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return name
  }
  const run = (...args: string[]) => proviso(['parse', ...args], { cwd: folder })

  beforeAll(() => {
    requireBuild()
    folder = mkdtempSync(join(tmpdir(), 'proviso-diagnostics-'))
    file('person.json', JSON.stringify(person))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('--json has the diagnostics beside the fields it always had', async () => {
    const { code, stdout } = await run(
      '--json',
      '-s',
      'person.json',
      file('a.txt', '{"name": "Ada", "age": "x"}'),
    )
    const result = JSON.parse(stdout)
    expect(code).toBe(3)
    expect(Object.keys(result)).toEqual(['ok', 'repairs', 'issues', 'truncated', 'branches', 'diagnostics'])
    expect(result.diagnostics).toEqual([
      {
        file: 'a.txt',
        range: { start: { line: 0, character: 23 }, end: { line: 0, character: 26 } },
        severity: 1,
        code: 'schema/type',
        source: 'proviso',
        message: expect.stringContaining('integer'),
        pointer: '/age',
      },
    ])
  })

  it('--json has no diagnostics for a clean text', async () => {
    const { stdout } = await run('--json', file('clean.txt', '{"a": 1}'))
    expect(JSON.parse(stdout).diagnostics).toEqual([])
  })

  it.each([
    ['breaks its own rules', '{\n  "type": "nonsense"\n}', { line: 1, character: 10 }, 'schema/invalid'],
    ['is not JSON', '{\n  "type": "object",\n}', { line: 2, character: 0 }, 'input/unreadable'],
  ])('--json locates what is wrong in a schema that %s', async (_, schema, start, code) => {
    const done = await run('--json', '-s', file('bad.json', schema), file('a.txt', '{}'))
    expect(done.code).toBe(2)
    expect(done.stderr).toContain('error')
    expect(JSON.parse(done.stdout)).toMatchObject({
      ok: false,
      diagnostics: [{ file: 'bad.json', code, severity: 1, range: { start } }],
    })
  })

  it('--json says which file is missing', async () => {
    const done = await run('--json', 'nowhere.txt')
    expect(done.code).toBe(2)
    expect(JSON.parse(done.stdout).diagnostics).toMatchObject([
      { file: 'nowhere.txt', code: 'input/unreadable' },
    ])
  })

  it('notes an unknown $schema as a warning in the schema file', async () => {
    const schema = file('odd.json', '{"type": "object",\n "$schema": "https://example.com/mine"}')
    const { code, stdout } = await run('--json', '-s', schema, file('a.txt', '{}'))
    expect(code).toBe(0)
    expect(JSON.parse(stdout).diagnostics).toMatchObject([
      {
        file: 'odd.json',
        severity: 2,
        code: 'schema/unknown-dialect',
        range: { start: { line: 1, character: 12 } },
      },
    ])
  })

  it('--problems prints one line for each, and the value as always', async () => {
    const { code, stdout, stderr } = await run(
      '--problems',
      '-s',
      'person.json',
      file('a.txt', 'Sure!\n{"name": "Ada", "age": "36",}'),
    )
    expect({ code, value: JSON.parse(stdout) }).toEqual({ code: 0, value: { name: 'Ada', age: 36 } })
    expect(stderr.trimEnd().split('\n')).toEqual([
      'a.txt:1:1: info repair/surroundings: text around the value was left out: Sure! → nothing',
      'a.txt:2:28: warning repair/trailing-comma: a superfluous comma was removed: , → nothing',
      'a.txt:2:24: warning repair/str->int: a string was read as an integer: "36" → 36',
    ])
  })

  it('--problems is what the problem matcher of the reference reads', async () => {
    const page = readFileSync(join(root, 'docs/reference/cli.md'), 'utf8')
    const [, block = '{}'] = /```json\n(\{\n {2}"version"[\s\S]*?)```/.exec(page) ?? []
    const { pattern, background } = JSON.parse(block).tasks[0].problemMatcher
    const { stderr } = await run('--problems', '-s', 'person.json', file('a.txt', '{"name": 1, "age": "x"}'))
    const [, ...found] = new RegExp(pattern.regexp).exec(stderr.trimEnd().split('\n')[0] as string) ?? []
    const names = ['file', 'line', 'column', 'severity', 'code'].map((name) => found[pattern[name] - 1])
    expect(names).toEqual(['a.txt', '1', '20', 'error', 'schema/type'])
    expect('--- reading 1, 10:00:00').toMatch(new RegExp(background.beginsPattern))
    expect('--- watching a.txt; end with Ctrl-C').toMatch(new RegExp(background.endsPattern))
  })

  it('--problems stays on one line whatever a text holds', () => {
    for (const { text, schema } of noiseCorpus({ seed: 18, count: 200 })) {
      for (const one of toDiagnostics(parse(text, schema), 'a.txt', undefined))
        expect(problemLine(one)).toMatch(/^a\.txt:\d+:\d+: (error|warning|info) \S+: .+$/)
    }
  })
})
