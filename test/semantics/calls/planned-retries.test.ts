/** Nodes that a planner makes are tried three times with pauses, then their alternates are, then the envelope decides. */

import { describe, expect, it } from 'vitest'
import type { App } from '../../../src/app.ts'
import { ProvisoError } from '../../../src/base/errors/error.ts'
import type { DraftInput } from '../../../src/domain/envelope/envelope-input.ts'
import { agent, copyVariants, json, serveAgents, status, wanted, writer } from '../../agents/support.ts'
import { envelope, journal, local, open, text } from '../../journeys/support.ts'
import { scripted } from '../../pipelines/support.ts'

const pauses = async (app: App, runId: string) =>
  (await journal(app, runId)).flatMap((event) =>
    event.type === 'timer_set' && event.payload.purpose.kind === 'retry'
      ? [event.payload.dueAt - event.at]
      : [],
  )
/** A function that fails so many times first. */
const fragile = (id: string, failures: number, more = {}) => {
  const calls = { count: 0 }
  const run = () => {
    if (++calls.count <= failures) throw new Error('It broke')
    return { text: 'Tea' }
  }
  return { capability: local(id, run, more), calls }
}

describe('a node that the search planner makes', () => {
  it('is tried three times, with pauses that double', async () => {
    const kinds = [{ idempotent: true }, { idempotent: false }, { idempotent: true, sideEffect: true }]
    await Promise.all(
      kinds.map(async (more) => {
        const { capability, calls } = fragile('write', 2, more)
        const app = await open({ capabilities: [capability] })
        const done = await app.run(envelope())
        expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
        expect(calls.count).toBe(3)
        expect(await pauses(app, done.runId)).toEqual([500, 1000])
      }),
    )
  })

  it('is followed by its alternates with as many tries, then the run fails', async () => {
    const [first, second] = [fragile('write', 9), fragile('write2', 9)]
    const app = await open({ capabilities: [first.capability, second.capability] })
    const done = await app.run(envelope())
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/provider_error' })
    expect([first.calls.count, second.calls.count]).toEqual([3, 3])
  })

  it('is asked about after all of that where the envelope says onNodeFail: ask', async () => {
    const { capability, calls } = fragile('write', 9)
    const app = await open({ capabilities: [capability] })
    const { runId, status: now } = await app.run(envelope({ policies: { onNodeFail: 'ask' } }))
    expect(now).toBe('waiting')
    expect(calls.count).toBe(3)
    const [ask] = await app.store.asks({ runId })
    expect(ask).toMatchObject({ kind: 'failure', issues: [{ message: expect.stringContaining('broke') }] })
  })

  it('is tried once where it changes the world and must not be called twice', async () => {
    const { capability, calls } = fragile('write', 9, { sideEffect: true, idempotent: false })
    const app = await open({ capabilities: [capability] })
    expect((await app.run(envelope())).status).toBe('failed')
    expect(calls.count).toBe(1)
  })

  it('is tried once where it refuses what it is given', async () => {
    let calls = 0
    const write = local('write', () => {
      calls++
      throw new ProvisoError('capability/refused', 'Not like this')
    })
    const app = await open({ capabilities: [write] })
    expect((await app.run(envelope())).status).toBe('failed')
    expect(calls).toBe(1)
  })

  it('is tried once by a model that declines', async () => {
    let calls = 0
    const provider = scripted(() => {
      calls++
      return "I'm sorry, but I can't help with that."
    })
    const app = await open({ env: {}, providers: [provider], defaultModel: 'test/m' })
    expect(await app.run(envelope())).toMatchObject({ status: 'failed', failure: 'attempt/refused' })
    expect(calls).toBe(1)
  })

  it.each([
    [500, 3],
    [400, 1],
    [422, 1],
  ])('is called by an agent that always answers %i as often as that can help', async (code, times) => {
    const broken = await agent(status(code))
    const served = await serveAgents({ pollMs: 50 })
    await served.register(writer(broken.url), await served.agentToken())
    expect((await served.app.run(wanted())).status).toBe('failed')
    expect(broken.received).toHaveLength(times)
  })

  it('is called again by an agent that recovers', async () => {
    const recovering = await agent(status(500), json({ copyVariants }))
    const served = await serveAgents({ pollMs: 50 })
    await served.register(writer(recovering.url), await served.agentToken())
    expect(await served.app.run(wanted())).toMatchObject({ status: 'completed', output: { copyVariants } })
  })
})

describe('a node that a model plans', () => {
  const planning = (node: object) =>
    scripted(() => JSON.stringify({ nodes: [{ id: 'write', capabilityId: 'write', ...node }] }))

  it.each([
    [{}, 3],
    [{ retry: { max: 1 } }, 2],
    [{ retry: { max: 0 } }, 1],
  ])('with %j is tried %i times', async (node, times) => {
    const { capability, calls } = fragile('write', 9)
    const provider = planning(node)
    const app = await open({
      providers: [provider],
      planner: { mode: 'model', model: 'test/m' },
      capabilities: [capability],
    })
    expect((await app.run(envelope())).status).toBe('failed')
    expect(calls.count).toBe(times)
  })
})

describe('a draft that a caller sends', () => {
  it('is tried as often as it says, and once where it says nothing', async () => {
    for (const [retry, times] of [
      [undefined, 1],
      [{ max: 1 }, 2],
    ] as const) {
      const { capability, calls } = fragile('write', 9)
      const app = await open({ capabilities: [capability] })
      await app.run(envelope(), {
        draft: { nodes: [{ id: 'w', capabilityId: 'write', ...(retry && { retry }) }] },
      })
      expect(calls.count).toBe(times)
    }
  })
})

describe('the estimate', () => {
  it('counts the retries of planned nodes', async () => {
    const app = await open({ env: {}, providers: [scripted(() => '{"text":"Tea"}')], defaultModel: 'test/m' })
    const given = envelope({ outputContract: { schema: text }, constraints: { maxTokens: 1_000_000 } })
    const done = await app.run(given)
    const planned = (await journal(app, done.runId)).find((event) => event.type === 'plan_generated')
    const nodes = planned?.type === 'plan_generated' ? (planned.payload.plan?.nodes ?? []) : []
    expect(nodes).toMatchObject([{ retry: { max: 2, backoffMs: 500 } }])
    const { id, capabilityId, retry } = nodes[0] as { id: string; capabilityId: string; retry: object }
    const calls = (draft: DraftInput) => app.estimate(given, { draft: draft }).calls
    expect(calls({ nodes: [{ id, capabilityId, retry }] })).toEqual({ least: 1, most: 12 })
    expect(calls({ nodes: [{ id, capabilityId }] })).toEqual({ least: 1, most: 4 })
  })

  it('warns of a limit that the retries of a planned node may exceed', async () => {
    const app = await open({ env: {}, providers: [scripted(() => '{"text":"Tea"}')], defaultModel: 'test/m' })
    const findings = async (maxTokens: number) => {
      const done = await app.run(envelope({ constraints: { maxTokens } }))
      expect(done.status).toBe('completed')
      const planned = (await journal(app, done.runId)).find((event) => event.type === 'plan_generated')
      return JSON.stringify(planned).includes('plan/may-exceed-limit')
    }
    const { tokens } = app.estimate(envelope(), {
      draft: { nodes: [{ id: 'a', capabilityId: 'proviso.answer', contracts: { output: text } }] },
    })
    expect(await findings(tokens.most * 4)).toBe(false)
    expect(await findings(tokens.most * 2)).toBe(true)
  })
})
