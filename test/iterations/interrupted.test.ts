/** Maps and loops that are interrupted: cancelled, paused, planned anew, asked about. */
import { describe, expect, it } from 'vitest'
import {
  type App,
  type Ask,
  createApp,
  type DefinedCapability,
  type JournalEvent,
  type Planner,
} from '../../src/index.ts'
import { verifyHistory } from '../seams/engine.ts'
import { envelope, mapDraft, working } from './support.ts'

async function eventsOf(app: App, runId: string): Promise<JournalEvent[]> {
  const events: JournalEvent[] = []
  for await (const event of app.watch(runId)) events.push(event)
  return events
}

async function asksOf(app: App, runId: string): Promise<Ask[]> {
  const { asks, openAsks } = await app.state(runId)
  return [...openAsks].flatMap((id) => asks.get(id) ?? [])
}

async function withApp<T>(
  options: { capabilities: readonly DefinedCapability[]; planner?: Planner },
  use: (app: App) => Promise<T>,
): Promise<T> {
  const app = await createApp(options)
  try {
    return await use(app)
  } finally {
    await app.close()
  }
}

const policies = (...runtime: readonly object[]) => ({ policies: { planner: {}, runtime } })

describe('a map in the middle', () => {
  it('is cancelled: what runs is interrupted, and nothing more begins', async () => {
    let called = 0
    let allCalled = () => {}
    const three = new Promise<void>((resolve) => {
      allCalled = resolve
    })
    const hanging = working('hanging', (value: number) => {
      if (++called === 4) allCalled()
      return value === 0 ? value : new Promise(() => {})
    })
    await withApp({ capabilities: [hanging] }, async (app) => {
      const draft = mapDraft('hanging', { concurrency: 3 })
      const { id: runId } = await app.start(envelope({ items: [0, 1, 2, 3, 4, 5] }), { draft })
      await three
      await app.cancel(runId, { by: 'ann' })
      expect(await app.result(runId)).toMatchObject({ status: 'cancelled' })
      expect(verifyHistory(await eventsOf(app, runId))).toEqual([])
      expect(called).toBe(4)
    })
  })

  it('keeps what is done when a new plan has the same map, except the node that it was ordered for', async () => {
    const calls: number[] = []
    const work = working('work', (value: number) => {
      calls.push(value)
      return value * 10
    })
    const draft = mapDraft('work', { concurrency: 1 })
    const planner: Planner = { name: 'same', draft: async () => draft }
    const replan = {
      id: 'again',
      enabled: true,
      trigger: {
        kind: 'onNodeComplete',
        selector: { capabilityId: 'work' },
        condition: { '==': [{ var: 'value' }, 10] },
      },
      action: { type: 'replan', rationale: 'once more' },
      maxAttempts: 1,
    }
    await withApp({ capabilities: [work], planner }, async (app) => {
      const { id: runId } = await app.start(envelope({ items: [0, 1, 2] }, policies(replan)), { draft })
      const result = await app.result(runId)
      const events = await eventsOf(app, runId)
      expect(result.issues).toEqual([])
      expect(result).toMatchObject({ status: 'completed', output: { out: [0, 10, 20] } })
      expect(verifyHistory(events)).toEqual([])
      expect(events.filter(({ type }) => type === 'plan_updated')).toHaveLength(1)
      expect(calls).toEqual([0, 1, 1, 2])
    })
  })

  it('waits while a policy asks a person, and continues after the reply', async () => {
    const work = working('work', (value: number) => value)
    const gate = {
      id: 'gate',
      enabled: true,
      trigger: {
        kind: 'onNodeComplete',
        selector: { capabilityId: 'work' },
        condition: { '==': [{ var: 'value' }, 1] },
      },
      action: { type: 'hitl', rationale: 'May it continue?' },
    }
    await withApp({ capabilities: [work] }, async (app) => {
      const draft = mapDraft('work', { concurrency: 1 })
      const { id: runId } = await app.start(envelope({ items: [0, 1, 2] }, policies(gate)), { draft })
      const waiting = await app.result(runId)
      expect(waiting.issues).toEqual([])
      expect(waiting).toMatchObject({ status: 'waiting' })
      const [ask] = await asksOf(app, runId)
      expect(ask).toMatchObject({ nodeId: 'each[1].work' })
      await app.reply(runId, {
        requestId: ask?.requestId ?? '',
        decision: 'approve',
        valueHash: ask?.valueHash ?? '',
        by: 'ann',
      })
      expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { out: [0, 1, 2] } })
      expect(verifyHistory(await eventsOf(app, runId))).toEqual([])
    })
  })

  it('asks a person about the outputs of nodes inside, by the id that they have in the body', async () => {
    const work = working('work', (value: number) => value)
    const asked = { policies: { planner: { directives: { hitlRequiredFor: ['work'] } }, runtime: [] } }
    await withApp({ capabilities: [work] }, async (app) => {
      const draft = { ...mapDraft('work'), limits: { maxAsks: 5 } }
      const { id: runId } = await app.start(envelope({ items: [7, 8] }, asked), { draft })
      const waiting = await app.result(runId)
      expect(waiting.status).toBe('waiting')
      const [first, second] = await asksOf(app, runId)
      expect([first?.nodeId, second?.nodeId]).toEqual(['each[0].work', 'each[1].work'])
      for (const [ask, decision] of [
        [first, 'approve'],
        [second, 'edit'],
      ] as const)
        await app.reply(runId, {
          requestId: ask?.requestId ?? '',
          decision,
          valueHash: ask?.valueHash ?? '',
          by: 'ann',
          ...(decision === 'edit' && { value: { value: 80 } }),
        })
      expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { out: [7, 80] } })
      expect(verifyHistory(await eventsOf(app, runId))).toEqual([])
    })
  })
})

describe('an answer that a person rejects', () => {
  it('is made again: each item is called anew, with the note of the person', async () => {
    const seen: { readonly key: string; readonly notes: readonly (string | undefined)[] }[] = []
    const work = working('work', (value: number, call) => {
      const { idempotencyKey: key, feedback } = call as {
        readonly idempotencyKey: string
        readonly feedback?: readonly { readonly note?: string }[]
      }
      seen.push({ key, notes: (feedback ?? []).map(({ note }) => note) })
      return value + seen.length
    })
    const asked = { policies: { planner: { directives: { askBeforeFinish: true } }, runtime: [] } }
    await withApp({ capabilities: [work] }, async (app) => {
      const draft = { ...mapDraft('work'), limits: { maxAsks: 9 } }
      const { id: runId } = await app.start(envelope({ items: [0, 0] }, asked), { draft })
      for (const [decision, note] of [
        ['reject', 'too small'],
        ['approve', undefined],
      ] as const) {
        await app.result(runId)
        const [ask] = await asksOf(app, runId)
        const { requestId = '', valueHash = '' } = ask ?? ({} as Partial<Ask>)
        await app.reply(runId, { requestId, decision, valueHash, by: 'ann', ...(note && { note }) })
      }
      expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { out: [3, 4] } })
      expect(new Set(seen.map(({ key }) => key)).size).toBe(4)
      expect(seen.map(({ notes }) => notes)).toEqual([[], [], ['too small'], ['too small']])
      expect(verifyHistory(await eventsOf(app, runId))).toEqual([])
    })
  })
})

describe('content that no person has approved', () => {
  it('read inside of a map still asks before a side effect after it', async () => {
    const settings = { script: { value: { value: 'from outside' } } }
    const read = working('read', () => undefined, { kind: 'scripted', run: undefined, settings })
    const send = working('send', () => 'sent', { sideEffect: true })
    const map = mapDraft('read')
    const draft = {
      nodes: [...map.nodes, { id: 'send', capabilityId: 'send', inputs: { value: { node: 'each' } } }],
      output: { properties: { out: { node: 'send', pointer: '/value' } } },
    }
    await withApp({ capabilities: [read, send] }, async (app) => {
      const { id: runId } = await app.start(envelope({ items: [1, 2] }), { draft })
      expect(await app.result(runId)).toMatchObject({ status: 'waiting' })
      expect(await asksOf(app, runId)).toMatchObject([{ kind: 'side_effect', nodeId: 'send' }])
    })
  })
})
