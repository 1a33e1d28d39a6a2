/** Promises about calls to agents: what they carry, how every answer and every failure is told apart, what never leaves. */
import { describe, expect, it } from 'vitest'
import { type AppOptions, defineCapability, type JournalEvent } from '../../src/index.ts'
import { answer, journal } from '../journeys/support.ts'
import { createQuickClock, patient } from '../quick-clock.ts'
import {
  agent,
  copyVariants,
  isSigned,
  json,
  listen,
  serveAgents,
  status,
  wanted,
  writer,
  writing,
} from './support.ts'

type Agent = Awaited<ReturnType<typeof agent>>

/** Runs one node with the agent and returns the result. */
async function runWith(
  { url }: Pick<Agent, 'url'>,
  given: { options?: AppOptions; node?: object; registration?: { [field: string]: unknown } } = {},
) {
  const served = await serveAgents(given.options)
  const token = await served.agentToken()
  const { signingKey = '' } = await served.register(writer(url, given.registration), token)
  const done = await served.app.run(wanted(), { draft: writing({ ...given.node }) })
  const events = await journal(served.app, done.runId)
  return { ...served, done, events, signingKey, ends: endsOf(events) }
}

const endsOf = (events: readonly JournalEvent[]) =>
  events.flatMap((event) => (event.type === 'attempt_end' ? [event.payload] : []))

describe('a call', () => {
  it('is signed with the key of the registration and carries key, trace, inputs and contract', async () => {
    const it = await agent(json({ copyVariants }))
    const auth = { kind: 'bearer', token: 'agents-own-token' }
    const { done, signingKey, events } = await runWith(it, { registration: { auth } })
    expect(done).toMatchObject({ status: 'completed', output: { copyVariants } })
    const [received] = it.received
    expect(isSigned(received!, signingKey)).toBe(true)
    expect(isSigned(received!, 'psk_another')).toBe(false)
    expect(isSigned({ ...received!, body: `${received!.body} ` }, signingKey)).toBe(false)
    const [start] = events.flatMap((event) => (event.type === 'attempt_start' ? [event.payload] : []))
    expect(received!.headers).toMatchObject({
      'idempotency-key': start?.idempotencyKey,
      traceparent: expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-01$/),
      authorization: 'Bearer agents-own-token',
    })
    expect(received!.call).toMatchObject({
      runId: done.runId,
      nodeId: 'write',
      attempt: 1,
      capabilityId: 'writer.en',
      objective: 'Copy about tea',
      inputs: { writerBrief: { angle: 'Tea calms' } },
      returns: { properties: { copyVariants: {} } },
      callbackUrl: expect.stringMatching(/\/api\/v1\/flex\/callbacks\/[\w-]+$/),
    })
  })

  it('keeps its idempotency key when it is in doubt, and gets a new one when nothing was done', async () => {
    const doubtful = await agent(status(500), json({ copyVariants }))
    await runWith(doubtful, { node: { retry: { max: 1 } } })
    const keys = ({ received }: Agent) => received.map(({ headers }) => headers['idempotency-key'])
    expect(new Set(keys(doubtful)).size).toBe(1)
    const early = await agent(status(425), json({ copyVariants }))
    await runWith(early, { node: { retry: { max: 1 } } })
    expect(new Set(keys(early)).size).toBe(2)
  })
})

describe('an answer', () => {
  it('is untrusted text: repaired by the reader, checked against the contract', async () => {
    const it = await agent((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.end(`Here you are:\n\`\`\`json\n${JSON.stringify({ copyVariants })},\n\`\`\``)
    })
    const { done } = await runWith(it)
    expect(done).toMatchObject({ status: 'completed', output: { copyVariants } })
    expect(done.provenance[0]?.repairs?.length).toBeGreaterThan(0)
  })

  it('that breaks the contract is invalid', async () => {
    const { ends } = await runWith(await agent(json({ copyVariants: 'none' })))
    expect(ends).toMatchObject([{ outcome: 'invalid' }])
  })

  it('may come in pieces, as plain text or as events, and is shown while it comes', async () => {
    const whole = JSON.stringify({ copyVariants })
    const half = Math.floor(whole.length / 2)
    for (const type of ['text/plain', 'text/event-stream']) {
      const write = (chunk: string) => (type === 'text/plain' ? chunk : `data: ${chunk}\n\n`)
      const it = await agent(async (response) => {
        response.writeHead(200, { 'content-type': type })
        response.write(write(whole.slice(0, half)))
        await shown.promise
        response.end(write(whole.slice(half)) + (type === 'text/plain' ? '' : 'data: [DONE]\n\n'))
      })
      const shown = resolvers()
      const { done } = await runWith(it, { options: { onPartial: () => shown.resolve(undefined) } })
      expect(done).toMatchObject({ status: 'completed', output: { copyVariants } })
    }
  })

  it('428 is a question to a person: the agent is called again with the answer', async () => {
    const question = 'Which market?'
    const asks = json({ question, schema: { enum: ['EU', 'US'] } }, 428)
    const it = await agent(asks, json({ copyVariants }))
    const { app, done, ends } = await runWith(it)
    expect(done.status).toBe('waiting')
    expect(ends).toMatchObject([{ outcome: 'unclear', notApplied: true, question: { text: question } }])
    await expect(answer(app, done.runId, 'answer', 'Mars')).rejects.toMatchObject({ code: 'ask/invalid' })
    await answer(app, done.runId, 'answer', 'EU')
    expect(await app.result(done.runId)).toMatchObject({ status: 'completed', output: { copyVariants } })
    expect(it.received.map(({ call }) => call.clarifications)).toEqual([[], ['EU']])
    expect(new Set(it.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
  })

  it('gets the answer as a value of the schema of the question, and as a text where it has none', async () => {
    const it = await agent(
      json({ question: 'Pay?', schema: { type: 'boolean' } }, 428),
      json({ question: 'How much?' }, 428),
      json({ copyVariants }),
    )
    const { app, done } = await runWith(it)
    await answer(app, done.runId, 'answer', false)
    expect((await app.result(done.runId)).status).toBe('waiting')
    await answer(app, done.runId, 'answer', 5)
    expect((await app.result(done.runId)).status).toBe('completed')
    expect(it.received.at(-1)?.call.clarifications).toEqual([false, '5'])
  })

  it.each([
    ['without a question', { message: 'hm' }],
    ['with a schema that cannot be used', { question: 'How?', schema: { type: 'tea' } }],
  ])('428 %s is invalid', async (_, body) => {
    const { ends } = await runWith(await agent(json(body, 428)))
    expect(ends).toMatchObject([{ outcome: 'invalid' }])
  })

  it('an event called error ends a stream as an error of the agent', async () => {
    const it = await agent((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"copy\n\nevent: error\ndata: out of ink\n\n')
    })
    const { ends } = await runWith(it)
    expect(ends).toMatchObject([
      { outcome: 'provider_error', issues: [{ message: 'The agent said: out of ink' }] },
    ])
  })

  it('that is too long is cut off and invalid, and the limit is named', async () => {
    const gone = resolvers()
    const it = await agent((response) => {
      response.on('close', () => gone.resolve(undefined))
      response.writeHead(200, { 'content-type': 'text/plain' })
      const more = () => void (response.destroyed || response.write('x'.repeat(10_000), more))
      more()
    })
    const { ends } = await runWith(it, { options: { http: { maxBytes: 50_000 } } })
    expect(ends).toMatchObject([
      { outcome: 'invalid', issues: [{ message: expect.stringContaining('50000 bytes') }] },
    ])
    await gone.promise
  })

  it('that is packed is refused, because its size could not be counted', async () => {
    const it = await agent((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not read')
    })
    expect((await runWith(it)).ends).toMatchObject([{ outcome: 'invalid' }])
  })
})

describe('every other end has its name', () => {
  it.each([
    [400, 'provider_error', true],
    [404, 'provider_error', true],
    [422, 'provider_error', true],
    [409, 'provider_error', undefined],
    [302, 'provider_error', undefined],
    [500, 'provider_error', undefined],
    [408, 'timed_out', undefined],
    [504, 'timed_out', undefined],
  ])('%i is %s', async (code, outcome, notApplied) => {
    const it = await agent(status(code, { location: 'http://127.0.0.1:1/' }))
    const { ends } = await runWith(it)
    expect(it.received).toHaveLength(1)
    expect(ends).toHaveLength(1)
    expect(ends[0]?.outcome).toBe(outcome)
    expect(ends[0]?.notApplied).toBe(notApplied)
    expect(ends[0]?.issues[0]?.message).toContain(String(code))
  })

  it.each([429, 503])('%i waits as long as Retry-After says, within the same attempt', async (code) => {
    const it = await agent(status(code, { 'retry-after': '0' }), json({ copyVariants }))
    const { done, ends } = await runWith(it)
    expect(done.status).toBe('completed')
    expect(it.received).toHaveLength(2)
    expect(ends).toMatchObject([{ outcome: 'ok', usage: { calls: 1 } }])
  })

  it('an address where no server listens is tried five times, then the attempt ends as unavailable', async () => {
    const { url, server } = await listen(() => {})
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    const served = await serveAgents({ ...patient, clock: createQuickClock() })
    await served.register(writer(url), await served.agentToken())
    const { id: runId } = await served.app.start(wanted(), { draft: writing() })
    const stop = new AbortController()
    for await (const event of served.app.watch(runId, { signal: stop.signal })) {
      if (event.type !== 'attempt_end') continue
      expect(event.payload).toMatchObject({ outcome: 'unavailable', usage: { calls: 0 }, notApplied: true })
      break
    }
    expect(await served.app.result(runId)).toMatchObject({
      status: 'failed',
      failure: 'attempt/unavailable',
    })
  })

  it('a connection that breaks in the middle is in doubt', async () => {
    const it = await agent((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"copyVariants"', () => response.destroy())
    })
    const { ends } = await runWith(it)
    expect(ends).toMatchObject([{ outcome: 'provider_error' }])
    expect(ends[0]?.notApplied).toBeUndefined()
  })

  it('silence is cut off at the limit that the agent itself named', async () => {
    const it = await agent(() => {})
    const { ends } = await runWith(it, { registration: { endpoint: { url: it.url, timeoutMs: 30 } } })
    expect(ends).toMatchObject([
      { outcome: 'timed_out', issues: [{ message: expect.stringContaining('30 ms') }] },
    ])
  })

  it('cancelling the run closes the connection', async () => {
    const called = resolvers()
    const closed = resolvers()
    const it = await agent((response) => {
      response.on('close', () => closed.resolve(undefined))
      called.resolve(undefined)
    })
    const served = await serveAgents()
    await served.register(writer(it.url), await served.agentToken())
    const { id: runId } = await served.app.start(wanted(), { draft: writing() })
    await called.promise
    await served.app.cancel(runId, { by: 'ann' })
    await closed.promise
    expect((await served.app.result(runId)).status).toBe('cancelled')
  })

  it('a node without network access makes no call', async () => {
    const it = await agent(json({ copyVariants }))
    const { done } = await runWith(it, { node: { constraints: { no_network_access: true } } })
    expect(done.status).toBe('failed')
    expect(it.received).toEqual([])
  })
})

describe('secrets', () => {
  it('of an agent are in no event, also when it echoes them (T16)', async () => {
    const auth = { kind: 'bearer', token: 'canary-bearer-of-the-agent' }
    const it = await agent(
      (response, { headers }) =>
        void response.writeHead(500).end(`I was called with ${String(headers.authorization)}`),
      (response) =>
        void response.end(
          JSON.stringify({
            copyVariants: [{ ...copyVariants[0], body: `The key is ${key} canary-bearer-of-the-agent` }],
          }),
        ),
    )
    let key = ''
    const served = await serveAgents()
    key = (await served.register(writer(it.url, { auth }), await served.agentToken())).signingKey ?? ''
    const done = await served.app.run(wanted(), { draft: writing({ retry: { max: 1 } }) })
    expect(done.status).toBe('completed')
    const all = JSON.stringify([
      await journal(served.app, done.runId),
      done,
      await served.app.store.nodes(done.runId),
    ])
    expect(all).toContain('[redacted]')
    for (const secret of [key, 'canary-bearer-of-the-agent', it.url]) expect(all).not.toContain(secret)
  })
})

it('an answer that is nested too deep has a hint for the agent, not for a program that calls the reader', async () => {
  const deep = await agent((response) => void response.end(`${'['.repeat(3_000)}${']'.repeat(3_000)}`))
  const served = await serveAgents()
  await served.register(writer(deep.url), await served.agentToken())
  const failed = await served.app.run(wanted(), { draft: writing() })
  const issues = JSON.stringify([failed, await journal(served.app, failed.runId)])
  expect(issues).toContain('nested less deeply; this limit cannot be changed')
  expect(issues).not.toContain('Raise limits.depth')
})

describe('an agent that the program itself brings', () => {
  it('is called where and with the key that createApp was given', async () => {
    const it = await agent(json({ copyVariants }))
    const { endpoint: _, ...data } = writer(it.url)
    const own = defineCapability({ ...data, kind: 'http' })
    const endpoint = { url: it.url, keys: [{ keyId: 'one', secret: 'a-key-of-our-own' }] }
    const { app } = await serveAgents({ capabilities: [own], http: { agents: { 'writer.en': endpoint } } })
    expect(await app.run(wanted())).toMatchObject({ status: 'completed' })
    expect(isSigned(it.received[0]!, 'a-key-of-our-own')).toBe(true)
    expect(app.redactor.text('a-key-of-our-own')).toBe('[redacted]')
  })
})

function resolvers() {
  let resolve: (value: unknown) => void = () => {}
  const promise = new Promise((done) => {
    resolve = done
  })
  return { promise, resolve }
}
