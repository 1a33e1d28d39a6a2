/** Conditions as people write them: what they mean, what is refused, and that nothing hostile gets anywhere. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../base/json.ts'
import { conditionLimits, conditionVars, describeCondition, evaluate, parseCondition } from './condition.ts'

function holds(json: unknown, value: unknown): boolean {
  const result = run(json, value)
  if (result.kind === 'error') throw new Error(result.issue?.message)
  return result.kind === 'true'
}

function run(json: unknown, value: unknown, fuel?: number) {
  const parsed = parseCondition(json)
  if (!parsed.ok) throw new Error(parsed.issues.map((issue) => issue.message).join('; '))
  return evaluate(parsed.condition, value, fuel === undefined ? {} : { fuel })
}

function refused(json: unknown) {
  const parsed = parseCondition(json)
  if (parsed.ok) throw new Error(`${JSON.stringify(json).slice(0, 80)} was read`)
  return parsed.issues.map(({ code, at, hint }) => ({ code, at: 'pointer' in at ? at.pointer : '', hint }))
}

describe('the operators', () => {
  const value: Json = {
    n: 3,
    text: 'three',
    yes: true,
    nil: null,
    list: [1, 2, 3],
    none: [],
    rows: [{ score: 0.4 }, { score: 0.9 }],
    deep: { a: [{ b: 1 }] },
    length: 7,
  }
  const cases: [unknown, boolean][] = [
    [{ '==': [{ var: 'n' }, 3] }, true],
    [{ '==': [{ var: 'n' }, '3'] }, false],
    [{ '==': [{ var: 'nil' }, null] }, true],
    [{ '==': [{ var: 'absent' }, null] }, false],
    [{ '!=': [{ var: 'absent' }, null] }, true],
    [{ '==': [{ var: 'absent' }, { var: 'absent' }] }, false],
    [{ '==': [{ var: 'list' }, [1, 2, 3]] }, true],
    [{ '==': [{ var: 'deep' }, { var: 'deep' }] }, true],
    [{ '==': [{ var: 'rows.0' }, { var: 'rows.1' }] }, false],
    [{ '<': [{ var: 'n' }, 4] }, true],
    [{ '<=': [{ var: 'n' }, 3] }, true],
    [{ '>': [{ var: 'n' }, 3] }, false],
    [{ '>=': [{ var: 'text' }, 0] }, false],
    [{ '>=': [{ var: 'absent' }, 0] }, false],
    [{ '<': [{ var: 'nil' }, 1] }, false],
    [{ '<': [{ var: 'yes' }, 2] }, false],
    [{ between: [{ var: 'n' }, 3, 3] }, true],
    [{ between: [{ var: 'n' }, 4, 9] }, false],
    [{ in: [{ var: 'n' }, [1, 2, 3]] }, true],
    [{ in: ['re', { var: 'text' }] }, true],
    [{ in: [{ var: 'absent' }, [null]] }, false],
    [{ in: [1, { var: 'n' }] }, false],
    [{ var: 'yes' }, true],
    [{ var: 'n' }, false],
    [{ '!': { var: 'n' } }, true],
    [{ '!': [{ var: 'yes' }] }, false],
    [{ and: [true, { var: 'yes' }] }, true],
    [{ or: [false, { var: 'absent' }] }, false],
    [{ missing: ['n', 'text'] }, false],
    [{ missing: ['n', 'absent'] }, true],
    [{ missing: 'nil' }, false],
    [{ missing: [{ var: 'deep.a.1' }] }, true],
    [{ '==': [{ var: 'list.length' }, 3] }, true],
    [{ '==': [{ var: 'length' }, 7] }, true],
    [{ missing: 'text.length' }, true],
    [{ '==': [{ var: 'deep.a.0.b' }, 1] }, true],
    [{ missing: 'list.01' }, true],
    [{ some: [{ var: 'rows' }, { '>=': [{ var: 'item.score' }, 0.8] }] }, true],
    [{ all: [{ var: 'rows' }, { '>=': [{ var: 'item.score' }, 0.8] }] }, false],
    [{ none: [{ var: 'list' }, { '>': [{ var: 'item' }, 3] }] }, true],
    [{ all: [{ var: 'list' }, { '<=': [{ var: '' }, { var: 'n' }] }] }, true],
    [{ some: [{ var: 'none' }, true] }, false],
    [{ all: [{ var: 'none' }, true] }, false],
    [{ none: [{ var: 'none' }, true] }, true],
    [{ none: [{ var: 'absent' }, true] }, true],
    [{ all: [{ var: 'text' }, true] }, false],
    [{ some: [[1, 2], { '==': [{ var: 'item' }, 2] }] }, true],
    [{ '==': [{ '<': [1, 2] }, true] }, true],
  ]
  it.each(cases)('%j is %s', (json, expected) => {
    expect(holds(json, value)).toBe(expected)
  })

  it('keep elements of nested lists apart', () => {
    const grid = { limit: 2, rows: [{ cells: [1, 2] }, { cells: [3] }] }
    const inner = { all: [{ var: 'item.cells' }, { '<=': [{ var: 'item' }, { var: 'limit' }] }] }
    expect(holds({ some: [{ var: 'rows' }, inner] }, grid)).toBe(true)
    expect(holds({ all: [{ var: 'rows' }, inner] }, grid)).toBe(false)
  })
})

it('says which operand was of the wrong type or missing, beside the verdict', () => {
  const low = { '<': [{ var: 'confidence' }, 0.7] }
  expect(run(low, { confidence: 'high' })).toMatchObject({
    kind: 'false',
    issue: { code: 'condition/type', at: { pointer: '/confidence' } },
  })
  expect(run(low, {})).toMatchObject({ kind: 'false', issue: { code: 'condition/missing' } })
  expect(run({ '>=': [{ var: 'confidence' }, 0] }, { confidence: ['0.9'] })).toMatchObject({ kind: 'false' })
  expect(run({ '!': low }, { confidence: 'high' })).toMatchObject({ kind: 'true', issue: expect.anything() })
  expect(run(low, { confidence: 0.5 })).toEqual({ kind: 'true' })
})

describe('what is refused', () => {
  it('has a place and says what to write instead', () => {
    expect(refused({ and: [true, { '===': [1, 1] }] })).toEqual([
      { code: 'condition/operator', at: '/and/1/===', hint: 'Write "==": it is strict here' },
    ])
    expect(refused({ cat: ['a', 'b'] })[0]?.hint).toContain('and or !')
    expect(refused({ '==': [1] })).toMatchObject([{ code: 'condition/arity', at: '/==' }])
    expect(refused({ and: [] })).toMatchObject([{ code: 'condition/arity', at: '/and' }])
    expect(refused({ '!': { var: ['a', 1] } })).toMatchObject([{ code: 'condition/arity', at: '/!/var' }])
    expect(refused({ var: 'a..b' })).toMatchObject([{ code: 'condition/path', at: '/var' }])
    expect(refused({ var: 'a.*.b' })).toMatchObject([{ code: 'condition/path', at: '/var' }])
    expect(refused({ var: {} })).toMatchObject([{ code: 'condition/path' }])
    expect(refused({ missing: [{ and: [true] }] })).toMatchObject([{ code: 'condition/path' }])
    expect(refused({ '<': [{ var: 'a' }, '0.7'] })).toMatchObject([{ code: 'condition/operand', at: '/</1' }])
    expect(refused({ '<': [{ '!': true }, 1] })).toMatchObject([{ code: 'condition/operand', at: '/</0' }])
    expect(refused({ between: [1, 'a', 3] })).toMatchObject([{ code: 'condition/operand', at: '/between/1' }])
    expect(refused({ in: [1, [{ var: 'a' }]] })).toMatchObject([{ code: 'condition/operand', at: '/in/1/0' }])
    expect(refused({ '==': [{ var: 'a' }, { x: 1, y: 2 }] })).toMatchObject([{ at: '/==/1' }])
    expect(refused({ and: [1, {}] })).toMatchObject([{ at: '/and/0' }, { at: '/and/1' }])
    for (const odd of [undefined, Number.NaN, 1n, 'text', 7, [], null, new Date(0)]) refused(odd)
  })

  it('includes names that every object inherits', () => {
    for (const name of ['toString', 'constructor', '__proto__', 'valueOf', 'hasOwnProperty']) {
      expect(refused(JSON.parse(`{ "${name}": [1, 2] }`))).toMatchObject([{ code: 'condition/operator' }])
    }
  })

  it('includes what is too deep or too large, at once', () => {
    let nested: unknown = true
    for (let i = 0; i < 5_000; i++) nested = { '!': nested }
    expect(refused(nested)).toMatchObject([{ code: 'condition/limit' }])
    let list: unknown = 1
    for (let i = 0; i < 5_000; i++) list = [list]
    expect(refused({ '==': [1, list] })).toMatchObject([{ code: 'condition/limit' }])
    let wide: unknown = { var: 'x' }
    for (let i = 0; i < 26; i++) wide = { and: [wide, wide] }
    expect(refused(wide)).toMatchObject([{ code: 'condition/limit' }])
    expect(refused({ or: Array(100_000).fill(true) })).toMatchObject([{ code: 'condition/limit' }])
    expect(refused({ '==': ['x'.repeat(conditionLimits.bytes), 1] })).toMatchObject([
      { code: 'condition/limit' },
    ])
    const circle: Record<string, unknown> = {}
    circle['!'] = circle
    expect(refused(circle)).toMatchObject([{ code: 'condition/limit' }])
  })
})

describe('hostile evaluations', () => {
  it('reach nothing that is inherited', () => {
    for (const path of ['constructor.constructor', '__proto__', 'list.constructor', 'list.map', 'text.0']) {
      expect(holds({ missing: path }, { list: [], text: 'abc' })).toBe(true)
    }
    expect(holds({ '==': [{ var: '__proto__' }, 1] }, JSON.parse('{ "__proto__": 1 }'))).toBe(true)
  })

  it('end in an error when their fuel does, without having cost much', () => {
    const xs = Array.from({ length: 300 }, (_, i) => i)
    const cube = { some: [{ var: 'xs' }, { some: [{ var: 'xs' }, { some: [{ var: 'xs' }, false] }] }] }
    const long = 'a'.repeat(1_000_000)
    const deep = nest(100_000)
    const wide = Array.from({ length: 1_000_000 }, (_, i) => i)
    const cases: [unknown, unknown][] = [
      [cube, { xs }],
      [{ in: [{ var: 'b' }, { var: 'a' }] }, { a: `${long}c`, b: `b${long.slice(500_000)}` }],
      [{ '==': [{ var: 'a' }, { var: 'b' }] }, { a: deep, b: nest(100_000) }],
      [{ '==': [{ var: 'a' }, { var: 'b' }] }, { a: wide, b: [...wide] }],
      [{ in: [-1, { var: 'a' }] }, { a: wide }],
      [{ all: [{ var: 'a' }, true] }, { a: wide }],
    ]
    for (const [json, value] of cases) {
      expect(run(json, value)).toMatchObject({ kind: 'error', issue: { code: 'condition/fuel' } })
      // The goal is 20 ms; the best of a few, because the machine may be busy.
      const times = Array.from({ length: 5 }, () => {
        const started = performance.now()
        run(json, value)
        return performance.now() - started
      })
      expect(Math.min(...times)).toBeLessThan(2_000)
    }
    expect(run({ '<': [1, 2] }, {}, 2)).toMatchObject({ kind: 'error' })
    expect(run({ '<': [1, 2] }, {}, 3)).toEqual({ kind: 'true' })
  })

  it('compare long lists of different lengths for nothing', () => {
    const a = Array(1_000_000).fill(0)
    expect(run({ '==': [{ var: 'a' }, { var: 'b' }] }, { a, b: a.slice(1) })).toEqual({ kind: 'false' })
  })
})

function nest(depth: number): unknown {
  let value: unknown = 0
  for (let i = 0; i < depth; i++) value = { a: [value] }
  return value
}

it('reads as a sentence and names the paths it reads', () => {
  const cases: [unknown, string, string[]][] = [
    [{ '>=': [{ var: 'qa.score' }, 0.8] }, 'qa.score >= 0.8', ['qa.score']],
    [{ '==': [{ var: 'xs.length' }, 2] }, 'xs.length == 2', ['xs.length']],
    [{ all: [{ var: 'xs' }, { '>': [{ var: 'item.s' }, 0] }] }, 'all(xs, item.s > 0)', ['xs', 'xs.*.s']],
    [{ '!': { or: [{ var: 'a' }, { var: 'b' }] } }, 'not (a or b)', ['a', 'b']],
    [
      { and: [{ or: [true, { missing: ['a', 'b'] }] }, { in: [{ var: 't' }, ['x']] }] },
      '(true or missing(a, b)) and t in ["x"]',
      ['a', 'b', 't'],
    ],
    [{ between: [{ var: 'a' }, 1, 2] }, 'a between 1 and 2', ['a']],
    [{ '!': { var: '' } }, 'not value', ['']],
    [{ some: [[1], { '==': [{ var: 'item' }, { var: 'a' }] }] }, 'some([1], item == a)', ['a']],
  ]
  for (const [json, text, vars] of cases) {
    const parsed = parseCondition(json)
    if (!parsed.ok) throw new Error(text)
    expect(describeCondition(parsed.condition)).toBe(text)
    expect(conditionVars(parsed.condition)).toEqual(vars)
  }
  const wide = parseCondition({ or: Array(5_000).fill({ var: 'abc' }) })
  expect(wide.ok && describeCondition(wide.condition).length).toBe(300)
})

it('is read once per object', () => {
  const json = { var: 'a' }
  expect(parseCondition(json)).toBe(parseCondition(json))
})
