/**
 * Agents where a tool fails, asks or exceeds a limit, or whose answer is suppressed: nothing is done twice unasked, every
 * result is in the journal, and nothing leaves that must not.
 */
import { expect, it } from 'vitest'
import { toFrame } from '../../src/domain/event/frame.ts'
import { createRedactor } from '../../src/domain/redaction/redact.ts'
import { tool } from '../../src/index.ts'
import { journal } from '../journeys/support.ts'
import { agent, done, draft, envelope, loopTypes, makeTools, openWith, query, serve } from './support.ts'

const pay = { name: 'send', input: { to: 'ann', amount: 5 } } as const

it('a tool with a side effect whose result breaks its contract is repeated only with an approval', async () => {
  const server = await serve((turn) => (turn < 2 ? { calls: [pay] } : done))
  let calls = 0
  const send = tool({
    ...{ id: 'send', description: 'Sends', input: { type: 'object' }, sideEffect: true },
    output: { type: 'object', properties: { receipt: { type: 'string' } }, required: ['receipt'] },
    // Another program behind it has changed: its types do not show that.
    run: () => {
      calls++
      return JSON.parse('{ "wrong": 1 }')
    },
  })
  const app = await openWith(server, [agent([send])])
  const { runId, status } = await app.run(envelope, { draft })
  expect({ status, calls }).toEqual({ status: 'waiting', calls: 1 })
  const [ask] = await app.store.asks({ runId, status: 'pending' })
  expect(JSON.stringify(ask)).toContain('may have taken effect')
})

it('the second of two equal payments in one turn is not made when the first one failed', async () => {
  const server = await serve((turn) => (turn === 0 ? { calls: [pay, pay] } : done))
  let calls = 0
  const { send } = makeTools({
    run: () => {
      calls++
      throw new Error('The bank hung up')
    },
  })
  const app = await openWith(server, [agent([send])])
  const { status } = await app.run(envelope, { draft })
  expect({ status, calls }).toEqual({ status: 'completed', calls: 1 })
})

it('a tool may ask a person twice, and is called with both answers', async () => {
  const server = await serve((turn) =>
    turn === 0 ? { calls: [{ name: 'find', input: { query: 'q' } }] } : done,
  )
  const seen: (readonly unknown[])[] = []
  const find = tool({
    ...{ id: 'find', description: 'Finds', input: query, output: { type: 'object' } },
    run: (_inputs, { clarifications, ask }) => {
      seen.push(clarifications)
      return clarifications.length < 2 ? ask(`Question ${clarifications.length + 1}`) : { found: true }
    },
  })
  const app = await openWith(server, [agent([find])])
  const { runId } = await app.run(envelope, { draft })
  for (const nth of [1, 2]) {
    const [open] = await app.store.asks({ runId, status: 'pending' })
    expect(open?.question).toContain(`Question ${nth}`)
    const { requestId = '', valueHash = '' } = open ?? {}
    await app.reply(runId, { requestId, valueHash, decision: 'answer', value: `answer ${nth}`, by: 'ann' })
    await app.result(runId)
  }
  expect(await app.result(runId)).toMatchObject({ status: 'completed' })
  expect(seen.at(-1)).toEqual(['answer 1', 'answer 2'])
})

it('an agent that stops at its limit has the result of every call in the journal, and names the limit', async () => {
  const server = await serve(() => ({ calls: [{ name: 'search', input: { query: 'q' } }] }))
  const { search } = makeTools()
  const app = await openWith(server, [agent([search], { tokens: 1_500 })])
  const { runId, status, issues } = await app.run(envelope, { draft })
  expect({ status, code: issues[0]?.code }).toEqual({ status: 'failed', code: 'agent/tokens' })
  const types = await loopTypes(app, runId)
  const count = (wanted: string) => types.filter((type) => type === wanted).length
  expect(count('tool_start')).toBeGreaterThan(0)
  expect(count('tool_end')).toBe(count('tool_start'))
})

it('after the fifth equal call no tool is called any more', async () => {
  const server = await serve((turn) =>
    turn < 12
      ? { calls: [{ name: turn < 6 ? 'search' : 'send', input: turn < 6 ? { query: 'q' } : pay.input }] }
      : done,
  )
  const { search, send, called } = makeTools()
  const app = await openWith(server, [agent([search, send])])
  const { runId } = await app.run(envelope, { draft })
  expect(called.filter((each) => each.tool === 'send')).toEqual([])
  const starts = (await journal(app, runId)).flatMap((event) =>
    event.type === 'turn_start' ? [event.payload.final] : [],
  )
  const first = starts.indexOf('repeated')
  expect(first).toBeGreaterThan(0)
  expect(starts.slice(first).every((final) => final !== undefined)).toBe(true)
})

it.each([
  ['reads an argument that the model leaves to its default', { '>': [{ var: 'amount' }, 4] }],
  ['reads an argument that does not exist', { '>': [{ var: 'amuont' }, 100] }],
])('a tool whose approval %s is not called unasked', async (_, when) => {
  const server = await serve((turn) => (turn === 0 ? { calls: [{ name: 'pay', input: {} }] } : done))
  let calls = 0
  const pay = tool({
    ...{ id: 'pay', description: 'Pays', output: { type: 'object' }, sideEffect: true },
    input: { type: 'object', properties: { amount: { type: 'number', default: 5 } } },
    approval: { when },
    run: () => {
      calls++
      return {}
    },
  })
  const app = await openWith(server, [agent([pay])])
  const { status } = await app.run(envelope, { draft })
  expect({ status, calls }).toEqual({ status: 'waiting', calls: 0 })
})

it('an answer that is suppressed for its confidence is in no frame of its turns', async () => {
  const secret = 'an answer that no one may see'
  const text = JSON.stringify({
    primary_output: JSON.stringify({ answer: secret, sources: ['a'] }),
    ...{ confidence: 0.1, confidence_type: 'verbalized', reasoning: 'A guess', escalate: false },
  })
  const server = await serve((turn) =>
    turn === 0 ? { calls: [{ name: 'search', input: { query: 'q' } }] } : { text },
  )
  const { search } = makeTools()
  const app = await openWith(server, [agent([search])])
  const nodes = draft.nodes.map((node) => ({ ...node, data: { contract: true, suppressBelow: 0.5 } }))
  const { runId, status } = await app.run(envelope, { draft: { ...draft, nodes } })
  expect(status).toBe('failed')
  const events = await journal(app, runId)
  expect(JSON.stringify(events), 'the journal keeps it as evidence').toContain(secret)
  const frames = events.map((event) => toFrame(event, 'c', createRedactor()))
  expect(frames.map(({ type }) => type)).toContain('turn_end')
  expect(JSON.stringify(frames)).not.toContain(secret)
})
