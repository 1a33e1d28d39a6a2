/** What agents of other frameworks get wrong: settings after a hand-off, tools that change while a person thinks, long loops. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { defineAgent, type ModelAnswer, type Provider, tool } from '../../src/index.ts'
import type { AgentDefinition } from '../../src/types.ts'
import { journal, leave, open } from '../journeys/support.ts'
import { anthropicPause } from '../models/conformance/pause.ts'
import {
  agent,
  answerSchema,
  done,
  draft,
  envelope,
  mail,
  makeTools,
  openWith,
  query,
  serve,
} from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-traps-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pay = (amount: number) => ({ calls: [{ name: 'send', input: { to: 'ann', amount } }] })

describe('while a person decides', () => {
  it('a tool that no longer needs an approval waits all the same, and is called as it was shown', async () => {
    const server = await serve((turn) => (turn === 0 ? pay(5) : done))
    const store = `sqlite:${join(folder, 'approval.db')}`
    const first = makeTools({ approval: 'always' })
    const app = await openWith(server, [agent([first.search, first.send])], { store })
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('waiting')
    await leave(app)

    const second = makeTools({ approval: 'never' })
    const next = await openWith(server, [agent([second.search, second.send])], { store })
    const [ask] = await next.store.asks({ runId, status: 'pending' })
    expect(second.called).toEqual([])
    expect(ask?.value).toEqual({ to: 'ann', amount: 5 })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await next.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
    expect(await next.result(runId)).toMatchObject({ status: 'completed' })
    expect([...first.called, ...second.called].map(({ inputs }) => inputs)).toEqual([
      { to: 'ann', amount: 5 },
    ])
  })

  it('a tool that now takes other arguments is described to the model as when the loop began', async () => {
    const server = await serve((turn) => (turn === 0 ? pay(5) : done))
    const store = `sqlite:${join(folder, 'schema.db')}`
    const first = makeTools({ approval: 'always' })
    const app = await openWith(server, [agent([first.search, first.send])], { store })
    const { runId } = await app.run(envelope, { draft })
    await leave(app)

    const changed = tool({
      id: 'send',
      description: 'Sends to everybody',
      input: { ...mail, properties: { ...mail.properties, everybody: { type: 'boolean' } } },
      output: { type: 'object' },
      sideEffect: true,
      approval: 'always',
      run: () => ({}),
    } as never)
    const next = await openWith(server, [agent([first.search, changed])], { store })
    const [ask] = await next.store.asks({ runId, status: 'pending' })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await next.reply(runId, { requestId, valueHash, decision: 'reject', by: 'ann' })
    expect(await next.result(runId)).toMatchObject({ status: 'completed' })
    const [before, after] = server.seen.map(({ body }) => body['tools'])
    expect(after).toEqual(before)
  })

  it('a tool that is gone is not called, and the run says which', async () => {
    const server = await serve((turn) => (turn === 0 ? pay(5) : done))
    const store = `sqlite:${join(folder, 'gone.db')}`
    const { search, send, called } = makeTools({ approval: 'always' })
    const app = await openWith(server, [agent([search, send])], { store })
    const { runId } = await app.run(envelope, { draft })
    await leave(app)

    const next = await openWith(server, [agent([search, 'send'])], { store })
    const [ask] = await next.store.asks({ runId, status: 'pending' })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await next.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
    const result = await next.result(runId)
    expect(result).toMatchObject({ status: 'failed', issues: [{ code: 'model/no-tool' }] })
    expect(JSON.stringify(result.issues)).toContain('\\"send\\"')
    expect(called).toEqual([])
  })
})

it('an agent in an item of a map continues its loop under a new plan, with what a person has edited', async () => {
  const server = await serve((turn) => (turn === 0 ? pay(5) : done))
  const { search, send, called } = makeTools({ approval: 'always' })
  const work = { id: 'work', capabilityId: 'researcher', inputs: { question: { input: '/item' } } } as const
  const each = {
    id: 'each',
    inputs: { items: { value: ['Why tea?'] } },
    map: {},
    body: { nodes: [work], output: { node: 'work', pointer: '/answer' } },
  }
  const planned = { nodes: [each], output: { properties: { out: { node: 'each' } } } }
  const app = await openWith(server, [agent([search, send])], {
    planner: { name: 'same', draft: async () => planned },
  })
  const again = { id: 'again', trigger: { kind: 'manual' }, action: { type: 'replan' } } as const
  const { runId } = await app.run(
    {
      objective: 'Research tea',
      outputContract: {
        schema: { type: 'object', properties: { out: { type: 'array' } }, required: ['out'] },
      },
      policies: { runtime: [again] },
    },
    { draft: planned },
  )
  await app.trigger(runId, { policyId: 'again', by: 'ann' })
  expect((await app.result(runId)).status).toBe('waiting')
  const [ask] = await app.store.asks({ runId, status: 'pending' })
  const { requestId = '', valueHash = '' } = ask ?? {}
  await app.reply(runId, {
    requestId,
    valueHash,
    decision: 'edit',
    value: { to: 'ann', amount: 4 },
    by: 'ann',
  })
  expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { out: ['Because'] } })
  expect(called.map(({ inputs }) => inputs)).toEqual([{ to: 'ann', amount: 4 }])
  // Turn 1 was asked once, turn 2 once.
  expect(server.seen).toHaveLength(2)
  expect((await app.replay(runId)).differences).toEqual([])
})

describe('after a hand-off', () => {
  it('the settings and the tool choice of the second agent count', async () => {
    const { search, send } = makeTools()
    const server = await serve((turn) =>
      turn === 0
        ? { calls: [{ name: 'transfer_to_writer', input: {} }] }
        : turn === 1
          ? { calls: [{ name: 'search', input: { query: 'tea' } }] }
          : done,
    )
    const common = { model: 'compatible/scripted', output: answerSchema, input: { type: 'object' } } as const
    const writer = defineAgent({
      ...common,
      id: 'writer',
      tools: [search],
      toolChoice: { tool: 'search' },
      modelSettings: { temperature: 0.9, seed: 2 },
    })
    const first = defineAgent({
      ...common,
      id: 'researcher',
      tools: [send],
      handoffs: [writer],
      modelSettings: { temperature: 0.1 },
    })
    const app = await openWith(server, [first])
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('completed')
    const sent = server.seen.map(({ body }) => [body['temperature'], body['seed']])
    expect(sent).toEqual([
      [0.1, undefined],
      [0.9, 2],
      [0.9, 2],
    ])
    const forced = server.seen.map(({ body }) => JSON.stringify(body['tool_choice'] ?? '').includes('search'))
    expect(forced).toEqual([false, true, false])
    const starts = (await journal(app, runId)).flatMap((event) =>
      event.type === 'turn_start' ? [event.payload.settings] : [],
    )
    expect(starts).toEqual([
      { temperature: 0.1 },
      { temperature: 0.9, seed: 2 },
      { temperature: 0.9, seed: 2 },
    ])
  })
})

describe('stopWhen', () => {
  const stopping = (stopWhen: object, more: Partial<AgentDefinition> = {}) => {
    const { search, called } = makeTools()
    const defined = defineAgent({
      id: 'researcher',
      model: 'compatible/scripted',
      input: { type: 'object' },
      output: answerSchema,
      tools: [search],
      stopWhen: stopWhen as never,
      ...more,
    } as AgentDefinition)
    return { called, defined }
  }
  const endless = () =>
    serve((turn, { body }) =>
      body['tool_choice'] === 'none' || body['tools'] === undefined
        ? done
        : { calls: [{ name: 'search', input: { query: `q${turn}` } }] },
    )

  it.each([
    ['calls of a tool', { '>=': [{ var: 'calls.search' }, 3] }, 3],
    ['turns', { '>=': [{ var: 'turns' }, 2] }, 2],
    ['tokens', { '>': [{ var: 'tokens' }, 400] }, 4],
  ])('ends the calls by %s, and requests the answer', async (_, condition, calls) => {
    const { called, defined } = stopping(condition)
    const app = await openWith(await endless(), [defined])
    const { runId, status, output } = await app.run(envelope, { draft })
    expect({ status, output }).toMatchObject({ status: 'completed', output: { answer: 'Because' } })
    expect(called).toHaveLength(calls)
    const finals = (await journal(app, runId)).flatMap((event) =>
      event.type === 'turn_start' && event.payload.final ? [event.payload.final] : [],
    )
    expect(finals).toEqual(['stopWhen'])
  })

  it('is checked when the agent is defined', () => {
    expect(() => stopping({ '>': [1, 2], '<': [1, 2] })).toThrow(/one operator/)
  })
})

describe('a long conversation', () => {
  it('of 500 turns grows the journal by the same amount with each turn', async () => {
    const turns = 500
    const text = JSON.stringify({ answer: 'Because', sources: [] })
    const end = { kind: 'text', finish: 'stop', usage: { inputTokens: 1, outputTokens: 1 } } as const
    const provider: Provider = {
      name: 'scripted',
      tools: true,
      async generate({ messages = [] }): Promise<ModelAnswer> {
        const turn = messages.filter(({ role }) => role === 'assistant').length
        if (turn === turns) return { ...end, text, parts: [{ type: 'text', text }] }
        const input = JSON.stringify({ query: `question ${1_000 + turn}` })
        const part = { type: 'tool-call', toolCallId: `c${1_000 + turn}`, toolName: 'search', input } as const
        return { ...end, text: '', parts: [part] }
      },
    }
    const search = tool({
      id: 'search',
      description: 'Searches',
      input: query,
      output: query,
      run: (given) => given,
    })
    const long = defineAgent({
      id: 'researcher',
      model: 'scripted/model',
      input: { type: 'object' },
      output: answerSchema,
      tools: [search],
      limits: { turns: turns + 2 },
    })
    const app = await open({ providers: [provider], capabilities: [long] })
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('completed')
    const events = await journal(app, runId)
    const sizes = new Map<number, number>()
    for (const event of events)
      if (/^(turn|tool)_/.test(event.type)) {
        const { turn } = event.payload as { readonly turn: number }
        sizes.set(turn, (sizes.get(turn) ?? 0) + JSON.stringify(event).length)
      }
    expect(sizes.size).toBe(turns + 1)
    const sum = (from: number) =>
      Array.from({ length: 100 }, (_, index) => sizes.get(from + index) ?? 0).reduce((a, b) => a + b, 0)
    // Numbers have a digit more at the end.
    expect(sum(400) / sum(100)).toBeLessThan(1.05)
  }, 120_000)
})

describe('a turn that Anthropic pauses', () => {
  it.each([true, false])('continues with its own words, streamed: %s', async (isStreamed) => {
    const { result, bodies, turns } = await anthropicPause(isStreamed)
    expect(result).toMatchObject({ status: 'completed', output: { answer: 'Because', sources: [] } })
    expect(turns.map(({ rawFinish }) => rawFinish)).toEqual(['pause_turn', 'end_turn'])
    const [, second] = bodies
    expect(second?.at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ type: 'text', text: 'I look it up,' }],
    })
  })
})
