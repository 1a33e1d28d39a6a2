/** MCP servers as capabilities: round trips with reference servers, questions, bad results, changes and dead processes. */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createApp, tool } from '../../src/index.ts'
import { journal, leave, open } from '../journeys/support.ts'
import { resultsIn } from '../tools/chat-server.ts'
import { agent, done, draft, envelope, openWith, serve } from '../tools/support.ts'
import { wrongly } from '../wrongly.ts'
import {
  answer,
  anything,
  callOnce,
  folder,
  mayAct,
  pending,
  reference,
  scriptedServer,
  until,
} from './support.ts'

const sqlite = () => `sqlite:${join(folder(), 'runs.db')}`

// Starting processes takes its time on a busy machine.
describe('reference servers', { timeout: 180_000 }, () => {
  const everything = {
    command: process.execPath,
    args: [reference('server-everything')],
    protocol: 'legacy',
    connectMs: 60_000,
  } as const

  it('calls tools of server-everything in plans, reads resources and prompts, and asks what it asks', async () => {
    const store = sqlite()
    const mcp = { everything: { ...everything, trustAnnotations: true } }
    const app = await open({ store, mcp })
    const [state] = app.mcp?.servers() ?? []
    expect(state).toMatchObject({ name: 'everything', status: 'connected', transport: 'stdio' })
    expect(state?.tools.find(({ tool }) => tool === 'get-sum')).toMatchObject({
      capabilityId: 'everything.get-sum',
      effect: 'read',
    })
    const typed = await app.run(anything, {
      draft: callOnce('everything.get-structured-content', { location: 'Chicago' }),
    })
    expect(typed).toMatchObject({
      output: { temperature: expect.any(Number), conditions: expect.any(String) },
    })
    const untyped = await app.run(anything, { draft: callOnce('everything.get-sum', { a: 2, b: 3 }) })
    expect(untyped).toMatchObject({ output: { content: [{ text: expect.stringContaining('5') }] } })
    const [first] = ((await app.mcp?.listResources('everything')) ?? []) as unknown as { uri: string }[]
    expect(await app.mcp?.readResource('everything', first?.uri ?? '')).toMatchObject({
      contents: [{ uri: first?.uri }],
    })
    const read = await app.run(anything, {
      draft: callOnce('everything:get_prompt', { name: 'simple-prompt' }),
    })
    expect(read).toMatchObject({ output: { messages: [{ role: 'user' }] } })

    // A question of a server before 2026-07-28: asked during the call, answered days later by another process.
    const { runId, status } = await app.run(mayAct, {
      draft: callOnce('everything.trigger-elicitation-request', {}),
    })
    expect(status).toBe('waiting')
    const [ask] = await pending(app, runId)
    expect(ask).toMatchObject({ kind: 'clarify', decisions: ['answer', 'reject'] })
    await leave(app)
    const next = await open({ store, mcp })
    await answer(next, runId, 'answer', { name: 'Ann', email: 'ann@tea.example' })
    const result = await next.result(runId)
    expect(result).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(result)).toContain('Ann')
  })

  it('lets an agent use server-memory, whose tools change something unless they are configured', async () => {
    const memory = {
      command: process.execPath,
      args: [reference('server-memory')],
      env: { MEMORY_FILE_PATH: join(folder(), 'memory.jsonl') },
      protocol: 'legacy',
      connectMs: 60_000,
      effects: { read_graph: 'read' },
    } as const
    const entities = [{ name: 'tea', entityType: 'drink', observations: ['green'] }]
    const server = await serve((turn) =>
      turn === 0
        ? { calls: [{ name: 'memory_create_entities', input: { entities } }] }
        : turn === 1
          ? { calls: [{ name: 'memory_read_graph', input: {} }] }
          : done,
    )
    const app = await openWith(server, [agent(['memory.create_entities', 'memory.read_graph'])], {
      mcp: { memory },
    })
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('completed')
    expect(resultsIn(server.seen.at(-1)).at(-1)).toContain('"observations":["green"]')
    const starts = (await journal(app, runId)).filter(({ type }) => type === 'tool_start')
    expect(starts.map(({ payload }) => payload)).toMatchObject([
      { capabilityId: 'memory.create_entities', idempotent: false, sideEffect: true },
      { capabilityId: 'memory.read_graph', idempotent: true },
    ])
  })
})

describe('a server that misbehaves', () => {
  it('is killed during a call: the outcome is unknown, a person decides, and the server is started again', async () => {
    const { server, effects } = scriptedServer()
    const app = await open({ mcp: { tea: server } })
    const run = await app.start(mayAct, { draft: callOnce('tea.slow', {}) })
    await until(() => effects().length === 1)
    process.kill(app.mcp?.servers()[0]?.pid ?? 0, 'SIGKILL')
    expect(await run.result()).toMatchObject({ status: 'waiting' })
    const [ask] = await pending(app, run.id)
    expect(ask).toMatchObject({ kind: 'unknown_outcome' })
    // Nothing was called again, and the next call is answered by a new process.
    const sum = await app.run(anything, { draft: callOnce('tea.add', { a: 1, b: 2 }) })
    expect(sum).toMatchObject({ status: 'completed', output: { sum: 3 } })
    expect(effects()).toHaveLength(1)
  })

  it('returns what its schema forbids: executed, kept as evidence, and not repeated', async () => {
    const { server, effects } = scriptedServer()
    const app = await open({ mcp: { tea: server } })
    const { runId, status } = await app.run(mayAct, {
      draft: callOnce('tea.bad', {}, { retry: { max: 2 } }),
    })
    expect(status).toBe('waiting')
    const end = (await journal(app, runId)).find(({ type }) => type === 'attempt_end')
    expect(end?.payload).toMatchObject({ outcome: 'invalid', output: { value: { sum: 'many' } } })
    expect(await pending(app, runId)).toMatchObject([{ kind: 'unknown_outcome' }])
    expect(effects()).toEqual(['bad'])
    const failed = await app.run(mayAct, { draft: callOnce('tea.fail', {}) })
    expect(failed).toMatchObject({
      status: 'failed',
      issues: [{ message: expect.stringContaining('out of tea') }],
    })
  })

  it('changes a tool: a plan or an agent that knew another one does not call it, new plans do', async () => {
    const { server, effects } = scriptedServer('legacy')
    const model = await serve((turn) =>
      turn === 0
        ? { calls: [{ name: 'tea_change', input: {} }] }
        : turn === 1
          ? { calls: [{ name: 'tea_brew', input: {} }] }
          : done,
    )
    const tools = [tool('tea.change'), tool('tea.brew', { approval: 'always' })]
    const app = await openWith(model, [agent(tools)], { mcp: { tea: server } })
    const version = () => app.mcp?.servers()[0]?.tools.find(({ tool }) => tool === 'brew')?.version
    const before = version()
    // Waits for an answer while the tool of its second node becomes another one.
    const both = {
      nodes: [...callOnce('tea.order', {}).nodes, { id: 'brew', capabilityId: 'tea.brew', inputs: {} }],
    }
    const planned = await app.run(mayAct, { draft: { ...both, edges: [{ from: 'call', to: 'brew' }] } })
    expect(planned.status).toBe('waiting')
    const asking = await app.run({ ...envelope, policies: mayAct.policies }, { draft })
    await until(() => version() !== before)
    await answer(app, planned.runId, 'answer', { count: 1 })
    expect(await app.result(planned.runId)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('"tea.brew" changed after the plan was made') },
    })
    if (asking.status === 'waiting') await answer(app, asking.runId, 'approve')
    expect(await app.result(asking.runId)).toMatchObject({ status: 'completed' })
    expect(resultsIn(model.seen.at(-1)).at(-1)).toContain('"tea_brew" changed after this conversation began')
    expect(effects()).toEqual(['order 1 state-\u00e9-1'])
    const fresh = await app.run(mayAct, { draft: callOnce('tea.brew', {}) })
    expect(fresh).toMatchObject({ output: { content: [{ text: 'black tea' }] } })
  })

  it('logs to its standard error: kept for operators, without secrets', async () => {
    const { server } = scriptedServer()
    const lines: string[] = []
    const app = await open({
      mcp: { tea: { ...server, env: { ...server.env, API_TOKEN: 'hunter2-hunter2' } } },
      onMcpLog: ({ source, text }) => void lines.push(`${source} ${text}`),
    })
    await until(() => lines.length > 0)
    expect(lines).toContain('stderr started with [redacted]')
    expect(app.mcp?.servers()[0]?.stderr).toEqual(['started with [redacted]'])
  })

  it('cannot be started: the app runs without it, and says why', async () => {
    const app = await open({ mcp: { gone: { command: join(folder(), 'nothing'), connectMs: 2_000 } } })
    expect(app.mcp?.servers()).toMatchObject([
      { name: 'gone', status: 'down', problem: expect.stringContaining('ENOENT') },
    ])
    await expect(app.mcp?.readResource('gone', 'a://b')).rejects.toMatchObject({ code: 'mcp/unavailable' })
    await expect(createApp({ mcp: { tea: wrongly({ comand: 'x' }) } })).rejects.toMatchObject({
      code: 'option/invalid',
    })
  })
})

describe('questions of servers before 2026-07-28 over stdio, which do not name their call', () => {
  it('gives each call the answer that was given for it, although the questions are the same', async () => {
    const { server } = scriptedServer('legacy')
    const app = await open({ mcp: { tea: server } })
    const runs: string[] = []
    for (const _ of ['3', '5']) {
      const { runId, status } = await app.run(mayAct, { draft: callOnce('tea.order', {}) })
      expect(status).toBe('waiting')
      runs.push(runId)
    }
    const [first = '', second = ''] = runs
    await Promise.all([
      answer(app, first, 'answer', { count: 3 }),
      answer(app, second, 'answer', { count: 5 }),
    ])
    expect(await app.result(first)).toMatchObject({ output: { content: [{ text: 'ordered 3' }] } })
    expect(await app.result(second)).toMatchObject({ output: { content: [{ text: 'ordered 5' }] } })
  })

  it('shows no run a question that may be of another, and asks again when the call is alone', async () => {
    const { server, effects } = scriptedServer('legacy')
    const app = await open({ mcp: { tea: server } })
    const other = await app.start(mayAct, { draft: callOnce('tea.slow', {}) })
    await until(() => effects().length === 1)
    const run = await app.start(mayAct, { draft: callOnce('tea.order', { text: 'oolong' }) })
    const asks = async () => [...(await pending(app, run.id)), ...(await pending(app, other.id))]
    await until(() => effects().includes('asks for oolong'))
    expect(await asks()).toEqual([])
    // The call that is cancelled may have asked, too.
    await app.cancel(other.id, { by: 'ann' })
    expect(await run.result()).toMatchObject({ status: 'waiting' })
    expect(await asks()).toMatchObject([{ kind: 'unknown_outcome' }])
    const end = (await journal(app, run.id)).find(({ type }) => type === 'attempt_end')
    expect(end?.payload).toMatchObject({
      outcome: 'outcome_unknown',
      issues: [{ message: expect.stringContaining('without naming one') }],
    })
    const { pid } = app.mcp?.servers()[0] ?? {}
    await answer(app, run.id, 'approve')
    expect(await app.result(run.id)).toMatchObject({ status: 'waiting' })
    expect(await asks()).toMatchObject([
      { kind: 'clarify', question: expect.stringContaining('How many bags of oolong?') },
    ])
    expect(app.mcp?.servers()[0]?.pid).not.toBe(pid)
    await answer(app, run.id, 'answer', { count: 2 })
    expect(await app.result(run.id)).toMatchObject({ output: { content: [{ text: 'ordered 2' }] } })
  })
})

describe('questions of servers from 2026-07-28 on', () => {
  it('become asks; the answer goes back with the state as it came, after a restart', async () => {
    const { server, effects } = scriptedServer('modern')
    const store = sqlite()
    const app = await open({ store, mcp: { tea: server } })
    const { runId, status } = await app.run(mayAct, { draft: callOnce('tea.order', {}) })
    expect(status).toBe('waiting')
    const [ask] = await pending(app, runId)
    expect(ask).toMatchObject({ kind: 'clarify', question: expect.stringContaining('How many bags?') })
    await leave(app)
    const next = await open({ store, mcp: { tea: server } })
    await expect(answer(next, runId, 'answer', { count: 0 })).rejects.toMatchObject({ code: 'ask/invalid' })
    await answer(next, runId, 'answer', { count: 3 })
    expect(await next.result(runId)).toMatchObject({
      status: 'completed',
      output: { content: [{ text: 'ordered 3' }] },
    })
    expect(effects()).toEqual(['order 3 state-\u00e9-1'])
  })

  it('asks for an agent: its call is made again with the answer, and a rejection is read by the model', async () => {
    const { server, effects } = scriptedServer('modern')
    const model = await serve((turn) =>
      turn === 0
        ? {
            calls: [
              { name: 'tea_order', input: {} },
              { name: 'tea_add', input: { a: 1, b: 1 } },
            ],
          }
        : turn === 1
          ? { calls: [{ name: 'tea_order', input: { text: 'again' } }] }
          : done,
    )
    const store = sqlite()
    const researcher = agent(['tea.order', 'tea.add'])
    const mcp = { tea: { ...server, effects: { add: 'read' } } } as const
    const app = await openWith(model, [researcher], { store, mcp })
    const { runId } = await app.run({ ...envelope, policies: mayAct.policies }, { draft })
    expect(await pending(app, runId)).toMatchObject([
      {
        kind: 'tool',
        question: expect.stringContaining('asks: How many bags?'),
        decisions: ['answer', 'reject'],
      },
    ])
    await leave(app)
    const next = await openWith(model, [researcher], { store, mcp })
    await answer(next, runId, 'answer', { count: 2 })
    expect(await next.result(runId)).toMatchObject({ status: 'waiting' })
    await answer(next, runId, 'reject')
    expect(await next.result(runId)).toMatchObject({ status: 'completed' })
    const results = resultsIn(model.seen.at(-1))
    expect(results[0]).toContain('ordered 2')
    expect(results[2]).toContain('a person rejected the call')
    expect(effects()).toEqual(['order 2 state-\u00e9-1', 'asks for again'])
    const starts = (await journal(next, runId)).filter(({ type }) => type === 'tool_start')
    const orders = starts.filter(({ payload }) =>
      JSON.stringify(payload).includes('"call":1,"tool":"tea_order"'),
    )
    expect(
      new Set(orders.map(({ payload }) => (payload as { idempotencyKey: string }).idempotencyKey)).size,
    ).toBe(2)
  })
})
