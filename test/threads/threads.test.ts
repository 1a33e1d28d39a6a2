/** Threads: conversations of one run per message, from the outside: what models read, in which order runs begin, what survives. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { createClient } from '../../src/client/index.ts'
import type { App, AppOptions, ModelRequest } from '../../src/index.ts'
import { journal, leave, local, open } from '../journeys/support.ts'
import { modelServer } from '../models/model-server.ts'
import { systemClock } from '../seams/base.ts'
import { api, flexToken, serve } from '../server/support.ts'
import {
  agent,
  draft as agentDraft,
  envelope as agentEnvelope,
  done,
  makeTools,
  serve as model,
  openWith,
} from '../tools/support.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-threads-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const envelope = { objective: 'Answer', outputContract: { schema: text } }
const key = { tenant: 'default', threadId: 'tea talk/1' }

/** Options of an app whose model answers by a function of the message; `seen` collects what it was asked. */
function answering(answer: (message: string) => string, seen: string[] = []): AppOptions {
  return {
    env: {},
    providers: [
      {
        name: '*',
        async generate({ prompt }: ModelRequest) {
          seen.push(prompt)
          const message = /"message":"([^"]*)"/.exec(prompt.split('Inputs: ')[1] ?? '')?.[1] ?? ''
          return { kind: 'text', text: JSON.stringify({ text: answer(message) }), finish: 'stop', usage: {} }
        },
      },
    ],
  }
}

async function settle(app: App, runId: string) {
  return app.result(runId)
}

describe('a message', () => {
  it('is answered with the messages, answers and asks before it as context', async () => {
    const seen: string[] = []
    const options = answering((message) => `re ${message}`, seen)
    const app = await open(options)
    const first = await app.threads.say(key, {
      message: 'green',
      envelope: { ...envelope, policies: { requiresHitlApproval: true } },
    })
    expect(first.status).toBe('started')
    expect(await settle(app, first.runId)).toMatchObject({ status: 'waiting' })
    const [ask] = await app.store.asks({ runId: first.runId })
    await app.reply(first.runId, {
      requestId: ask?.requestId ?? '',
      valueHash: ask?.valueHash ?? '',
      decision: 'approve',
      note: 'fine by me',
      by: 'ann',
    })
    expect(await settle(app, first.runId)).toMatchObject({
      status: 'completed',
      output: { text: 're green' },
    })
    expect(seen[0]).not.toContain('conversation')
    const second = await app.threads.say(key, { message: 'black', envelope })
    expect(await settle(app, second.runId)).toMatchObject({
      status: 'completed',
      output: { text: 're black' },
    })
    expect(seen.at(-1)).toContain('The conversation so far')
    for (const part of ['"message":"green"', '{"text":"re green"}', '"decision":"approve"', 'fine by me'])
      expect(seen.at(-1)).toContain(part)
    const [start] = await journal(app, second.runId)
    expect(start?.payload).toMatchObject({
      threadId: key.threadId,
      thread: { turns: [{ runId: first.runId }] },
    })
    expect(await app.threads.get(key)).toMatchObject({
      turns: [
        { message: 'green', status: 'completed', asks: [{ decision: 'approve' }] },
        { message: 'black', output: { text: 're black' } },
      ],
      queued: [],
    })
    expect(await app.replay(second.runId)).toMatchObject({ differences: [] })
  })

  it('without an envelope is answered like the message before it', async () => {
    const app = await open(answering((message) => `re ${message}`))
    const first = await app.threads.say(key, { message: 'one', envelope })
    await settle(app, first.runId)
    const second = await app.threads.say(key, { message: 'two' })
    expect(await settle(app, second.runId)).toMatchObject({ output: { text: 're two' } })
    const [start] = await journal(app, second.runId)
    expect(start?.payload).toMatchObject({ envelope: { objective: 'Answer', inputs: { message: 'two' } } })
  })

  it('without an envelope cannot be the first, and says what is missing', async () => {
    const app = await open(answering((message) => message))
    await expect(app.threads.say(key, { message: 'one' })).rejects.toMatchObject({
      code: 'thread/missing',
      hint: expect.stringContaining('--file'),
    })
    expect(await app.threads.get(key)).toBeUndefined()
  })

  it('fits the context into its budget: a window of whole turns, and a summary of those before', async () => {
    const seen: string[] = []
    const options = answering((message) => `${message} ${'x'.repeat(400)}`, seen)
    const app = await open({ ...options, threads: { contextTokens: 500 } })
    let runId = ''
    for (let n = 1; n <= 12; n++) {
      runId = (await app.threads.say(key, { message: `m${n}.`, envelope })).runId
      await settle(app, runId)
    }
    const [start] = await journal(app, runId)
    const thread = (start?.type === 'start' ? start.payload.thread : undefined) as {
      readonly turns: readonly { readonly message: string }[]
      readonly summary: { readonly turns: number; readonly text: string }
    }
    expect(thread.turns.at(-1)?.message).toBe('m11.')
    expect(thread.turns.length).toBeLessThan(11)
    expect(thread.summary.turns).toBe(11 - thread.turns.length)
    expect(thread.summary.text).toContain(`m${thread.summary.turns}. →`)
    // Four characters are about one token.
    expect(JSON.stringify(thread).length / 4).toBeLessThan(600)
    expect(seen.at(-1)).toContain(`Summary of ${thread.summary.turns} earlier messages`)
    expect(seen.at(-1)).toContain('m11.')
  })

  it('has a summary that a model writes, from the one before and the turns since; if it fails, the lines and a note', async () => {
    const asked: string[] = []
    let fails = false
    const { providers = [] } = answering((message) => `${message} ${'x'.repeat(400)}`)
    const scribe = {
      name: 'scribe',
      free: true as const,
      async generate({ prompt }: ModelRequest) {
        asked.push(prompt)
        if (fails) return { kind: 'error' as const, message: 'The scribe is ill', fatal: true as const }
        const text = JSON.stringify({ summary: `summary ${asked.length}${'y'.repeat(5_000)}` })
        return {
          kind: 'text' as const,
          text,
          finish: 'stop' as const,
          usage: { inputTokens: 7, outputTokens: 3 },
        }
      },
    }
    const app = await open({
      env: {},
      providers: [scribe, ...providers],
      defaultModel: 'other/model',
      threads: { contextTokens: 500, summaryModel: 'scribe/one' },
    })
    const say = async (message: string) => {
      const { runId } = await app.threads.say(key, { message, envelope })
      await settle(app, runId)
      const [start] = await journal(app, runId)
      return (start?.type === 'start' && start.payload.thread?.summary) || undefined
    }
    let summary = await say('m1.')
    for (let n = 2; summary === undefined; n++) summary = await say(`m${n}.`)
    expect(summary).toMatchObject({
      turns: expect.any(Number),
      text: expect.stringMatching(/^summary 1y+$/),
      model: 'scribe/one',
      usage: { calls: 1, inputTokens: 7, outputTokens: 3 },
    })
    // A quarter of the budget, at four characters each.
    expect(summary.text).toHaveLength(500)
    expect(asked[0]).toContain('m1. →')
    const next = await say('next.')
    expect(next).toMatchObject({ text: expect.stringMatching(/^summary 2/) })
    expect(asked[1]).toContain('summary 1y')
    expect(asked[1]).not.toContain('m1. →')
    fails = true
    const cut = await say('last.')
    expect(cut).toMatchObject({ note: expect.stringContaining('The scribe is ill') })
    expect(cut?.text).toContain('→')
    expect(cut).not.toHaveProperty('model')
  })

  it('reaches the context of runs that are started with the threadId in another way, and of no other tenant or thread', async () => {
    const seen: string[] = []
    const options = answering((message) => `re ${message}`, seen)
    const app = await open(options)
    await settle(app, (await app.threads.say(key, { message: 'here', envelope })).runId)
    await app.run(envelope, { threadId: key.threadId })
    expect(seen.at(-1)).toContain('"message":"here"')
    await app.run(envelope, { threadId: key.threadId, tenant: 'other' })
    await app.run(envelope, { threadId: 'tea talk' })
    await app.run(envelope)
    for (const prompt of seen.slice(-3)) expect(prompt).not.toContain('here')
    expect(await app.threads.get({ ...key, tenant: 'third' })).toBeUndefined()
    expect(
      (await app.threads.list({ tenant: 'default' })).map(({ threadId, runs }) => [threadId, runs]),
    ).toEqual([
      ['tea talk', 1],
      [key.threadId, 2],
    ])
  })

  it('holds no secret that a run before it was given', async () => {
    const seen: string[] = []
    const options = answering(() => 'ok', seen)
    const app = await open(options)
    const inputs = { apiKey: 'sk-abcdefghijklmnop1234567890abcdef', topic: 'tea' }
    await app.run({ ...envelope, inputs }, { threadId: key.threadId })
    await app.run(envelope, { threadId: key.threadId })
    expect(seen.at(-1)).toContain('conversation')
    expect(seen.at(-1)).not.toContain('abcdefghijklmnop')
  })

  it('that waits holds its secrets sealed, and its run gets them', async () => {
    const path = join(folder, 'sealed.db')
    const { waiting, write, started, draft } = gated()
    const app = await open({ env: {}, store: `sqlite:${path}`, capabilities: [write] })
    const apiKey = 'sk-abcdefghijklmnop1234567890abcdef'
    await app.threads.say(key, { message: 'a', envelope, draft })
    const second = await app.start({ ...envelope, inputs: { apiKey, message: 'b' } }, { ...key, draft })
    expect((await app.threads.get(key))?.queued).toMatchObject([{ runId: second.id }])
    for (const file of [path, `${path}-wal`]) expect(readFileSync(file, 'latin1')).not.toContain(apiKey)
    ;(await started(1)).release()
    ;(await started(2)).release()
    expect(await second.output()).toEqual({ text: 'b' })
    expect((await app.state(second.id)).envelope.inputs).toEqual({ apiKey, message: 'b' })
    expect(waiting).toHaveLength(2)
  })
})

interface Turns {
  readonly turns: readonly { readonly status: string }[]
}

const isOpen = ({ status }: Turns['turns'][number]) => !['cancelled', 'completed', 'failed'].includes(status)

/** A capability whose calls end when the test says so. */
function gated() {
  const waiting: { message: string; release: () => void }[] = []
  const write = local(
    'write',
    ({ message }) =>
      new Promise((release) =>
        waiting.push({ message: String(message), release: () => release({ text: `${message}` }) }),
      ),
  )
  const started = async (count: number) => {
    while (waiting.length < count) await new Promise((next) => setImmediate(next))
    return waiting[count - 1] as (typeof waiting)[number]
  }
  const draft = {
    nodes: [{ id: 'write', capabilityId: 'write', inputs: { message: { envelope: '/inputs/message' } } }],
  }
  return { waiting, write, started, draft }
}

describe('messages that arrive while a run is not over', () => {
  it('run one after another, in order', async () => {
    const { waiting, write, started, draft } = gated()
    const app = await open({ env: {}, capabilities: [write] })
    const said = []
    for (const message of ['a', 'b', 'c']) said.push(await app.threads.say(key, { message, envelope, draft }))
    expect(said.map(({ status }) => status)).toEqual(['started', 'queued', 'queued'])
    const other = await app.threads.say({ ...key, threadId: 'other' }, { message: 'x', envelope, draft })
    expect(other.status).toBe('started')
    expect((await app.threads.get(key))?.queued.map(({ message }) => message)).toEqual(['b', 'c'])
    await started(2)
    expect(waiting.map(({ message }) => message)).toEqual(['a', 'x'])
    waiting[0]?.release()
    expect((await started(3)).message).toBe('b')
    expect(await app.threads.get(key)).toMatchObject({ queued: [{ message: 'c' }] })
    waiting[2]?.release()
    ;(await started(4)).release()
    waiting[1]?.release()
    for (const { runId } of said) expect(await settle(app, runId)).toMatchObject({ status: 'completed' })
    const [start] = await journal(app, said[2]?.runId ?? '')
    expect(start?.payload).toMatchObject({ thread: { turns: [{ message: 'a' }, { message: 'b' }] } })
  })

  it('interrupt the current run and go before the waiting ones, or are rejected', async () => {
    const { waiting, write, started, draft } = gated()
    const app = await open({ env: {}, capabilities: [write] })
    const first = await app.threads.say(key, { message: 'a', envelope, draft })
    await app.threads.say(key, { message: 'b', envelope, draft })
    await started(1)
    await expect(
      app.threads.say(key, { message: 'no', envelope, draft, whenBusy: 'reject' }),
    ).rejects.toMatchObject({ code: 'thread/busy' })
    await app.threads.say(key, { message: 'now', envelope, draft, whenBusy: 'interrupt', by: 'ann' })
    expect(await settle(app, first.runId)).toMatchObject({ status: 'cancelled' })
    expect((await started(2)).message).toBe('now')
    waiting[1]?.release()
    ;(await started(3)).release()
    expect(waiting.map(({ message }) => message)).toEqual(['a', 'now', 'b'])
    waiting[0]?.release()
  })

  it('interrupt a model that is answering: its request is given up, and the next run begins', async () => {
    const server = await modelServer(
      (_, index) => ({ index }),
      ({ index }, _, response) => {
        // The first is never answered.
        if (index === 0) return
        const message = { role: 'assistant', content: '{"text":"now"}' }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ id: '1', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
      },
    )
    const { call } = await serve({
      providers: [compatible({ baseURL: server.url })],
      defaultModel: 'compatible/scripted',
    })
    const say = async (message: string, more: object = {}) =>
      (await call(`${api}/threads/t/messages`, { body: { message, envelope, ...more } })).json()
    const first = await say('a')
    await server.arrived
    const second = await say('b', { whenBusy: 'interrupt' })
    expect(second.status).toBe('started')
    await server.gone
    while (((await (await call(`${api}/threads/t`)).json()) as unknown as Turns).turns.some(isOpen))
      await new Promise((next) => setImmediate(next))
    expect(await (await call(`${api}/threads/t`)).json()).toMatchObject({
      turns: [
        { runId: first.runId, status: 'cancelled' },
        { runId: second.runId, status: 'completed', output: { text: 'now' } },
      ],
    })
    await server.close()
  })

  it('are refused when twenty wait already, so that a caller cannot fill the store', async () => {
    const { write, started, draft } = gated()
    const app = await open({ env: {}, capabilities: [write] })
    const say = (message: string) => app.threads.say(key, { message, envelope, draft })
    await say('first')
    for (let nth = 1; nth <= 20; nth++) expect((await say(`${nth}`)).status).toBe('queued')
    await expect(say('one more')).rejects.toMatchObject({
      code: 'thread/busy',
      message: expect.stringContaining('20 runs'),
    })
    await started(1)
    expect((await app.threads.get(key))?.queued).toHaveLength(20)
  })

  it('start within the quotas of the tenant only, and wait until they allow it', async () => {
    const { waiting, write, started, draft } = gated()
    let [tokens, ahead, sums] = [0, 0, 0]
    const usage = async () => {
      sums++
      return { stored: 0, tokens, costUsd: 0 }
    }
    const later = (used: number) => {
      tokens = used
      // Sums are cached for some seconds.
      ahead += 60_000
    }
    const { call } = await serve(
      { env: {}, capabilities: [write], store: { ...createMemoryStore(), usage } },
      {
        limits: { dailyTokens: 100 },
        clock: {
          now: () => systemClock.now() + ahead,
          timer: (at, callback) => systemClock.timer(at - ahead, callback),
        },
      },
    )
    const say = async (message: string) =>
      (await call(`${api}/threads/t/messages`, { body: { message, envelope, draft } })).json()
    expect(await say('a')).toMatchObject({ status: 'started' })
    expect(await say('b')).toMatchObject({ status: 'queued' })
    later(1_000)
    const before = sums
    ;(await started(1)).release()
    while (sums === before && waiting.length < 2) await new Promise((next) => setImmediate(next))
    const thread = await (await call(`${api}/threads/t`)).json()
    expect(thread).toMatchObject({ turns: [{ message: 'a' }], queued: [{ message: 'b' }] })
    expect(waiting).toHaveLength(1)
    later(0)
    expect((await started(2)).message).toBe('b')
    waiting[1]?.release()
  }, 30_000)

  it('with a run id that is known are the same message, or an error that names the difference', async () => {
    const { waiting, write, started, draft } = gated()
    const app = await open({ env: {}, capabilities: [write] })
    const say = (runId: string, message: string, more: object = { envelope, draft }) =>
      app.threads.say(key, { runId, message, ...more })
    const refused = (what: string) => ({
      code: 'run/exists',
      message: expect.stringContaining(`another \`${what}\``),
    })
    expect(await say('r1', 'a')).toEqual({ runId: 'r1', status: 'started' })
    expect(await say('r2', 'b')).toEqual({ runId: 'r2', status: 'queued' })
    for (const [runId, message, status] of [
      ['r1', 'a', 'started'],
      ['r2', 'b', 'queued'],
    ] as const) {
      expect(await say(runId, message)).toEqual({ runId, status })
      expect(await say(runId, message, {})).toEqual({ runId, status })
      await expect(say(runId, 'other')).rejects.toMatchObject(refused('message'))
      await expect(say(runId, 'other', {})).rejects.toMatchObject(refused('message'))
      const changed = { envelope: { ...envelope, objective: 'Other' }, draft }
      await expect(say(runId, message, changed)).rejects.toMatchObject(refused('objective'))
      await expect(say(runId, message, { envelope })).rejects.toMatchObject(refused('draft'))
      await expect(app.threads.say({ ...key, threadId: 'other' }, { runId, message })).rejects.toMatchObject(
        refused('threadId'),
      )
      await expect(app.threads.say({ ...key, tenant: 'other' }, { runId, message })).rejects.toMatchObject({
        code: 'run/exists',
        message: expect.not.stringContaining('another'),
      })
      await expect(
        app.start({ ...envelope, inputs: { message: 'other' } }, { ...key, runId, draft }),
      ).rejects.toMatchObject(refused('inputs'))
    }
    ;(await started(1)).release()
    ;(await started(2)).release()
    expect(await settle(app, 'r2')).toMatchObject({ output: { text: 'b' } })
    expect(waiting.map(({ message }) => message)).toEqual(['a', 'b'])
  })

  it('survive the end of the process, on SQLite', async () => {
    const store = `sqlite:${join(folder, 'queue.db')}`
    const { write, started, draft, waiting } = gated()
    const app = await open({ env: {}, store, capabilities: [write], leaseMs: 1_000 })
    const said = []
    for (const message of ['a', 'b']) said.push(await app.threads.say(key, { message, envelope, draft }))
    await started(1)
    const closing = leave(app)
    waiting[0]?.release()
    await closing
    const next = await open({ env: {}, store, capabilities: [write], leaseMs: 1_000 })
    // Whether the first run is called again depends on when its process left.
    let over = false
    const played = (async () => {
      while (!over) {
        for (const call of waiting) call.release()
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    for (const { runId } of said) expect(await settle(next, runId)).toMatchObject({ status: 'completed' })
    over = true
    await played
    expect(await next.threads.get(key)).toMatchObject({
      turns: [{ message: 'a' }, { message: 'b' }],
      queued: [],
    })
  }, 30_000)
})

describe('a run that is started with a threadId', () => {
  it('waits for the runs before it, in the order of all ways of starting one, and is pending meanwhile', async () => {
    const { waiting, write, started, draft } = gated()
    const app = await open({ env: {}, capabilities: [write] })
    const begin = (message: string, more: object = {}) =>
      app.start({ ...envelope, inputs: { message } }, { ...key, draft, ...more })
    const first = await begin('a')
    const second = await begin('b', { runId: 'second' })
    const third = await app.threads.say(key, { message: 'c', envelope, draft })
    expect(third.status).toBe('queued')
    expect(await app.store.head(second.id)).toMatchObject({ status: 'pending', seq: 0, ...key })
    // The same request is the same run, also while it waits.
    expect((await begin('b', { runId: 'second' })).id).toBe('second')
    await expect(begin('other', { runId: 'second' })).rejects.toMatchObject({ code: 'run/exists' })
    await expect(begin('no', { whenBusy: 'reject' })).rejects.toMatchObject({ code: 'thread/busy' })
    const events: string[] = []
    const read = (async () => {
      for await (const { type } of second.events()) events.push(type)
    })()
    await started(1)
    expect(waiting.map(({ message }) => message)).toEqual(['a'])
    waiting[0]?.release()
    expect((await started(2)).message).toBe('b')
    waiting[1]?.release()
    expect((await started(3)).message).toBe('c')
    waiting[2]?.release()
    for (const { id } of [first, second, { id: third.runId }])
      expect(await app.result(id)).toMatchObject({ status: 'completed' })
    await read
    expect([events[0], events.at(-1)]).toEqual(['start', 'complete'])
    const [start] = await journal(app, second.id)
    expect(start?.payload).toMatchObject({ thread: { turns: [{ runId: first.id }] } })
  })

  it('interrupts the current run where it is to, and can be cancelled while it waits', async () => {
    const { waiting, write, started, draft } = gated()
    const app = await open({ env: {}, capabilities: [write] })
    const begin = (message: string, more: object = {}) =>
      app.start({ ...envelope, inputs: { message } }, { ...key, draft, ...more })
    const first = await begin('a')
    const second = await begin('b')
    await started(1)
    await second.cancel({ by: 'ann' })
    await expect(second.result()).rejects.toMatchObject({ code: 'run/missing' })
    const third = await begin('c', { whenBusy: 'interrupt', by: 'ann' })
    expect(await first.result()).toMatchObject({ status: 'cancelled' })
    expect((await started(2)).message).toBe('c')
    for (const { release } of waiting) release()
    expect(await third.result()).toMatchObject({ status: 'completed' })
    expect(waiting.map(({ message }) => message)).toEqual(['a', 'c'])
  })

  it('waits in a process that executes its own runs alone, and leaves the messages of others', async () => {
    const { waiting, write, started, draft } = gated()
    const app = await open({ env: {}, capabilities: [write], claim: 'own' })
    const begin = (message: string) => app.start({ ...envelope, inputs: { message } }, { ...key, draft })
    const [first, second] = [await begin('a'), await begin('b')]
    ;(await started(1)).release()
    ;(await started(2)).release()
    for (const run of [first, second]) expect(await run.result()).toMatchObject({ status: 'completed' })
    expect(waiting.map(({ message }) => message)).toEqual(['a', 'b'])
  })
})

describe('erasure', () => {
  it('takes the later runs of the thread along that hold what is erased, and messages about the subject', async () => {
    const app = await open(answering((message) => `re ${message}`))
    const say = async (message: string, more: object = {}) => {
      const { runId } = await app.threads.say(key, { message, envelope: { ...envelope, ...more } })
      await settle(app, runId)
      return runId
    }
    const [first, about, last] = [
      await say('one'),
      await say('two', { metadata: { subject: 'ann' } }),
      await say('three'),
    ]
    const other = await app.run(envelope, { threadId: 'other' })
    const subject = { metadata: { subject: 'ann' } }
    const busy = { ...key, threadId: 'busy' }
    const waits = { ...envelope, policies: { requiresHitlApproval: true } }
    const { runId: waiting } = await app.threads.say(busy, { message: 'x', envelope: waits })
    expect(await settle(app, waiting)).toMatchObject({ status: 'waiting' })
    await app.threads.say(busy, { message: 'y', envelope: { ...envelope, ...subject } })
    const receipt = await app.erase({ subject: 'ann', by: 'ops' })
    expect(receipt.runs.map(({ runId }) => runId).sort()).toEqual([about, last].sort())
    expect(await app.threads.get(key)).toMatchObject({ turns: [{ runId: first }] })
    expect((await app.threads.get(busy))?.queued).toEqual([])
    expect(await app.store.head(other.runId)).toBeDefined()
  })
})

describe('an approval for the thread', () => {
  it('lets the tool be called in later runs of the thread without an ask, and in no other', async () => {
    const tools = makeTools({ approval: 'always' })
    const server = await model((turn) =>
      turn === 0 ? { calls: [{ name: 'send', input: { to: 'ann', amount: 5 } }] } : done,
    )
    const app = await openWith(server, [agent([tools.send])])
    const run = (threadId?: string) =>
      app.run(agentEnvelope, { draft: agentDraft, ...(threadId !== undefined && { threadId }) })
    const first = await run('t')
    const [ask] = await app.store.asks({ runId: first.runId })
    expect(ask?.grants).toEqual(['run', 'thread'])
    await app.reply(first.runId, {
      requestId: ask?.requestId ?? '',
      valueHash: ask?.valueHash ?? '',
      decision: 'approve',
      grant: 'thread',
      by: 'ann',
    })
    expect(await app.result(first.runId)).toMatchObject({ status: 'completed' })
    const second = await run('t')
    expect(second).toMatchObject({ status: 'completed' })
    const third = await run('t')
    expect(third).toMatchObject({ status: 'completed' })
    const [start] = await journal(app, third.runId)
    expect(start?.payload).toMatchObject({
      thread: { grants: [{ capabilityId: 'send', scope: 'thread', requestId: ask?.requestId, by: 'ann' }] },
    })
    expect(tools.called).toHaveLength(3)
    expect(await run('u')).toMatchObject({ status: 'waiting' })
    expect(await run()).toMatchObject({ status: 'waiting' })
    const [unbound] = await app.store.asks({ runId: (await app.store.runs({ limit: 1 }))[0]?.runId ?? '' })
    expect(unbound?.grants).toEqual(['run'])
  })
})

describe('over HTTP', () => {
  it('is listed, read and continued by the client, with the same run for the same key', async () => {
    const served = await serve(answering((message) => `re ${message}`))
    const client = createClient({ url: served.address, token: flexToken })
    const first = await client.threads.say('a/b', 'one', { envelope })
    expect(first.status).toBe('started')
    expect(await first.run.output()).toEqual({ text: 're one' })
    const given = { idempotencyKey: 'same-key-same-run' }
    const again = await client.threads.say('a/b', 'two', given)
    expect((await client.threads.say('a/b', 'two', given)).run.id).toBe(again.run.id)
    expect(await again.run.output()).toEqual({ text: 're two' })
    const thread = await client.threads.get('a/b')
    expect(thread).toMatchObject({
      threadId: 'a/b',
      queued: [],
      turns: [{ message: 'one' }, { message: 'two' }],
    })
    await client.runs.start(envelope as never, { threadId: 'c' })
    const listed = []
    for await (const each of client.threads.list({ pageSize: 1 })) listed.push(each.threadId)
    expect(listed).toEqual(['c', 'a/b'])
  })

  it('queues runs that are started with the threadId, streams them from their start, and follows the rule of the request', async () => {
    const { waiting, write, started, draft } = gated()
    const served = await serve({ env: {}, capabilities: [write] })
    const client = createClient({ url: served.address, token: flexToken })
    const begin = (message: string, more: object = {}) =>
      client.runs.start({ ...envelope, inputs: { message } } as never, { threadId: 't', draft, ...more })
    const first = await begin('a')
    await started(1)
    const second = await begin('b')
    expect((await second.get()).run).toMatchObject({ status: 'pending', events: 0, threadId: 't' })
    expect((await client.threads.get('t')).queued).toMatchObject([{ runId: second.id, message: 'Answer' }])
    const body = { envelope: { ...envelope, inputs: { message: 'c' } }, draft, threadId: 't' }
    const third = await served.call(`${api}/runs`, { body })
    expect([third.status, await third.json()]).toMatchObject([202, { status: 'pending' }])
    const busy = await served.call(`${api}/runs`, { body: { ...body, whenBusy: 'reject' } })
    expect([busy.status, await busy.json()]).toMatchObject([409, { code: 'thread/busy' }])
    const stream = await served.call(`${api}/run.stream`, {
      body: { ...body, envelope: { ...envelope, inputs: { message: 'd' } } },
    })
    const dropped = await begin('e')
    expect(await dropped.cancel()).toMatchObject({ status: 'cancelled' })
    await expect(dropped.get()).rejects.toMatchObject({ status: 404 })
    const result = second.output()
    for (let count = 1; count <= 4; count++) (await started(count)).release()
    expect(await result).toEqual({ text: 'b' })
    expect(await first.output()).toEqual({ text: 'a' })
    const text = await stream.text()
    expect(text).toContain('event: start')
    expect(text).toContain('event: complete')
    expect(waiting.map(({ message }) => message)).toEqual(['a', 'b', 'c', 'd'])
    const last = await begin('f')
    await started(5)
    const now = await begin('g', { whenBusy: 'interrupt' })
    expect(await last.result()).toMatchObject({ status: 'cancelled' })
    ;(await started(6)).release()
    expect(await now.output()).toEqual({ text: 'g' })
    waiting[4]?.release()
  })

  it('refuses what is invalid, unknown or busy', async () => {
    const served = await serve(answering((message) => `re ${message}`))
    const post = (path: string, body: unknown) => served.call(`${api}${path}`, { body })
    expect((await served.call(`${api}/threads/none`)).status).toBe(404)
    expect((await served.call(`${api}/threads?before=x`)).status).toBe(422)
    expect((await post('/threads/t/messages', {})).status).toBe(422)
    expect(
      (await post('/threads/t/messages', { message: 'x', envelope: { outputContract: 1 } })).status,
    ).toBe(422)
    const waits = { ...envelope, policies: { requiresHitlApproval: true } }
    expect((await post('/threads/t/messages', { message: 'x', envelope: waits })).status).toBe(202)
    const busy = await post('/threads/t/messages', { message: 'y', whenBusy: 'reject' })
    expect([busy.status, await busy.json()]).toMatchObject([409, { code: 'thread/busy' }])
    const queued = await post('/threads/t/messages', { message: 'y' })
    expect(await queued.json()).toMatchObject({ status: 'queued' })
  })
})
