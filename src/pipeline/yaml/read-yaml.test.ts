import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { describeSourceIssue } from '../text/source.ts'
import { readYaml } from './read-yaml.ts'
import { nodeAt } from './yaml-tree.ts'

const value = (text: string) => {
  const read = readYaml(text)
  if (!read.ok) throw new Error(read.issues.map(describeSourceIssue).join('\n'))
  return read.document.value
}

const refused = (given: string | Uint8Array) => {
  const began = performance.now()
  const read = readYaml(given, 'p.yaml')
  expect(performance.now() - began).toBeLessThan(1_000)
  if (read.ok) throw new Error('it was read')
  for (const issue of read.issues) {
    expect(issue.line).toBeGreaterThan(0)
    expect(issue.column).toBeGreaterThan(0)
    expect(issue.excerpt).toContain('^')
  }
  return read.issues
}

describe('values', () => {
  it('reads on, off, yes and no as the words that were written, as keys and as values', () => {
    expect(value('on: off\nyes: no\ny: n')).toEqual({ on: 'off', yes: 'no', y: 'n' })
    expect(value('%YAML 1.1\n---\non: off\n1: 010')).toEqual({ on: 'off', '1': 10 })
  })

  it('reads the styles of YAML, CRLF and a byte order mark', () => {
    expect(value('\ufeffa: |\r\n  x\r\n  y\r\nb: >-\r\n  p\r\n  q\r\nc: {d: [1, "2", \'3\']}\r\n')).toEqual({
      a: 'x\ny\n',
      b: 'p q',
      c: { d: [1, '2', '3'] },
    })
    expect(value('')).toBe(null)
    expect(value('[a: 1, b]')).toEqual([{ a: 1 }, 'b'])
  })

  it('fills in aliases and merges, own keys first', () => {
    const text = 'base: &b {x: 1, y: 2}\nuse: {<<: *b, y: 3}\nmore: {<<: [{z: 1}, *b]}\nlist: [*b]'
    expect(value(text)).toMatchObject({
      use: { x: 1, y: 3 },
      more: { z: 1, x: 1, y: 2 },
      list: [{ x: 1, y: 2 }],
    })
  })

  it('keeps __proto__ an ordinary key', () => {
    const read = value('__proto__: {polluted: true}') as object
    expect(Object.keys(read)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  })

  it('reads what another writer of YAML wrote', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (json) => {
        fc.pre(!JSON.stringify(json).includes('e+') && !Object.is(json, -0))
        const text = stringify(json, { version: '1.2' })
        const read = readYaml(text)
        if (!read.ok) return /[^\t\n\r\x20-\x7e\u00a0-\uffff]|e\d/.test(text) || /\d{16}/.test(text)
        expect(JSON.stringify(read.document.value)).toBe(JSON.stringify(JSON.parse(JSON.stringify(json))))
        return true
      }),
      { seed: 7, numRuns: 500 },
    )
  })
})

describe('places', () => {
  it('gives every value, key and comment its range', () => {
    const text = '# top\nsteps:\n  - name: a # why\n    input: "{{ x }}"\n'
    const read = readYaml(text)
    if (!read.ok) throw new Error('unread')
    const { root, comments } = read.document
    const { node, entry } = nodeAt(root, '/steps/0/input')
    expect(text.slice(...node.range)).toBe('"{{ x }}"')
    expect(text.slice(...(entry?.keyRange ?? [0, 0]))).toBe('input')
    expect(comments.map((comment) => text.slice(...comment.range))).toEqual(['# top', '# why'])
  })

  it('does not take a hash inside a text for a comment', () => {
    const read = readYaml('a: |\n  # proviso: ignore\nb: "# x"\n')
    expect(read.ok && read.document.comments).toEqual([])
  })
})

describe('refusals, each with line, column and a caret', () => {
  it('shows a broken line', () => {
    const [issue] = refused('steps:\n  - name: [a\n')
    expect(issue && describeSourceIssue(issue)).toMatchInlineSnapshot(`
      "p.yaml:3:1: flow sequence in block collection must be sufficiently indented and end with a ]
        3 | 
          | ^
        Align the keys of one map, and close every bracket"
    `)
  })

  it('names both places of a key that is given twice', () => {
    const [issue] = refused('steps: []\nname: a\nsteps: []\n')
    expect(issue).toMatchObject({ code: 'pipeline/duplicate-key', line: 3, column: 1 })
    expect(issue?.message).toContain('line 1')
  })

  it.each([
    ['a custom tag', 'a: !!js/function "x"', 'pipeline/yaml'],
    ['an include', 'a: !include /etc/passwd', 'pipeline/yaml'],
    ['two documents', 'a: 1\n---\nb: 2', 'pipeline/yaml'],
    ['a tab as indent', 'a:\n\tb: 1', 'pipeline/yaml'],
    ['infinity', 'a: .inf', 'pipeline/value'],
    ['a number that loses digits', 'a: 12345678901234567890', 'pipeline/value'],
    ['a list as key', '? [a]\n: 1', 'pipeline/key'],
    ['an unknown alias', 'a: *b', 'pipeline/alias'],
    ['an alias inside itself', 'a: &a [*a]', 'pipeline/alias'],
    ['a control character', 'a: "\u0001"', 'pipeline/yaml'],
    ['a merge of a text', 'a: {<<: x}', 'pipeline/value'],
  ])('%s', (_what, text, code) => {
    expect(refused(text)[0]?.code).toBe(code)
  })

  it('says where bytes are no UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('a: ä\nb: '), Buffer.from([0xff]), Buffer.from('\n')])
    expect(refused(bytes)[0]).toMatchObject({ code: 'pipeline/utf-8', line: 2, column: 4 })
  })
})

describe('hostile files are refused within a second', () => {
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]']
  for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg'].map((pair) => [...pair]))
    bomb.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(',')}]`)

  it.each([
    ['50 MB', 'a'.repeat(50_000_000), 'bytes'],
    ['aliases of aliases', bomb.join('\n'), 'aliases'],
    ['deep brackets', '['.repeat(90_000), 'deep'],
    ['deep braces', '{a: '.repeat(20_000), 'deep'],
    ['deep dashes', '- '.repeat(40_000), 'deep'],
    ['deep question marks', '? '.repeat(40_000), 'deep'],
    ['deep indents', Array.from({ length: 400 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), 'deep'],
    ['a long line', `a: "${'x'.repeat(200_000)}"`, 'line 1'],
  ])('%s', (_what, text, word) => {
    expect(refused(text)[0]?.message).toContain(word)
  })

  it('takes long files of every shape in good time', () => {
    const shapes = [
      'a\n'.repeat(120_000),
      ': \n'.repeat(80_000),
      Array.from({ length: 20_000 }, (_, i) => `k${i}: v`).join('\n'),
      `a: |\n${'  x\n'.repeat(60_000)}`,
      `a: "${'\\n\n'.repeat(60_000)}"`,
      '#\n'.repeat(120_000),
      '\n'.repeat(250_000),
      '&a '.repeat(30_000),
      '!x '.repeat(30_000),
      `[${'a,'.repeat(49_000)}]`,
      `{${'a,\n'.repeat(49_000)}}`,
      '- \n'.repeat(60_000),
      '"\n'.repeat(100_000),
      '%a\n'.repeat(80_000),
    ]
    for (const shape of shapes) {
      // CPU time, ten times the goal: independent of other load on the machine.
      const before = process.cpuUsage()
      readYaml(shape)
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1_000, JSON.stringify(shape.slice(0, 12))).toBeLessThan(10_000)
    }
  })
})
