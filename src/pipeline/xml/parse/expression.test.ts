/** Expressions between `{{` and `}}`. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Expression, expressionText, readExpression } from './expression.ts'

const name = fc
  .stringMatching(/^[a-z][a-z0-9_]{0,8}$/)
  .filter((word) => !['true', 'false', 'null'].includes(word))

const expressions: fc.Arbitrary<Expression> = fc.letrec<{ any: Expression }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.record({
      kind: fc.constant('path' as const),
      name,
      path: fc.array(fc.oneof(name, fc.nat(99).map(String)), { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('literal' as const),
      value: fc.oneof(fc.string(), fc.integer(), fc.constantFrom(true, false, null, 1.5, 1e21)),
    }),
    fc.record({
      kind: fc.constant('call' as const),
      template: name,
      args: fc.array(tie('any'), { maxLength: 3 }),
    }),
  ),
})).any

describe('an expression', () => {
  it('is read as it is written', () => {
    fc.assert(
      fc.property(expressions, (expression) => {
        expect(readExpression(expressionText(expression))).toEqual({ ok: true, expression })
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  it('has one way to be written', () => {
    const read = readExpression(" fn( a.b ,'it\\'s' ,  -2 ) ")
    expect(read.ok && expressionText(read.expression)).toBe('fn(a.b, "it\'s", -2)')
  })

  it.each([
    '',
    'a b',
    'a.',
    'fn(a',
    'fn(a,)',
    '1a',
    '"open',
    '{{a}}',
    'a[0]',
    `${'f('.repeat(20)}1${')'.repeat(20)}`,
  ])('%s is not an expression, with the location', (text) => {
    const read = readExpression(text)
    expect(read).toMatchObject({ ok: false, error: { message: expect.any(String), at: expect.any(Number) } })
  })
})
