import { describe, expect, it } from 'vitest'
import type { Issue } from '../../base/errors/issue.ts'
import { feedback, strictInstruction } from './feedback.ts'

function problem(pointer: string, rest: Partial<Issue> = {}): Issue {
  return { code: 'schema/type', at: { pointer }, message: 'Wrong type', ...rest }
}

describe('feedback', () => {
  it('says per issue where it is, what was expected and what came', () => {
    expect(feedback([problem('/items/0/qty', { expected: 'integer', actual: 'two' })])).toBe(
      [
        'The JSON is not valid yet. Correct this:',
        '- /items/0/qty: Wrong type. Expected "integer", got "two".',
        'Return only the corrected JSON.',
      ].join('\n'),
    )
  })

  it('names the whole value and places in the text in words', () => {
    const text = feedback([
      problem('', { message: 'Missing "a".' }),
      { code: 'output/syntax', at: { span: [3, 5] }, message: 'Not JSON' },
    ])
    expect(text).toContain('- characters 3 to 5: Not JSON.\n- whole value: Missing "a".')
  })

  it('is the same whatever order the issues came in, with indexes in counting order', () => {
    const issues = ['/b', '/a/10', '/a/2', '/a', ''].map((pointer) => problem(pointer))
    expect(feedback(issues)).toBe(feedback([...issues].reverse()))
    expect(feedback(issues).match(/^- [^:]+/gm)).toEqual([
      '- whole value',
      '- /a',
      '- /a/2',
      '- /a/10',
      '- /b',
    ])
  })

  it('says the same thing only once', () => {
    expect(feedback([problem('/a'), problem('/a')]).match(/^- /gm)).toHaveLength(1)
  })

  it('does not change the list that it is given', () => {
    const issues = Object.freeze([problem('/b'), problem('/a')])
    expect(() => feedback(issues)).not.toThrow()
  })

  it('keeps each issue on one line', () => {
    const text = feedback([problem('/a\nb', { message: 'first\nsecond', actual: 'x\ny' })])
    expect(text.split('\n')).toHaveLength(3)
  })

  it.each([200, 500, 2000])('never grows beyond %i characters and says how much is left out', (maxLength) => {
    const issues = Array.from({ length: 500 }, (_, i) => problem(`/items/${i}`, { actual: 'x'.repeat(1000) }))
    const text = feedback(issues, { maxLength })
    expect(text.length).toBeLessThanOrEqual(maxLength)
    expect(text).toMatch(/- and \d+ more\.\nReturn only the corrected JSON\.$/)
  })

  it('is bounded at 2000 characters unless the caller says otherwise', () => {
    const issues = Array.from({ length: 500 }, (_, i) => problem(`/items/${i}`))
    expect(feedback(issues).length).toBeLessThanOrEqual(2000)
  })

  it('falls back to the last sentence when there is room for nothing else', () => {
    expect(feedback([problem('/a')], { maxLength: 10 })).toBe('Return only the corrected JSON.')
    expect(feedback([])).toBe('Return only the corrected JSON.')
  })

  it('adds the schema only if it fits', () => {
    const schema = { type: 'object' }
    expect(feedback([problem('/a')], { schema })).toMatch(
      /\nThe schema: \{"type":"object"\}\nReturn only the corrected JSON\.$/,
    )
    expect(feedback([problem('/a')], { schema, maxLength: 110 })).not.toContain('The schema')
  })
})

describe('strictInstruction', () => {
  it('asks for JSON only, with the schema in compact form', () => {
    expect(strictInstruction({ type: 'array' })).toBe(
      'Return only JSON. No extra text.\nThe JSON must satisfy this JSON Schema:\n{"type":"array"}',
    )
    expect(strictInstruction()).toBe('Return only JSON. No extra text.')
  })
})
