import { describe, expect, it } from 'vitest'
import { ProvisoError } from '../../base/errors/error.ts'
import { compileSchema } from '../compile/compile.ts'
import { linearRegex, nativeRegex } from './regex.ts'

describe('the linear engine', () => {
  it('enforces every pattern of a schema, not only the first', () => {
    const properties = { a: { pattern: '^x' }, b: { pattern: '^y' } }
    const compiled = compileSchema(
      { properties, patternProperties: { '^n': { type: 'number' }, '^s': { type: 'string' } } },
      { untrusted: true },
    )
    expect(compiled.accepts({ a: 'x', b: 'y', n1: 1, s1: 's' })).toBe(true)
    for (const bad of [{ a: 'NO' }, { b: 'x' }, { n1: 's' }, { s1: 1 }])
      expect(compiled.accepts(bad)).toBe(false)
  })

  it('answers as the native engine does where the two dialects differ', () => {
    const texts = [
      '',
      'a',
      'A',
      '\n',
      '\r',
      '\u2028',
      '\u00a0',
      '\ufeff',
      ' ',
      '\t',
      '\b',
      '\0',
      '[',
      ':',
      '😀',
      'é',
      '_',
      '-',
      'a\nb',
      '0',
      '٣',
      'k',
      '\u212a',
    ]
    const patterns = [
      '^.$',
      '^\\s$',
      '^\\S$',
      '^[\\s]$',
      '^[\\S]$',
      '^[^\\s]$',
      '^[^\\S]$',
      '^[\\b]$',
      '^\\0$',
      '^[[:alpha:]$',
      '^[[]$',
    ]
    patterns.push(
      '^\\w$',
      '^\\d$',
      '^\\W$',
      '^\\D$',
      '\\ba\\b',
      '^\\u0041$',
      '^\\u{1F600}$',
      '^\\x41$',
      '^\\cJ$',
      '^[^]$',
      'a$',
      '^a',
      '^\\p{L}$',
    )
    patterns.push(
      '^(?<name>a)$',
      '^(?:a|b)?$',
      '^a{1,2}$',
      '^\\/|\\-$'.replace('\\-', '-'),
      '^[^\\n]$',
      '^[\\]a]$',
      '^[.]$',
      '^\\.$',
      '^\\[$',
    )
    for (const pattern of patterns) {
      const linear = linearRegex(pattern, 'u')
      const native = nativeRegex(pattern, 'u')
      for (const text of texts)
        expect([pattern, text, linear.test(text)]).toEqual([pattern, text, native.test(text)])
    }
  })

  it('is quick on the patterns that hang the native one', () => {
    const attacks: [string, string][] = [
      ['^(a+)+$', `${'a'.repeat(100_000)}!`],
      ['^(.*?,){11}P', '1,'.repeat(50_000)],
      ['\\s+$', `${' '.repeat(100_000)}x`],
      [
        '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
        `${'a'.repeat(50_000)}!`,
      ],
    ]
    for (const [pattern, text] of attacks) {
      const start = performance.now()
      expect(compileSchema({ pattern }, { untrusted: true }).accepts(text)).toBe(false)
      expect(performance.now() - start).toBeLessThan(5_000)
    }
  })

  it.each([
    ['lookahead', '^(?=a)'],
    ['negative lookahead', '^(?!a)'],
    ['lookbehind', '(?<=a)b'],
    ['a backreference', '^(a)\\1$'],
    ['a named backreference', '^(?<n>a)\\k<n>$'],
    ['a huge repeat', 'a{2000}'],
    ['nested repeats', '((a{100}){100}){100}'],
  ])('refuses %s, naming the pattern and its place', (_, pattern) => {
    const error = refusal({ properties: { a: { pattern } } })
    expect(error).toMatchObject({ code: 'schema/limit', at: { pointer: '/properties/a/pattern' } })
    expect(error.message).toContain(JSON.stringify(pattern))
    expect(error.hint).toContain('not available')
  })

  it('refuses what is not a regular expression of JavaScript', () => {
    for (const pattern of ['(', '\\z', '(?P<n>a)', '[[:alpha:]]', 'a**']) {
      expect(refusal({ patternProperties: { [pattern]: {} } }).code).toBe('schema/invalid')
    }
  })
})

function refusal(schema: Record<string, unknown>): ProvisoError {
  try {
    compileSchema(schema, { untrusted: true })
  } catch (error) {
    if (error instanceof ProvisoError) return error
    throw error
  }
  throw new Error('the schema was accepted')
}
