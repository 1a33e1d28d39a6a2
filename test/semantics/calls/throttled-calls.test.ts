/**
 * A provider or an agent that throttles or cannot be reached: at most five tries per attempt with growing pauses, then the
 * alternate, then the fallback. Such tries never count as calls.
 */
import { createServer as createTcpServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { generateValue } from '../../../src/adapters/models/generate-value.ts'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { defineCapability } from '../../../src/app.ts'
import type { JournalEvent } from '../../../src/domain/event.ts'
import {
  agent,
  copyVariants,
  json,
  listen,
  serveAgents,
  status,
  wanted,
  writer,
  writing,
} from '../../agents/support.ts'
import { envelope, journal, local, open, text } from '../../journeys/support.ts'
import type { Reply } from '../../models/openai-server.ts'
import { serveModel } from '../../models/serve-model.ts'
import { compile } from '../../pipelines/support.ts'
import { createQuickClock, patient } from '../../quick-clock.ts'

/** Returns an address on which no server listens. */
async function findUnusedAddress(): Promise<string> {
  const { url, server } = await listen(() => {})
  await new Promise((resolve) => server.close(resolve))
  return url
}

const good = '{"text":"Tea"}'
const throttle = (headers: Record<string, string> = {}): Reply => ({
  status: 429,
  headers,
  body: { error: { message: 'slow down' } },
})
const overloaded: Reply = { status: 503, body: { error: { message: 'overloaded' } } }
const byModel =
  (replies: { readonly [model: string]: Reply }) =>
  ({ body }: { readonly body: Record<string, unknown> }): Reply =>
    replies[String(body['model'])] ?? throttle()

const model = (capabilityId: string, name = capabilityId) =>
  defineCapability({
    capabilityId,
    kind: 'model',
    inputContract: { type: 'object' },
    outputContract: text,
    preferredModels: [`compatible/${name}`],
  })
const draft = (more: object = {}) => ({ nodes: [{ id: 'write', capabilityId: 'write', ...more }] })
const ends = (events: readonly JournalEvent[]) =>
  events.flatMap((event) => (event.type === 'attempt_end' ? [event.payload] : []))
const retries = (events: readonly JournalEvent[]) =>
  events.flatMap((event) =>
    event.type === 'log' && event.payload.event === 'call.retry_scheduled' ? [event.payload.payload] : [],
  )
const alwaysHalf = () => 0.5

async function runModels(server: { readonly url: string }, more: object = {}) {
  const clock = createQuickClock()
  const app = await open({
    ...patient,
    clock,
    random: alwaysHalf,
    providers: [compatible({ baseURL: server.url })],
    capabilities: [model('write'), model('other'), local('stored', () => ({ text: 'From the shelf' }))],
  })
  const done = await app.run(envelope(), { draft: draft(more) })
  return { app, clock, done, events: await journal(app, done.runId) }
}

describe('a model that is throttled for ever', () => {
  it.each([
    ['429', throttle()],
    ['429 with Retry-After 0', throttle({ 'retry-after': '0' })],
    ['503', overloaded],
  ])('%s: five calls with growing pauses, then the alternate answers', async (_, reply) => {
    const server = await serveModel(byModel({ write: reply, other: { text: good } }))
    const { done, events } = await runModels(server, { alternates: ['other'], retry: { max: 2 } })
    expect(done).toMatchObject({ status: 'completed', provenance: [{ capabilityId: 'other' }] })
    expect(server.seen.map(({ body }) => body['model'])).toEqual([...Array(5).fill('write'), 'other'])
    expect(retries(events)).toMatchObject(
      [250, 500, 1000, 2000].map((wait_ms, index) => ({
        outcome: 'throttled',
        failures: index + 1,
        wait_ms,
      })),
    )
    expect(ends(events)).toMatchObject([
      { outcome: 'throttled', usage: { calls: 0 }, notApplied: true },
      { outcome: 'ok', usage: { calls: 1 } },
    ])
  })

  it('fails its node when nothing else is left, and says what to do', async () => {
    const server = await serveModel([throttle()])
    const { done } = await runModels(server, { retry: { max: 3 } })
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/throttled' })
    expect(server.seen).toHaveLength(5)
    expect(done.error?.details['hint']).toMatch(/alternate|fallback/)
  })

  it('follows the fail edge to a local function', async () => {
    const server = await serveModel([throttle()])
    const clock = createQuickClock()
    const app = await open({
      ...patient,
      clock,
      providers: [compatible({ baseURL: server.url })],
      capabilities: [model('write'), local('stored', () => ({ text: 'From the shelf' }))],
    })
    const done = await app.run(envelope(), {
      draft: {
        nodes: [
          { id: 'write', capabilityId: 'write' },
          { id: 'shelf', kind: 'fallback', capabilityId: 'stored' },
        ],
        edges: [{ from: 'write', to: 'shelf', when: 'fail' }],
        output: [{ node: 'write' }, { node: 'shelf' }],
      },
    })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'From the shelf' } })
    expect(server.seen).toHaveLength(5)
  })

  it('is waited for as Retry-After says, in seconds or as a date, and the wait costs no call', async () => {
    const inTwoSeconds = new Date(Date.now() + 3_000).toUTCString()
    const server = await serveModel([
      throttle({ 'retry-after': '7' }),
      throttle({ 'retry-after': inTwoSeconds }),
      { text: good },
    ])
    const { done, events } = await runModels(server, { callBudget: 1 })
    expect(done.status).toBe('completed')
    const [first, second] = retries(events)
    expect(first).toMatchObject({ wait_ms: 7_000 })
    expect(Number(second?.['wait_ms'])).toBeGreaterThan(500)
    expect(ends(events)).toMatchObject([{ outcome: 'ok', usage: { calls: 1 } }])
  })

  it('is not waited for beyond the time of the node: the alternate gets its turn at once', async () => {
    const server = await serveModel(
      byModel({ write: throttle({ 'retry-after': '3600' }), other: { text: good } }),
    )
    const { done, events } = await runModels(server, { alternates: ['other'], timeoutMs: 600_000 })
    expect(done).toMatchObject({ status: 'completed', provenance: [{ capabilityId: 'other' }] })
    expect(server.seen).toHaveLength(2)
    expect(ends(events)[0]).toMatchObject({ outcome: 'throttled', retryAfterMs: 3_600_000 })
  })

  it('shares its five tries between all calls of one attempt', async () => {
    const server = await serveModel((_, index) => (index === 1 ? { text: '{"text":1' } : throttle()))
    const { events } = await runModels(server)
    expect(server.seen).toHaveLength(6)
    expect(ends(events)).toMatchObject([{ outcome: 'throttled', usage: { calls: 1 } }])
  })

  it('has no more tries for the calls of a precheck', async () => {
    const server = await serveModel([throttle()])
    const precheck = { enabled: true, consensus_samples: 3 }
    const data = { processing: { reasoning_precheck: precheck } }
    const { events } = await runModels(server, { data, callBudget: 8 })
    expect(server.seen).toHaveLength(5)
    expect(ends(events)).toMatchObject([{ outcome: 'throttled', usage: { calls: 0 } }])
  })

  it('leaves the tries of the model alone when only its precheck is throttled', async () => {
    const server = await serveModel((seen, index) =>
      index > 4 && seen.body['model'] === 'write' && index < 7
        ? throttle()
        : byModel({ write: { text: good } })(seen),
    )
    const other = { ...compatible({ baseURL: server.url }), name: 'judge' }
    const precheck = { enabled: true, consensus_samples: 2, consensus_agent: 'judge/other' }
    const app = await open({
      ...patient,
      clock: createQuickClock(),
      providers: [compatible({ baseURL: server.url }), other],
      capabilities: [model('write')],
    })
    const done = await app.run(envelope(), {
      draft: draft({ data: { processing: { reasoning_precheck: precheck } }, callBudget: 8 }),
    })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(server.seen.map(({ body }) => body['model'])).toEqual([
      ...Array(5).fill('other'),
      ...Array(3).fill('write'),
    ])
  })

  it('stops waiting at once when the run is cancelled', async () => {
    const server = await serveModel([throttle({ 'retry-after': '200' })])
    const app = await open({
      providers: [compatible({ baseURL: server.url })],
      capabilities: [model('write')],
    })
    const { id: runId } = await app.start(envelope(), { draft: draft() })
    await server.arrived
    await app.cancel(runId, { by: 'ann' })
    expect(await app.result(runId)).toMatchObject({ status: 'cancelled' })
    expect(server.seen).toHaveLength(1)
  })

  it('ends a generation without a run in the same way', async () => {
    const server = await serveModel([throttle()])
    const clock = createQuickClock()
    const result = await generateValue({
      providers: [compatible({ baseURL: server.url })],
      model: 'compatible/m',
      objective: 'Write',
      schema: text,
      clock,
      random: alwaysHalf,
    })
    expect(result).toMatchObject({ outcome: 'throttled', usage: { calls: 0 } })
    expect(clock.waits).toEqual([250, 500, 1000, 2000])
  })
})

describe('a model that cannot be reached', () => {
  it('connection refused: five tries, then the alternate', async () => {
    const server = await serveModel([{ text: good }])
    const clock = createQuickClock()
    const app = await open({
      ...patient,
      clock,
      random: alwaysHalf,
      providers: [
        compatible({ baseURL: server.url }),
        { ...compatible({ baseURL: await findUnusedAddress() }), name: 'gone' },
      ],
      capabilities: [
        defineCapability({ ...model('write').capability, preferredModels: ['gone/m'] }),
        model('other'),
      ],
    })
    const done = await app.run(envelope(), { draft: draft({ alternates: ['other'] }) })
    expect(done).toMatchObject({ status: 'completed', provenance: [{ capabilityId: 'other' }] })
    const events = await journal(app, done.runId)
    expect(retries(events)).toHaveLength(4)
    expect(ends(events)[0]).toMatchObject({ outcome: 'unavailable', usage: { calls: 0 }, notApplied: true })
  })

  it('connections that are reset before any answer count no calls', async () => {
    let accepted = 0
    const rude = createTcpServer((socket) => {
      accepted++
      socket.once('data', () => socket.resetAndDestroy())
    })
    await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve))
    const { port } = rude.address() as { readonly port: number }
    const { done, events } = await runModels({ url: `http://127.0.0.1:${port}/v1` })
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/unavailable' })
    expect(ends(events)).toMatchObject([{ outcome: 'unavailable', usage: { calls: 0 } }])
    expect(accepted).toBe(5)
    await new Promise((resolve) => rude.close(resolve))
  })
})

describe('an agent over HTTP', () => {
  const second = (url: string) => writer(url, { capabilityId: 'writer.second' })

  async function runAgents(first: string, other: string, more: { readonly [field: string]: unknown } = {}) {
    const served = await serveAgents({ ...patient, clock: createQuickClock(), random: alwaysHalf })
    await served.register(writer(first, more), await served.agentToken())
    await served.register(second(other), await served.agentToken())
    const done = await served.app.run(wanted(), { draft: writing({ alternates: ['writer.second'] }) })
    return { done, events: await journal(served.app, done.runId) }
  }

  it('that is down does not use up the budget: its alternate answers', async () => {
    const other = await agent(json({ copyVariants }))
    const { done, events } = await runAgents(await findUnusedAddress(), other.url)
    expect(done).toMatchObject({ status: 'completed', provenance: [{ capabilityId: 'writer.second' }] })
    expect(ends(events)).toMatchObject([
      { outcome: 'unavailable', usage: { calls: 0 }, notApplied: true },
      { outcome: 'ok', usage: { calls: 1 } },
    ])
    expect(retries(events)).toHaveLength(4)
  })

  it.each([429, 503])(
    'that answers %i for ever is called five times, each with a signature of its own',
    async (code) => {
      const first = await agent(status(code))
      const other = await agent(json({ copyVariants }))
      const { done } = await runAgents(first.url, other.url)
      expect(done).toMatchObject({ status: 'completed', provenance: [{ capabilityId: 'writer.second' }] })
      expect(first.received).toHaveLength(5)
      expect(new Set(first.received.map(({ headers }) => headers['proviso-nonce'])).size).toBe(5)
      expect(new Set(first.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    },
  )

  it('that resets a call it may have carried out is not called again unless it is idempotent', async () => {
    const other = await agent(json({ copyVariants }))
    const safe = await agent((response) => void response.socket?.resetAndDestroy())
    expect((await runAgents(safe.url, other.url)).done.status).toBe('completed')
    expect(safe.received).toHaveLength(5)
    const unsafe = await agent((response) => void response.socket?.resetAndDestroy())
    const { events } = await runAgents(unsafe.url, other.url, { idempotent: false })
    expect(unsafe.received).toHaveLength(1)
    expect(ends(events)[0]).toMatchObject({ outcome: 'provider_error', usage: { calls: 1 } })
  })
})

describe('a pipeline', () => {
  const yaml = `
name: tea
agents:
  writer: { model: "compatible/write", output_schema: { type: object, properties: { text: { type: string } }, required: [text] } }
  spare: { model: "compatible/other", output_schema: { type: object, properties: { text: { type: string } }, required: [text] } }
steps:
  - name: write
    kind: step
    uses: agents.writer
    fallback: agents.spare
    max_retries: 2
`
  it('whose provider throttles for ever gives the answer of its fallback', async () => {
    const server = await serveModel(byModel({ other: { text: good } }))
    const compiled = compile(yaml, { input: 'tea' })
    const app = await open({
      ...patient,
      clock: createQuickClock(),
      providers: [compatible({ baseURL: server.url })],
      capabilities: compiled.capabilities.map((each) => ({ ...each })),
    })
    const done = await app.run(compiled.envelope, { draft: compiled.draft })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(server.seen.map(({ body }) => body['model'])).toEqual([...Array(5).fill('write'), 'other'])
  })
})
