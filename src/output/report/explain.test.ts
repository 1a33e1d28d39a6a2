import { describe, expect, it } from 'vitest'
import type { ParseResult, Repair } from '../types.ts'
import { explain } from './explain.ts'

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
      code: 'schema/type',
      at: { pointer: '/n' },
      message: 'Not an integer',
      hint: 'Give a whole number',
      expected: 'integer',
      actual: 'seven',
    }
    const failed: ParseResult = { ...clean, ok: false, issues: [issue] }
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
    const report = explain({ ...clean, ok: false, issues: [], shadow })
    expect(report).toContain('Shadow mode: nothing was changed. The reader would have answered:')
    expect(report).toContain('\n  The value was read after 1 change.')
    expect(report).toContain('\n      /n  "7" → 7')
  })
})
