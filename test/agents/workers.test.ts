/** Workers: agents that no server can call. They take their calls, against real servers on this machine. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFileCallStore } from 'proviso/agent'
import { createClient } from 'proviso/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { flexToken } from '../server/support.ts'
import { lineSchema, newFolder, serve, serveAgent, until, write } from './agent-server.ts'
import { api } from './support.ts'

/** Silent workers are noticed soon, and a busy machine still renews in time. */
const http = { workerLeaseMs: 1_500 }

/** Runs until it is aborted. */
const hang = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

describe('a worker', () => {
  it('takes a call, and its answer completes the run; the server needs no callbackUrl', async () => {
    const { run, options, events } = await serve({ http: { callbackUrl: () => undefined } })
    const agent = await serveAgent({ ...options, poll: true, run: write })
    expect(agent.url).toBeUndefined()
    const done = await run()
    expect(done).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
    expect(await events(done.runId)).toContain('attempt_accepted')
  })

  it('shares the calls with other workers of its agent: each goes to one', async () => {
    const { start, output, options } = await serve()
    const calls = new Map<string, string[]>()
    let free = () => {}
    const both = new Promise<void>((resolve) => {
      free = resolve
    })
    const work = (name: string) =>
      serveAgent({
        ...options,
        poll: { concurrency: 3 },
        async run(inputs, { idempotencyKey }) {
          calls.set(idempotencyKey, [...(calls.get(idempotencyKey) ?? []), name])
          if (calls.size === 6) free()
          // Six at a time need both workers.
          await both
          return write(inputs)
        },
      })
    await work('one')
    await work('two')
    const topics = ['a', 'b', 'c', 'd', 'e', 'f']
    const runs = await Promise.all(topics.map((topic) => start(topic)))
    const outputs = await Promise.all(runs.map(output))
    expect(outputs.map(({ output: { line } }) => line)).toEqual(topics.map((topic) => `Time for ${topic}.`))
    const workers = [...calls.values()]
    expect(workers.every((names) => names.length === 1)).toBe(true)
    expect(workers.flat().sort()).toEqual(['one', 'one', 'one', 'two', 'two', 'two'])
  })

  it('rejects, asks and fails like any other agent', async () => {
    const { run, send, output, options } = await serve()
    await serveAgent({
      ...options,
      poll: true,
      run({ topic }, { reject, ask, clarifications: [cup] }) {
        if (topic === 'ink') return reject('No ink here')
        if (topic === 'pen') throw new Error('The pen broke')
        return cup === undefined ? ask('Which cup?') : { line: `${topic} in a ${cup} cup` }
      },
    })
    expect(JSON.stringify(await run('ink'))).toContain('No ink here')
    expect(JSON.stringify(await run('pen'))).toContain('The pen broke')
    const { runId } = await run()
    const { asks } = await send(`/hitl?runId=${runId}`)
    const { requestId, valueHash } = asks[0]
    await send('/hitl/resolve', { requestId, valueHash, decision: 'answer', value: 'large' })
    expect(await output(runId)).toMatchObject({ output: { line: 'tea in a large cup' } })
  })

  it('streams text: partial values arrive before the answer', async () => {
    const { address, options } = await serve()
    let isSeen = false
    await serveAgent({
      ...options,
      poll: true,
      async *run(_, { signal }) {
        yield '{"line": "Time '
        await until(() => isSeen || signal.aborted)
        yield 'for tea."}'
      },
    })
    const client = createClient({ url: address, token: flexToken })
    const envelope = {
      objective: 'One line',
      inputs: { topic: 'tea' },
      outputContract: { schema: lineSchema },
    }
    const run = await client.runs.start(envelope, { partials: true })
    const lines: unknown[] = []
    for await (const { value } of run.partials()) {
      lines.push(value)
      isSeen = true
    }
    expect(lines[0]).toEqual({ line: expect.stringMatching(/^Time/) })
    expect(await run.result()).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
  })

  it('learns that its run was cancelled, and posts nothing', async () => {
    const { start, send, events, options } = await serve({ http: { workerLeaseMs: 300 } })
    const reasons: string[] = []
    await serveAgent({
      ...options,
      poll: true,
      run(_, { signal }) {
        signal.addEventListener('abort', () => reasons.push(String(signal.reason)))
        reasons.push('begun')
        return hang(signal)
      },
    })
    const runId = await start()
    await until(() => reasons.length > 0)
    await send(`/runs/${runId}/cancel`, { reason: 'Not needed' })
    await until(() => reasons.length > 1)
    expect(reasons).toEqual(['begun', 'Error: The run no longer needs this call'])
    expect((await send(`/runs/${runId}`)).run.status).toBe('cancelled')
    expect(await events(runId)).not.toContain('attempt_settled')
  })

  it('that falls silent loses an idempotent call to another worker, under the same key', async () => {
    const { start, output, events, options } = await serve({ http })
    const keys: string[] = []
    const first = await serveAgent({
      ...options,
      idempotent: true,
      poll: true,
      run(_, { idempotencyKey, signal }) {
        keys.push(idempotencyKey)
        return hang(signal)
      },
    })
    const runId = await start()
    await until(() => keys.length > 0)
    await first.close({ graceMs: 0 })
    await serveAgent({
      ...options,
      idempotent: true,
      poll: true,
      run(inputs, { idempotencyKey }) {
        keys.push(idempotencyKey)
        return write(inputs)
      },
    })
    expect(await output(runId)).toMatchObject({ output: { line: 'Time for tea.' } })
    expect(keys).toEqual([keys[0], keys[0]])
    expect((await events(runId)).filter((type) => type === 'attempt_start')).toHaveLength(1)
  })

  it('that falls silent in a call with a side effect leaves it in doubt: a person is asked, no worker gets it', async () => {
    const { send, options } = await serve({ http })
    const fields = { ...options, idempotent: false, sideEffect: true, poll: true } as const
    let begun = 0
    const first = await serveAgent({
      ...fields,
      run(_, { signal }) {
        begun++
        return hang(signal)
      },
    })
    const node = { id: 'write', capabilityId: 'write', inputs: { topic: { envelope: '/inputs/topic' } } }
    const { runId } = await send('/runs', {
      envelope: { objective: 'One line', inputs: { topic: 'tea' }, outputContract: { schema: lineSchema } },
      draft: { nodes: [{ ...node, retry: { max: 1, backoffMs: 1 } }] },
    })
    const openAsk = async () => (await send(`/hitl?runId=${runId}`)).asks[0]
    await until(async () => {
      const ask = begun === 0 && (await openAsk())
      if (ask)
        await send('/hitl/resolve', {
          requestId: ask.requestId,
          valueHash: ask.valueHash,
          decision: 'approve',
        })
      return begun === 1
    })
    await first.close({ graceMs: 0 })
    let repeated = 0
    await serveAgent({
      ...fields,
      run(inputs) {
        repeated++
        return write(inputs)
      },
    })
    let asked: { kind: string } | undefined
    await until(async () => {
      asked = await openAsk()
      const { status } = (await send(`/runs/${runId}`)).run
      return asked !== undefined || /completed|failed/.test(status)
    })
    expect(asked?.kind).toBe('unknown_outcome')
    expect([begun, repeated]).toEqual([1, 0])
  })

  it('that is not there: the call ends as unavailable, and was not applied', async () => {
    const { run, options } = await serve()
    const agent = await serveAgent({ ...options, poll: true, run: write })
    await agent.close({ graceMs: 0 })
    const registered = await fetch(`${options.server.url}${api}/capabilities/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${options.server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        capabilityId: 'write',
        version: '1',
        displayName: 'write',
        summary: '',
        inputContract: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
        outputContract: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
        endpoint: { poll: true, timeoutMs: 50 },
      }),
    })
    expect(registered.status).toBe(200)
    expect(await registered.json()).not.toHaveProperty('signingKey')
    const done = await run()
    expect(done).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(done)).toContain('No worker of the agent took the call')
  })

  it.each(['memory', 'sqlite'])('answers a server that was restarted meanwhile (%s)', async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-worker-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const memory = createMemoryStore()
    const newStore = () =>
      kind === 'memory' ? memory : openSqliteStore({ path: join(folder, 'proviso.db') })
    const store = await newStore()
    const first = await serve({ store, http })
    const errors: string[] = []
    let finish = () => {}
    const work = new Promise<void>((resolve) => {
      finish = resolve
    })
    let calls = 0
    await serveAgent({
      ...first.options,
      poll: true,
      onError: ({ message }) => void errors.push(message),
      async run(inputs) {
        calls++
        await work
        return write(inputs)
      },
    })
    const runId = await first.start()
    await until(async () => calls === 1 && (await first.events(runId)).includes('attempt_accepted'))
    await first.stop()
    if (kind === 'sqlite') await store.close()
    finish()
    await until(() => errors.some((message) => message.startsWith('Cannot post the answer')))
    const second = await serve({ store: await newStore(), http, port: Number(new URL(first.address).port) })
    expect(await second.output(runId)).toMatchObject({ output: { line: 'Time for tea.' } })
    expect(calls).toBe(1)
    expect((await second.events(runId)).filter((type) => type === 'attempt_start')).toHaveLength(1)
  })

  it('posts an answer that it stored before it was restarted, and runs no call that the server gives to others', async () => {
    const store = createMemoryStore()
    const first = await serve({ store })
    const calls = createFileCallStore(newFolder())
    let ran = 0
    const begin = (options: typeof first.options) =>
      serveAgent({
        ...options,
        calls,
        poll: true,
        run(inputs) {
          ran++
          return write(inputs)
        },
      })
    // The server is gone when the answer is ready: it stays in the store of the worker.
    const worker = await serveAgent({
      ...first.options,
      calls,
      poll: true,
      async run(inputs) {
        ran++
        await first.stop()
        return write(inputs)
      },
    })
    const runId = await first.start()
    await until(async () => (await calls.listAccepted()).some(({ answer }) => answer !== undefined))
    await worker.close({ graceMs: 0 })
    const second = await serve({ store, port: Number(new URL(first.address).port) })
    await begin(first.options)
    expect(await second.output(runId)).toMatchObject({ output: { line: 'Time for tea.' } })
    expect(ran).toBe(1)
    await until(async () => (await calls.listAccepted()).length === 0)
  })
})

describe('the routes of workers', () => {
  async function post(url: string, token: string, body: object = {}) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    // biome-ignore lint/suspicious/noExplicitAny: answers of many routes
    const answer: any = response.status === 204 ? undefined : await response.json()
    return { status: response.status, body: answer }
  }
  const registration = {
    capabilityId: 'write',
    version: '1',
    displayName: 'Writer',
    summary: '',
    inputContract: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
    outputContract: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
  }

  it('give a call that was not begun to the next worker, also if it is not idempotent, and end it for the first', async () => {
    const { options, start, output } = await serve({ http: { workerLeaseMs: 200 } })
    const { url, token } = options.server
    const calls = `${url}${api}/capabilities/write/calls`
    await post(`${url}${api}/capabilities/register`, token, { ...registration, endpoint: { poll: true } })
    const runId = await start()
    const lost = await post(calls, token, { waitMs: 10_000 })
    expect(lost).toMatchObject({ status: 200, body: { delivery: 1, body: { inputs: { topic: 'tea' } } } })
    const taken = await post(calls, token, { waitMs: 10_000 })
    const { idempotencyKey, delivery, signingKey } = taken.body
    expect(taken.body).toEqual({ ...lost.body, delivery: 2 })
    expect(signingKey).toMatch(/^pck_/)
    const renew = (number: number, more: object = {}) =>
      post(`${calls}/${idempotencyKey}`, token, { delivery: number, ...more })
    expect(await renew(1)).toMatchObject({ status: 409, body: { code: 'callback/settled' } })
    expect(await renew(delivery)).toEqual({ status: 200, body: { status: 'renewed' } })
    expect(await renew(delivery, { text: 'a', offset: -1 })).toMatchObject({ status: 422 })
    await serveAgent({ ...options, poll: true, run: write })
    expect(await output(runId)).toBeDefined()
  })

  it('refuse other tokens, agents that are called, and endpoints of both kinds', async () => {
    const { options, send } = await serve()
    const { url, token } = options.server
    const calls = `${url}${api}/capabilities/write/calls`
    expect((await post(calls, token)).status).toBe(404)
    const register = (endpoint: object) =>
      post(`${url}${api}/capabilities/register`, token, { ...registration, endpoint })
    const both = await register({ url: 'http://127.0.0.1:1/', poll: true })
    expect(both).toMatchObject({ status: 422, body: { issues: [{ pointer: '/endpoint' }] } })
    expect(await register({})).toMatchObject({ status: 422, body: { issues: [{ pointer: '/endpoint' }] } })
    await register({ url: 'http://127.0.0.1:1/' })
    expect(await post(calls, token)).toMatchObject({ status: 403, body: { code: 'capability/forbidden' } })
    expect((await register({ poll: true })).status).toBe(200)
    const { token: other } = await send('/tokens', { role: 'agent', name: 'other' })
    expect((await post(calls, other)).status).toBe(403)
    expect(await post(calls, token, { waitMs: 0 })).toEqual({ status: 204, body: undefined })
  })
})
