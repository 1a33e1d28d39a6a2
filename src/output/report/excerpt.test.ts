import { describe, expect, it } from 'vitest'
import { excerpt, excerptValue } from './excerpt.ts'

describe('excerpt', () => {
  it('shows short text as it is', () => {
    expect(excerpt('naïve 名前 👍')).toBe('naïve 名前 👍')
  })

  it('makes invisible characters visible', () => {
    expect(excerpt('a\n\t\r\u0000\u200b\u202e\ufeff\u2028\ud800\u{e0041}b')).toBe(
      'a\\n\\t\\r\\u0000\\u200b\\u202e\\ufeff\\u2028\\ud800\\u{e0041}b',
    )
  })

  it('never exceeds its length and never cuts a pair in half', () => {
    expect(excerpt('x'.repeat(61))).toBe(`${'x'.repeat(59)}…`)
    expect(excerpt('\n'.repeat(60))).toHaveLength(60)
    expect(excerpt(`${'x'.repeat(58)}👍👍👍`)).toBe(`${'x'.repeat(58)}…`)
  })
})

describe('excerptValue', () => {
  it('shows values as JSON and names what JSON cannot hold', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(excerptValue({ a: 'b\nc' })).toBe('{"a":"b\\nc"}')
    expect(excerptValue(undefined)).toBe('undefined')
    expect(excerptValue(1n)).toBe('bigint')
    expect(excerptValue(cycle)).toBe('object')
  })
})
