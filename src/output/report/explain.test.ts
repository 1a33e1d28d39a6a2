import { describe, expect, it } from 'vitest'
import type { Issue } from '../../base/errors/issue.ts'
import type { ParseResult, Repair } from '../types.ts'
import { excerpt, excerptValue, explain, feedback, strictInstruction } from './explain.ts'

const raw = 'Sure:\n```json\n{"n": "7",}\n```'

const clean: ParseResult = {
  ok: true,
  value: { n: 7 },
  issues: [],
  repairs: [],
  repairCount: 0,
  truncated: false,
  branches: {},
  raw,
}

function edit(start: number, after: unknown, rest: Partial<Repair> = {}): Repair {
  const [end, stage, rule] = [start + 1, 'syntactic', 'no-such-rule'] as const
  return { stage, rule, at: { span: [start, end] }, before: raw.slice(start, end), after, ...rest }
}

const convert: Repair = {
  stage: 'semantic',
  rule: 'no-such-rule-either',
  at: { pointer: '/n' },
  before: '7',
  after: 7,
}

describe('explain', () => {
  it('says in one line that nothing was changed', () => {
    expect(explain(clean)).toBe('The value was read without any change.')
  })

  it('groups changes by stage and rule, with their count, place, before and after', () => {
    const repairs = [edit(23, undefined), edit(14, '['), convert]
    expect(explain({ ...clean, repairs, repairCount: 3 })).toBe(
      [
        'The value was read after 3 changes.',
        'syntactic:',
        '  no-such-rule ×2',
        '    3:10  , → (nothing)',
        '    3:1  { → [',
        'semantic:',
        '  no-such-rule-either ×1',
        '    /n  "7" → 7',
      ].join('\n'),
    )
  })

  it('reports the stages in the order in which they run', () => {
    const repairs = [convert, edit(0, '', { stage: 'extract' })]
    const report = explain({ ...clean, repairs, repairCount: 2 })
    expect(report.indexOf('extract:')).toBeLessThan(report.indexOf('semantic:'))
  })

  it('cuts long excerpts at 60 characters and makes control characters visible', () => {
    const repairs = [edit(0, `a\nb\u0000${'x'.repeat(200)}`)]
    const after = explain({ ...clean, repairs, repairCount: 1 }).split(' → ')[1] ?? ''
    expect(after).toMatch(/^a\\nb\\u0000x+…$/)
    expect(after.length).toBeLessThanOrEqual(60)
  })

  it('shows a few changes of each rule and counts the rest', () => {
    const repairs = Array.from({ length: 12 }, () => convert)
    const report = explain({ ...clean, repairs, repairCount: 40 })
    expect(report).toContain('×12')
    expect(report).toContain('… and 7 more')
    expect(report).toContain('28 more changes not listed (limits.repairs).')
  })

  it('says that the text was cut off and which union branches were taken', () => {
    const report = explain({ ...clean, truncated: true, branches: { '': 1, '/a': 0 } })
    expect(report).toContain('The text ended before the value did.')
    expect(report).toContain('union branches:\n  (root)  branch 1\n  /a  branch 0')
  })

  it('reports issues with what was expected, what came, and what to do', () => {
    const issue = {
      code: 'schema/type' as const,
      at: { pointer: '/n' },
      message: 'Not an integer',
      hint: 'Give a whole number',
      expected: 'integer',
      actual: 'seven',
    }
    const failed: ParseResult = { ...clean, ok: false, value: undefined, issues: [issue] }
    expect(explain(failed)).toBe(
      [
        'No valid value was found without any change: 1 issue.',
        '✗ /n  Not an integer [schema/type]',
        '  expected: "integer"',
        '  actual: "seven"',
        '  hint: Give a whole number',
      ].join('\n'),
    )
  })

  it('shows spaces that were replaced', () => {
    const comma = {
      stage: 'syntactic',
      rule: 'missing-comma',
      at: { span: [4, 5] },
      before: ' ',
      after: ',',
    } as const
    expect(explain({ ...clean, repairs: [comma], repairCount: 1 })).toContain('1:5  " " → ,')
  })

  it('reports what the reader would have done in shadow mode', () => {
    const shadow: ParseResult = { ...clean, repairs: [convert], repairCount: 1 }
    const report = explain({ ...clean, ok: false, value: undefined, issues: [], shadow })
    expect(report).toContain('Shadow mode: nothing was changed. The reader would have answered:')
    expect(report).toContain('\n  The value was read after 1 change.')
    expect(report).toContain('\n      /n  "7" → 7')
  })
})

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
