/** Planners place agents with tools: the search by their contracts, a model that reads which tools they have. */
import { describe, expect, it } from 'vitest'
import { defineAgent, defineCapability, tool } from '../../src/index.ts'
import { journal } from '../journeys/support.ts'
import type { Seen } from '../models/model-server.ts'
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

/** Tools as capabilities of the catalog. */
function defineLoose() {
  const called: string[] = []
  const make = (id: string, more: object) =>
    defineCapability({
      id,
      input: { type: 'object', properties: { query: text }, required: ['query'] },
      output: { type: 'object' },
      run: () => {
        called.push(id)
        return {}
      },
      ...more,
    } as never)
  return { called, tools: [make('lookup', {}), make('notify', { sideEffect: true })] }
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

  it('is a model whose node lists tools, by hand or drafted by a model, under the same proof', async () => {
    const { called, tools } = defineLoose()
    const writer = defineCapability({
      id: 'writer',
      kind: 'model',
      preferredModels: ['compatible/scripted'],
      input: { type: 'object', properties: { topic: text }, required: ['topic'] },
      output: report,
    })
    const drafted = (use: readonly unknown[], more: object = {}) => ({
      nodes: [
        {
          ...{ id: 'write', capabilityId: 'writer', inputs: { topic: { envelope: '/inputs/topic' } } },
          tools: use,
          ...more,
        },
      ],
      output: { node: 'write' },
    })
    const approved = drafted(['lookup', { capabilityId: 'notify', approval: 'always' }])
    const isPlanning = (seen: Seen) => String(messagesOf(seen)[0]?.content).includes('You draft plans')
    const server = await serve((turn, seen) => {
      if (isPlanning(seen)) return { text: JSON.stringify(approved) }
      if (turn === 0) return { calls: [{ name: 'lookup', input: { query: 'tea' } }] }
      if (turn === 1) return { calls: [{ name: 'notify', input: { query: 'ann' } }] }
      return { text: JSON.stringify({ summary: 'Tea', informed: ['ann'] }) }
    })
    const app = await openWith(server, [writer, ...tools], {
      planner: { mode: 'model', model: 'compatible/scripted' },
    })
    for (const options of [{ draft: approved }, {}]) {
      const { runId, status } = await app.run(envelope, options as never)
      expect(status).toBe('waiting')
      expect(called.splice(0)).toEqual(['lookup'])
      const [ask] = await app.store.asks({ runId })
      expect(ask).toMatchObject({ kind: 'tool', capabilityId: 'notify', value: { query: 'ann' } })
      const { requestId = '', valueHash = '' } = ask ?? {}
      await app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
      expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { informed: ['ann'] } })
      expect(called.splice(0)).toEqual(['notify'])
      const infos = (await app.state(runId)).plan?.diagnostics.infos ?? []
      expect(infos.find(({ details }) => details?.['code'] === 'plan/agent-bounds')).toMatchObject({
        nodeId: 'write',
        constraint: '"writer" takes at most 20 turns, and may act through notify (approved each time)',
      })
      expect(await app.replay(runId)).toMatchObject({ differences: [] })
    }
    const system = String(messagesOf(server.seen.find(isPlanning)!)[0]?.content)
    expect(system).toContain('Any other model becomes an agent where its node lists "tools"')
    // A policy that asks for an approval, a tool that does not exist, and a node that calls no model are refused.
    const policies = { planner: { directives: { hitlRequiredFor: ['notify'] } } }
    const refuse = async (draft: object, more: object = {}) =>
      JSON.stringify(await app.run({ ...envelope, ...more }, { draft: draft as never }))
    expect(await refuse(drafted(['notify']), { policies })).toContain('a person approves every call of')
    expect(await refuse(drafted(['nothing']))).toContain('is registered')
    expect(await refuse(drafted(['notify'], { capabilityId: 'lookup', inputs: {} }))).toContain('is a model')
    await expect(app.run(envelope, { draft: drafted(['notify', 'notify']) as never })).rejects.toMatchObject({
      code: 'draft/invalid',
      issues: [{ at: { pointer: '/nodes/0/tools/1' } }],
    })
    expect(called).toEqual([])
  })
})
