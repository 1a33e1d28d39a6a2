/** The fallback of a step has the settings of its own agent, and its answer counts only where it fits. */
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../../src/domain/ports/provider.ts'
import { readYaml, validatePipeline } from '../../../src/pipeline/index.ts'
import { compile, defineCapability, problems, run } from '../../pipelines/support.ts'

const count = '{ type: object, required: [n], properties: { n: { type: integer } } }'
const pipeline = (first: string, spare: string, step = '') => `agents:
  first: { model: test/first${first} }
  spare: { model: test/spare${spare} }
steps:
  - { name: z, agent: first, input: x, fallback: agents.spare${step} }
`
const answers = (said: string) => (request: ModelRequest) => {
  if (request.model.includes('first')) throw new Error('down')
  return said
}
const errorsIn = (text: string) => {
  const read = readYaml(text, 'p.yaml')
  if (!read.ok) throw new Error('this is no YAML')
  return validatePipeline(read.document).issues.filter(({ severity }) => severity === 'error')
}

describe('the answer of a fallback', () => {
  it('must satisfy what the step promises and the own schema of its agent', async () => {
    const own = ', output_schema: { type: object, required: [n, m], properties: { m: { type: integer } } }'
    const text = pipeline(`, output_schema: ${count}`, own)
    expect(await run(text, answers('{"n":1,"m":2}'))).toMatchObject({ output: { n: 1, m: 2 } })
    expect(await run(text, answers('{"n":1}'))).toMatchObject({ failure: 'attempt/invalid' })
    expect(await run(text, answers('{"n":"x","m":2}'))).toMatchObject({ failure: 'attempt/invalid' })
  })

  it('that could never count is a finding, and nothing is called', () => {
    for (const [first, spare] of [
      ['', `, output_schema: ${count}`],
      [`, output_schema: ${count}`, ', output_schema: { type: string }'],
    ] as const) {
      const text = pipeline(first, spare)
      expect(errorsIn(text)).toMatchObject([
        {
          line: 5,
          code: 'pipeline/fallback',
          message: expect.stringContaining('spare'),
          hint: expect.any(String),
        },
      ])
      expect(problems(text)).toMatchObject([{ line: 5, code: 'pipeline/fallback' }])
    }
  })

  it('of an agent without a schema is asked for what the step promises', async () => {
    const done = await run(pipeline(`, output_schema: ${count}`, ''), answers('{"n":1}'))
    expect(done).toMatchObject({ status: 'completed', output: { n: 1 } })
    expect(done.seen.at(-1)).toMatchObject({ schema: { required: ['n'] } })
  })
})

describe('a fallback inside of other steps', () => {
  const inside = (body: string) => `agents:
  first: { model: test/first }
  spare: { model: test/spare }
steps:
${body}
`
  it.each([
    [
      'a map',
      '  - { kind: map, name: m, map: { iterable_input: "{{ input }}", body: [{ name: z, agent: first, fallback: agents.spare }] } }',
      ['yes', 'yes'],
    ],
    [
      'a loop',
      '  - { kind: loop, name: l, loop: { max_loops: 2, body: [{ name: z, agent: first, fallback: agents.spare }] } }',
      'yes',
    ],
    [
      'a branch',
      '  - { kind: conditional, name: c, condition: { "==": [1, 1] }, branches: { true: [{ name: z, agent: first, fallback: agents.spare }] } }',
      'yes',
    ],
    [
      'branches side by side',
      '  - { kind: parallel, name: p, branches: { a: [{ name: z, agent: first, fallback: agents.spare }], b: [{ name: y, agent: spare }] } }',
      { a: 'yes', b: 'yes' },
    ],
  ])('%s answers there, and later steps continue', async (_, body, output) => {
    const text = inside(`${body}\n  - { name: end, uses: wrap_dict, input: "{{ previous_step }}" }`)
    expect(await run(text, answers('yes'), { input: ['a', 'b'] })).toMatchObject({
      status: 'completed',
      output: { value: output },
    })
  })
})

describe('the settings of a fallback', () => {
  it('are those of its own agent', () => {
    const own =
      ', timeout: 1, max_retries: 3, model_settings: { max_tokens: 55 }, processing: { structured_output: off, repair: { enable_llm: false } }'
    const { draft } = compile(
      pipeline(`, output_schema: ${count}, timeout: 9, model_settings: { max_tokens: 777 }`, own),
    )
    const [first, spare] = draft.nodes
    expect(first).toMatchObject({
      timeoutMs: 9_000,
      data: { modelSettings: { maxOutputTokens: 777 }, processing: { structured_output: 'openai_json' } },
    })
    expect(spare).toMatchObject({
      timeoutMs: 1_000,
      retry: { max: 3 },
      data: {
        modelSettings: { maxOutputTokens: 55 },
        processing: { structured_output: 'off', repair: { enable_llm: false } },
      },
    })
  })

  it('are what the step says where it says something', () => {
    const { draft } = compile(pipeline('', ', timeout: 1', ', timeout: 5, max_retries: 2'))
    expect(draft.nodes[1]).toMatchObject({ timeoutMs: 5_000, retry: { max: 2 } })
  })

  it('reach the model: its own limit of tokens, and no repair where it is switched off', async () => {
    const own =
      ', model_settings: { max_tokens: 55 }, processing: { structured_output: off, repair: { enable_llm: false }, fallback: { max_stages: 0 } }'
    const done = await run(pipeline(`, output_schema: ${count}`, own), answers('not JSON'))
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/invalid' })
    const asked = done.seen.filter(({ model }) => model.includes('spare'))
    expect(asked).toMatchObject([{ maxOutputTokens: 55 }])
  })
})

describe('a capability of your own', () => {
  const needs = (type: string) =>
    defineCapability({
      capabilityId: 'own',
      kind: 'local',
      inputContract: { type: 'object', required: ['topic'], properties: { topic: { type } } },
      outputContract: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
      run: ({ topic }: { topic: string }) => ({ text: `own ${topic}` }),
    })
  const topic = 'input_schema: { type: object, required: [topic], properties: { topic: { type: string } } }\n'

  it.each(['{{ input }}', '{{ initial_input }}'])(
    'gets its properties from a map given as %s',
    async (input) => {
      const text = `${topic}steps:\n  - { name: x, uses: own, input: "${input}" }\n`
      const done = await run(text, undefined, { input: { topic: 'tea' }, own: [needs('string')] })
      expect(done).toMatchObject({ status: 'completed', output: { text: 'own tea' } })
    },
  )

  it('has no use for processing where it calls no model, which is an error with its line', () => {
    const text = `${topic}steps:\n  - { name: x, uses: own, input: "{{ input }}", processing: { aop: full } }\n`
    expect(problems(text, { input: { topic: 'tea' }, own: [needs('string')] })).toMatchObject([
      { line: 3, code: 'pipeline/unread', message: expect.stringContaining('processing.aop') },
    ])
  })

  it('stands in for an agent only with an input that satisfies its contract', async () => {
    const text = `${topic}agents: { first: { model: test/first, output_schema: { type: object, required: [text], properties: { text: { type: string } } } } }
steps:
  - { name: x, agent: first, input: "{{ input }}", fallback: own }
`
    const given = (type: string) => ({ input: { topic: 'tea' }, own: [needs(type)] })
    expect(await run(text, answers(''), given('string'))).toMatchObject({ output: { text: 'own tea' } })
    expect(await run(text, answers(''), given('integer'))).toMatchObject({ failure: 'plan/rejected' })
  })
})

describe('usage_limits of a step with a fallback', () => {
  const limited = (limits: string, run = '') =>
    pipeline(`, output_schema: ${count}`, '', `, usage_limits: { ${limits} }`) + run
  const calls = (seen: readonly ModelRequest[]) => {
    const of = (name: string) => seen.filter(({ model }) => model.includes(name)).length
    return { first: of('first'), spare: of('spare') }
  }
  /** The first agent never answers well; the other one answers well the second time. */
  const slow = () => {
    let nth = 0
    return ({ model }: ModelRequest) => (model.includes('spare') && ++nth > 1 ? '{"n":1}' : '{"n":"x"}')
  }

  it('count anew for the fallback: answers', async () => {
    const done = await run(limited('max_calls: 2'), slow())
    expect(done).toMatchObject({ status: 'completed', output: { n: 1 } })
    expect(calls(done.seen)).toEqual({ first: 2, spare: 2 })
    const once = await run(limited('max_calls: 1'), slow())
    expect(once.status).toBe('failed')
    expect(calls(once.seen)).toEqual({ first: 1, spare: 1 })
  })

  it('count anew for the fallback: tokens, of which one call may take all', async () => {
    const answer = ({ model }: ModelRequest) => (model.includes('spare') ? '{"n":1}' : '{"n":"x"}')
    const done = await run(limited('max_tokens: 6000'), answer)
    expect(done).toMatchObject({ status: 'completed', output: { n: 1 } })
    expect(calls(done.seen)).toEqual({ first: 1, spare: 1 })
  })

  it('leave the limits of the run in force, which both share', async () => {
    const answer = ({ model }: ModelRequest) => (model.includes('spare') ? '{"n":1}' : '{"n":"x"}')
    const done = await run(limited('max_calls: 1', 'limits: { max_calls: 1 }\n'), answer)
    expect(done).toMatchObject({ status: 'failed', failure: 'budget/exhausted' })
    expect(calls(done.seen)).toEqual({ first: 1, spare: 0 })
  })
})
