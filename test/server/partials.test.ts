/** Partial values over HTTP: a scripted model server that speaks word by word, the real server, and clients that opt in or do not. */
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { createParser } from 'eventsource-parser'
import { afterEach, describe, expect, it } from 'vitest'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { createClient, type RunDraft } from '../../src/client/index.ts'
import { type AppOptions, defineCapability } from '../../src/index.ts'
import { modelServer } from '../models/model-server.ts'
import {
  api,
  envelope,
  flexToken,
  frames,
  local,
  paused,
  rao,
  type SseFrame,
  serve,
  start,
  text,
} from './support.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const chunk = (content: string) =>
  `data: ${JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'test-model',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  })}\n\n`
const lastChunk = `data: ${JSON.stringify({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'test-model',
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})}\n\ndata: [DONE]\n\n`

/** A model that says what the test passes to `say`, at that time. */
async function openModel(whole: string) {
  let answer = (_: ServerResponse) => {}
  const call = new Promise<ServerResponse>((resolve) => {
    answer = resolve
  })
  const server = await modelServer<{ readonly open: true }>([{ open: true }], (_, seen, response) => {
    if (!seen.body['stream'])
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'test-model',
          choices: [{ index: 0, message: { role: 'assistant', content: whole }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      )
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    answer(response)
  })
  closers.push(() => server.close())
  return {
    url: server.url,
    seen: server.seen,
    async say(words: string) {
      ;(await call).write(chunk(words))
    },
    async finish() {
      ;(await call).end(lastChunk)
    },
  }
}

const write = (more: object = {}) =>
  defineCapability({
    capabilityId: 'write',
    kind: 'model',
    inputContract: { type: 'object' },
    outputContract: text,
    preferredModels: ['compatible/test-model'],
    ...more,
  })

async function served(more: AppOptions = {}, whole = '{"text":"Tea"}') {
  const model = await openModel(whole)
  const providers = [compatible({ baseURL: model.url, apiKey: 'sk-planted-provider-key' })]
  const given = await serve({ providers, capabilities: [write()], ...more })
  return { ...given, model }
}

interface PartialFrame {
  readonly type: 'partial'
  readonly nodeId: string
  readonly runId: string
  readonly payload: { readonly attempt: number; readonly value: { readonly text?: string } }
}
type AnyFrame = { readonly id: string | undefined; readonly frame: SseFrame | PartialFrame }

/** Frames with the ids of their lines, as they arrive. */
async function* readAll(response: Response): AsyncGenerator<AnyFrame, void, void> {
  const waiting: AnyFrame[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      const frame = JSON.parse(data)
      expect(frame.type).toBe(event)
      waiting.push({ id, frame })
    },
  })
  const decoder = new TextDecoder()
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(bytes, { stream: true }))
    yield* waiting.splice(0)
  }
}

async function nextPartial(all: AsyncGenerator<AnyFrame, void, void>): Promise<PartialFrame> {
  for (;;) {
    const { value, done } = await all.next()
    if (done) throw new Error('The stream ended without a partial value')
    if (value.frame.type === 'partial') {
      expect(value.id).toBeUndefined()
      return value.frame as PartialFrame
    }
  }
}

async function readRest(all: AsyncGenerator<AnyFrame, void, void>) {
  const rest: AnyFrame[] = []
  for await (const each of all) rest.push(each)
  return rest
}

const sse = { accept: 'text/event-stream' }
const ids = (all: readonly AnyFrame[]) => all.flatMap(({ frame }) => ('id' in frame ? [frame.id] : []))

describe('run.stream?partials=1', () => {
  it('sends values that grow, between events, and stores none of them', async () => {
    const { call, app, model } = await served()
    const response = await call(`${api}/run.stream?partials=1`, { body: start() })
    const all = readAll(response)
    await model.say('{"text":"Tea is ')
    const first = await nextPartial(all)
    expect(first).toMatchObject({
      type: 'partial',
      nodeId: 'write',
      payload: { attempt: 1, value: { text: 'Tea is ' } },
    })
    await model.say('warm and ')
    expect((await nextPartial(all)).payload.value).toEqual({ text: 'Tea is warm and ' })
    await model.say('calm"}')
    await model.finish()
    const rest = await readRest(all)
    const end = rest.findIndex(({ frame }) => frame.type === 'attempt_end')
    expect(rest.slice(end).every(({ frame }) => frame.type !== 'partial')).toBe(true)
    expect(rest.at(-1)?.frame).toMatchObject({
      type: 'complete',
      payload: { output: { text: 'Tea is warm and calm' } },
    })
    const journal = await app.store.read(first.runId, 0, 1_000)
    expect(journal.map(({ type }) => type)).not.toContain('partial')
    const page = await (await call(`${api}/runs/${first.runId}/events?partials=1&limit=1000`)).json()
    expect(page.events.map(({ type }) => type)).toEqual(journal.map(({ type }) => type))
    expect(JSON.stringify(page)).not.toContain('Tea is warm and "')
  })

  it('a client that joins gets the current value first, and later clients without the option get none', async () => {
    const { call, model } = await served()
    const all = readAll(await call(`${api}/run.stream?partials=1`, { body: start() }))
    await model.say('{"text":"One two ')
    const { runId } = await nextPartial(all)
    await all.return()
    const accept = { accept: 'text/event-stream' }
    const seen = (await (await call(`${api}/runs/${runId}/events`)).json()).events.at(-1)?.id ?? 0
    const headers = { ...accept, 'last-event-id': String(seen) }
    const plain = frames(await call(`${api}/runs/${runId}/events`, { headers }))
    const again = readAll(await call(`${api}/runs/${runId}/events?partials=1`, { headers }))
    const { value: joined } = await again.next()
    expect(joined?.frame).toMatchObject({ type: 'partial', payload: { value: { text: 'One two ' } } })
    await model.say('three"}')
    await model.finish()
    const rest = await readRest(again)
    const events = await plain
    expect(events.map(({ type }) => type)).not.toContain('partial')
    expect(ids(rest)).toEqual(events.map(({ id }) => id))
    // The call has ended: there is no current value.
    const late = readAll(await call(`${api}/runs/${runId}/events?partials=1`, { headers: accept }))
    expect((await readRest(late)).every(({ frame }) => frame.type !== 'partial')).toBe(true)
  })

  it('run.resume?partials=1 has them from the first call after the pause', async () => {
    const { call, model } = await served()
    const { runId, status } = await (await call(`${api}/runs?wait=20`, { body: start(paused) })).json()
    expect(status).toBe('awaiting_human')
    const all = readAll(await call(`${api}/run.resume?partials=1`, { body: { runId } }))
    await model.say('{"text":"After the pause')
    expect((await nextPartial(all)).payload.value).toEqual({ text: 'After the ' })
    await model.say('"}')
    await model.finish()
    expect((await readRest(all)).at(-1)?.frame.type).toBe('complete')
  })

  it('a run that was started with it has them after a pause as well, for a client that joins during the call', async () => {
    const { call, model } = await served()
    const body = start(paused)
    const { runId, status } = await (await call(`${api}/runs?wait=20&partials=1`, { body })).json()
    expect(status).toBe('awaiting_human')
    const plain = frames(await call(`${api}/run.resume`, { body: { runId } }))
    await model.say('{"text":"After the pause')
    const all = readAll(await call(`${api}/runs/${runId}/events?partials=1`, { headers: sse }))
    expect((await nextPartial(all)).payload.value).toEqual({ text: 'After the ' })
    await model.say('"}')
    await model.finish()
    expect((await readRest(all)).at(-1)?.frame.type).toBe('complete')
    expect((await plain).map(({ type }) => type)).not.toContain('partial')
  })

  it('refuses another value of the option', async () => {
    const { call } = await served()
    const answer = await call(`${api}/run.stream?partials=2`, { body: start() })
    expect([answer.status, (await answer.json()).issues[0]?.pointer]).toEqual([400, '/partials'])
  })

  it('models do not stream, and bytes are those of the journal, without it', async () => {
    const { call, model } = await served()
    const response = await call(`${api}/run.stream`, { body: start() })
    const raw = await response.text()
    expect(model.seen[0]?.body['stream'] ?? false).toBe(false)
    expect(raw).not.toContain('event: partial')
    expect(raw.match(/^event: /gm)?.length).toBe(raw.match(/^id: /gm)?.length)
  })
})

describe('a message to a thread', () => {
  const say = (client: ReturnType<typeof createClient>, message: string) => {
    const { draft } = start() as { readonly draft: RunDraft }
    return client.threads.say('chat', message, { envelope: envelope(), draft, partials: true })
  }

  it('streams from its first call, for a client that joins after the call began', async () => {
    const { address, app, model } = await served()
    const client = createClient({ url: address, token: flexToken })
    const { run, status } = await say(client, 'Write about tea')
    expect(status).toBe('started')
    // Resolves when the model has been called.
    await model.say('{"text":"Tea is ')
    const partials = run.partials()
    expect((await partials.next()).value).toMatchObject({ nodeId: 'write', value: { text: 'Tea is ' } })
    await model.say('warm"}')
    await model.finish()
    for await (const _ of partials) {
    }
    expect(await run.output()).toEqual({ text: 'Tea is warm' })
    const journal = await app.store.read(run.id, 0, 1_000)
    expect(JSON.stringify(journal)).not.toMatch(/"partials?"/)
  })

  it('that had to wait streams as well, when its turn has come', async () => {
    const { address, model } = await served({ capabilities: [write(), local('slow', () => held)] })
    let release = (_: { text: string }) => {}
    const held = new Promise<{ text: string }>((resolve) => {
      release = resolve
    })
    const client = createClient({ url: address, token: flexToken })
    const draft = { nodes: [{ id: 'slow', capabilityId: 'slow' }], output: { node: 'slow' } }
    const before = await client.threads.say('chat', 'Take your time', { envelope: envelope(), draft })
    const { run, status } = await say(client, 'Write about tea')
    expect([before.status, status]).toEqual(['started', 'queued'])
    release({ text: 'Done' })
    await model.say('{"text":"Tea is ')
    const partials = run.partials()
    expect((await partials.next()).value).toMatchObject({ value: { text: 'Tea is ' } })
    await model.say('warm"}')
    await model.finish()
    expect(await run.output()).toEqual({ text: 'Tea is warm' })
  })
})

describe('what must not leave', () => {
  it('secrets are redacted, also while they are being written', async () => {
    const phrase = 'correct horse battery staple'
    const { call, model } = await served({ secrets: ['plain-secret-value', phrase] })
    const all = readAll(await call(`${api}/run.stream?partials=1`, { body: start() }))
    const show = async (words: string) => {
      await model.say(words)
      return (await nextPartial(all)).payload.value
    }
    const apiKey = '[redacted]'
    expect(await show('{"apiKey":"a b c","text":"Say plain-sec')).toEqual({ apiKey, text: 'Say ' })
    expect(await show('ret-value and correct horse bat')).toEqual({ apiKey, text: 'Say [redacted] and ' })
    expect(await show('tery staple and sk-ant-abc123')).toEqual({
      apiKey,
      text: 'Say [redacted] and [redacted] and ',
    })
    expect(await show('def456ghi789 and mo')).toEqual({
      apiKey,
      text: 'Say [redacted] and [redacted] and [redacted] and ',
    })
    await model.say('re"}')
    await model.finish()
    await readRest(all)
  })

  it('a node whose answer may be suppressed sends none', async () => {
    const { call, model } = await served({}, rao({ text: 'Withheld' }, 0.1))
    const draft = { nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true } }] }
    const response = await call(`${api}/run.stream?partials=1`, { body: start({}, draft) })
    const all = await readRest(readAll(response))
    expect(model.seen[0]?.body['stream'] ?? false).toBe(false)
    expect(all.map(({ frame }) => frame.type)).not.toContain('partial')
    expect(all.map(({ frame }) => frame.type)).toContain('rao_decision')
    expect(JSON.stringify(all)).not.toContain('Withheld')
  })
})

describe('a client that reads nothing', () => {
  it('misses partial values, but no event', async () => {
    const big = local('big', () => ({ text: 'x'.repeat(2_000_000) }))
    const { address, call, model } = await served({ capabilities: [write(), big] })
    const before = Array.from({ length: 8 }, (_, index) => ({ id: `n${index}`, capabilityId: 'big' }))
    const nodes = [...before, { id: 'write', capabilityId: 'write' }]
    const edges = nodes.slice(1).map(({ id }, index) => ({ from: nodes[index]?.id, to: id }))
    const body = start({}, { nodes, edges, output: { node: 'write' } })
    const { runId } = await (await call(`${api}/runs?partials=1`, { body })).json()
    const { hostname, port } = new URL(address)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.pause()
    socket.write(
      `GET ${api}/runs/${runId}/events?partials=1 HTTP/1.0\r\nhost: x\r\naccept: text/event-stream\r\nauthorization: Bearer ${flexToken}\r\n\r\n`,
    )
    const quick = readAll(
      await call(`${api}/runs/${runId}/events?partials=1`, { headers: { accept: 'text/event-stream' } }),
    )
    await model.say('{"text":"Tea is ')
    expect((await nextPartial(quick)).payload.value).toEqual({ text: 'Tea is ' })
    await model.say('warm"}')
    await model.finish()
    const events = ids(await readRest(quick))
    let arrived = ''
    socket.setEncoding('utf8').on('data', (bytes) => {
      arrived += bytes
    })
    const over = new Promise((resolve) => socket.once('end', resolve))
    socket.resume()
    await over
    const got = [...arrived.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
    const last = events.at(-1) ?? 0
    expect(got).toEqual(Array.from({ length: last }, (_, index) => index + 1))
    expect(arrived).toContain('event: complete')
    // Its socket was full of events while the values were written.
    expect(arrived).not.toContain('event: partial')
  })
})

describe('proviso/client', () => {
  it('run.partials() yields values until the run ends; events() of the same run has none', async () => {
    const { address, model } = await served()
    const client = createClient({ url: address, token: flexToken })
    const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
    const run = await client.runs.start(envelope(), { draft, partials: true })
    const types: string[] = []
    const events = (async () => {
      for await (const { type } of run.events()) types.push(type)
    })()
    const partials = run.partials()
    await model.say('{"text":"Tea is ')
    const { value } = await partials.next()
    expect(value).toEqual({ runId: run.id, nodeId: 'write', attempt: 1, value: { text: 'Tea is ' } })
    await model.say('warm"}')
    await model.finish()
    const rest: unknown[] = []
    for await (const partial of partials) rest.push(partial)
    await events
    expect(types.at(-1)).toBe('complete')
    expect(types).not.toContain('partial')
    expect(await run.output()).toEqual({ text: 'Tea is warm' })
    for await (const partial of run.partials()) throw new Error(`The run is over: ${JSON.stringify(partial)}`)
  })
})
