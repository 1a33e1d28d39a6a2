/** An agent that uses tools: turns and calls are in the journal, and the answer is held to the contract. */
import { describe, expect, it } from 'vitest'
import { journal } from '../journeys/support.ts'
import { messagesOf, resultsIn } from './chat-server.ts'
import { agent, done, draft, envelope, loopTypes, makeTools, openWith, serve } from './support.ts'

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
})
