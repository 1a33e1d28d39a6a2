/**
 * What compiles and what does not at the edges of the package: misspelled keys at every depth, wrong values, and the types of
 * answers through unions, transforms, brands and recursion. The types are checked by `npm run types`.
 */
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod-3'
import { serveAgent } from '../../src/agent/index.ts'
import type {
  Client,
  RunDraft,
  RunEnvelope,
  RunLimits,
  RunModelSettings,
  RunPolicies,
  RunPolicy,
} from '../../src/client/index.ts'
import { createClient } from '../../src/client/index.ts'
import {
  type App,
  createApp,
  type DraftInput,
  defineAgent,
  defineCapability,
  type Envelope,
  type EnvelopeInput,
  type OutputSchema,
  type PoliciesInput,
  tool,
} from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'

const Line = z.object({ line: z.string() })
const Topic = z.object({ topic: z.string() })
const tea = { objective: 'One line about tea', inputs: { topic: 'tea' } }
const wanted = { ...tea, output: Line }
const both = { input: Topic, output: Line }
const run = () => ({ line: '' })
const server = { url: 'http://127.0.0.1:3003', token: 'secret' }
const search = tool({ id: 'search', ...both, run })

type Limits = NonNullable<DraftInput['limits']>
type ModelSettings = NonNullable<EnvelopeInput['modelSettings']>

/** Never called: only their types matter. */
type Refused = ((app: App) => unknown)[]

const on = { id: 'p', trigger: { kind: 'onStart' } } as const

describe('what does not compile', () => {
  it('is a start with a mistake at any depth', () => {
    const refused: Refused = [
      // @ts-expect-error: misspelled
      (app) => app.start({ ...wanted, policies: { planer: {} } }),
      // @ts-expect-error: misspelled
      (app) => app.start({ ...wanted, policies: { planner: { directive: {} } } }),
      // @ts-expect-error: misspelled
      (app) => app.start({ ...wanted, policies: { planner: { topology: { variantCont: 2 } } } }),
      // @ts-expect-error: not a list
      (app) => app.start({ ...wanted, policies: { planner: { directives: { hitlRequiredFor: 'a' } } } }),
      // @ts-expect-error: an unknown action
      (app) => app.start({ ...wanted, policies: { runtime: [{ ...on, action: { type: 'puase' } }] } }),
      // @ts-expect-error: misspelled
      (app) => app.start({ ...wanted, policies: { runtime: [{ ...on, action: { type: 'fail', say: 1 } }] } }),
      // @ts-expect-error: a text
      (app) => app.start({ ...wanted, constraints: { deadlineMs: '5' } }),
      // @ts-expect-error: misspelled
      (app) => app.start({ ...wanted, modelSettings: { temprature: 1 } }),
      // @ts-expect-error: not a map
      (app) => app.start({ ...wanted, inputs: ['tea'] }),
      // @ts-expect-error: not a schema
      (app) => app.start({ ...tea, output: 'string' }),
      // @ts-expect-error: misspelled
      (app) => app.start({ ...tea, outputContract: { schema: Line, constraint: [] } }),
      // @ts-expect-error: misspelled
      (app) => app.start(wanted, { tenat: 'x' }),
      // @ts-expect-error: misspelled
      (app) => app.start(wanted, { draft: { nodes: [{ id: 'a', input: {} }] } }),
      // @ts-expect-error: misspelled
      (app) => app.start(wanted, { draft: { nodes: [{ id: 'a', inputs: { x: { nod: 'a' } } }] } }),
      // @ts-expect-error: misspelled
      (app) => app.start(wanted, { draft: { nodes: [{ id: 'a', retry: { maks: 1 } }] } }),
      // @ts-expect-error: misspelled
      (app) => app.attach('r', { outptu: Line }),
      // @ts-expect-error: misspelled
      (app) => app.generate({ objective: 'x', schema: Line, modle: 'x' }),
    ]
    expect(refused).toHaveLength(17)
  })

  it('is an app or a server with a mistake at any depth', () => {
    const refused: Refused = [
      // @ts-expect-error: misspelled
      () => createApp({ capabilites: [] }),
      // @ts-expect-error: misspelled
      () => createApp({ http: { allowLoopbak: true } }),
      // @ts-expect-error: an unknown mode
      () => createApp({ planner: { mode: 'serch' } }),
      // @ts-expect-error: misspelled
      () => createApp({ mcp: { tools: { comand: 'x' } } }),
      // @ts-expect-error: misspelled
      () => createApp({ threads: { contxtTokens: 3 } }),
      // @ts-expect-error: misspelled
      (app) => createServer({ app, auth: { tokn: 'x' } }),
      // @ts-expect-error: misspelled
      (app) => createServer({ app, limits: { bodyByte: 3 } }),
      // @ts-expect-error: an unknown role
      (app) => createServer({ app, auth: { verify: () => ({ role: 'boss', name: 'x' }) } }),
      // @ts-expect-error: misspelled
      (app) => createServer({ app, auth: { jwt: { isuer: 'x' } } }),
      // @ts-expect-error: misspelled
      (app) => createServer({ app }).listen({ prot: 3 }),
    ]
    expect(refused).toHaveLength(10)
  })

  it('is a tool or an agent with a mistake at any depth', () => {
    const refused: Refused = [
      // @ts-expect-error: misspelled
      () => tool({ id: 't', ...both, aproval: 'always', run }),
      // @ts-expect-error: an unknown approval
      () => tool({ id: 't', ...both, approval: 'allways', run }),
      // @ts-expect-error: returns a number
      () => tool({ id: 't', ...both, run: () => ({ line: 3 }) }),
      // @ts-expect-error: misspelled
      () => tool('x', { maxCals: 3 }),
      // @ts-expect-error: misspelled
      () => defineAgent({ id: 'a', ...both, tools: [search], instruction: 'x' }),
      // @ts-expect-error: misspelled
      () => defineAgent({ id: 'a', ...both, tools: [search], limits: { turn: 3 } }),
      // @ts-expect-error: not a tool
      () => defineAgent({ id: 'a', ...both, tools: [3] }),
      // @ts-expect-error: a model has no function
      () => defineAgent({ id: 'a', ...both, tools: [search], run }),
      // @ts-expect-error: returns a number
      () => serveAgent({ id: 'a', ...both, server, run: () => ({ line: 3 }) }),
      // @ts-expect-error: the input has no such member
      () => serveAgent({ id: 'a', ...both, server, run: ({ topc }) => ({ line: topc }) }),
      // @ts-expect-error: misspelled
      () => serveAgent({ id: 'a', ...both, server: { url: 'x', tokn: 'y' }, run }),
      // @ts-expect-error: misspelled
      () => serveAgent({ id: 'a', ...both, server, poll: { concurency: 3 }, run }),
      // @ts-expect-error: no function
      () => serveAgent({ id: 'a', ...both, server }),
    ]
    expect(refused).toHaveLength(13)
  })

  it('is a call of a client with a mistake at any depth', () => {
    const refused: ((client: Client) => unknown)[] = [
      // @ts-expect-error: misspelled
      () => createClient({ ulr: 'x' }),
      // @ts-expect-error: misspelled
      (client) => client.runs.start({ ...wanted, polcies: {} }),
      // @ts-expect-error: misspelled
      (client) => client.runs.start({ ...wanted, policies: { planer: {} } }),
      // @ts-expect-error: an unknown action
      (client) => client.runs.start({ ...wanted, policies: { runtime: [{ ...on, action: 3 }] } }),
      // @ts-expect-error: a text
      (client) => client.runs.start({ ...wanted, constraints: { maxCalls: '3' } }),
      // @ts-expect-error: misspelled
      (client) => client.runs.start({ ...wanted, modelSettings: { temprature: 3 } }),
      // @ts-expect-error: not a map
      (client) => client.runs.start({ ...wanted, inputs: ['tea'] }),
      // @ts-expect-error: a draft has nodes
      (client) => client.runs.start(wanted, { draft: { node: [] } }),
      // @ts-expect-error: misspelled
      (client) => client.runs.start(wanted, { draft: { nodes: [{ id: 'a', capability: 'b' }] } }),
      // @ts-expect-error: no contract
      (client) => client.runs.start(tea),
      // @ts-expect-error: misspelled
      (client) => client.runs.attach('r', { outptu: Line }),
      // @ts-expect-error: an unknown status
      (client) => client.runs.list({ status: ['waiting'] }),
      // @ts-expect-error: without the hash of the value
      (client) => client.asks.approve({ requestId: 'x' }),
      // @ts-expect-error: misspelled
      (client) => client.threads.say('t', 'Hello', { envelop: {} }),
      // @ts-expect-error: misspelled
      (client) => client.threads.say('t', 'Hello', { envelope: { nonsense: true } }),
      // @ts-expect-error: no envelope
      (client) => client.schedules.create({ cron: '* * * * *', envelope: { nonsense: true } }),
      // @ts-expect-error: misspelled
      (client) => client.schedules.create({ cron: '* * * * *', timezone: 'UTC', envelope: wanted }),
      // @ts-expect-error: misspelled
      (client) => client.prove({ objective: 'x', outputs: Line }),
      // @ts-expect-error: misspelled
      (client) => client.webhooks.create({ url: 'x', event: [] }),
    ]
    expect(refused).toHaveLength(19)
  })
})

describe('a client', () => {
  it('takes what the library takes, and knows the same names', () => {
    expectTypeOf<PoliciesInput>().toExtend<RunPolicies>()
    expectTypeOf<keyof RunPolicies>().toEqualTypeOf<keyof PoliciesInput>()
    type Planner<T extends { planner?: object }> = NonNullable<T['planner']>
    expectTypeOf<Omit<Planner<RunPolicies>, 'directives'>>().toEqualTypeOf<
      Omit<Planner<PoliciesInput>, 'directives'>
    >()
    type Entry = Extract<NonNullable<PoliciesInput['runtime']>, readonly unknown[]>[number]
    expectTypeOf<Entry>().toExtend<RunPolicy>()
    type Known<T> = T extends { trigger: { kind: infer Kind }; action: { type: infer Type } }
      ? [Kind, Type]
      : never
    expectTypeOf<Known<RunPolicy>>().toEqualTypeOf<Known<Entry>>()
    expectTypeOf<RunLimits>().toEqualTypeOf<Limits>()
    expectTypeOf<ModelSettings>().toExtend<RunModelSettings>()
    expectTypeOf<keyof RunModelSettings>().toEqualTypeOf<keyof ModelSettings>()
    expectTypeOf<RunModelSettings['reasoningEffort']>().toEqualTypeOf<ModelSettings['reasoningEffort']>()
    expectTypeOf<DraftInput>().toExtend<RunDraft>()
    expectTypeOf<keyof RunDraft>().toEqualTypeOf<keyof DraftInput>()
    expectTypeOf<keyof RunDraft['nodes'][number]>().toEqualTypeOf<keyof DraftInput['nodes'][number]>()
    expectTypeOf<Envelope>().toExtend<RunEnvelope>()
    const typed = async (client: Client, policies: PoliciesInput, draft: DraftInput, envelope: Envelope) => [
      await client.runs.start({ ...wanted, policies, modelSettings: { temperature: 1 } }, { draft }),
      await client.runs.start(envelope),
    ]
    expect(typed).toBeTypeOf('function')
  })
})

interface Inputs {
  readonly topic: string
  readonly deep: readonly { readonly n: number }[]
}

describe('the answer', () => {
  it('has the type of its schema through unions, optional members, transforms, brands and recursion', () => {
    const Either = z.discriminatedUnion('k', [
      z.object({ k: z.literal('x'), n: z.number() }),
      z.object({ k: z.literal('y'), s: z.string() }),
    ])
    const Loose = z.object({ a: z.string().optional(), b: z.number().nullable(), c: z.number().default(1) })
    const Branded = z.object({ id: z.string().brand<'Id'>() })
    const Tree = z.object({
      label: z.string(),
      get children() {
        return z.array(Tree)
      },
    })
    const typed = async (app: App, client: Client) => {
      const either = await (await app.start({ ...tea, output: Either })).output()
      if (either.k === 'x') expectTypeOf(either.n).toEqualTypeOf<number>()
      const remote = await client.runs.start({ ...tea, output: Either })
      expectTypeOf(await remote.output()).toEqualTypeOf<z.output<typeof Either>>()
      const loose = await (await app.start({ ...tea, output: Loose })).output()
      expectTypeOf(loose).toEqualTypeOf<{ a?: string | undefined; b: number | null; c: number }>()
      const branded = await (await app.start({ ...tea, output: Branded })).output()
      expectTypeOf(branded).toEqualTypeOf<z.output<typeof Branded>>()
      const tree = await (await app.start({ ...tea, output: Tree })).output()
      expectTypeOf(tree.children[0]?.children[0]?.label).toEqualTypeOf<string | undefined>()
    }
    expect(typed).toBeTypeOf('function')
  })

  it('has the type of a JSON Schema literal: nested, with references, and in generic functions', () => {
    const nested = {
      type: 'object',
      properties: {
        a: { type: 'object', properties: { b: { enum: ['x', 'y'] }, c: { const: 3 } }, required: ['b'] },
        u: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['a', 'u'],
    } as const
    const tree = {
      $ref: '#/$defs/n',
      $defs: {
        n: {
          type: 'object',
          properties: { l: { type: 'string' }, c: { type: 'array', items: { $ref: '#/$defs/n' } } },
          required: ['l'],
        },
      },
    } as const
    const typed = async (app: App) => {
      const first = await (await app.start({ ...tea, output: nested })).output()
      expectTypeOf(first).toEqualTypeOf<{ a: { b: 'x' | 'y'; c?: 3 }; u: string | null }>()
      const second = await (await app.start({ ...tea, output: tree })).output()
      expectTypeOf(second.c?.[0]?.l).toEqualTypeOf<string | undefined>()
      const read = async <S extends OutputSchema>(output: S) => (await app.start({ ...tea, output })).output()
      expectTypeOf(await read(Line)).toEqualTypeOf<{ line: string }>()
    }
    expect(typed).toBeTypeOf('function')
  })

  it('is made by functions that get the output of a schema and return its input, and from inputs of an interface', () => {
    const numeric = { v: v.pipe(v.string(), v.transform(Number)) }
    const defined = [
      defineCapability({
        id: 'zod',
        input: z.object({ at: z.string().transform((text) => new Date(text)) }),
        output: z.object({ at: z.string().transform(Number) }),
        run: ({ at }) => ({ at: at.toISOString() }),
      }),
      defineCapability({
        id: 'zod-3',
        input: z3.object({ n: z3.string().transform(Number) }),
        output: z3.object({ n: z3.number().default(1) }),
        run: ({ n }) => ({ n: n + 1 }),
      }),
      defineCapability({
        id: 'valibot',
        input: v.object(numeric),
        output: v.object({ s: v.optional(v.string(), 'x') }),
        run: ({ v: value }) => ({ s: value.toFixed() }),
      }),
      defineCapability({
        id: 'arktype',
        input: type({ at: 'string.numeric.parse' }),
        output: type({ 'n?': 'number' }),
        run: ({ at }) => ({ n: at + 1 }),
      }),
    ]
    expect(defined.map(({ capability }) => capability.capabilityId)).toHaveLength(4)
    const typed = async (app: App, client: Client, inputs: Inputs) => [
      await app.start({ objective: 'x', inputs, output: Line }),
      await client.runs.start({ objective: 'x', inputs, output: Line }),
      await app.generate({ objective: 'x', inputs, schema: Line }),
    ]
    expect(typed).toBeTypeOf('function')
  })
})
