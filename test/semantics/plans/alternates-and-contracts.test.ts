/** Alternates are held to their own contracts, in proof and at run time. */

import { describe, expect, it } from 'vitest'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { defineCapability } from '../../../src/app.ts'
import type { Json } from '../../../src/base/json.ts'
import type { JsonSchema } from '../../../src/schema/json-schema.ts'
import { envelope, journal, listTypes, local, open, text } from '../../journeys/support.ts'
import { serveModel } from '../../models/serve-model.ts'

const S = { type: 'string' } as const
const obj = (properties: { readonly [name: string]: unknown }, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})

const calls: { id: string; inputs: Json }[] = []
const defineAlternate = (id: string, input: JsonSchema, output: JsonSchema = text) =>
  local(
    id,
    (inputs) => {
      calls.push({ id, inputs })
      return { text: `by ${id}` }
    },
    { inputContract: input, outputContract: output },
  )
const down = (input: object = obj({ topic: S })) =>
  local(
    'down',
    () => {
      throw new Error('it is down')
    },
    { inputContract: input as never },
  )
const draft = (alternates: readonly string[], more: object = {}) => ({
  nodes: [{ id: 'x', capabilityId: 'down', alternates, ...more }],
})

interface Found {
  readonly nodeId?: string
  readonly capabilityId?: string
  readonly suggestion?: string
  readonly details?: { readonly code?: string }
}

async function run(
  alternates: readonly ReturnType<typeof defineAlternate>[],
  more: object = {},
  input?: object,
) {
  calls.length = 0
  const app = await open({ capabilities: [down(input), ...alternates] })
  const ids = alternates.map((each) => each.capability.capabilityId)
  const done = await app.run(envelope(), { draft: draft(ids, more) })
  const events = await journal(app, done.runId)
  const planned = events.find(({ type }) => type === 'plan_generated')?.payload as {
    readonly plan?: { readonly diagnostics: { readonly infos: readonly Found[] } }
  }
  const left = (planned?.plan?.diagnostics.infos ?? []).filter(
    ({ details }) => details?.code === 'plan/stand-in-unfit',
  )
  return { app, done, events, left, asks: await app.store.asks({ runId: done.runId }) }
}

describe('an alternate that can never replace the capability', () => {
  it.each([
    ['takes another type', defineAlternate('other', obj({ topic: { type: 'integer' } })), 'input "topic"'],
    ['needs an input that is not bound', defineAlternate('other', obj({ subject: S })), 'inputs.subject'],
    [
      'is closed to the inputs of the node',
      defineAlternate('other', { type: 'object', properties: { other: S }, additionalProperties: false }),
      'additionalProperties',
    ],
    [
      'does not declare what the node supplies',
      defineAlternate('other', obj({ topic: S }), obj({ title: S })),
      '"text"',
    ],
    [
      'supplies another type',
      defineAlternate('other', obj({ topic: S }), obj({ text: { type: 'integer' } })),
      'never satisfies',
    ],
  ] as const)('because it %s is left out with the reason, and never called', async (_, other, reason) => {
    const { done, left } = await run([other, defineAlternate('spare', obj({ topic: S }))])
    expect(left).toEqual([
      expect.objectContaining({
        nodeId: 'x',
        capabilityId: 'other',
        suggestion: expect.stringContaining(reason),
      }),
    ])
    expect(done).toMatchObject({ status: 'completed', output: { text: 'by spare' } })
    expect(calls.map(({ id }) => id)).toEqual(['spare'])
  })

  it('is left out of the body of a map, named by its place', async () => {
    const app = await open({
      capabilities: [
        defineAlternate('down', obj({ topic: S })),
        defineAlternate('other', obj({ subject: S })),
      ],
    })
    const each = {
      id: 'each',
      map: {},
      inputs: { items: { value: ['a'] } },
      body: {
        nodes: [
          { id: 'w', capabilityId: 'down', alternates: ['other'], inputs: { topic: { input: '/item' } } },
        ],
        output: { node: 'w', pointer: '/text' },
      },
    }
    const schema = obj({ texts: { type: 'array' } })
    const asked = { ...envelope(), outputContract: { schema } }
    const done = await app.run(asked, {
      draft: { nodes: [each], output: { properties: { texts: { node: 'each' } } } },
    })
    expect(done.status).toBe('completed')
    const said = JSON.stringify(await journal(app, done.runId))
    expect(said).toContain('plan/stand-in-unfit')
    expect(said).toContain('each[].w')
  })
})

describe('an alternate whose inputs depend on the run', () => {
  const any = { type: 'object', properties: { topic: { type: ['string', 'integer'] } }, required: ['topic'] }
  const begin = async (value: Json, alternates: readonly string[] = ['number', 'word']) => {
    calls.length = 0
    const make = local('make', () => ({ topic: value }), { outputContract: any })
    const app = await open({
      capabilities: [
        down(any),
        make,
        defineAlternate('number', obj({ topic: { type: 'integer' } })),
        defineAlternate('word', obj({ topic: S })),
      ],
    })
    const nodes = [
      { id: 'make', capabilityId: 'make' },
      {
        id: 'x',
        capabilityId: 'down',
        alternates,
        inputs: { topic: { node: 'make', pointer: '/topic' } },
      },
    ]
    const done = await app.run(envelope(), { draft: { nodes } })
    return { done, events: await journal(app, done.runId) }
  }

  it('is called where they satisfy its contract', async () => {
    expect((await begin(7)).done).toMatchObject({ status: 'completed', output: { text: 'by number' } })
  })

  it('counts as failed without a call where they do not: the next one follows', async () => {
    const { done, events } = await begin('tea')
    expect(done).toMatchObject({ status: 'completed', output: { text: 'by word' } })
    expect(calls.map(({ id }) => id)).toEqual(['word'])
    expect(events.find(({ type }) => type === 'validation_error')).toMatchObject({
      nodeId: 'x',
      payload: { scope: 'input:x', errors: [{ at: { pointer: '/topic' } }] },
    })
  })

  it('leaves the node with its last failure where no other is left', async () => {
    const { done, events } = await begin('tea', ['number'])
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/provider_error' })
    expect(done.error?.message).toContain('it is down')
    expect(calls).toEqual([])
    expect(listTypes(events).filter((type) => type === 'attempt_start')).toHaveLength(2)
  })
})

it('an alternate may need less than the node binds, and supply more', async () => {
  const { done, left } = await run([
    defineAlternate('other', { type: 'object' }, obj({ text: S, title: true }, { required: ['text'] })),
  ])
  expect(left).toEqual([])
  expect(done).toMatchObject({ status: 'completed', output: { text: 'by other' } })
})

describe('an alternate whose answer breaks its own output contract', () => {
  const short = obj({ text: { type: 'string', maxLength: 8 } })
  const says = (id: string, answers: readonly string[], more: object = {}) => {
    let nth = 0
    return local(
      id,
      () => {
        calls.push({ id, inputs: {} })
        return { text: answers[Math.min(nth++, answers.length - 1)] ?? '' }
      },
      { inputContract: obj({ topic: S }), outputContract: short, ...more },
    )
  }

  it('counts as invalid, as that of the node’s own capability would: the next alternate follows', async () => {
    const { done, events } = await run([
      says('other', ['much too long']),
      defineAlternate('spare', obj({ topic: S })),
    ])
    expect(done).toMatchObject({ status: 'completed', output: { text: 'by spare' } })
    expect(events.find(({ type }) => type === 'validation_error')).toMatchObject({
      nodeId: 'x',
      payload: { scope: 'node:x', errors: [{ at: { pointer: '/text' } }] },
    })
    const ends = events.filter(({ type }) => type === 'attempt_end')
    expect(ends.map(({ payload }) => (payload as { outcome: string }).outcome)).toEqual([
      'provider_error',
      'invalid',
      'ok',
    ])
  })

  it('is tried again as often as the node says, with the issues as feedback', async () => {
    const { done, events } = await run([says('other', ['much too long', 'short'])], { retry: { max: 1 } })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'short' } })
    expect(calls.map(({ id }) => id)).toEqual(['other', 'other'])
    expect(events.find(({ type }) => type === 'feedback_recorded')).toMatchObject({
      payload: { source: 'validation', issues: [{ at: { pointer: '/text' } }] },
    })
  })

  it('leaves the node failed as invalid where nothing follows', async () => {
    const { done } = await run([says('other', ['much too long'])])
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/invalid' })
  })

  it('raises an ask that cannot be approved where the node asks', async () => {
    const { done, asks } = await run([says('other', ['much too long'])], { onFail: 'ask' })
    expect(done.status).toBe('waiting')
    expect(asks).toMatchObject([{ kind: 'failure', decisions: ['edit', 'answer', 'reject'] }])
  })

  it('is judged by its own post-conditions, too', async () => {
    const longer = says('other', ['long'], {
      outputContract: obj({ text: S, score: { type: 'integer' } }),
      postConditions: [{ '>=': [{ var: 'score' }, 5] }],
      run: () => ({ text: 'low', score: 3 }),
    })
    const { done, events } = await run([longer, defineAlternate('spare', obj({ topic: S }))])
    expect(done).toMatchObject({ status: 'completed', output: { text: 'by spare' } })
    expect(events.find(({ type }) => type === 'validation_error')).toMatchObject({
      payload: { errors: [{ code: 'output/post-condition' }] },
    })
    // What a person gives instead is held to the contract of the node alone.
    const asked = await run([longer], { onFail: 'ask' })
    const [ask] = asked.asks
    expect(ask?.decisions).not.toContain('approve')
    const { runId } = asked.done
    const { requestId = '', valueHash = '' } = ask ?? {}
    await asked.app.reply(runId, {
      requestId,
      valueHash,
      by: 'ann',
      decision: 'answer',
      value: { text: 'mine' },
    })
    expect(await asked.app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'mine' } })
  })

  it('is held to it inside the items of a map', async () => {
    calls.length = 0
    const app = await open({
      capabilities: [down(), says('other', ['much too long']), defineAlternate('spare', obj({ topic: S }))],
    })
    const each = {
      id: 'each',
      map: {},
      inputs: { items: { value: ['a'] } },
      body: {
        nodes: [
          {
            id: 'w',
            capabilityId: 'down',
            alternates: ['other', 'spare'],
            inputs: { topic: { input: '/item' } },
          },
        ],
        output: { node: 'w', pointer: '/text' },
      },
    }
    const schema = obj({ texts: { type: 'array', items: S } })
    const done = await app.run(
      { ...envelope(), outputContract: { schema } },
      { draft: { nodes: [each], output: { properties: { texts: { node: 'each' } } } } },
    )
    expect(done).toMatchObject({ status: 'completed', output: { texts: ['by spare'] } })
  })
})

it('a model as an alternate is asked for its own contract, and its answer repaired by it', async () => {
  const server = await serveModel([{ text: '{"text":"much too long"}' }, { text: '{"text":"short"}' }])
  const app = await open({
    providers: [compatible({ baseURL: server.url })],
    capabilities: [
      down(),
      defineCapability({
        capabilityId: 'other',
        kind: 'model',
        preferredModels: ['compatible/m'],
        inputContract: obj({ topic: S }),
        outputContract: obj({ text: { type: 'string', maxLength: 8 } }),
      }),
    ],
  })
  const done = await app.run(envelope(), { draft: draft(['other']) })
  expect(done).toMatchObject({ status: 'completed', output: { text: 'short' } })
  expect(server.seen).toHaveLength(2)
  expect(JSON.stringify(server.seen[0])).toContain('maxLength')
})
