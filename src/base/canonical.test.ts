import { describe, expect, it } from 'vitest'
import { canonicalJson, canonicalLimits, sha256Hex } from './canonical.ts'
import { ProvisoError } from './errors/error.ts'

describe('canonical JSON', () => {
  it('is the same whatever the order of keys', () => {
    expect(canonicalJson({ b: [1, { d: 1, c: 2 }], a: 1 })).toBe('{"a":1,"b":[1,{"c":2,"d":1}]}')
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}')
    expect(canonicalJson(-0)).toBe('0')
    expect(canonicalJson(null)).toBe('null')
  })

  it('keeps lone surrogates apart, and remains JSON', () => {
    const texts = [
      '\ud800',
      '\ud801',
      '\udc00',
      '\\ud800',
      '\uffffd800',
      '\uffff',
      '\uffff\uffff',
      '\ufffd',
      '😀',
      '\uffff\ud800',
    ]
    expect(new Set(texts.map((text) => canonicalJson({ [text]: [text] }))).size).toBe(texts.length)
    for (const text of texts)
      expect(JSON.parse(canonicalJson({ [text]: [text] }))).toEqual({ [text]: [text] })
  })

  it('keeps a key called __proto__ beside a lone surrogate', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":"\\ud800"}'))).toBe('{"__proto__":"\\ud800"}')
  })

  it('may share an object in two places', () => {
    const shared = { x: 1 }
    expect(canonicalJson([shared, shared])).toBe('[{"x":1},{"x":1}]')
  })

  it('is refused, with the place, for what JSON cannot hold', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = [circle]
    const cases: [unknown, string, string][] = [
      [circle, '/self/0', 'contains itself'],
      [{ a: Number.NaN }, '/a', 'NaN'],
      [{ a: [1, Number.POSITIVE_INFINITY] }, '/a/1', 'Infinity'],
      [{ a: 1n }, '/a', 'bigint'],
      [{ a: () => 1 }, '/a', 'function'],
      [{ a: new Date(0) }, '/a', 'toJSON'],
      [undefined, '', 'undefined'],
    ]
    for (const [value, pointer, words] of cases) {
      const error = caught(() => canonicalJson(value))
      expect(error).toMatchObject({ code: 'json/unrepresentable', at: { pointer } })
      expect(error.message).toContain(words)
    }
  })

  it('is refused for values nested too deeply, without overflowing the stack', () => {
    const deep = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(canonicalJson(deep(canonicalLimits.depth))).toHaveLength(2 * canonicalLimits.depth)
    let endless: unknown = []
    for (let i = 0; i < 100_000; i++) endless = [endless]
    expect(caught(() => canonicalJson(endless)).message).toContain('nested deeper than 1000')
  })

  it('is refused for shared objects that unfold without end', () => {
    let bomb: unknown = 0
    for (let i = 0; i < 40; i++) bomb = [bomb, bomb]
    expect(caught(() => canonicalJson(bomb)).message).toContain('nodes')
  })
})

describe('sha256Hex', () => {
  it('is the SHA-256 of the UTF-8 text', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it('hashes lone surrogates and the replacement character differently', () => {
    const texts = ['\ud800', '\ud801', '\udfff', '\ufffd', 'a\ud800b', 'a\ud801b', '\ud83d\ude00']
    expect(new Set(texts.map(sha256Hex)).size).toBe(texts.length)
  })
})

describe('ProvisoError', () => {
  it('takes fate, exit code and hint from the table unless the thrower knows better', () => {
    const cause = new Error('why')
    const error = new ProvisoError('schema/invalid', 'no', { cause, at: { pointer: '/a' } })
    expect(error).toMatchObject({
      fate: 'fix',
      exitCode: 2,
      hint: 'Correct the schema at the location in `at`',
      cause,
    })
    expect(new ProvisoError('aborted', 'stop')).toMatchObject({ exitCode: 130, fate: 'stopped' })
    expect(new ProvisoError('schema/limit', 'no', { hint: 'other' }).hint).toBe('other')
    expect(new ProvisoError('option/invalid', 'no').hint).toBe('Correct the option that the message names')
  })
})

function caught(run: () => unknown): ProvisoError {
  try {
    run()
  } catch (error) {
    if (error instanceof ProvisoError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
