/** How texts of a pipeline's models are made and read: the excerpts of the specifications as written, and which setting wins. */
import { describe, expect, it } from 'vitest'
import type { Json, ModelRequest } from '../../src/index.ts'
import { arosConfig } from '../../src/pipeline/index.ts'
import { compile, problems, readInput, run } from './support.ts'

const indent = (text: string, by: number) => text.replace(/^(?=.)/gm, ' '.repeat(by))

/** The `processing` that a step ends up with. */
const processingOf = (text: string, aros: Parameters<typeof arosConfig>[0] = {}) => {
  const { draft } = compile(text, { input: 'x', aros: arosConfig(aros) })
  const node = draft.nodes.find(({ id }) => id === 'a')
  return { processing: node?.data?.['processing'] as Record<string, Json>, schema: node?.contracts?.output }
}

const object = '{ type: object, required: [ok], properties: { ok: { type: boolean } } }'
const withSchema = (step = '') => `
agents: { one: { model: test/m, output_schema: ${object} } }
steps: [{ name: a, agent: one${step} }]
`
const plain = (step = '') => `
agents: { one: { model: test/m } }
steps: [{ name: a, agent: one${step} }]
`

/** Section 5.2 of the specification, word for word. */
const toggles = `agents:
  my_agent_step:
    processing:
      structured_output: auto          # off | auto | openai_json | outlines | xgrammar
      aop: minimal                     # off | minimal | full
      coercion:
        tolerant_level: 0              # 0=off, 1=json5, 2=json-repair
        allow:
          integer: ["str->int"]
          number:  ["str->float"]
          boolean: ["str->bool"]
        max_unescape_depth: 2
        anyof_strategy: "first-pass"
      reasoning_precheck:
        enabled: false
        validator_agent: agents.plan_checker   # optional
        max_tokens: 200                        # budget cap for the precheck
        score_threshold: 0.7                   # optional scoring gate
        required_context_keys: ["initial_input"]
        inject_feedback: "prepend"             # prepend | context_key | (unset)
        retry_guidance_prefix: "Guidance: "    # for prepend mode
        context_feedback_key: "_aros_retry_guidance"  # for context_key mode
`

const coercion = `processing:
  aop: full
  coercion:
    allow:
      integer: ["str->int"]
      number: ["str->float"]
      boolean: ["str->bool"]
  schema:
    type: object
    required: ["count"]
    properties:
      count: { type: integer }
`

const structured = `processing:
  structured_output: openai_json
  schema:
    type: object
    properties:
      ok: { type: boolean }
`

describe('excerpts of the specification in a minimal pipeline', () => {
  it('the step-level toggles are accepted on an agent, and its steps have them', async () => {
    const text = `${toggles}  plan_checker: { model: test/checker }
steps:
  - { name: a, agent: my_agent_step }
`
    const { processing } = processingOf(text)
    expect(processing).toMatchObject({
      structured_output: 'auto',
      aop: 'minimal',
      reasoning_precheck: { enabled: false, required_context_keys: ['initial_input'] },
    })
    const done = await run(text, () => 'plain', { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: 'plain' })
  })

  it('schema-aware coercion: "42" becomes 42 because the step allows it', async () => {
    const text = `agents: { one: { model: test/m } }
steps:
  - name: a
    agent: one
${indent(coercion, 4)}`
    const done = await run(text, () => 'Sure: {"count": "42"}', { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: { count: 42 } })
    expect(done.logs).toContain('output.coercion.success')
  })

  it('structured output: the provider is asked for the schema, and the trace says so', async () => {
    const text = `agents: { one: { model: test/m } }
steps:
  - name: a
    agent: one
${indent(structured, 4)}`
    const done = await run(text, () => '{"ok": true}', { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: { ok: true } })
    expect(done.seen[0]).toMatchObject({
      structured: 'openai_json',
      schema: { properties: { ok: { type: 'boolean' } } },
    })
    expect(done.logs).toContain('grammar.applied')
  })
})

describe('who wins', () => {
  it('nothing is on by itself: a plain text stays one, with no event of repair', async () => {
    expect(processingOf(plain()).processing).toMatchObject({ structured_output: 'off', aop: 'off' })
    const done = await run(plain(), () => '```\n{"a":1}\n```', { input: 'x' })
    expect(done.output).toBe('```\n{"a":1}\n```')
    expect(done.logs).toEqual(['agent.usage'])
  })

  it('preset safe: auto and minimal for steps that say nothing', () => {
    const safe = { structured_output_default: 'auto', enable_aop_default: 'minimal' } as const
    expect(processingOf(plain(), safe).processing).toMatchObject({
      structured_output: 'auto',
      aop: 'minimal',
    })
    expect(processingOf(withSchema(), safe).processing).toMatchObject({
      structured_output: 'auto',
      aop: 'minimal',
    })
  })

  it('the step beats its agent, the agent beats the settings', () => {
    const text = (step: string) => `
agents: { one: { model: test/m, processing: { aop: minimal, repair: { max_attempts: 1 } } } }
steps: [{ name: a, agent: one${step} }]
`
    const settings = {
      enable_aop_default: 'full',
      'repair.max_attempts': 0,
      'repair.enable_llm': false,
    } as const
    expect(processingOf(text(''), settings).processing).toMatchObject({
      aop: 'minimal',
      repair: { max_attempts: 1, enable_llm: false },
    })
    expect(processingOf(text(', processing: { aop: off }'), settings).processing).toMatchObject({
      aop: 'off',
    })
  })

  it('an agent with an object schema switches structured output on, is reported, and can be stopped', () => {
    expect(processingOf(withSchema()).processing).toMatchObject({
      structured_output: 'openai_json',
      aop: 'full',
    })
    expect(compile(withSchema(), { input: 'x' }).notes).toMatchObject([
      { code: 'pipeline/promoted', line: 3 },
    ])
    expect(processingOf(withSchema(', processing: { structured_output: off }')).processing).toMatchObject({
      structured_output: 'off',
    })
    expect(processingOf(withSchema(), { auto_promote: false }).processing).toMatchObject({
      structured_output: 'off',
    })
    expect(processingOf(withSchema(), { structured_output_default: 'off' }).processing).toMatchObject({
      structured_output: 'off',
    })
    expect(processingOf(plain()).processing).toMatchObject({ structured_output: 'off' })
  })

  it('a step with structured output takes over the schema of its agent, unless it has its own', () => {
    expect(processingOf(withSchema(', processing: { structured_output: auto }')).schema).toMatchObject({
      required: ['ok'],
    })
    const own = ', processing: { structured_output: auto, schema: { type: object, required: [other] } }'
    expect(processingOf(withSchema(own)).schema).toEqual({ type: 'object', required: ['other'] })
  })

  it('settings switch the precheck on, and structured steps are called without a stream', () => {
    expect(processingOf(plain(), { enable_reasoning_precheck: true }).processing).toMatchObject({
      reasoning_precheck: { enabled: true },
    })
    expect(processingOf(plain(), { 'streaming.aggregate_structured': false }).processing).toMatchObject({
      streaming: { aggregate_structured: false },
    })
    expect(processingOf(plain(), { coercion_tolerant_level: 2 }).processing).toMatchObject({
      coercion: { tolerant_level: 2 },
    })
  })

  it('enabled = false leaves everything as it was, whatever the steps say', () => {
    const text = withSchema(', processing: { structured_output: auto, aop: full }')
    expect(processingOf(text, { enabled: false }).processing).toMatchObject({
      structured_output: 'off',
      aop: 'off',
    })
  })

  it('what is wrong under meta is refused at its line, and other keys there belong to the author', () => {
    const under = (meta: string) => plain(`, meta: ${meta}`)
    expect(problems(under('{ processing: { structured_outputt: auto } }'))).toMatchObject([
      {
        code: 'pipeline/additionalProperties',
        pointer: '/steps/0/meta/processing/structured_outputt',
      },
    ])
    expect(problems(under('{ processing: { aop: fulll } }'))[0]?.code).toBe('pipeline/enum')
    expect(
      processingOf(under('{ ownKey: { any: 1 }, processing: { structuredOutput: auto } }')).processing,
    ).toMatchObject({ structured_output: 'auto' })
  })

  it('processing at the step overrides its meta', () => {
    const both = plain(', processing: { aop: full }, meta: { processing: { aop: minimal } }')
    expect(processingOf(both).processing).toMatchObject({ aop: 'full' })
  })

  it('an agent that checks plans must exist, unless plans are not checked', () => {
    const precheck = (more: string) =>
      plain(`, processing: { reasoning_precheck: { validator_agent: agents.onne, ${more} } }`)
    expect(problems(precheck('enabled: true'))).toMatchObject([
      { code: 'pipeline/unknown', hint: 'Did you mean one?' },
    ])
    expect(problems(precheck('max_tokens: 9'))).toHaveLength(1)
    expect(processingOf(precheck('enabled: false')).processing).toBeDefined()
  })

  it('validate_fields makes members required, mergeable_output decides about the context', async () => {
    const text = `
agents: { one: { model: test/m, output_schema: { type: object, properties: { a: { type: integer } } } } }
steps:
  - { name: a, agent: one, validate_fields: [a], updates_context: true }
  - { name: b, uses: wrap_dict, input: "{{ context.a }}" }
`
    expect(processingOf(text).schema).toMatchObject({ required: ['a'] })
    expect(await run(text, () => '{"a":1}', { input: 'x' })).toMatchObject({ output: { value: 1 } })
    expect(
      problems(text.replace('updates_context: true', 'updates_context: true, mergeable_output: false'))[0]
        ?.message,
    ).toContain('nothing puts a into the context')
  })
})

describe('the rest of a step', () => {
  it('limits, retries, contract and constraints reach the node', () => {
    const { draft } = compile(
      plain(
        ', timeout: 1.5, maxRetries: 5, usage_limits: { total_tokens_limit: 9, total_cost_usd_limit: 0.5 }, contract: true, suppress_below: 0.2, reviewLow: 0.3, constraints: { no_network_access: false }, on_fail: ask',
      ),
      { input: 'x' },
    )
    expect(draft.nodes[0]).toMatchObject({
      timeoutMs: 1_500,
      retry: { max: 5 },
      tokenBudget: 9,
      costBudgetUsd: 0.5,
      onFail: 'ask',
      constraints: { no_network_access: false },
      data: { contract: true, suppressBelow: 0.2, reviewLow: 0.3 },
    })
  })

  it('an agent under a RAO contract is routed by its confidence', async () => {
    const answer = (confidence: number) => () =>
      JSON.stringify({
        primary_output: 'Tea',
        confidence,
        confidence_type: 'verbalized',
        escalate: false,
        reasoning: 'r',
      })
    const text = plain(', contract: true')
    expect(await run(text, answer(0.95), { input: 'x' })).toMatchObject({
      status: 'completed',
      output: 'Tea',
    })
    expect((await run(text, answer(0.7), { input: 'x' })).status).toBe('waiting')
  })

  it('says what the model receives: the system prompt, the step, the input', async () => {
    const seen: ModelRequest[] = [...(await run(plain(), () => 'ok', { input: { a: 1 } })).seen]
    expect(readInput(seen[0] as ModelRequest)).toEqual({ a: 1 })
  })
})

describe('settings that are wrong have their line', () => {
  it.each([
    [', processing: { structured_output: maybe }', 'structured_output'],
    [', processing: { coercion: { tolerant_level: 7 } }', 'tolerant_level'],
    [', processing: { aopp: full }', 'aopp'],
    [', processing: { schema: { type: objekt } }', 'objekt'],
    [', input: "{% if x %}"', '{%'],
    [', input: "{{ input | uper }}"', 'input | uper'],
    [', timeout: soon', 'soon'],
  ])('%s', (step, words) => {
    const [issue] = problems(plain(step), { input: 'x' })
    expect(issue).toMatchObject({ line: 3 })
    expect(issue?.excerpt.split('\n')[0]).toContain(words)
  })
})
