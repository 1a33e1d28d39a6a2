/** Planners place agents with tools: the search by their contracts, a model that reads which tools they have. */
import { describe, expect, it } from 'vitest'
import { defineAgent, tool } from '../../src/index.ts'
import { journal } from '../journeys/support.ts'
import { messagesOf } from './chat-server.ts'
import { openWith, serve } from './support.ts'

const text = { type: 'string' } as const
const report = {
  type: 'object',
  properties: { summary: text, informed: { type: 'array', items: text } },
  required: ['summary', 'informed'],
} as const
const envelope = {
  objective: 'Research tea',
  inputs: { topic: 'tea' },
  outputContract: { schema: report },
}

function define() {
  const called: string[] = []
  const make = (id: string, more: object) =>
    tool({
      id,
      description: `Does ${id}`,
      input: { type: 'object', properties: { query: text }, required: ['query'] },
      output: { type: 'object' },
      run: () => {
        called.push(id)
        return {}
      },
      ...more,
    } as never)
  const researcher = defineAgent({
    id: 'researcher',
    model: 'compatible/scripted',
    instructions: 'Research.',
    input: { type: 'object', properties: { topic: text }, required: ['topic'] },
    output: report,
    tools: [make('lookup', {}), make('notify', { sideEffect: true, approval: 'always' })],
  })
  return { called, researcher }
}

const works = (turn: number) =>
  turn === 0
    ? { calls: [{ name: 'lookup', input: { query: 'tea' } }] }
    : { text: JSON.stringify({ summary: 'Tea', informed: [] }) }

describe('an agent with tools in a plan', () => {
  it('is placed by the search, with what it may do at most, and does its work', async () => {
    const { called, researcher } = define()
    const app = await openWith(await serve(works), [researcher])
    const { status, output, runId } = await app.run(envelope)
    expect({ status, output }).toEqual({ status: 'completed', output: { summary: 'Tea', informed: [] } })
    expect(called).toEqual(['lookup'])
    const plan = (await journal(app, runId)).find(({ type }) => type === 'plan_generated')?.payload
    expect(plan).toMatchObject({ plan: { nodes: [{ capabilityId: 'researcher' }] } })
    const shown = JSON.stringify(plan)
    expect(shown).toContain('plan/agent-bounds')
    expect(shown).toContain('"notify"')
  })

  it('is drafted by a model, which reads the tools and their approvals', async () => {
    const { called, researcher } = define()
    const drafted = {
      nodes: [
        { id: 'research', capabilityId: 'researcher', inputs: { topic: { envelope: '/inputs/topic' } } },
      ],
      output: { node: 'research' },
    }
    const server = await serve((turn, seen) =>
      String(messagesOf(seen)[0]?.content).includes('You draft plans')
        ? { text: JSON.stringify(drafted) }
        : works(turn),
    )
    const planner = { mode: 'model', model: 'compatible/scripted' } as const
    const app = await openWith(server, [researcher], { planner })
    const { status, runId } = await app.run(envelope)
    expect(status).toBe('completed')
    expect(called).toEqual(['lookup'])
    const [asked] = server.seen
    const system = String(asked && messagesOf(asked)[0]?.content)
    expect(system).toContain('"tools":[{"name":"lookup"},{"name":"notify","approval":"always"}]')
    const plan = (await journal(app, runId)).find(({ type }) => type === 'plan_generated')?.payload
    expect(plan).toMatchObject({ plan: { nodes: [{ id: 'research', capabilityId: 'researcher' }] } })
  })
})
