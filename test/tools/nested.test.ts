/** Agents that call agents, and agents that hand their conversation off to another. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type App, type DefinedCapability, defineAgent } from '../../src/index.ts'
import type { AgentLimits, AgentToolInput } from '../../src/types.ts'
import { journal, leave } from '../journeys/support.ts'
import type { Seen } from '../models/model-server.ts'
import { verifyHistory } from '../seams/engine.ts'
import { messagesOf, resultsIn, type Turn } from './chat-server.ts'
import { answerSchema, done, draft, envelope, makeTools, openWith, serve } from './support.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function sqlite(): string {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-nested-'))
  folders.push(folder)
  return `sqlite:${join(folder, 'runs.db')}`
}

const topic = {
  type: 'object',
  properties: { topic: { type: 'string' } },
  required: ['topic'],
} as const
const report = {
  type: 'object',
  properties: { report: { type: 'string' } },
  required: ['report'],
  additionalProperties: false,
} as const

/** The outer agent of the draft, and an inner one; the model tells them apart by their instructions. */
function outer(more: {
  readonly tools?: readonly AgentToolInput[]
  readonly handoffs?: readonly AgentToolInput[]
  readonly limits?: AgentLimits
}): DefinedCapability {
  return defineAgent({
    id: 'researcher',
    model: 'compatible/scripted',
    instructions: 'You are outer.',
    input: { type: 'object', properties: { question: { type: 'string' } } },
    output: answerSchema,
    ...more,
  })
}

function inner(tools: readonly AgentToolInput[], more: object = {}): DefinedCapability {
  return defineAgent({
    id: 'writer',
    summary: 'Writes a report',
    model: 'compatible/scripted',
    instructions: 'You are inner.',
    input: topic,
    output: report,
    tools,
    ...more,
  })
}

const said = (seen: Seen) => String(messagesOf(seen)[0]?.content)
/** A model that answers by who asks and by the number of its turns so far. */
const script =
  (who: { readonly outer: (turn: number) => Turn; readonly inner: (turn: number) => Turn }) =>
  (turn: number, seen: Seen) =>
    said(seen).includes('You are inner.') ? who.inner(turn) : who.outer(turn)

const written = { text: JSON.stringify({ report: 'Tea is good' }) }
const callWriter = { calls: [{ name: 'writer', input: { topic: 'tea' } }] }
const pending = (app: App, runId: string) => app.store.asks({ runId, status: 'pending' })

async function approve(app: App, runId: string, more: object = {}): Promise<void> {
  const [ask] = await pending(app, runId)
  if (!ask) throw new Error('nothing is asked')
  const { requestId, valueHash } = ask
  await app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann', ...more })
}

async function facts(app: App, runId: string): Promise<string[]> {
  return (await journal(app, runId)).flatMap(({ type, payload }) => {
    if (!/^(turn|tool)_/.test(type)) return []
    const {
      turn,
      call,
      within = [],
    } = payload as {
      readonly turn: number
      readonly call?: number
      readonly within?: readonly { readonly tool: string }[]
    }
    const where = [...within.map(({ tool }) => tool), call === undefined ? turn : `${turn}.${call}`]
    return [`${type} ${where.join(' ')}`]
  })
}

describe('an agent as a tool', () => {
  it('works in a loop of its own: in the journal with its place, under its contract', async () => {
    const { called, search } = makeTools()
    const server = await serve(
      script({
        outer: (turn) => (turn === 0 ? callWriter : done),
        inner: (turn) => (turn === 0 ? { calls: [{ name: 'search', input: { query: 'tea' } }] } : written),
      }),
    )
    const app = await openWith(server, [outer({ tools: [inner([search])] })])
    const { runId, status, output } = await app.run(envelope, { draft })
    expect({ status, output }).toMatchObject({ status: 'completed', output: { answer: 'Because' } })
    expect(called).toHaveLength(1)
    expect(await facts(app, runId)).toEqual([
      'turn_start 1',
      'turn_end 1',
      'tool_start 1.1',
      'turn_start writer 1',
      'turn_end writer 1',
      'tool_start writer 1.1',
      'tool_end writer 1.1',
      'turn_start writer 2',
      'turn_end writer 2',
      'tool_end 1.1',
      'turn_start 2',
      'turn_end 2',
    ])
    expect(resultsIn(server.seen.at(-1))).toEqual(['{"report":"Tea is good"}'])
    // Four turns of 100 and 20 tokens, each counted once.
    const end = (await journal(app, runId)).find(({ type }) => type === 'attempt_end')
    expect(end?.payload).toMatchObject({
      usage: {
        calls: 4,
        inputTokens: 400,
        outputTokens: 80,
      },
    })
    expect(verifyHistory(await journal(app, runId))).toEqual([])
    expect(await app.replay(runId)).toMatchObject({ differences: [] })
  })

  it('asks through the inbox with its path, waits without a process, and pays nothing again', async () => {
    const tools = makeTools({ approval: 'always' })
    const mail = { to: 'ann', amount: 5 }
    const server = await serve(
      script({
        outer: (turn) =>
          turn === 0 ? { calls: [...callWriter.calls, { name: 'search', input: { query: 'tea' } }] } : done,
        inner: (turn) => (turn === 0 ? { calls: [{ name: 'send', input: mail }] } : written),
      }),
    )
    const store = sqlite()
    const agents = [outer({ tools: [inner([tools.send]), tools.search] })]
    const app = await openWith(server, agents, { store })
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('waiting')
    expect(tools.called.map(({ tool }) => tool)).toEqual(['search'])
    expect(await pending(app, runId)).toMatchObject([
      {
        kind: 'tool',
        capabilityId: 'send',
        value: mail,
        question: expect.stringContaining('"research > writer" wants to call "send"'),
        toolCall: { turn: 1, call: 1, tool: 'send', within: [{ turn: 1, call: 1, tool: 'writer' }] },
      },
    ])
    await leave(app)

    const next = await openWith(server, agents, { store })
    await approve(next, runId, { decision: 'edit', value: { to: 'bob', amount: 1 } })
    expect(await next.result(runId)).toMatchObject({ status: 'completed' })
    expect(tools.called.map(({ tool, inputs }) => [tool, inputs])).toEqual([
      ['search', { query: 'tea' }],
      ['send', { to: 'bob', amount: 1 }],
    ])
    expect(server.seen).toHaveLength(4)
    expect(verifyHistory(await journal(next, runId))).toEqual([])
    expect(await next.replay(runId)).toMatchObject({ differences: [] })
  })

  it('reads a rejected call, a failed agent and an agent without an answer as results', async () => {
    const tools = makeTools({ approval: 'always' })
    const server = await serve(
      script({
        outer: (turn) => (turn === 0 ? callWriter : done),
        inner: () => ({ calls: [{ name: 'send', input: { to: 'ann', amount: 5 } }] }),
      }),
    )
    const app = await openWith(server, [outer({ tools: [inner([tools.send], { limits: { turns: 2 } })] })])
    const { runId } = await app.run(envelope, { draft })
    await approve(app, runId, { decision: 'reject', note: 'Not now' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed' })
    expect(tools.called).toEqual([])
    expect(resultsIn(server.seen.at(-1))).toEqual([
      expect.stringContaining('its limit of 2 (limits.turns) is reached'),
    ])
  })

  it('shares the limits of its caller: what it uses counts, and it cannot use more', async () => {
    const { search } = makeTools()
    const server = await serve(
      script({
        outer: (turn) => (turn === 0 ? callWriter : done),
        inner: (turn) => ({ calls: [{ name: 'search', input: { query: `tea ${turn}` } }] }),
      }),
    )
    const app = await openWith(server, [outer({ tools: [inner([search])], limits: { tokens: 3_000 } })])
    const { runId } = await app.run(envelope, { draft })
    const used = (await journal(app, runId)).reduce((sum, { type, payload }) => {
      if (type !== 'turn_end') return sum
      const { inputTokens = 0, outputTokens = 0 } = payload.usage
      return sum + inputTokens + outputTokens
    }, 0)
    // The agent alone could take 20 turns.
    expect(used).toBeLessThanOrEqual(3_000)
    expect(server.seen.length).toBeGreaterThan(2)
    expect(server.seen.length).toBeLessThan(20)
  })

  it('is refused when agents call each other without end', async () => {
    const server = await serve(
      script({
        outer: (turn) => (turn === 0 ? callWriter : done),
        inner: (turn) => (turn === 0 ? callWriter : written),
      }),
    )
    const app = await openWith(server, [outer({ tools: [inner(['writer'])] })])
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('completed')
    const ends = (await journal(app, runId)).flatMap(({ type, payload }) =>
      type === 'tool_end' ? [(payload as { readonly content: string }).content] : [],
    )
    expect(ends[0]).toContain('at most 4 deep')
    expect(ends).toHaveLength(5)
  })
})

describe('a hand-off', () => {
  const transfer = { calls: [{ name: 'transfer_to_writer', input: { reason: 'It is about tea' } }] }

  it('lets the other agent continue the conversation, under the contract of the node', async () => {
    const { called, search, send } = makeTools()
    const server = await serve(
      script({
        outer: () => transfer,
        inner: (turn) => (turn === 1 ? { calls: [{ name: 'search', input: { query: 'tea' } }] } : done),
      }),
    )
    const app = await openWith(server, [outer({ tools: [send], handoffs: [inner([search])] })])
    const { runId, status, output } = await app.run(envelope, { draft })
    expect({ status, output }).toMatchObject({ status: 'completed', output: { answer: 'Because' } })
    expect(called.map(({ tool }) => tool)).toEqual(['search'])
    const [first, second] = server.seen
    const names = (seen: Seen | undefined) =>
      ((seen?.body['tools'] ?? []) as { readonly function: { readonly name: string } }[]).map(
        (each) => each.function.name,
      )
    expect(names(first)).toEqual(['send', 'transfer_to_writer'])
    expect(names(second)).toEqual(['search'])
    // The same conversation: the task of the first agent, its call, the result.
    expect(messagesOf(second!)[1]).toEqual(messagesOf(first!)[1])
    expect(resultsIn(second)).toEqual(['Handed off: "writer" continues from here'])
    const starts = (await journal(app, runId)).filter(({ type }) => type === 'turn_start')
    expect(starts.map(({ payload }) => (payload as { readonly agent?: string }).agent)).toEqual([
      undefined,
      'writer',
      undefined,
    ])
    expect(verifyHistory(await journal(app, runId))).toEqual([])
    expect(await app.replay(runId)).toMatchObject({ differences: [] })
  })

  it('survives a restart while the other agent waits for an approval', async () => {
    const { called, send } = makeTools({ approval: 'always' })
    const server = await serve(
      script({
        outer: () => transfer,
        inner: (turn) => (turn === 1 ? { calls: [{ name: 'send', input: { to: 'ann', amount: 5 } }] } : done),
      }),
    )
    const store = sqlite()
    const agents = [outer({ handoffs: [inner([send])] })]
    const app = await openWith(server, agents, { store })
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('waiting')
    await leave(app)
    const next = await openWith(server, agents, { store })
    await approve(next, runId)
    expect(await next.result(runId)).toMatchObject({ status: 'completed' })
    expect(called).toHaveLength(1)
    expect(server.seen).toHaveLength(3)
  })

  it('goes to one agent: a second one in the same turn is refused', async () => {
    const { search } = makeTools()
    const server = await serve(
      script({
        outer: () => ({ calls: [...transfer.calls, ...transfer.calls] }),
        inner: () => done,
      }),
    )
    const app = await openWith(server, [outer({ handoffs: [inner([search])] })])
    expect(await app.run(envelope, { draft })).toMatchObject({ status: 'completed' })
    expect(resultsIn(server.seen[1])).toEqual([
      'Handed off: "writer" continues from here',
      'Not run: the conversation is handed off already',
    ])
  })
})
