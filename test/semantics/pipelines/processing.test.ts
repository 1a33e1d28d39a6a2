/** Settings of a step that decide how its answer is read, each with an effect of its own. */
import { describe, expect, it } from 'vitest'
import type { CustomStage } from '../../../src/output/index.ts'
import { arosConfig } from '../../../src/pipeline/index.ts'
import { compile, problems, run } from '../../pipelines/support.ts'

const schema =
  '{ type: object, required: [n], properties: { n: { type: integer } }, additionalProperties: false }'
const step = (processing: string, more = '') => `
agents: { one: { model: test/m, output_schema: ${schema} } }
steps: [{ name: a, agent: one, processing: ${processing}${more} }]
`

describe('enforcement', () => {
  const under = (enforcement: string, more = '') =>
    step(`{ structured_output: auto, enforcement: ${enforcement} }`, more)

  it('off asks for the schema and takes the answer as it is: neither validated nor repaired', async () => {
    const done = await run(under('off'), () => '{"n": "many", "more": true}', { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: { n: 'many', more: true } })
    expect(done.seen).toHaveLength(1)
    expect(done.seen[0]).toMatchObject({ structured: 'auto', schema: { required: ['n'] } })
    expect(done.seen[0]?.system).toContain('"required":["n"]')
  })

  it('off takes a text that is no JSON as a text', async () => {
    const done = await run(under('off'), () => 'Seven, I think.', { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: 'Seven, I think.' })
    expect(done.logs.filter((event) => /repair|fallback/.test(event))).toEqual([])
  })

  it('validate fails the step on the same answer, with one call', async () => {
    const done = await run(under('validate'), () => '{"n": "many", "more": true}', { input: 'x' })
    expect(done.status).toBe('failed')
    expect(done.seen).toHaveLength(1)
  })

  it('repair asks the model to repair it', async () => {
    const done = await run(
      under('repair'),
      ({ system }) => (system.includes('You repair JSON') ? '{"n": 7}' : '{"n": "many"}'),
      { input: 'x' },
    )
    expect(done).toMatchObject({ status: 'completed', output: { n: 7 } })
    expect(done.seen).toHaveLength(2)
  })

  it('off makes no promise to the steps behind: every member may be named, none is certain', async () => {
    const text = `${under('off').trimEnd().slice(0, -1)}, { name: b, uses: wrap_dict, input: "{{ steps.a.output.other }}" }]\n`
    const done = await run(text, () => '{"other": "x"}', { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: { value: 'x' } })
  })

  it('off keeps validate_fields, which the step asks for itself', async () => {
    const fields = ', validate_fields: [n]'
    expect((await run(under('off', fields), () => '{"m": 1}', { input: 'x' })).status).toBe('failed')
    expect((await run(under('off', fields), () => '{"n": "x"}', { input: 'x' })).output).toEqual({ n: 'x' })
  })

  it('acts only where structured output is on', async () => {
    const text = step('{ structured_output: off, enforcement: off }')
    expect((await run(text, () => '{"n": "many"}', { input: 'x' })).status).toBe('failed')
  })
})

describe('an agent with an object schema', () => {
  const sure = () => 'Sure: {n: "7"}'

  it.each([
    '{}',
    '{ max_output_tokens: 500 }',
    '{ streaming: { enabled: false } }',
    '{ fallback: { degrade_to_string: true } }',
    '{ repair: { max_attempts: 0 } }',
    '{ aop: full }',
  ])('is asked for structured output where the step has processing: %s', async (processing) => {
    expect(compile(step(processing), { input: 'x' }).notes).toMatchObject([{ code: 'pipeline/promoted' }])
    const done = await run(step(processing), sure, { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: { n: 7 } })
    expect(done.seen).toMatchObject([{ structured: 'openai_json', schema: { required: ['n'] } }])
  })

  it.each(['off', 'auto'])('is left to the step that sets structured_output: %s', (way) => {
    const { draft, notes } = compile(step(`{ structured_output: ${way}, max_output_tokens: 500 }`), {
      input: 'x',
    })
    expect(notes).toEqual([])
    expect(draft.nodes[0]?.data?.['processing']).toMatchObject({ structured_output: way })
  })
})

describe('tolerant_level', () => {
  const json5 = "{ // how many\n 'n': +0x7, }"
  const broken = '{"n" 7}'
  const read = async (processing: string, text: string, aros: Parameters<typeof arosConfig>[0] = {}) => {
    const done = await run(step(`{ structured_output: off${processing} }`), () => text, {
      input: 'x',
      aros: arosConfig(aros),
    })
    return done.status === 'completed' ? done.output : done.status
  }
  const level = (n: number) => `, coercion: { tolerant_level: ${n} }`

  it('0 reads strict JSON alone', async () => {
    expect(await read('', json5)).toBe('failed')
    expect(await read(level(0), json5)).toBe('failed')
  })

  it('1 reads JSON5: comments, single quotes, trailing commas, numbers in other notations', async () => {
    expect(await read(level(1), json5)).toEqual({ n: 7 })
    expect(await read(level(1), broken)).toBe('failed')
    expect(await read('', json5, { coercion_tolerant_level: 1 })).toEqual({ n: 7 })
  })

  it('2 adds guided repair', async () => {
    expect(await read(level(2), json5)).toEqual({ n: 7 })
    expect(await read(level(2), broken)).toEqual({ n: 7 })
  })

  it('is 2 at level full and 0 at minimal where nobody sets it', async () => {
    for (const aop of [', aop: full', ', aop: full, coercion: { max_unescape_depth: 1 }']) {
      expect(await read(aop, broken)).toEqual({ n: 7 })
      expect(await read(aop, broken, { coercion_tolerant_level: 1 })).toBe('failed')
      expect(await read(aop, broken, { enable_aop_default: 'minimal' })).toEqual({ n: 7 })
    }
    expect(await read('', broken, { enable_aop_default: 'full' })).toEqual({ n: 7 })
    expect(await read(`, aop: full${level(0)}`, broken)).toBe('failed')
    expect(await read(`, aop: full${level(1)}`, json5)).toEqual({ n: 7 })
    expect(await read(', aop: minimal', broken)).toBe('failed')
    expect(await read(', aop: minimal', "{'n': 7,}")).toEqual({ n: 7 })
  })

  it('changes no types, and does nothing where aop is off by word', async () => {
    expect(await read(level(1), "{'n': '7'}")).toBe('failed')
    expect(await read(`${level(1)}, aop: off`, json5)).toBe('failed')
    expect(await read(level(1), json5, { enable_aop_default: 'off' })).toBe('failed')
  })
})

describe('reasoning in the text of a step without a schema', () => {
  const text = '<think>Lyon? No.</think>\nParis'
  const plain = (processing: string) =>
    `agents: { one: { model: test/m } }\nsteps: [{ name: a, agent: one, processing: ${processing} }]\n`

  it('is kept apart at level full, and is part of the text below it', async () => {
    const done = await run(plain('{ aop: full }'), () => text, { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: 'Paris' })
    expect(done.logs).toContain('aros.repair.success')
    for (const processing of ['{}', '{ aop: minimal }'])
      expect((await run(plain(processing), () => text, { input: 'x' })).output).toBe(text)
  })
})

describe('aggregate_structured', () => {
  const streaming = (text: string, aros: Parameters<typeof arosConfig>[0] = {}) => {
    const { draft } = compile(text, { input: 'x', aros: arosConfig(aros) })
    const processing = draft.nodes[0]?.data?.['processing'] as { streaming?: unknown } | undefined
    return processing?.streaming
  }

  it('means the same in the settings and at a step, and the step wins', () => {
    expect(streaming(step('{ streaming: { aggregate_structured: false } }'))).toEqual({
      aggregate_structured: false,
    })
    expect(streaming(step('{}'), { 'streaming.aggregate_structured': false })).toEqual({
      aggregate_structured: false,
    })
    expect(
      streaming(step('{ streaming: { aggregate_structured: true } }'), {
        'streaming.aggregate_structured': false,
      }),
    ).toEqual({ aggregate_structured: true })
  })
})

describe('names that nothing knows are errors, with their place and what was meant', () => {
  const plain = (more: string) =>
    `agents: { one: { model: test/m } }\nsteps: [{ name: a, agent: one${more} }]\n`
  it.each([
    [
      ', processing: { coercion: { allow: { integer: [str->itn] } } }',
      'str->itn',
      'Did you mean "str->int"?',
    ],
    [', processing: { coercion: { allow: { boolean: [str->int] } } }', 'str->int', /str->bool/],
    [', processing: { coercion: { allow: { integr: [str->int] } } }', 'integr', 'Did you mean "integer"?'],
    [', contract: true, auto_aprove_above: 0.9', 'auto_aprove_above', 'Did you mean "auto_approve_above"?'],
    [', contract: true, reviewLo: 0.9', 'reviewLo', 'Did you mean "review_low"?'],
    [', constraints: { no_netwrk_access: true }', 'no_netwrk_access', 'Did you mean "no_network_access"?'],
    [', usage_limits: { max_call: 2 }', 'max_call', 'Did you mean "max_calls"?'],
    [
      ', output_schema: { type: object, properties: { summary: true } }, validate_fields: [sumary]',
      'sumary]',
      'Did you mean summary?',
    ],
    [', processing: { enforcment: off }', 'enforcment', 'Did you mean "enforcement"?'],
  ])('%s', (more, words, hint) => {
    const found = problems(plain(more), { input: 'x' })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ line: 2, hint: expect.stringMatching(hint) })
    expect(found[0]?.column).toBe(`steps: [{ name: a, agent: one${more}`.indexOf(words) + 1)
  })
})

describe('stages of your own', () => {
  const halve: CustomStage = {
    name: 'halve',
    run: (value) =>
      typeof value === 'object' && value !== null && 'n' in value ? { n: Number(value.n) / 2 } : undefined,
  }
  const upper: CustomStage = {
    name: 'upper',
    run: (value) => (typeof value === 'string' ? value.toUpperCase() : undefined),
  }
  const stages = [halve, upper]

  it('run after the built-in ones and before the final validation, in the order of the list', async () => {
    const text = step('{ structured_output: auto, stages: [halve, halve] }')
    const done = await run(text, () => 'Sure: {"n": "28"}', { input: 'x', stages })
    expect(done).toMatchObject({ status: 'completed', output: { n: 7 } })
    expect(done.logs).toContain('output.coercion.success')
  })

  it('do not get past the schema', async () => {
    const text = step('{ structured_output: auto, enforcement: validate, stages: [halve] }')
    expect((await run(text, () => '{"n": 7}', { input: 'x', stages })).status).toBe('failed')
  })

  it('are accepted on an agent, too, and work on plain texts', async () => {
    const text =
      'agents: { one: { model: test/m, processing: { stages: [upper] } } }\nsteps: [{ name: a, agent: one }]\n'
    expect(await run(text, () => 'tea', { input: 'x', stages })).toMatchObject({ output: 'TEA' })
    const none = text.replace('agent: one }', 'agent: one, processing: { stages: [] } }')
    expect(await run(none, () => 'tea', { input: 'x', stages })).toMatchObject({ output: 'tea' })
  })

  it('are refused with their line where nothing brings them', () => {
    expect(problems(step('{ stages: [halv] }'), { input: 'x', stages })).toMatchObject([
      { code: 'pipeline/unknown', line: 3, message: 'stage "halv" not found', hint: 'Did you mean halve?' },
    ])
  })
})
