/** Promises of `proviso/agent`, against a real server on this machine. */
import { rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type AgentContext, createFileCallStore } from 'proviso/agent'
import { createClient } from 'proviso/client'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { createServer, createToken } from '../../src/server/index.ts'
import { open } from '../journeys/support.ts'
import { type Signed, sign, signatureHeaders } from '../seams/agents.ts'
import { flexToken } from '../server/support.ts'
import {
  Line,
  lineSchema,
  newFolder,
  opened,
  serve,
  serveAgent,
  Topic,
  topicSchema,
  until,
  write,
} from './agent-server.ts'

describe('an agent', () => {
  it('answers a run, typed by its schemas', async () => {
    const { run, options } = await serve()
    let seen: AgentContext | undefined
    await serveAgent({
      ...options,
      run(inputs, context) {
        expectTypeOf(inputs).toEqualTypeOf<{ topic: string }>()
        seen = context
        return write(inputs)
      },
    })
    expect(await run()).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
    expect(seen).toMatchObject({ attempt: 1, feedback: [], rao: false, idempotencyKey: expect.any(String) })
  })

  it('does not compile with a wrong return value or a misspelled option', () => {
    const options = { id: 'x', input: Topic, output: Line, server: { url: '', token: '' } } as const
    const never = () => [
      // @ts-expect-error: the line is a number
      serveAgent({ ...options, run: () => ({ line: 1 }) }),
      // @ts-expect-error: the option is `callbackAfterMs`
      serveAgent({ ...options, run: write, callbackAfter: 1 }),
    ]
    expect(never).toBeTypeOf('function')
  })

  it('takes JSON Schemas and streams text', async () => {
    const { run, options } = await serve()
    await serveAgent({
      ...options,
      input: topicSchema,
      output: lineSchema,
      async *run({ topic }) {
        yield '{"line": "Time '
        yield `for ${topic}."}`
      },
    })
    expect(await run()).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
  })

  it('breaks a stream whose function fails', async () => {
    const { run, options } = await serve()
    await serveAgent({
      ...options,
      async *run() {
        yield '{"line": "Time '
        throw new Error('Out of ink')
      },
    })
    expect(await run()).toMatchObject({ status: 'failed' })
  })

  it('rejects for good, and reports what its function throws', async () => {
    const { run, options } = await serve()
    const topics: string[] = []
    await serveAgent({
      ...options,
      run({ topic }, { reject }) {
        topics.push(topic)
        if (topic === 'tea') return reject('No tea here')
        throw new Error('The pen broke')
      },
    })
    expect(JSON.stringify(await run())).toContain('No tea here')
    expect(topics).toEqual(['tea'])
    expect(JSON.stringify(await run('ink'))).toContain('The pen broke')
  })

  it.each([0, 5_000])('asks a person first (callback after %d ms)', async (callbackAfterMs) => {
    const { run, send, output, options } = await serve()
    await serveAgent({
      ...options,
      callbackAfterMs,
      run: ({ topic }, { ask, clarifications: [cup] }) =>
        cup === undefined
          ? ask('Which cup?', { schema: { enum: ['small', 'large'] } })
          : { line: `${topic} in a ${cup} cup` },
    })
    const { runId } = await run()
    const { asks } = await send(`/hitl?runId=${runId}`)
    const { requestId, valueHash } = asks[0]
    await send('/hitl/resolve', { requestId, valueHash, decision: 'answer', value: 'large' })
    expect(await output(runId)).toMatchObject({ output: { line: 'tea in a large cup' } })
  })

  it('is cancelled with its run', async () => {
    const { start, send, options } = await serve()
    let signal: AbortSignal | undefined
    await serveAgent({
      ...options,
      run(_, context) {
        signal = context.signal
        return new Promise((_resolve, reject) =>
          context.signal.addEventListener('abort', () => reject(context.signal.reason)),
        )
      },
    })
    const runId = await start()
    await until(() => signal !== undefined)
    await send(`/runs/${runId}/cancel`, {})
    await until(() => signal?.aborted === true)
  })

  it('answers long work by callback, also to a server that was restarted meanwhile', async () => {
    const store = createMemoryStore()
    const first = await serve({ store })
    let finish = () => {}
    const work = new Promise<void>((resolve) => {
      finish = resolve
    })
    let calls = 0
    const errors: string[] = []
    await serveAgent({
      ...first.options,
      callbackAfterMs: 50,
      onError: ({ message }) => void errors.push(message),
      async run(inputs) {
        calls++
        await work
        return write(inputs)
      },
    })
    const runId = await first.start()
    await until(async () => (await first.events(runId)).includes('attempt_accepted'))
    await first.stop()
    finish()
    await until(() => errors.length > 0)
    const second = await serve({ store, port: Number(new URL(first.address).port) })
    expect(await second.output(runId)).toMatchObject({ output: { line: 'Time for tea.' } })
    expect(calls).toBe(1)
    expect(errors[0]).toMatch(/^Cannot post the answer/)
  })

  it('that is restarted finishes the calls it had accepted, under their keys and with its signing key', async () => {
    const { start, events, output, options } = await serve()
    const calls = createFileCallStore(newFolder())
    const keys: string[] = []
    const first = await serveAgent({
      ...options,
      calls,
      callbackAfterMs: 0,
      run: (_, { idempotencyKey, signal }) => {
        keys.push(idempotencyKey)
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        )
      },
    })
    const runId = await start()
    await until(async () => (await events(runId)).includes('attempt_accepted'))
    const key = await calls.readSigningKey?.()
    await first.close({ graceMs: 0 })
    await serveAgent({
      ...options,
      calls,
      run(inputs, { idempotencyKey }) {
        keys.push(idempotencyKey)
        return write(inputs)
      },
    })
    expect(await output(runId)).toMatchObject({ output: { line: 'Time for tea.' } })
    expect(keys).toEqual([keys[0], keys[0]])
    // The function was interrupted, it did not fail: the server hears of no error.
    expect((await events(runId)).filter((type) => type === 'attempt_start')).toHaveLength(1)
    expect(await calls.readSigningKey?.()).toBe(key)
    // The agent forgets the call once the server has taken the answer, so a moment after the run ends.
    await until(async () => (await calls.listAccepted()).length === 0)
  })

  it('is cancelled with its run after it has accepted the call, and posts no answer', async () => {
    const { start, events, send, options } = await serve()
    const calls = createFileCallStore(newFolder())
    const ended: string[] = []
    await serveAgent({
      ...options,
      calls,
      callbackAfterMs: 0,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            ended.push(String(signal.reason))
            reject(signal.reason)
          }),
        ),
    })
    const runId = await start()
    await until(async () => (await events(runId)).includes('attempt_accepted'))
    await send(`/runs/${runId}/cancel`, { reason: 'Not needed' })
    await until(() => ended.length > 0)
    expect(ended).toEqual(['Error: The run no longer needs this call'])
    await until(async () => (await calls.listAccepted()).length === 0)
    expect((await send(`/runs/${runId}`)).run.status).toBe('cancelled')
    expect(await events(runId)).not.toContain('attempt_settled')
  })

  it('posts the answer of an accepted call with a new signing key, if it has lost the old one', async () => {
    const { start, events, output, options } = await serve()
    const folder = newFolder()
    const first = await serveAgent({
      ...options,
      calls: createFileCallStore(folder),
      callbackAfterMs: 0,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const runId = await start()
    await until(async () => (await events(runId)).includes('attempt_accepted'))
    await first.close({ graceMs: 0 })
    rmSync(join(folder, 'signing-key.json'))
    await serveAgent({ ...options, calls: createFileCallStore(folder), run: write })
    expect(await output(runId)).toMatchObject({ output: { line: 'Time for tea.' } })
  })

  it('shares one HTTP server with the Proviso server and its client', async () => {
    const store = createMemoryStore()
    let base = ''
    const app = await open({ store, http: { allowLoopback: true, callbackUrl: () => base } })
    const server = createServer({ app }, { auth: { token: flexToken } })
    opened.add(server)
    let answer = async (_request: Request) => new Response(null, { status: 503 })
    const http = createHttpServer((incoming, outgoing) => {
      if (!incoming.url?.startsWith('/agents/write')) return server.handler(incoming, outgoing)
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', async () => {
        const headers = incoming.headers as Record<string, string>
        const body = Buffer.concat(chunks)
        const response = await answer(new Request(base, { method: incoming.method ?? 'POST', headers, body }))
        outgoing.writeHead(response.status, Object.fromEntries(response.headers))
        outgoing.end(Buffer.from(await response.arrayBuffer()))
      })
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void http.close().closeAllConnections())
    base = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    const { token } = await createToken(store.records.tokens, { tenant: 'default', role: 'agent', name: 'a' })
    for (const callbackAfterMs of [5_000, 0]) {
      const agent = await serveAgent({
        id: 'write',
        input: Topic,
        output: Line,
        server: { url: base, token },
        port: false,
        url: `${base}/agents/write`,
        callbackAfterMs,
        run: write,
      })
      answer = agent.fetch
      const run = await createClient({ url: base, token: flexToken }).runs.start(
        { objective: 'One line', inputs: { topic: 'tea' }, outputContract: { schema: lineSchema } },
        { output: Line },
      )
      expect(await run.output()).toEqual({ line: 'Time for tea.' })
    }
  })

  it('reports a registration that the server refuses, with its code and location', async () => {
    const { options } = await serve()
    const refused = serveAgent({ ...options, input: ['tpoic'], run: () => ({ line: '' }) })
    await expect(refused).rejects.toMatchObject({
      code: 'capability/invalid',
      issues: [{ at: { pointer: '/inputContract/0' } }],
    })
    const wrongToken = { ...options, server: { ...options.server, token: 'x' } }
    await expect(serveAgent({ ...wrongToken, run: write })).rejects.toThrow('the server answered 401')
  })
})

describe('as a fetch handler, an agent', () => {
  /** An agent without a port, and calls to it that are signed with its key. */
  async function prepare() {
    const { options } = await serve()
    const calls = createFileCallStore(newFolder())
    const topics: string[] = []
    const agent = await serveAgent({
      ...options,
      port: false,
      url: 'http://127.0.0.1:9/',
      calls,
      run(inputs: { topic: string }) {
        topics.push(inputs.topic)
        return write(inputs)
      },
    })
    const signingKey = (await calls.readSigningKey?.()) ?? ''
    const send = (given: Given = {}) => agent.fetch(toRequest(given, signingKey))
    return { send, topics }
  }

  interface Given extends Partial<Signed> {
    readonly key?: string
    readonly secret?: string
  }

  let nonces = 0
  function toRequest({ key = 'key-1', secret, ...more }: Given, signingKey: string): Request {
    const signed: Signed = {
      timestamp: String(Math.floor(Date.now() / 1_000)),
      nonce: `nonce-${++nonces}`,
      runId: 'run/1',
      nodeId: 'w',
      attempt: 1,
      body: JSON.stringify({ capabilityId: 'write', inputs: { topic: 'tea' }, clarifications: [] }),
      ...more,
    }
    const headers = {
      'idempotency-key': key,
      [signatureHeaders.timestamp]: signed.timestamp,
      [signatureHeaders.nonce]: signed.nonce,
      [signatureHeaders.runId]: encodeURIComponent(signed.runId),
      [signatureHeaders.nodeId]: signed.nodeId,
      [signatureHeaders.attempt]: String(signed.attempt),
      [signatureHeaders.signature]: sign(signed, [secret ?? signingKey]),
    }
    return new Request('http://agent/', { method: 'POST', headers, body: String(signed.body) })
  }

  it('answers what is signed, and repeats its answer for the same key', async () => {
    const { send, topics } = await prepare()
    const [first, joined] = await Promise.all([send(), send()])
    const later = await send()
    for (const response of [first, joined, later]) {
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ line: 'Time for tea.' })
    }
    expect(topics).toEqual(['tea'])
    await send({ key: 'key-2' })
    expect(topics).toEqual(['tea', 'tea'])
  })

  /** Before any agent of this file started, within the window of signatures. */
  const earlier = String(Math.floor(Date.now() / 1_000) - 60)
  const old = String(Math.floor(Date.now() / 1_000) - 400)
  it.each<[string, number, Given]>([
    ['is signed with another key', 401, { secret: 'psk_other' }],
    ['was signed too long ago', 401, { timestamp: old }],
    ['may be a replay of one to an earlier process', 503, { timestamp: earlier }],
    ['cancels another one and is not a DELETE', 405, { body: '{"capabilityId":"write","cancel":"key-1"}' }],
    ['is for another capability', 404, { body: '{"capabilityId":"read","inputs":{}}' }],
    ['is not JSON', 404, { body: '{' }],
    ['has no idempotency key', 400, { key: '' }],
    ['is too long', 413, { body: 'x'.repeat(5 * 1_048_576) }],
    ['has inputs that the schema refuses', 422, { body: '{"capabilityId":"write","inputs":{"topic":1}}' }],
  ])('refuses a call that %s', async (_, status, given) => {
    const { send, topics } = await prepare()
    expect((await send(given)).status).toBe(status)
    expect(topics).toEqual([])
  })

  it('refuses a replay of a call, under another idempotency key as well', async () => {
    const { send, topics } = await prepare()
    expect((await send({ nonce: 'once-only' })).status).toBe(200)
    expect((await send({ nonce: 'once-only' })).status).toBe(409)
    expect((await send({ nonce: 'once-only', key: 'key-2' })).status).toBe(409)
    expect(topics).toEqual(['tea'])
  })

  it('runs a call again that was cancelled, when the first one has stopped', async () => {
    const { options } = await serve()
    const calls = createFileCallStore(newFolder())
    let stop = () => {}
    let [active, most, started] = [0, 0, 0]
    const agent = await serveAgent({
      ...options,
      port: false,
      url: 'http://127.0.0.1:9/',
      calls,
      async run(inputs, { signal }) {
        most = Math.max(most, ++active)
        if (++started === 1) {
          await new Promise<void>((resolve) => {
            stop = resolve
          })
          active--
          throw signal.reason
        }
        active--
        return write(inputs)
      },
    })
    const signingKey = (await calls.readSigningKey?.()) ?? ''
    const gone = new AbortController()
    const first = agent.fetch(new Request(toRequest({}, signingKey), { signal: gone.signal }))
    await until(() => started === 1)
    gone.abort()
    const second = agent.fetch(toRequest({}, signingKey))
    await until(() => active === 1)
    stop()
    expect((await first).status).toBe(500)
    expect(await (await second).json()).toEqual({ line: 'Time for tea.' })
    expect([started, most]).toEqual([2, 1])
  })

  it('does not run a call when its store cannot be read', async () => {
    const broken = { ...createFileCallStore(newFolder()), read: () => Promise.reject(new Error('Disk')) }
    const { options } = await serve()
    let signingKey = ''
    const calls = {
      ...broken,
      async writeSigningKey(key: string) {
        signingKey = key
      },
    }
    let ran = false
    const run = (inputs: { topic: string }) => {
      ran = true
      return write(inputs)
    }
    const agent = await serveAgent({ ...options, port: false, url: 'http://127.0.0.1:9/', calls, run })
    expect((await agent.fetch(toRequest({}, signingKey))).status).toBe(503)
    expect(ran).toBe(false)
  })

  it('needs its address', async () => {
    const server = { url: 'http://127.0.0.1:9', token: 'x' }
    const options = { id: 'write', input: Topic, output: Line, run: write, server }
    await expect(serveAgent({ ...options, port: false })).rejects.toThrow('requires `url`')
  })
})
