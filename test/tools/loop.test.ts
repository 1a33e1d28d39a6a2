/** An agent that uses tools: turns and calls are in the journal, and the answer is held to the contract. */
import { describe, expect, it } from 'vitest'
import { type Clock, defineAgent, tool } from '../../src/index.ts'
import { journal } from '../journeys/support.ts'
import { modelServer } from '../models/model-server.ts'
import { systemClock } from '../seams/base.ts'
import { messagesOf, resultsIn } from './chat-server.ts'
import { agent, done, draft, envelope, loopTypes, makeTools, openWith, query, serve } from './support.ts'

/** Of timers for the same time, the last one fires first, and the others a moment later. */
function lastFirst(): Clock {
  const due = new Map<number, (() => void)[]>()
  return {
    now: systemClock.now,
    timer(at, callback) {
      due.set(at, [callback, ...(due.get(at) ?? [])])
      const cancel = systemClock.timer(at, () => {
        const [last, ...others] = due.get(at) ?? []
        due.delete(at)
        last?.()
        for (const each of others) systemClock.timer(at + 200, each)
      })
      return () => {
        due.set(
          at,
          (due.get(at) ?? []).filter((each) => each !== callback),
        )
        cancel()
      }
    },
  }
}

describe('an agent with tools', () => {
  it('calls tools as the model wants, reads their results, and answers under contract', async () => {
    const { called, search, send } = makeTools()
    const server = await serve((turn) =>
      turn === 0
        ? {
            calls: [
              { name: 'search', input: { query: 'tea' } },
              { name: 'search', input: { query: 'cups' } },
            ],
          }
        : turn === 1
          ? { calls: [{ name: 'send', input: { to: 'ann', amount: 1 } }] }
          : done,
    )
    const app = await openWith(server, [agent([search, send])])
    const result = await app.run(envelope, { draft })
    expect(result).toMatchObject({ status: 'completed', output: { answer: 'Because', sources: ['a'] } })
    expect(called.map(({ tool }) => tool)).toEqual(['search', 'search', 'send'])
    expect(new Set(called.map(({ key }) => key)).size).toBe(3)
    expect(resultsIn(server.seen[2])).toEqual([
      '{"hits":["about tea"]}',
      '{"hits":["about cups"]}',
      '{"receipt":"r3"}',
    ])
    expect(await loopTypes(app, result.runId)).toEqual([
      ...['turn_start', 'turn_end', 'tool_start', 'tool_start', 'tool_end', 'tool_end'],
      ...['turn_start', 'turn_end', 'tool_start', 'tool_end'],
      ...['turn_start', 'turn_end'],
    ])
    const end = (await journal(app, result.runId)).find(({ type }) => type === 'attempt_end')
    expect(end?.payload).toMatchObject({ usage: { calls: 3, inputTokens: 300, outputTokens: 60 } })
    expect(await app.replay(result.runId)).toMatchObject({ differences: [] })
  })

  it('requests the answer in its format if the text cannot be read', async () => {
    const { search } = makeTools()
    const server = await serve((turn) =>
      turn === 0
        ? { calls: [{ name: 'search', input: { query: 'tea' } }] }
        : turn === 1
          ? { text: 'I found some things.' }
          : done,
    )
    const app = await openWith(server, [agent([search])])
    const result = await app.run(envelope, { draft })
    expect(result).toMatchObject({ status: 'completed', output: { answer: 'Because' } })
    expect(server.seen[1]?.body).toHaveProperty('tools')
    expect(server.seen[1]?.body).not.toHaveProperty('response_format')
    expect(server.seen[2]?.body).not.toHaveProperty('tools')
    expect(server.seen[2]?.body).toHaveProperty('response_format')
  })

  it('reads arguments like answers: damaged JSON is repaired, and the repair recorded', async () => {
    const { called, search } = makeTools()
    const server = await serve((turn) =>
      turn === 0 ? { calls: [{ name: 'search', input: "{query: 'tea',}" }] } : done,
    )
    const app = await openWith(server, [agent([search])])
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('completed')
    expect(called).toMatchObject([{ inputs: { query: 'tea' } }])
    const start = (await journal(app, runId)).find(({ type }) => type === 'tool_start')
    expect(start?.payload).toHaveProperty('repairs')
  })

  it('lets the model read why calls are not made: unknown, invalid, cut off, too many', async () => {
    const { called, search } = makeTools()
    const { use, defined } = search
    const server = await serve((turn) =>
      turn === 0
        ? {
            calls: [
              { name: 'fly', input: {} },
              { name: 'search', input: { question: 'tea' } },
              { name: 'search', input: { query: 'tea' } },
              { name: 'search', input: { query: 'more' } },
            ],
          }
        : turn === 1
          ? { calls: [{ name: 'search', input: '{"query":"te' }], finish: 'length' }
          : done,
    )
    const limited = { use: { ...use, maxCalls: 1 }, ...(defined && { defined }) }
    const app = await openWith(server, [agent([limited])])
    expect(await app.run(envelope, { draft })).toMatchObject({ status: 'completed' })
    expect(called).toHaveLength(1)
    expect(resultsIn(server.seen[2])).toEqual([
      expect.stringContaining('there is no tool "fly"'),
      expect.stringContaining('arguments are invalid'),
      '{"hits":["about tea"]}',
      expect.stringContaining('the limit of 1 calls'),
      expect.stringContaining('cut off'),
    ])
  })

  it('stops at the limit of turns with a last one for the answer', async () => {
    const { called, search } = makeTools()
    const server = await serve((turn) =>
      turn < 3 ? { calls: [{ name: 'search', input: { query: `tea ${turn}` } }] } : done,
    )
    const app = await openWith(server, [agent([search], { turns: 4 })])
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('completed')
    expect(called).toHaveLength(3)
    const starts = (await journal(app, runId)).filter(({ type }) => type === 'turn_start')
    expect(starts.at(-1)?.payload).toMatchObject({ turn: 4, final: 'turns' })
  })

  it('fails with the name of the limit if there is no answer', async () => {
    const { search } = makeTools()
    const server = await serve((turn) => ({ calls: [{ name: 'search', input: { query: `tea ${turn}` } }] }))
    const app = await openWith(server, [agent([search], { turns: 2 })])
    const result = await app.run(envelope, { draft })
    expect(result.status).toBe('failed')
    expect(result.error).toMatchObject({ message: expect.stringContaining('limits.turns') })
    expect(server.seen).toHaveLength(2)
  })

  it('does not make the same call for the same result a third time, and stops after the fifth', async () => {
    const { called, search } = makeTools()
    const server = await serve((turn) =>
      turn < 5 ? { calls: [{ name: 'search', input: { query: 'tea' } }] } : done,
    )
    const app = await openWith(server, [agent([search])])
    const { runId, status } = await app.run(envelope, { draft })
    expect(status).toBe('completed')
    expect(called).toHaveLength(2)
    const starts = (await journal(app, runId)).filter(({ type }) => type === 'turn_start')
    expect(starts.at(-1)?.payload).toMatchObject({ turn: 6, final: 'repeated' })
  })

  it('lets the model read why a tool failed, and cuts long results with a note', async () => {
    const { search } = makeTools()
    const { send } = makeTools({
      run: () => {
        throw new Error('mailbox full')
      },
    })
    const server = await serve((turn) =>
      turn === 0
        ? {
            calls: [
              { name: 'send', input: { to: 'ann', amount: 1 } },
              { name: 'search', input: { query: 'x'.repeat(1_000) } },
            ],
          }
        : done,
    )
    const app = await openWith(server, [agent([search, send], { resultCharacters: 300 })])
    expect(await app.run(envelope, { draft })).toMatchObject({ status: 'completed' })
    const [failed, long] = resultsIn(server.seen[1]) as string[]
    expect(failed).toContain('mailbox full')
    expect(failed).toContain('may have taken effect')
    expect(long).toMatch(/\d+ characters left out/)
    expect(long!.length).toBeLessThan(400)
  })

  it('continues the conversation with feedback when the answer is rejected, without calling tools again', async () => {
    const { called, search } = makeTools()
    const server = await serve((turn) =>
      turn === 0
        ? { calls: [{ name: 'search', input: { query: 'tea' } }] }
        : { text: JSON.stringify({ answer: turn === 1 ? 'No' : 'Yes', sources: [] }) },
    )
    const app = await openWith(server, [agent([search])])
    const policies = { planner: { directives: { hitlRequiredFor: ['research'] } } }
    const { runId } = await app.run({ ...envelope, policies }, { draft })
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    const { requestId, valueHash } = ask!
    const note = 'Be positive'
    await app.reply(runId, {
      requestId,
      valueHash,
      decision: 'reject',
      rejectAction: 'retry',
      note,
      by: 'ann',
    })
    await app.result(runId)
    const [second] = await app.store.asks({ runId, status: 'pending' })
    expect(second?.value).toMatchObject({ answer: 'Yes' })
    expect(called).toHaveLength(1)
    expect(JSON.stringify(messagesOf(server.seen[2]!))).toContain(note)
  })
  it.each([
    // The last turn is for the answer, and none is left after it.
    { turns: 2, asked: 2, status: 'failed' },
    { turns: 3, asked: 3, status: 'waiting' },
    { turns: 5, asked: 4, status: 'waiting' },
  ])('counts over the whole node: a rejected answer leaves what is left of $turns turns', async (given) => {
    const { called, search } = makeTools()
    const server = await serve((turn, { body }) =>
      turn % 2 === 0 && body['tool_choice'] !== 'none' && 'tools' in body
        ? { calls: [{ name: 'search', input: { query: `tea ${turn}` } }] }
        : { text: JSON.stringify({ answer: `${turn}`, sources: [] }) },
    )
    const limited = tool(search.defined!, { maxCalls: 1 })
    const app = await openWith(server, [agent([limited], { turns: given.turns })])
    const policies = { planner: { directives: { hitlRequiredFor: ['research'] } } }
    const { runId } = await app.run({ ...envelope, policies }, { draft })
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    const { requestId, valueHash } = ask!
    const reply = { requestId, valueHash, note: 'Again', by: 'ann' } as const
    await app.reply(runId, { ...reply, decision: 'reject', rejectAction: 'retry' })
    const result = await app.result(runId)
    expect(result.status).toBe(given.status)
    if (given.status === 'failed') expect(result.error?.message).toContain('limits.turns')
    expect(server.seen).toHaveLength(given.asked)
    expect(called).toHaveLength(1)
    const starts = (await journal(app, runId)).filter(({ type }) => type === 'turn_start')
    expect(starts.filter(({ payload }) => 'final' in payload)).toHaveLength(given.turns === 5 ? 0 : 1)
    if (given.turns === 5)
      expect(resultsIn(server.seen[3])).toEqual([expect.anything(), expect.stringContaining('limit of 1')])
  })
  it('stops a call at the time of its tool: the model reads it, and a side effect is in doubt', async () => {
    const signals: AbortSignal[] = []
    const slow = tool({
      id: 'slow',
      input: query,
      output: {},
      sideEffect: true,
      timeoutMs: 300,
      run: (_, { signal }) => {
        signals.push(signal)
        return new Promise<never>(() => {})
      },
    })
    const server = await serve((turn) =>
      turn < 2 ? { calls: [{ name: 'slow', input: { query: `${turn}` } }] } : done,
    )
    const app = await openWith(server, [agent([slow])])
    const { runId, status } = await app.run(envelope, { draft })
    expect(resultsIn(server.seen[1])).toEqual([
      expect.stringMatching(/timed_out.*within its time of 300 ms.*may have taken effect/),
    ])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(status).toBe('waiting')
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    expect(ask?.question).toContain('may have taken effect')
  })

  it('stops an agent at the time that it has as a tool, and adds nothing to its facts any more', async () => {
    const { search } = makeTools()
    const inner = defineAgent({
      ...{ id: 'inner', model: 'compatible/scripted', instructions: 'You are slow.' },
      ...{ input: query, output: {}, tools: [search] },
    })
    let answer = () => {}
    const late = new Promise<void>((resolve) => {
      answer = resolve
    })
    const server = await modelServer(
      (seen) => seen,
      async (seen, _, response) => {
        const messages = messagesOf(seen)
        const isInner = JSON.stringify(messages).includes('You are slow.')
        if (isInner) await late
        const isFirst = !isInner && messages.every(({ role }) => role !== 'tool')
        const call = { id: 'c', type: 'function', function: { name: 'inner', arguments: '{"query":"x"}' } }
        const message = isFirst
          ? { role: 'assistant', content: null, tool_calls: [call] }
          : { role: 'assistant', content: done.text }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ id: '1', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
      },
    )
    const app = await openWith(server, [agent([tool(inner, { timeoutMs: 300 })])])
    const { runId, status } = await app.run(envelope, { draft })
    answer()
    expect(status).toBe('completed')
    const facts = (await journal(app, runId)).filter(({ type }) => /^(turn|tool)_/.test(type))
    const isNested = facts.map(({ payload }) => 'within' in payload)
    const end = facts.findIndex(({ type }) => type === 'tool_end')
    expect(isNested.indexOf(true)).toBeLessThan(end)
    expect(isNested.lastIndexOf(true)).toBeLessThan(end)
    expect(JSON.stringify(messagesOf(server.seen.at(-1)!))).toContain('within its time of 300 ms')
    await server.close()
  })
  it('ends at the time of its node while a tool is called: the call is not a result that is answered', async () => {
    const slow = tool({ id: 'slow', input: query, run: () => new Promise<never>(() => {}) })
    const server = await serve((turn) =>
      turn === 0 ? { calls: [{ name: 'slow', input: { query: 'x' } }] } : done,
    )
    // No poll is due at the same time by chance: it would take the place of the call.
    const app = await openWith(server, [agent([slow])], { clock: lastFirst(), pollMs: 60_000 })
    const nodes = draft.nodes.map((node) => ({ ...node, timeoutMs: 2_000, retry: { max: 0 } }))
    const { runId, status } = await app.run(envelope, { draft: { nodes } })
    expect(status).toBe('failed')
    expect(server.seen).toHaveLength(1)
    expect(await loopTypes(app, runId)).toEqual(['turn_start', 'turn_end', 'tool_start'])
    const end = (await journal(app, runId)).find(({ type }) => type === 'attempt_end')
    expect(end?.payload).toMatchObject({ outcome: 'timed_out' })
  })
})
