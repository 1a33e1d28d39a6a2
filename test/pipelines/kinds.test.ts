/** Every kind of step, run by the ordinary engine: what runs, what does not, and what comes out. */
import { describe, expect, it } from 'vitest'
import { createApp, type DefinedCapability, type Json, type ModelRequest } from '../../src/index.ts'
import { compile, defineCapability, problems, readInput, run } from './support.ts'

const agents = `
agents:
  writer: { model: test/m, system_prompt: Write. }
  judge:
    model: test/m
    output_schema:
      type: object
      required: [score]
      properties: { score: { type: number }, note: { type: string } }
`

describe('steps one after the other', () => {
  it('hands the output of one step to the next, and the last one is the answer', async () => {
    const done = await run(
      `${agents}
steps:
  - { name: draft, agent: writer, input: "About {{ input.topic }}" }
  - { name: polish, agent: writer }
`,
      (request) => `[${String(readInput(request))}]`,
      { input: { topic: 'tea' } },
    )
    expect(done).toMatchObject({ status: 'completed', output: '[[About tea]]', issues: [] })
    expect(done.seen[0]?.system).toContain('Write.')
  })

  it('fills templates from steps, context and filters', async () => {
    const done = await run(
      `${agents}
context: { tone: dry }
steps:
  - { name: rate, agent: judge, input: x, updates_context: true }
  - { name: sunk, agent: writer, input: y, sink_to: title }
  - name: all
    agent: writer
    input:
      text: "{{ steps.rate.output.score }} {{ context.tone | upper }} {{ context.score }} {{ context.title }}"
      list: ["{{ steps.rate }}", "{{ steps.rate.note | default('none') }}"]
  - { name: whole, agent: writer, input: "{{ context }}" }
`,
      (request) => {
        const input = readInput(request)
        if (input === 'x') return '{"score":0.5}'
        return input === 'y' ? 'T' : JSON.stringify(input)
      },
    )
    expect(done.issues).toEqual([])
    expect(readInput(done.seen[2] as never)).toEqual({
      text: '0.5 DRY 0.5 T',
      list: [{ score: 0.5 }, 'none'],
    })
    expect(JSON.parse(String(done.output))).toEqual({ tone: 'dry', score: 0.5, title: 'T' })
  })

  it('says which value is missing when a template meets nothing', async () => {
    const done = await run(
      `${agents}
steps:
  - { name: rate, agent: judge, input: x }
  - { name: next, agent: writer, input: "{{ steps.rate.output.note }}" }
`,
      () => '{"score":1}',
    )
    expect(done.status).toBe('failed')
    expect(done.issues[0]?.message).toContain('steps.rate.output.note')
  })
})

describe('parallel', () => {
  it('runs branches side by side and gives a map of their outputs', async () => {
    const done = await run(
      `${agents}
steps:
  - name: both
    kind: parallel
    branches:
      a: [{ name: one, agent: writer, input: "{{ input }}1" }, { name: two, agent: writer }]
      b: { agent: writer, input: "{{ input }}2" }
  - { name: end, agent: writer, input: "{{ previous_step.a }}/{{ steps.both.output.b }}" }
`,
      (request) => `<${String(readInput(request))}>`,
      { input: 'x' },
    )
    expect(done).toMatchObject({ status: 'completed', output: '<<<x1>>/<x2>>' })
  })
})

describe('conditional', () => {
  const text = `${agents}
steps:
  - { name: rate, agent: judge, input: "{{ input }}" }
  - name: choose
    kind: conditional
    condition: { ">=": [{ var: steps.rate.output.score }, 0.5] }
    branches:
      true: [{ name: keep, agent: writer, input: "keep {{ input }} {{ steps.rate.output.score }}" }]
      false: [{ name: fix, agent: writer, input: "fix {{ input }}" }, { name: again, agent: writer }]
  - { name: end, agent: writer, input: "end {{ previous_step }}" }
`
  it.each([
    ['0.9', 'end keep x 0.9', 3],
    ['0.1', 'end fix x', 4],
  ])('a score of %s runs one branch and not the other', async (score, output, calls) => {
    const done = await run(
      text,
      (request) =>
        request.schema && JSON.stringify(request.schema).includes('score')
          ? `{"score":${score}}`
          : String(readInput(request)),
      {
        input: 'x',
      },
    )
    expect(done).toMatchObject({ status: 'completed', output, issues: [] })
    expect(done.seen).toHaveLength(calls)
  })

  it('continues without a branch that is not there', async () => {
    const done = await run(
      `${agents}
steps:
  - name: maybe
    kind: conditional
    condition: { "==": [{ var: input }, "yes"] }
    branches: { true: [{ name: extra, agent: writer, input: extra }] }
`,
      () => 'called',
      { input: 'no' },
    )
    expect(done).toMatchObject({ status: 'completed', output: 'no' })
    expect(done.seen).toHaveLength(0)
  })

  it('takes the branch that a value names, the default, or says that there is none', async () => {
    const over = (input: string, more = '') =>
      run(
        `${agents}
steps:
  - name: by
    kind: conditional
    condition_expression: "{{ input }}"
    ${more}
    branches: { a: [{ name: x, agent: writer, input: A }], b: [{ name: x, agent: writer, input: B }] }
`,
        (request) => String(readInput(request)),
        { input },
      )
    expect(await over('b')).toMatchObject({ status: 'completed', output: 'B' })
    expect(await over('z', 'default_branch: a')).toMatchObject({ status: 'completed', output: 'A' })
    const none = await over('z')
    expect(none.status).toBe('failed')
    expect(none.issues[0]?.message).toContain('No branch of by')
  })
})

describe('map', () => {
  const text = `${agents}
steps:
  - name: each
    kind: map
    map:
      iterable_input: "{{ input.items }}"
      max_items: 5
      body:
        - { name: one, agent: writer, input: "{{ index }}:{{ item }}:{{ input.tag }}" }
        - { name: two, agent: writer, input: "{{ steps.one.output }}!" }
`
  it.each([0, 1, 3, 5])('runs the body for each of %i items and keeps their order', async (count) => {
    const items = Array.from({ length: count }, (_, index) => `i${index}`)
    const done = await run(text, (request) => String(readInput(request)), { input: { items, tag: 't' } })
    expect(done).toMatchObject({
      status: 'completed',
      output: items.map((item, index) => `${index}:${item}:t!`),
      issues: [],
    })
    expect(done.seen).toHaveLength(count * 2)
  })

  it('goes over lists that only the run knows, and refuses more than its bound', async () => {
    const listed = `
agents:
  lister: { model: test/m, output_schema: { type: array, items: { type: string } } }
  writer: { model: test/m }
steps:
  - { name: list, agent: lister, input: x }
  - { name: each, kind: map, map: { iterable_input: previous_step, max_items: 2, body: [{ name: one, agent: writer, input: "{{ item }}" }] } }
`
    const answering = (list: string) => (request: ModelRequest) =>
      JSON.stringify(request.schema ?? '').includes('array') ? list : String(readInput(request))
    expect(await run(listed, answering('["a","b"]'))).toMatchObject({
      status: 'completed',
      output: ['a', 'b'],
    })
    const over = await run(listed, answering('["a","b","c"]'))
    expect(over).toMatchObject({ status: 'failed', failure: 'map/limit' })
    expect(over.issues).toMatchObject([
      {
        code: 'map/limit',
        message: expect.stringContaining('at most 2 items'),
        hint: expect.stringContaining('max_items'),
      },
    ])
    expect(over.seen).toHaveLength(1)
  })
})

describe('loop', () => {
  const text = (more = '') => `${agents}
steps:
  - name: refine
    kind: loop
    loop:
      max_loops: 4
      exit_condition: { ">=": [{ var: previous_step.score }, 0.8] }
      ${more}
      body:
        - { name: write, agent: writer, input: "{{ iteration }} {{ input }}" }
        - { name: rate, agent: judge, updates_context: true }
  - { name: end, agent: writer, input: "{{ steps.refine.output.score }} {{ context.score }}" }
`
  const scores = (values: readonly number[]) => {
    let at = 0
    return (request: ModelRequest) =>
      JSON.stringify(request.schema ?? '').includes('score')
        ? `{"score":${values[at++]}}`
        : String(readInput(request))
  }

  it.each([
    [[0.9], 1],
    [[0.1, 0.2, 0.85], 3],
    [[0.1, 0.2, 0.3, 0.8], 4],
  ])('leaves when its condition holds: scores %j take %i rounds', async (values, rounds) => {
    const done = await run(text(), scores(values), { input: 'x' })
    expect(done).toMatchObject({
      status: 'completed',
      output: `${values.at(-1)} ${values.at(-1)}`,
      issues: [],
    })
    expect(done.seen).toHaveLength(rounds * 2 + 1)
  })

  it('fails at its bound, or accepts the last round where the author says so', async () => {
    const low = [0.1, 0.2, 0.3, 0.4]
    const failed = await run(text(), scores(low), { input: 'x' })
    expect(failed).toMatchObject({ status: 'failed', failure: 'loop/limit' })
    expect(failed.issues).toMatchObject([
      { message: expect.stringContaining('4 rounds'), hint: expect.stringContaining('max_loops') },
    ])
    expect(await run(text('on_max_loops: accept'), scores(low), { input: 'x' })).toMatchObject({
      status: 'completed',
      output: '0.4 0.4',
    })
  })

  it('thirty rounds are still proved before the first call', async () => {
    const long = text().replace('max_loops: 4', 'max_loops: 30')
    expect(await run(long, scores([0.1, 0.9]), { input: 'x' })).toMatchObject({
      status: 'completed',
      output: '0.9 0.9',
    })
  })
})

describe('router', () => {
  it('runs the branches that the agent names', async () => {
    const done = await run(
      `${agents}
steps:
  - name: pick
    kind: dynamic_router
    router:
      router_agent: agents.judge
      branches:
        a: [{ name: x, agent: writer, input: "A {{ input }}" }]
        b: [{ name: x, agent: writer, input: "B {{ input }}" }]
        c: [{ name: x, agent: writer, input: "C" }]
`,
      (request) => (request.schemaName === 'pick.choose' ? '["a","b"]' : String(readInput(request))),
      { input: 'x' },
    )
    expect(done).toMatchObject({ status: 'completed', output: { a: 'A x', b: 'B x' }, issues: [] })
    expect(done.seen).toHaveLength(3)
  })

  it.each([
    ['I think the news branch fits best.', 'got "I think the news branch fits best."'],
    ['["sport"]', 'must be one of "news", "tech"'],
    ['{"branch":"news"}', 'must be array'],
  ])('says what its agent should have answered, and where to change it: %s', async (said, got) => {
    const done = await run(
      `${agents}
steps:
  - name: pick
    kind: router
    router:
      router_agent: agents.writer
      branches:
        news: [{ name: x, agent: writer, input: A }]
        tech: [{ name: x, agent: writer, input: B }]
`,
      (request) => (request.schemaName === 'pick.choose' ? said : 'unused'),
      { input: 'x' },
    )
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/invalid' })
    const { message, details } = (
      done as unknown as { error: { message: string; details: { hint: string } } }
    ).error
    expect(message).toContain(
      'Expected a JSON list of the branches of router "pick" to run (news, tech), such as ["news"], got',
    )
    expect(message).toContain(got)
    expect(details.hint).toBe(
      'State in `system_prompt` of agents.writer that it must answer with such a list, such as ["news"]',
    )
  })
})

describe('who does a step', () => {
  it('built-ins: wrap_dict, ensure_object, extract_from_text', async () => {
    const done = await run(
      `${agents}
steps:
  - { name: text, agent: writer, input: x }
  - { name: wrap, uses: wrap_dict, params: { key: title }, updates_context: true }
  - { name: object, uses: flujo.builtins.ensure_object, input: '{"a":1}' }
  - { name: other, uses: ensure_object, input: "{{ steps.text.output }}" }
  - name: extract
    uses: extract_from_text
    input: "{{ context.title }}"
    params: { schema: { type: array, items: { type: integer } } }
  - { name: end, uses: wrap_dict, input: ["{{ steps.wrap }}", "{{ steps.object }}", "{{ steps.other }}", "{{ steps.extract }}"] }
`,
      (request) => (request.schemaName === 'extract' ? 'Here: {"result": ["1", 2]}' : 'tea'),
    )
    expect(done.issues).toEqual([])
    expect(done.output).toEqual({ value: [{ title: 'tea' }, { a: 1 }, { value: 'tea' }, { result: [1, 2] }] })
  })

  it("the user's own capabilities by their ids", async () => {
    const add = defineCapability({
      capabilityId: 'sum',
      inputContract: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      outputContract: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
      run: (inputs) => ({
        sum: (inputs as { a: number; b: number }).a + (inputs as { a: number; b: number }).b,
      }),
    })
    const text = 'steps: [{ name: add, uses: sum, input: { a: "{{ input }}", b: 2 } }]'
    expect(await run(text, undefined, { input: 1, own: [add] })).toMatchObject({
      status: 'completed',
      output: { sum: 3 },
    })
    expect(problems(text.replace('uses: sum', 'uses: summ'), { own: [add] })[0]?.hint).toBe(
      'Did you mean sum?',
    )
  })

  it.each(['agents.second', 'second'])(
    'a fallback answers when the first agent fails: %s',
    async (fallback) => {
      const done = await run(
        `
agents:
  first: { model: test/m, system_prompt: FIRST, output_schema: { type: object, required: [a], properties: { a: { type: integer } } } }
  second: { model: test/m, system_prompt: SECOND }
steps:
  - { name: try, agent: first, fallback: ${fallback}, processing: { structured_output: off, aop: off } }
`,
        (request) => (request.system.includes('SECOND') ? '{"a":1}' : 'no'),
      )
      expect(done).toMatchObject({ status: 'completed', output: { a: 1 } })
    },
  )
})

describe('blocks inside of blocks', () => {
  it('an empty branch before a full one hands on only when it was chosen', async () => {
    const text = `${agents}
steps:
  - name: maybe
    kind: conditional
    condition: { "==": [{ var: input }, "no"] }
    branches: { true: [], false: [{ name: extra, agent: writer, input: "extra {{ input }}", sink_to: k }] }
  - { name: end, agent: writer, input: "{{ previous_step }} {{ context.k | default('-') }}" }
`
    const echo = (request: ModelRequest) => String(readInput(request))
    expect(await run(text, echo, { input: 'yes' })).toMatchObject({ output: 'extra yes extra yes' })
    expect(await run(text, echo, { input: 'no' })).toMatchObject({ output: 'no -' })
  })

  it('a loop in a map in a branch sees everything outside, and nothing runs that was not reached', async () => {
    const text = `${agents}
steps:
  - { name: top, agent: writer, input: "T" }
  - name: gate
    kind: conditional
    condition: { "==": [{ var: input.go }, true] }
    branches:
      true:
        - name: each
          kind: map
          map:
            iterable_input: input.items
            max_items: 3
            body:
              - name: rounds
                kind: loop
                loop:
                  max_loops: 3
                  exit_condition: { "==": [{ var: iteration }, 2] }
                  body: [{ name: say, agent: writer, input: "{{ steps.top.output }}{{ item }}{{ iteration }}", sink_to: said }]
`
    const echo = (request: ModelRequest) => String(readInput(request))
    const done = await run(text, echo, { input: { go: true, items: ['a', 'b'] } })
    expect(done).toMatchObject({ status: 'completed', output: ['Ta2', 'Tb2'], issues: [] })
    expect(done.seen).toHaveLength(5)
    const skipped = await run(text, echo, { input: { go: false, items: ['a'] } })
    expect(skipped).toMatchObject({ status: 'completed', output: 'T' })
    expect(skipped.seen).toHaveLength(1)
  })

  it('a conditional in a round that is not gone does not run, although it hands on what came before the round', async () => {
    const text = `${agents}
steps:
  - name: rounds
    kind: loop
    loop:
      max_loops: 3
      exit_condition: { "==": [{ var: iteration }, 1] }
      body:
        - { name: maybe, kind: conditional, condition: { "==": [{ var: input }, "y"] }, branches: { true: [] } }
        - { name: say, agent: writer, input: "{{ previous_step }}!" }
`
    const done = await run(text, (request) => String(readInput(request)), { input: 'x' })
    expect(done).toMatchObject({ status: 'completed', output: 'x!' })
    expect(done.seen).toHaveLength(1)
  })

  it('asks a person inside of a map, and continues with the answer', async () => {
    const compiled = compile(
      `steps:
  - { name: each, kind: map, map: { iterable_input: input, max_items: 2, body: [{ name: ok, kind: hitl, message: "Is {{ item }} good?", input_schema: { type: boolean } }] } }
`,
      { input: ['a'] },
    )
    const app = await createApp({
      env: {},
      providers: [],
      capabilities: [...compiled.capabilities] as DefinedCapability[],
    })
    const waiting = await app.run(compiled.envelope, { draft: compiled.draft })
    expect(waiting.status).toBe('waiting')
    const state = await app.state(waiting.runId)
    const ask = state.asks.get(waiting.openAsks[0] ?? '')
    expect(ask?.question).toBe('Is a good?')
    expect(ask?.value).toEqual({ message: 'Is a good?', input: 'a' })
    await app.reply(waiting.runId, {
      requestId: ask?.requestId ?? '',
      decision: 'answer',
      value: true,
      valueHash: ask?.valueHash ?? '',
      by: 'ann',
    })
    expect(await app.result(waiting.runId)).toMatchObject({ status: 'completed', output: [true] })
    await app.close()
  })
})

it('compiles within two seconds what may go round millions of times', () => {
  const inner = '{ name: w, uses: wrap_dict }'
  const loop = (body: string) => `{ name: l, kind: loop, loop: { max_loops: 200, body: [${body}] } }`
  const map = (body: string) =>
    `{ name: m, kind: map, map: { iterable_input: previous_step, max_items: 200, body: [${body}] } }`
  const began = performance.now()
  expect(problems(`steps: [{ name: e, uses: ensure_object }, ${loop(loop(loop(inner)))}]`)).toEqual([])
  expect(problems(`steps: [${map(map(inner))}]`, { input: [[1]] })).toEqual([])
  expect(performance.now() - began).toBeLessThan(2_000)
})

describe('what an input need not have', () => {
  const text = (schema: string) => `input_schema: ${schema}
steps: [{ name: w, uses: wrap_dict, input: "{{ input.tone | default('plain') }}" }]
`
  const open = '{ type: object, properties: { tone: { type: string } } }'

  it('has its default where this one lacks it', async () => {
    const answer = async (input: Json) => (await run(text(open), () => '', { input })).output
    expect(await answer({})).toEqual({ value: 'plain' })
    expect(await answer({ tone: 'warm' })).toEqual({ value: 'warm' })
    const bare = text('true')
    expect((await run(bare, () => '', { input: 'a text' })).output).toEqual({ value: 'plain' })
  })

  it('must be there without one, and where the schema rules it out a default does not help', () => {
    expect(problems(text(open).replace(" | default('plain')", ''), { input: {} })).toHaveLength(1)
    const closed = '{ type: object, additionalProperties: false }'
    expect(problems(text(closed), { input: {} })).toHaveLength(1)
  })
})

it.each(['My tea, at five', '_tea', '日本のお茶', `${'long '.repeat(60)}`, '茶'.repeat(90)])(
  'runs a pipeline called %s, with agents and people called like it',
  async (name) => {
    const text = `name: ${JSON.stringify(name)}
agents: { ${JSON.stringify(name)}: { model: test/m }, ${JSON.stringify(`${name}2`)}: { model: test/m } }
steps: [{ name: a, agent: ${JSON.stringify(name)} }, { name: b, agent: ${JSON.stringify(`${name}2`)} }]
`
    expect(await run(text, () => 'done', { input: 'x' })).toMatchObject({ output: 'done', issues: [] })
    expect(new Set(compile(text, { input: 'x' }).draft.nodes.map((node) => node.capabilityId)).size).toBe(2)
  },
)

it('refuses kinds of steps that are called like members of every object', () => {
  for (const kind of ['constructor', 'toString', '__proto__'])
    expect(problems(`steps: [{ name: a, kind: ${kind} }]`)).toMatchObject([{ code: 'pipeline/kind' }])
})

describe('what only follows from another mistake is not said', () => {
  it('a loop behind one still puts its members into the context', () => {
    const text = `${agents}
steps:
  - { name: first, agent: writer, input: "{{ steps.nope.output }}" }
  - { name: l, kind: loop, loop: { max_loops: 2, body: [{ name: w, agent: writer, sink_to: kept }] } }
  - { name: last, agent: writer, input: "{{ context.kept }}" }
`
    expect(problems(text).map(({ line }) => line)).toEqual([12])
  })

  it('an input that does not satisfy its schema is all that is wrong, and says how to give one', () => {
    const text = `input_schema: { type: object, required: [topic] }
${agents}
steps: [{ name: w, agent: writer, input: "{{ input.topic }}" }]
`
    expect(problems(text)).toMatchObject([
      { code: 'pipeline/input', hint: 'Give the pipeline an input (--input)' },
    ])
    expect(problems(text, { input: {} })).toHaveLength(1)
    expect(problems(text, { input: { topic: 'tea' } })).toEqual([])
  })
})
