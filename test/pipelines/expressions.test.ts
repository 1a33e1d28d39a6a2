/** Expressions in pipelines: what they mean, compared with another implementation of the language, and where they are wrong. */
import { evaluate as evaluateCel } from '@marcbachmann/cel-js'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/index.ts'
import { compileExpression } from '../../src/pipeline/index.ts'
import { Random } from '../random.ts'
import { evaluate, parseCondition } from '../seams/schema.ts'
import { problems, readPipeline, run } from './support.ts'

function holds(text: string, value: Json): boolean {
  const compiled = compileExpression(text)
  if (!compiled.ok) throw new Error(`${text}: ${compiled.issues[0]?.message}`)
  const parsed = parseCondition(compiled.condition)
  if (!parsed.ok) throw new Error(`${text}: ${parsed.issues[0]?.message}`)
  return evaluate(parsed.condition, value).kind === 'true'
}

const cases = 3_000

describe('an expression', () => {
  it(`means what @marcbachmann/cel-js says it means, in ${cases} random expressions on random values`, () => {
    const random = new Random(20_261_118)
    const seen = new Map<unknown, number>()
    for (let n = 0; n < cases; n++) {
      const text = randomTruth(random, 4)
      const value = randomValue(random)
      const expected = evaluateCel(text, value)
      expect({ text, value, holds: holds(text, value as Json) }).toEqual({ text, value, holds: expected })
      seen.set(expected, (seen.get(expected) ?? 0) + 1)
    }
    // Both verdicts are common.
    expect(Math.min(seen.get(true) ?? 0, seen.get(false) ?? 0)).toBeGreaterThan(cases / 5)
  })

  it('is false where the language has an error: a missing or unlike operand', () => {
    for (const text of [
      'a.b > 1',
      'a.b == 1',
      'a.b.contains("x")',
      'a.b.exists(x, true)',
      'a.b.all(x, true)',
    ])
      expect([text, holds(text, { a: {} })]).toEqual([text, false])
    expect(holds('a < 1', { a: 'text' })).toBe(false)
    expect(holds('xs.all(x, x > 1)', { xs: 'text' })).toBe(false)
    expect(holds('a.b != 1', { a: {} })).toBe(true)
  })

  it('finds elements of lists with `in`, and no parts of texts', () => {
    for (const [needle, list, expected] of [
      ['green', ['green', 'black'], true],
      ['gre', ['green', 'black'], false],
      ['gre', 'green', false],
      ['green', 'green', false],
      ['', 'green', false],
    ] as const) {
      expect([needle, list, holds('a in b', { a: needle, b: list })]).toEqual([needle, list, expected])
      expect([needle, list, holds(`"${needle}" in b`, { b: list })]).toEqual([needle, list, expected])
    }
  })

  it('reads every kind of literal and path', () => {
    const value = { 'my-step': { output: [1, { s: 'é' }] }, t: 'a"b\'c\n', n: -1.5e2 }
    for (const text of [
      `my["x"] == null || n == -1.5e2`,
      'n == -150',
      `t == "a\\"b'c\\n"`,
      `t == 'a"b\\'c\\n'`,
      `t.contains('\\u0062')`,
      `!(n in [1, "x", true, null, -1]) && n in [t, n]`,
      'size([1, 2, 3]) == 3 && [1, 2].exists(x, x == 2)',
      ' ( true ) ',
    ])
      expect([text, holds(text, value)]).toEqual([text, true])
    expect(compileExpression(`steps["my-step"].output[1].s == "é"`)).toEqual({
      ok: true,
      condition: { '==': [{ var: 'steps.my-step.output.1.s' }, 'é'] },
    })
  })

  it('compiles long chains flat, within the limits of conditions', () => {
    const text = Array.from({ length: 500 }, (_, n) => `a == ${n}`).join(' || ')
    expect(holds(text, { a: 499 })).toBe(true)
    expect(holds(text, { a: 500 })).toBe(false)
  })
})

describe('what conditions cannot express is refused where it is written', () => {
  it.each<[string, string, string]>([
    ['a + 1 > 2', '+', 'arithmetic'],
    ['steps.my-step.ok', '-', 'steps["my-step"]'],
    ['a ? b : c', '?', 'conditional step'],
    ['a < b < c', '<', 'chained'],
    ['a = 1', '=', 'Write =='],
    ['a === 1', '=', 'Write =='],
    ['a & b', '&', 'Write &&'],
    ['a and b', 'a', 'Write &&'],
    ['{{ input.x }} == 1', '{', 'without {{ }}'],
    ['a.matches("x")', 'a.matches("x")', 'matches'],
    ['has(a)', 'a', 'member'],
    ['x in "text"', '"text"', 'contains'],
    ['[a, 1] == b', 'a', 'literals'],
    ['xs.exists(x, ys.exists(y, y == x))', 'x', 'outer list'],
    ['xs.all(x, x == item.a)', 'item', 'map'],
    ['a["b.c"] == 1', '"b.c"', 'select_fields'],
    ['a[b] == 1', 'b', 'index'],
    ['a < "text"', 'a < "text"', 'number'],
    ['"text"', '"text"', 'neither true nor false'],
    ['a == "open', '"', 'closing quote'],
    ['a ==', '', 'the end'],
    ['', '', 'the end'],
    ['a == 99999999999999999999', '99999999999999999999', 'exactly'],
    ['a == 0x10', '0', 'decimal'],
    ['(a', '', ')'],
    [`${'!'.repeat(100)}a`, '!', 'deeply'],
    [`${'('.repeat(100)}a`, '(', 'deeply'],
  ])('%s', (text, part, says) => {
    const compiled = compileExpression(text)
    if (compiled.ok) throw new Error('it was compiled')
    const [issue] = compiled.issues
    expect(`${issue?.message} ${issue?.hint}`).toContain(says)
    expect(text.slice(...(issue?.range ?? [0, 0]))).toBe(part)
  })

  it('never throws, whatever the text', () => {
    const random = new Random(7)
    const parts = [
      'a',
      '.b',
      '(',
      ')',
      '[',
      ']',
      '"x"',
      "'",
      '&&',
      '||',
      '!',
      '==',
      ' in ',
      ',',
      '1',
      '-',
      '\\',
      '{',
      'has',
      '\n',
    ]
    for (let n = 0; n < 2_000; n++) {
      const text = Array.from({ length: random.int(0, 11) }, () => random.pick(parts)).join('')
      const compiled = compileExpression(text)
      if (!compiled.ok) expect(compiled.issues[0]?.range[1]).toBeLessThanOrEqual(text.length)
    }
  })
})

describe('in a pipeline', () => {
  it('chooses branches and ends loops like the condition it is compiled to', async () => {
    const text = (condition: string) => `
steps:
  - name: choose
    kind: conditional
    condition: ${condition}
    branches:
      true: [{ name: keep, uses: wrap_dict, params: { key: big }, input: "{{ input.score }}" }]
      false: [{ name: keep, uses: wrap_dict, params: { key: small }, input: "{{ input.score }}" }]
`
    const expression = text(`input.tags.exists(t, t == input.topic) && input.score >= 0.8`)
    const logic = text(
      `{ and: [{ some: [{ var: input.tags }, { "==": [{ var: item }, { var: input.topic }] }] }, { ">=": [{ var: input.score }, 0.8] }] }`,
    )
    expect(readPipeline(expression).steps[0]).toMatchObject({
      condition: (readPipeline(logic).steps[0] as { condition: Json }).condition,
    })
    for (const [score, output] of [
      [0.9, { big: 0.9 }],
      [0.7, { small: 0.7 }],
    ] as const)
      for (const each of [expression, logic]) {
        const done = await run(each, undefined, { input: { tags: ['tea'], topic: 'tea', score } })
        expect(done).toMatchObject({ status: 'completed', output })
      }
  })

  it('ends a loop', async () => {
    const done = await run(
      `
agents: { counter: { model: test/m, output_schema: { type: object, required: [n], properties: { n: { type: integer } } } } }
steps:
  - name: count
    kind: loop
    loop:
      max_loops: 5
      exit_condition: previous_step.n >= 3
      body: [{ name: next, agent: counter, input: "{{ iteration }}" }]
`,
      ({ prompt }) => `{"n": ${/"input":(\d)/.exec(prompt)?.[1]}}`,
    )
    expect(done).toMatchObject({ status: 'completed', output: { n: 3 } })
    expect(done.seen).toHaveLength(3)
  })

  it('is located in the file, in quotes and without', () => {
    const file = (condition: string) => `steps:
  - kind: conditional
    condition: ${condition}
    branches: { true: [{ uses: wrap_dict }] }
`
    expect(problems(file('input.a + 1 > 2'))).toMatchObject([
      { code: 'pipeline/expression', line: 3, column: 24, message: expect.stringContaining('character 9') },
    ])
    expect(problems(file(`"input.a == 1 && input.b.matches('x')"`))).toMatchObject([{ line: 3, column: 33 }])
    expect(problems(file('steps.gone.output.a == 1'))).toMatchObject([
      { code: 'pipeline/unknown', line: 3, column: 16 },
    ])
  })
})

// Well-typed expressions over the members of `randomValue`, none of which is ever missing: there the language has no errors.

const numbers = ['n', 'm.n', 'm.list[0].n', 'size(xs)', 'm.list.size()']
const texts = ['t', 'm.t', 'm.list[0].t']
const flags = ['f', 'm["f"]']

function randomTruth(random: Random, depth: number): string {
  if (depth === 0) return random.pick(flags)
  const inner = () => randomTruth(random, depth - 1)
  switch (random.int(0, 10)) {
    case 0:
      return `(${inner()} && ${inner()})`
    case 1:
      return `${inner()} || ${inner()}`
    case 2:
      return `!(${inner()})`
    case 3:
    case 4:
      return `${randomNumber(random)} ${random.pick(['<', '<=', '>', '>=', '==', '!='])} ${randomNumber(random)}`
    case 5:
      return `${randomText(random)} ${random.pick(['==', '!='])} ${randomText(random)}`
    case 6:
      return `${randomText(random)}.contains(${randomText(random)})`
    case 7:
      return `${randomNumber(random)} in ${random.pick(['xs', '[1, 2]', '[n, m.n]', '[]'])}`
    case 8:
      return `xs.${random.pick(['exists', 'all'])}(x, x ${random.pick(['<', '>=', '=='])} ${randomNumber(random)})`
    case 9:
      return `m.list.${random.pick(['exists', 'all'])}(e, e.t == ${randomText(random)} || e.tags.${random.pick(['exists', 'all'])}(g, g != "b"))`
    default:
      return `has(m.${random.pick(['n', 'gone', 'list'])})`
  }
}

function randomNumber(random: Random): string {
  return random.int(0, 2) === 0 ? random.pick(['0', '1', '-1', '2']) : random.pick(numbers)
}

function randomText(random: Random): string {
  return random.int(0, 1) === 0 ? random.pick(['"a"', "'b'", '"ab"', '""']) : random.pick(texts)
}

function randomValue(random: Random) {
  const number = () => random.pick([0, 1, -1, 2, 1.5])
  const text = () => random.pick(['a', 'b', 'ab', ''])
  const entry = () => ({ n: number(), t: text(), tags: many(text) })
  const many = <T>(make: () => T) => Array.from({ length: random.int(0, 2) }, make)
  return {
    n: number(),
    t: text(),
    f: random.int(0, 1) === 0,
    xs: many(number),
    m: { n: number(), t: text(), f: random.int(0, 1) === 0, list: [entry(), ...many(entry)] },
  }
}
