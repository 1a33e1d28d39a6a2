/** `start`, `run` and `attach` are typed by the schema of the answer. The types are checked by `npm run types`. */

import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod-3'
import { useRun } from '../../src/client/hooks/react.ts'
import type { Client, RunResult as ClientResult } from '../../src/client/index.ts'
import {
  type App,
  type CompletedRun,
  createApp,
  type DraftInput,
  defineCapability,
  type EnvelopeInput,
  type Json,
  type OpenAsk,
  ProvisoError,
  type RunHandle,
  type RunResult,
  type WireEnvelope,
} from '../../src/index.ts'
import { wrongly } from '../wrongly.ts'

const Line = z.object({ line: z.string() })
const tea = { objective: 'One line about tea', inputs: { topic: 'tea' } }
const jsonLine = {
  type: 'object',
  properties: { line: { type: 'string' } },
  required: ['line'],
  additionalProperties: false,
} as const

const action = { type: 'pause' } as const

/** Never called: only its types matter. */
type Typed = { [name: string]: (app: App) => unknown }

describe('the types of a run', () => {
  it('have the output of the schema of any library, and of a JSON Schema literal', () => {
    const typed: Typed = {
      async zod(app) {
        const run = await app.start({ ...tea, output: Line })
        expectTypeOf(run).toEqualTypeOf<RunHandle<{ line: string }>>()
        expectTypeOf(await run.output()).toEqualTypeOf<{ line: string }>()
        const { output } = await run.result()
        expectTypeOf(output).toEqualTypeOf<{ line: string } | undefined>()
        const same = await app.run({ ...tea, output: Line })
        expectTypeOf(same).toEqualTypeOf<RunResult<{ line: string }>>()
      },
      async converted(app) {
        const run = await app.start({ ...tea, output: z.object({ at: z.string().transform(Number) }) })
        expectTypeOf(await run.output()).toEqualTypeOf<{ at: number }>()
      },
      async others(app) {
        const zod3 = await app.start({ ...tea, output: z3.object({ line: z3.string() }) })
        expectTypeOf(await zod3.output()).toEqualTypeOf<{ line: string }>()
        const valibot = await app.start({ ...tea, output: v.object({ line: v.string() }) })
        expectTypeOf(await valibot.output()).toEqualTypeOf<{ line: string }>()
        const ark = await app.start({ ...tea, output: type({ line: 'string' }) })
        expectTypeOf(await ark.output()).toEqualTypeOf<{ line: string }>()
      },
      async literals(app) {
        const run = await app.start({
          ...tea,
          output: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        })
        expectTypeOf(await run.output()).toEqualTypeOf<{ n: number }>()
        const wire = await app.run({ ...tea, outputContract: { schema: jsonLine } })
        expectTypeOf(wire.output).toEqualTypeOf<{ line: string } | undefined>()
      },
      async attached(app) {
        expectTypeOf(await app.attach('r')).toEqualTypeOf<RunHandle<Json>>()
        expectTypeOf(await app.attach('r', { output: Line })).toEqualTypeOf<RunHandle<{ line: string }>>()
      },
    }
    expect(Object.keys(typed)).toHaveLength(5)
  })

  it('are `Json` where the compiler does not know the schema', () => {
    const typed: Typed = {
      async wire(app) {
        const envelope: WireEnvelope = { ...tea, outputContract: { schema: jsonLine } }
        expectTypeOf((await app.run(envelope)).output).toEqualTypeOf<Json | undefined>()
      },
      async widened(app) {
        const envelope = { ...tea, outputContract: { schema: { type: 'object' } } }
        expectTypeOf((await app.run(envelope)).output).toEqualTypeOf<Json | undefined>()
      },
      async parsed(app) {
        expectTypeOf((await app.run(JSON.parse('{}'))).output).toEqualTypeOf<Json | undefined>()
      },
    }
    expect(Object.keys(typed)).toHaveLength(3)
  })

  it('are a union on the status', () => {
    const typed = (result: RunResult<{ line: string }>) => {
      if (result.status === 'completed') {
        expectTypeOf(result).toEqualTypeOf<CompletedRun<{ line: string }>>()
        return result.output.line
      }
      if (result.status === 'failed') return [result.failure, result.error.message, result.issues]
      if (result.status === 'cancelled') return result.runId
      expectTypeOf(result.status).toEqualTypeOf<'waiting'>()
      expectTypeOf(result.asks).toEqualTypeOf<readonly OpenAsk[]>()
      return result.paused?.reason ?? result.asks.map(({ question }) => question)
    }
    expect(typed).toBeTypeOf('function')
    expectTypeOf<RunResult['status']>().toEqualTypeOf<'completed' | 'failed' | 'waiting' | 'cancelled'>()
    // The client has the same union.
    expectTypeOf<ClientResult<Json>['status']>().toEqualTypeOf<RunResult['status']>()
  })

  it('of every way to a result are the same, in a client and a hook, too', () => {
    const typed = async (app: App, client: Client) => {
      expectTypeOf(await app.run({ ...tea, output: Line })).toEqualTypeOf<RunResult<{ line: string }>>()
      expectTypeOf(await app.result('r')).toEqualTypeOf<RunResult>()
      const attached = await app.attach('r', { output: jsonLine })
      expectTypeOf(await attached.result()).toEqualTypeOf<RunResult<{ line: string }>>()
      const remote = await client.runs.start({ ...tea, output: Line })
      expectTypeOf(await remote.result()).toEqualTypeOf<ClientResult<{ line: string }>>()
      const view = useRun(client, 'r', { output: Line })
      if (view.status === 'completed') expectTypeOf(view.output).toEqualTypeOf<{ line: string }>()
      if (view.status === 'waiting') expectTypeOf(view.paused?.reason).toEqualTypeOf<string | undefined>()
      const result = await remote.result()
      // @ts-expect-error: a name of the wire
      if (result.status === 'awaiting_hitl') return result
      // @ts-expect-error: only a waiting run has asks
      return result.asks
    }
    expect(typed).toBeTypeOf('function')
  })

  it('let events, asks and partial values be iterated', () => {
    const typed = async (run: RunHandle<{ line: string }>) => {
      for await (const ask of run.asks()) {
        expectTypeOf(ask).toEqualTypeOf<OpenAsk>()
        await ask.approve({ by: 'ann' })
        await ask.reject({ by: 'ann', note: 'Too long', rejectAction: 'retry' })
        await ask.edit({ by: 'ann', value: { line: 'Tea.' } })
        await ask.answer({ by: 'ann', value: 'EU' })
      }
      for await (const event of run.events({ after: 2 }))
        if (event.type === 'complete') expectTypeOf(event.payload.output).toEqualTypeOf<Json | undefined>()
      for await (const partial of run.partials()) expectTypeOf(partial.value).toEqualTypeOf<unknown>()
      await run.cancel({ by: 'ann' })
    }
    expect(typed).toBeTypeOf('function')
  })
})

describe('what does not compile', () => {
  it('is what is not an envelope', () => {
    const refused: ((app: App) => unknown)[] = [
      // @ts-expect-error: a number
      (app) => app.run(42),
      // @ts-expect-error: a text
      (app) => app.start('One line'),
      // @ts-expect-error: JSON of unknown shape; `prepare` takes it
      (app) => app.run({} as unknown),
      // @ts-expect-error: no objective
      (app) => app.run({ output: Line }),
      // @ts-expect-error: no schema of the answer
      (app) => app.run({ objective: 'One line' }),
      // @ts-expect-error: a misspelled key
      (app) => app.run({ objectiv: 'One line', output: Line }),
      // @ts-expect-error: a misspelled key beside the right ones
      (app) => app.start({ ...tea, output: Line, aprove: 'final' }),
      // @ts-expect-error: names of both kinds
      (app) => app.run({ ...tea, output: Line, outputContract: { schema: jsonLine } }),
      // @ts-expect-error: `approve` belongs to `output`
      (app) => app.run({ ...tea, outputContract: { schema: jsonLine }, approve: 'final' }),
      // @ts-expect-error: an unknown kind of approval
      (app) => app.run({ ...tea, output: Line, approve: 'first' }),
      // @ts-expect-error: a misspelled policy
      (app) => app.run({ ...tea, output: Line, policies: { onNodeFial: 'ask' } }),
      // @ts-expect-error: an unknown trigger
      (app) => app.run({ ...tea, output: Line, policies: { runtime: [{ id: 'p', trigger: 'on', action }] } }),
      // @ts-expect-error: a limit that is a text
      (app) => app.run({ ...tea, output: Line, constraints: { maxCalls: '3' } }),
      // @ts-expect-error: a misspelled option
      (app) => app.run({ ...tea, output: Line }, { runid: 'r' }),
    ]
    expect(refused).toHaveLength(14)
  })

  it('is a draft with a misspelled key, and a member that the answer does not have', () => {
    const refused: unknown[] = [
      // @ts-expect-error: a misspelled key of a node
      (): DraftInput => ({ nodes: [{ id: 'write', capability: 'write' }] }),
      // @ts-expect-error: an unknown way on
      (): DraftInput => ({ nodes: [{ id: 'write', onFail: 'retry' }] }),
      // @ts-expect-error: a node without an id
      (app: App) => app.run({ ...tea, output: Line }, { draft: { nodes: [{ capabilityId: 'write' }] } }),
      // @ts-expect-error: the answer has no such member
      async (run: RunHandle<{ line: string }>) => (await run.output()).lines,
      // @ts-expect-error: only a completed run has an output
      (result: RunResult<{ line: string }>) => result.output.line,
      // @ts-expect-error: without the person who decides
      (ask: OpenAsk) => ask.approve(),
      // @ts-expect-error: a misspelled key in a typed variable
      (): EnvelopeInput<typeof Line> => ({ objective: 'One line', outputs: Line }),
    ]
    expect(refused).toHaveLength(7)
  })
})

const Short = z.object({ line: z.string().refine((line) => line.length < 6, 'at most 5 letters') })

const write = defineCapability({
  id: 'write',
  input: z.object({ topic: z.string() }),
  output: Line,
  run: ({ topic }) => ({ line: `Time for ${topic}.` }),
})

describe('a typed run', () => {
  it.each([
    ['Zod 4', Line],
    ['Zod 3', z3.object({ line: z3.string() })],
    ['Valibot', v.object({ line: v.string() })],
    ['ArkType', type({ line: 'string' })],
    ['a JSON Schema', jsonLine],
  ])('asks before the final answer, with %s', async (_, output) => {
    await using app = await createApp({ capabilities: [write] })
    const run = await app.start({ ...tea, output, approve: 'final' })
    const asked: unknown[] = []
    for await (const ask of run.asks()) {
      asked.push([ask.kind, ask.value])
      await ask.approve({ by: 'ann' })
    }
    expect(asked).toEqual([['final', { line: 'Time for tea.' }]])
    expect(await run.result()).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
    expect(await run.output()).toEqual({ line: 'Time for tea.' })
    const types: string[] = []
    for await (const event of run.events()) types.push(event.type)
    expect(types).toEqual(expect.arrayContaining(['start', 'hitl_request', 'hitl_resolved', 'complete']))
  })

  it('reports every open ask, also to a handle that comes later, and a rejection with its note', async () => {
    await using app = await createApp({ capabilities: [write] })
    const { id } = await app.start({ ...tea, output: Line, approve: 'final' }, { runId: 'r' })
    const waiting = await (await app.attach(id)).result()
    expect(waiting).toMatchObject({ status: 'waiting', asks: [{ kind: 'final' }] })
    const run = await app.attach(id, { output: Line })
    await expect(run.output()).rejects.toMatchObject({ code: 'run/waiting' })
    let asks = 0
    for await (const ask of run.asks())
      await (asks++ === 0
        ? ask.reject({ by: 'ann', note: 'Once more' })
        : ask.edit({ by: 'ann', value: { line: 'Tea.' } }))
    expect([asks, await run.output()]).toEqual([2, { line: 'Tea.' }])
    await expect(app.attach('unknown')).rejects.toMatchObject({ code: 'run/missing' })
  })

  it('waits with asks that can be answered, or says why it is paused, whichever way it is read', async () => {
    await using app = await createApp({ capabilities: [write] })
    const first = await app.run({ ...tea, output: Line, approve: 'final' })
    expect(first).toMatchObject({
      status: 'waiting',
      asks: [{ kind: 'final', value: { line: expect.any(String) } }],
    })
    expect('paused' in first).toBe(false)
    const attached = await app.attach(first.runId, { output: Line })
    for (const again of [await attached.result(), await app.result(first.runId)])
      expect(again).toMatchObject({ status: 'waiting', openAsks: first.openAsks })
    const [ask] = first.asks ?? []
    await expect(attached.output()).rejects.toThrow(`it waits for a person: ${ask?.question}`)
    await ask?.approve({ by: 'ann' })
    expect(await attached.result()).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })

    const pause = {
      id: 'hold',
      trigger: { kind: 'onStart' },
      action: { type: 'pause', reason: 'Lunch' },
    } as const
    const held = await app.run({ ...tea, output: Line, policies: { runtime: [pause] } })
    expect(held).toMatchObject({
      status: 'waiting',
      asks: [],
      paused: { reason: 'Lunch', quarantined: false, hint: expect.stringContaining('app.resume') },
    })
    expect(await app.store.head(held.runId)).toMatchObject({ status: 'awaiting_human' })
    await app.cancel(held.runId, { by: 'ann' })
    expect(await app.result(held.runId)).toMatchObject({
      status: 'cancelled',
      issues: [{ code: 'run/cancelled' }],
    })
  })

  it('read with a JSON Schema is checked by it', async () => {
    await using app = await createApp({ capabilities: [write] })
    const { id } = await app.start({ ...tea, output: Line })
    const price = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] } as const
    const run = await app.attach(id, { output: price })
    expectTypeOf(run).toEqualTypeOf<RunHandle<{ price: number }>>()
    expect(await run.result()).toMatchObject({ status: 'failed', failure: 'contract/unmet' })
    await expect(run.output()).rejects.toMatchObject({ code: 'run/failed' })
    expect(await (await app.attach(id, { output: jsonLine })).output()).toEqual({ line: 'Time for tea.' })
  })

  it('passes the answer through the validator, which converts and refuses', async () => {
    await using app = await createApp({ capabilities: [write] })
    const long = z.object({ line: z.string().transform((line) => line.length) })
    expect(await (await app.start({ ...tea, output: long })).output()).toEqual({ line: 13 })
    const result = await app.run({ ...tea, outputContract: { schema: Short } })
    expect(result).toMatchObject({
      status: 'failed',
      failure: 'contract/unmet',
      issues: [{ code: 'schema/standard', at: { pointer: '/line' }, message: 'at most 5 letters' }],
    })
  })

  it('that the validator refuses has failed for everyone, and is replayed without differences', async () => {
    await using app = await createApp({ capabilities: [write] })
    const run = await app.start({ ...tea, output: Short, approve: 'final' })
    const asked: unknown[] = []
    for await (const ask of run.asks()) asked.push(ask.kind)
    // No person is asked about an answer that cannot be accepted.
    expect([asked, (await run.result()).status]).toEqual([[], 'failed'])
    const { finished } = await app.state(run.id)
    expect(finished).toMatchObject({ status: 'failed', error: { code: 'contract/unmet' } })
    expect(await app.store.head(run.id)).toMatchObject({ status: 'failed' })
    expect((await app.replay(run.id)).differences).toEqual([])
  })

  it('takes no edited answer that the validator refuses, and completes with one that it accepts', async () => {
    await using app = await createApp({ capabilities: [write] })
    const late = z.object({ line: z.string().refine((line) => !line.startsWith('No'), 'a friendly line') })
    const run = await app.start({ ...tea, output: late, approve: 'final' })
    for await (const ask of run.asks()) {
      const refused = ask.edit({ by: 'ann', value: { line: 'No tea.' } })
      await expect(refused).rejects.toMatchObject({
        code: 'ask/invalid',
        issues: [{ at: { pointer: '/line' }, message: 'a friendly line' }],
      })
      await ask.edit({ by: 'ann', value: { line: 'Tea.' } })
    }
    expect(await run.output()).toEqual({ line: 'Tea.' })
    expect((await app.replay(run.id)).differences).toEqual([])
  })

  it('is reworked with what the validator says, where a policy orders it', async () => {
    const seen: unknown[] = []
    let calls = 0
    const shorter = defineCapability({
      id: 'write',
      input: z.object({ topic: z.string() }),
      output: Line,
      run(_, { feedback }) {
        seen.push(feedback.flatMap(({ issues = [] }) => issues.map(({ message }) => message)))
        return { line: calls++ === 0 ? 'A long line' : 'Tea.' }
      },
    })
    await using app = await createApp({ capabilities: [shorter] })
    const again = { id: 'again', trigger: { kind: 'onValidationFail' }, action: { type: 'replan' } } as const
    const run = await app.start({ ...tea, output: Short, policies: { runtime: [again] } })
    expect(await run.output()).toEqual({ line: 'Tea.' })
    expect(seen).toEqual([[], ['at most 5 letters']])
    expect((await app.replay(run.id)).differences).toEqual([])
  })

  it('that completed without the validator stays completed, and has failed for the reader with it', async () => {
    await using app = await createApp({ capabilities: [write] })
    const { id } = await app.start({ ...tea, output: jsonLine })
    expect(await app.result(id)).toMatchObject({ status: 'completed' })
    expect(await (await app.attach(id, { output: Short })).result()).toMatchObject({
      status: 'failed',
      failure: 'contract/unmet',
      error: { message: expect.stringContaining('The run has completed, but') },
    })
    expect(await app.result(id)).toMatchObject({ status: 'completed' })
  })

  it('without an answer throws an error of the package from `output`, with the issues', async () => {
    await using app = await createApp({ capabilities: [write] })
    const run = await app.start(
      { ...tea, output: z.object({ price: z.number() }) },
      { draft: { nodes: [{ id: 'write', capabilityId: 'write' }] } },
    )
    expect(await run.result()).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    const error = await run.output().catch((cause: unknown) => cause)
    expect(ProvisoError.is(error) && [error.code, error.issues?.length]).toEqual(['run/failed', 1])
    const cancelled = await app.start({ ...tea, output: Line, approve: 'final' })
    await cancelled.result()
    await cancelled.cancel({ by: 'ann' })
    await expect(cancelled.output()).rejects.toMatchObject({ code: 'run/cancelled' })
  })

  it('takes formats and patterns that only the library can check, and checks them', async () => {
    const Ids = z.object({
      a: z.ulid(),
      b: z.ipv6(),
      c: z.string().regex(/^(?=.*\d)\w+$/),
      d: z.email(),
      e: z.iso.duration(),
      format: z.nanoid(),
    })
    const good = { a: '01ARZ3NDEKTSV4RRFFQ69G5FAV', b: '::1', c: 'a1', d: 'ann@example.org', e: 'P1D' }
    const given = { ...good, format: 'V1StGXR8_Z5jdHi6B-myT' }
    const make = defineCapability({
      id: 'make',
      input: z.object({ pick: z.ulid() }),
      output: z.object({ ...Ids.shape, c: z.string() }),
      run: ({ pick }) => ({ ...given, c: pick === good.a ? 'a1' : 'none' }),
    })
    await using app = await createApp({ capabilities: [make] })
    const start = (pick: string) => app.run({ objective: 'Ids', inputs: { pick }, output: Ids })
    expect(await start(good.a)).toMatchObject({ status: 'completed', output: given })
    // No digit: the pattern of the answer looks ahead for one.
    expect(await start('01ARZ3NDEKTSV4RRFFQ69G5FAW')).toMatchObject({
      status: 'failed',
      issues: [{ at: { pointer: '/c' }, code: 'schema/standard' }],
    })
    expect(await start('x')).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(
      defineCapability({
        id: 'ark',
        input: type({ at: 'string.numeric.parse' }),
        output: Line,
        run: () => ({ line: '' }),
      }).capability.inputContract,
    ).toMatchObject({ properties: { at: { type: 'string' } } })
  })

  it('that lacks an input fails with an issue whose hint names the capability and the input', async () => {
    await using app = await createApp({ capabilities: [write] })
    const { issues } = await app.run({ objective: 'One line about tea', output: Line })
    const hint = expect.stringContaining('put what write needs ("topic") into `inputs`')
    expect(issues).toMatchObject([{ code: 'plan/rejected', hint }])
  })

  it('is the same run under the same id and request, and refused with the difference under another', async () => {
    let calls = 0
    const counted = defineCapability({
      id: 'write',
      input: z.object({ topic: z.string() }),
      output: Line,
      run: ({ topic }) => ({ line: `${topic} ${++calls}` }),
    })
    await using app = await createApp({ capabilities: [counted] })
    const start = (more = {}) => app.start({ ...tea, ...more, output: Line }, { runId: 'r' })
    const runs = await Promise.all([start(), start()])
    expect(await Promise.all(runs.map((run) => run.output()))).toEqual([{ line: 'tea 1' }, { line: 'tea 1' }])
    expect(await (await start()).output()).toEqual({ line: 'tea 1' })
    expect(calls).toBe(1)
    await expect(start({ inputs: { topic: 'milk' } })).rejects.toMatchObject({
      code: 'run/exists',
      message: 'Cannot start run "r": it exists with another `inputs`',
    })
    const otherTenant = app.start({ ...tea, output: Line }, { runId: 'r', tenant: 'other' })
    await expect(otherTenant).rejects.toThrow('another `tenant`')
  })

  it('reports mistakes in the names that the caller has used', async () => {
    await using app = await createApp({ capabilities: [write] })
    await expect(app.start(wrongly(tea))).rejects.toThrow('the property "output" is missing')
    const both = { ...tea, output: Line, outputContract: { schema: jsonLine } }
    await expect(app.start(wrongly(both))).rejects.toThrow('both `output` and `outputContract`')
    await expect(app.start(wrongly({ ...tea, approve: 'final' }))).rejects.toMatchObject({
      code: 'envelope/invalid',
      message: expect.stringContaining('"output" is missing'),
    })
    await expect(app.start({ ...tea, output: { type: 'nothing' } })).rejects.toMatchObject({
      issues: [{ at: { pointer: expect.stringMatching(/^\/output/) } }],
    })
    await expect(app.start(wrongly({ ...tea, output: Line, approve: 'first' }))).rejects.toThrow(
      '`approve` must be "final"',
    )
  })
})
