/** Promises about agents that answer later: whose post counts, that only one does, and that waiting ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { answer, journal } from '../journeys/support.ts'
import { signatureHeaders } from '../seams/agents.ts'
import { flexToken } from '../server/support.ts'
import { type Posting, post } from './post.ts'
import {
  agent,
  api,
  copyVariants,
  type ReceivedCall,
  serveAgents,
  status,
  wanted,
  writer,
  writing,
} from './support.ts'

/** A run whose one call has been accepted by the agent, which has not answered yet. */
async function accepted(options: Parameters<typeof serveAgents>[0] = {}, node: object = {}) {
  const called: { at: number; go: () => void }[] = []
  const later = await agent((response, received) => {
    status(202)(response, received)
    for (const { at, go } of called) if (later.received.length >= at) go()
  })
  const served = await serveAgents(options)
  const { signingKey: key = '' } = await served.register(writer(later.url), await served.agentToken())
  const { id: runId } = await served.app.start(wanted(), { draft: writing({ ...node }) })
  const calls = (count: number) =>
    new Promise<ReceivedCall>((resolve) => {
      const go = () => resolve(later.received[count - 1] as ReceivedCall)
      if (later.received.length >= count) go()
      else called.push({ at: count, go })
    })
  return { ...served, runId, key, later, calls, received: await calls(1) }
}

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code

describe('an answer that comes later', () => {
  it.each([
    ['an output', { output: { copyVariants } }],
    ['a text to be read', { text: `Sure! ${JSON.stringify({ copyVariants })}` }],
  ])('completes the attempt with %s', async (_, body) => {
    const { app, runId, received, key } = await accepted()
    const response = await post(received, { key, body })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ status: 'taken' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { copyVariants } })
  })

  it('may be an error, with its name', async () => {
    const { app, runId, received, key } = await accepted()
    await post(received, { key, body: { error: { message: 'I will not', outcome: 'refused' } } })
    expect((await app.result(runId)).status).toBe('failed')
    const [end] = (await journal(app, runId)).flatMap((e) => (e.type === 'attempt_end' ? [e.payload] : []))
    expect(end).toMatchObject({ outcome: 'refused', issues: [{ message: 'The agent said: I will not' }] })
  })

  it('may be a question, and the next call has the answer', async () => {
    const { app, runId, received, key, calls } = await accepted()
    const body = { question: 'Which market?', schema: { type: 'string' } }
    expect((await post(received, { key, body })).status).toBe(200)
    expect((await app.result(runId)).status).toBe('waiting')
    await answer(app, runId, 'answer', 'EU')
    const second = await calls(2)
    expect(second.call.clarifications).toEqual(['EU'])
    expect((await post(second, { key })).status).toBe(200)
    expect((await app.result(runId)).status).toBe('completed')
  })

  it('is held against the contract like any other', async () => {
    const { app, runId, received, key } = await accepted()
    await post(received, { key, body: { output: { copyVariants: 7 } } })
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'attempt/invalid' })
  })

  it('counts once: of many posts at a time one is accepted, the others get 409', async () => {
    const { app, runId, received, key } = await accepted()
    const posts = await Promise.all(Array.from({ length: 8 }, () => post(received, { key })))
    expect(posts.map((response) => response.status).sort()).toEqual([200, ...Array(7).fill(409)])
    expect((await app.result(runId)).status).toBe('completed')
    const late = await post(received, { key })
    expect([late.status, await codeOf(late)]).toEqual([409, 'callback/settled'])
  })

  it.each<[string, Omit<Posting, 'key'> & { key?: string }, number, string]>([
    ['signed with another key', { key: 'psk_wrong' }, 401, 'callback/forged'],
    ['signed for another node', { signed: { nodeId: 'other' } }, 401, 'callback/forged'],
    ['signed for another attempt', { signed: { attempt: 2 } }, 401, 'callback/forged'],
    ['signed for another body', { signed: { body: '{}' } }, 401, 'callback/forged'],
    ['signed 301 seconds ago', { off: -301 }, 401, 'callback/forged'],
    ['signed 302 seconds ahead', { off: 302 }, 401, 'callback/forged'],
    ['without a nonce that is one', { nonce: 'x' }, 401, 'callback/forged'],
    ['with neither output nor text nor error', { body: { value: 1 } }, 422, 'request/invalid'],
    ['with a schema and no question', { body: { schema: {} } }, 422, 'request/invalid'],
    ['with two answers', { body: { question: 'How?', text: 'So' } }, 422, 'request/invalid'],
  ])('is refused without effect when it is %s', async (_, posting, expected, code) => {
    const { app, runId, received, key } = await accepted()
    const response = await post(received, { key, ...posting })
    expect([response.status, await codeOf(response)]).toEqual([expected, code])
    expect((await app.state(runId)).running).toEqual(new Set(['write']))
    expect((await post(received, { key, off: -290 })).status).toBe(200)
    expect((await app.result(runId)).status).toBe('completed')
  })

  it.each<[string, { readonly [name: string]: string }]>([
    ['no signature at all', {}],
    ['a token instead', { authorization: `Bearer ${flexToken}` }],
    ['an empty signature', { [signatureHeaders.signature]: '' }],
  ])('is refused without effect with %s', async (_, headers) => {
    const { app, runId, received, key } = await accepted()
    const response = await fetch(received.call.callbackUrl ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ output: { copyVariants } }),
    })
    expect([response.status, await codeOf(response)]).toEqual([401, 'callback/forged'])
    expect((await app.state(runId)).running).toEqual(new Set(['write']))
    expect((await post(received, { key })).status).toBe(200)
    expect((await app.result(runId)).status).toBe('completed')
  })

  it('of an agent whose key is gone with its registration is refused, until it registers again', async () => {
    const { app, runId, received, key, later, call, register, agentToken } = await accepted()
    await call(`${api}/capabilities/writer.en`, { method: 'DELETE' })
    for (const each of [key, '', 'undefined'])
      expect((await post(received, { key: each })).status, `signed with "${each}"`).toBe(401)
    const { signingKey: next = '' } = await register(writer(later.url), await agentToken())
    expect(next).not.toBe(key)
    expect((await post(received, { key })).status).toBe(401)
    expect((await post(received, { key: next })).status).toBe(200)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { copyVariants } })
  })

  it('takes a nonce once, whatever it was used for', async () => {
    const { received, key, app, runId, calls } = await accepted({}, { retry: { max: 1 } })
    const nonce = 'a-nonce-used-twice'
    expect((await post(received, { key, nonce, body: { error: { message: 'again' } } })).status).toBe(200)
    const second = await calls(2)
    const replayed = await post(second, { key, nonce })
    expect([replayed.status, await codeOf(replayed)]).toEqual([409, 'callback/replayed'])
    expect((await post(second, { key })).status).toBe(200)
    expect((await app.result(runId)).status).toBe('completed')
  })

  it('is unknown where no call was made', async () => {
    const { received, key, address } = await accepted()
    for (const callId of ['nonsense', Buffer.from('["none","write",1]').toString('base64url')]) {
      const callbackUrl = `${address}/api/v1/flex/callbacks/${callId}`
      const response = await post({ ...received, call: { ...received.call, callbackUrl } }, { key })
      expect([response.status, await codeOf(response)]).toEqual([404, 'callback/unknown'])
    }
  })
})

describe('waiting for it', () => {
  it('ends with the time of the node; an answer after that gets 409, and the next attempt has its own', async () => {
    const { app, runId, calls, received, key } = await accepted({}, { timeoutMs: 1_000, retry: { max: 1 } })
    const second = await calls(2)
    expect(second.call.attempt).toBe(2)
    // The call is in doubt, so it is the same one for the agent.
    expect(second.headers['idempotency-key']).toBe(received.headers['idempotency-key'])
    expect((await post(received, { key })).status).toBe(409)
    expect((await post(second, { key })).status).toBe(200)
    expect((await app.result(runId)).status).toBe('completed')
  })

  it('ends when the run is cancelled', async () => {
    const { app, runId, received, key } = await accepted()
    await app.cancel(runId, { by: 'ann' })
    expect((await app.result(runId)).status).toBe('cancelled')
    expect((await post(received, { key })).status).toBe(409)
  })

  it('ends at the limit where the node has no time of its own', async () => {
    const { app, runId } = await accepted({ http: { callbackMs: 20 } })
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'attempt/timed_out' })
  })

  it('is not started by a server without a public address', async () => {
    const { app, runId, received } = await accepted({ http: { callbackUrl: () => undefined } })
    expect(received.call.callbackUrl).toBeUndefined()
    const done = await app.result(runId)
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/provider_error' })
    expect(done.issues[0]?.message).toContain('call back')
  })

  it('an answer that another process takes reaches the process that waits', async () => {
    const store = createMemoryStore()
    const other = await serveAgents({ store, claim: 'own' })
    const waiting = await accepted({ store, http: { callbackUrl: () => other.address } })
    // The other process has not heard of the agent: it learns its key from the store when it needs it.
    expect(waiting.received.call.callbackUrl).toContain(other.address)
    expect((await post(waiting.received, { key: waiting.key })).status).toBe(200)
    expect((await waiting.app.result(waiting.runId)).status).toBe('completed')
  })

  it('works on a store that is a file as well', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-callbacks-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const store = `sqlite:${join(folder, 'runs.db')}`
    const { app, runId, received, key } = await accepted({ store, http: { secretKeys: ['ab'.repeat(32)] } })
    expect((await post(received, { key: 'psk_wrong' })).status).toBe(401)
    expect((await post(received, { key })).status).toBe(200)
    expect((await post(received, { key })).status).toBe(409)
    expect((await app.result(runId)).status).toBe('completed')
  })

  it('an answer that came after its process was gone is taken up by the next one, without another call', async () => {
    const store = createMemoryStore()
    const dying = await accepted({ store, leaseMs: 60 })
    await dying.app.close({ graceMs: 0 })
    expect((await post(dying.received, { key: dying.key })).status).toBe(200)
    const heir = await serveAgents({ store, leaseMs: 60 })
    expect(await heir.app.result(dying.runId)).toMatchObject({
      status: 'completed',
      output: { copyVariants },
    })
    expect(dying.later.received).toHaveLength(1)
  })
})
