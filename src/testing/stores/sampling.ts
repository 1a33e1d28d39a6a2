/** Tests of health figures: the trace of an attempt is stored on its span, and the spans are summed up. */
import type { Json } from '../../base/json.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { Output, Usage } from '../../domain/output.ts'
import { newRun, planEvent, runningHead, sampleEvent, startEvent } from './sample.ts'
import type { Suite, SuiteStore } from './test-api.ts'

export type TraceEntry = readonly [event: string, payload?: { readonly [key: string]: Json }]

export interface Attempt {
  readonly nodeId?: string
  readonly attempt?: number
  readonly endedAt?: number
  readonly model?: string
  readonly trace?: readonly TraceEntry[]
  readonly output?: Output
  readonly usage?: Usage
}

/** Events of one attempt with its trace. */
export function attemptEvents({
  nodeId = 'write',
  attempt = 1,
  endedAt = 2_000,
  trace = [],
  ...end
}: Attempt): NewEvent[] {
  const capabilityId = `cap.${nodeId}`
  const started = { attempt, capabilityId, idempotencyKey: 'k', idempotent: true, inputs: {} } as const
  return [
    sampleEvent('attempt_start', started, { nodeId, at: endedAt - 10 }),
    ...trace.map(([event, payload]) =>
      sampleEvent('log', { event, ...(payload && { payload }) }, { nodeId, at: endedAt }),
    ),
    sampleEvent(
      'attempt_end',
      { attempt, outcome: 'ok', issues: [], usage: { calls: 1 }, ...end },
      { nodeId, at: endedAt },
    ),
  ]
}

const repaired: readonly TraceEntry[] = [
  ['aros.soe.skipped', { mode: 'auto', reason: 'no JSON mode' }],
  ['output.coercion.attempt', { stage: 'tolerant', reason: 'comma.trailing' }],
  ['output.coercion.success', { stage: 'tolerant', transforms: ['comma.trailing'] }],
  ['output.coercion.success', { stage: 'semantic', transforms: ['str->int'] }],
  ['aros.reasoning.precheck.fail', { reason: 'checklist' }],
  ['aros.repair.started', { stage: 'llm' }],
  ['aros.repair.success', { stage: 'llm', input_tokens: 30, output_tokens: 10, cost_usd: 0.25 }],
]

const repairedSignals = {
  'aros.coercion.places': ['str->int /items/*/count'],
  'aros.coercion.stage.semantic': 1,
  'aros.coercion.stage.tolerant': 1,
  'aros.coercion.total': 2,
  'aros.coercion.transforms': ['comma.trailing', 'str->int'],
  'aros.fallback.stage.llm': 1,
  'aros.fallback.stage.llm.success': 1,
  'aros.precheck.fail': 1,
  'aros.precheck.total': 1,
  'aros.soe.skipped': 1,
  'aros.soe.skipped.reason': 'no JSON mode',
}

const output = {
  value: {},
  repairs: [
    { stage: 'semantic', rule: 'str->int', pointer: '/items/0/count' },
    { stage: 'semantic', rule: 'str->int', pointer: '/items/1/count' },
  ],
} as const

const free = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unknownCost: 0 }

export function sampleSuite({ test, expect }: Suite): void {
  const make = ({ store }: SuiteStore, runId: string, attempts: readonly Attempt[], tenant = 't-1') =>
    store.create(
      newRun(runId, {
        tenant,
        events: [
          startEvent(`About ${tenant}`, { pipeline: `pipeline of ${tenant}` }),
          planEvent(),
          ...attempts.flatMap(attemptEvents),
        ],
        head: { ...runningHead },
      }),
    )

  test('adds up what a tenant has stored and used', async (given) => {
    const { store } = given
    if (store.usage === undefined) return
    const usage = { calls: 1, inputTokens: 70, outputTokens: 30, costUsd: 0.25 }
    const none = await store.usage({ tenant: 't-1', from: 0 })
    expect(none).toEqual({ stored: 0, tokens: 0, costUsd: 0 })
    await make(given, 'a', [{ usage, endedAt: 2_000 }, { attempt: 2 }, { attempt: 3, usage, endedAt: 9_000 }])
    await make(given, 'b', [{ usage }], 't-2')
    const all = await store.usage({ tenant: 't-1', from: 0 })
    expect([all.tokens, all.costUsd]).toEqual([200, 0.5])
    const later = await store.usage({ tenant: 't-1', from: 9_000 })
    expect(later).toEqual({ stored: all.stored, tokens: 100, costUsd: 0.25 })
    const events = await store.read('a', 0)
    const stored = events.reduce((sum, { payload }) => sum + JSON.stringify(payload).length, 0)
    expect(all.stored).toBeGreaterThan(stored - 1)
    // A store may count what it takes to keep events together.
    expect(all.stored).toBeLessThan(stored + events.length * 100)
  })

  test('adds up the usage of attempts that return text which databases refuse', async (given) => {
    if (given.store.usage === undefined) return
    const usage = { calls: 1, inputTokens: 70, outputTokens: 30, costUsd: 0.25 }
    const output = { value: { text: '\u0000 \ud800 \\u0000 \\\\ud800 \\' } }
    await make(given, 'a', [{ usage, output }])
    const { tokens, costUsd } = await given.store.usage({ tenant: 't-1', from: 0 })
    expect([tokens, costUsd]).toEqual([100, 0.25])
  })

  for (const [how, size] of [
    ['one by one', 1],
    ['two at a time', 2],
    ['all at once', 100],
  ] as const) {
    test(`stores the trace of an attempt on its span, appended ${how}`, async ({ store }) => {
      const events = [planEvent(), ...attemptEvents({ model: 'a/m', trace: repaired, output })]
      await store.create(newRun('r'))
      for (let from = 0; from < events.length; from += size) {
        const some = events.slice(from, from + size)
        await store.append({ runId: 'r', expectedSeq: 1 + from, events: some, head: runningHead })
      }
      const [span] = await store.spans('r')
      expect(span?.attributes).toEqual({
        nodeId: 'write',
        planVersion: 1,
        capabilityId: 'cap.write',
        attempt: 1,
        outcome: 'ok',
        usage: { calls: 1 },
        model: 'a/m',
        'aros.model_id': 'a/m',
        'aros.repair.calls': 1,
        'aros.repair.input_tokens': 30,
        'aros.repair.output_tokens': 10,
        'aros.repair.cost_usd': 0.25,
        ...repairedSignals,
      })
      expect((await store.nodes('r')).every((row) => !('signals' in row))).toBe(true)
    })
  }

  test('separates the traces of attempts', async (made) => {
    await make(made, 'r', [
      { model: 'a/m', trace: repaired },
      { model: 'a/m', attempt: 2 },
    ])
    const second = (await made.store.spans('r')).find(({ spanId }) => spanId === '1:write:2')
    expect(Object.keys(second?.attributes ?? {}).filter((key) => key.startsWith('aros.'))).toEqual([
      'aros.model_id',
    ])
  })

  test('ignores an invalid trace', async (made) => {
    const bad: TraceEntry[] = [
      ['output.coercion.success'],
      ['output.coercion.success', { stage: 'semantic', transforms: [] }],
      ['output.coercion.success', { stage: '__proto__', transforms: ['x'] }],
      ['output.coercion.fail', { stage: 7 }],
      ['aros.fallback.stage', { stage: 'toString', result: 'started' }],
      ['__proto__', { stage: 'semantic' }],
      ['aros.repair.success', { stage: 'deterministic', input_tokens: -1 }],
    ]
    await make(made, 'r', [{ trace: bad }])
    const [span] = await made.store.spans('r')
    expect(Object.keys(span?.attributes ?? {}).sort()).toEqual(
      ['attempt', 'capabilityId', 'nodeId', 'outcome', 'planVersion', 'usage'].sort(),
    )
    expect((await made.store.sample({})).groups).toEqual([])
  })

  test('sums up attempts by step, model and time slot', async (made) => {
    await make(made, 'r-1', [
      { model: 'a/m', trace: repaired, output, endedAt: 1_000 },
      { nodeId: 'check', endedAt: 1_500 },
    ])
    await make(made, 'r-2', [{ model: 'a/m', trace: repaired, output, endedAt: 1_400 }])
    await make(made, 'r-3', [
      { model: 'a/m', trace: repaired, output, endedAt: 2_000 },
      { nodeId: 'check', model: 'b/m', endedAt: 2_000 },
    ])
    const { groups, runs } = await made.store.sample({ from: 1_000, to: 2_000, slots: 2 })
    const sorted = [...groups].sort((one, other) => (key(one) < key(other) ? -1 : 1))
    const repair = { calls: 1, inputTokens: 30, outputTokens: 10, costUsd: 0.25, unknownCost: 0 }
    const twice = { calls: 2, inputTokens: 60, outputTokens: 20, costUsd: 0.5, unknownCost: 0 }
    const write = { nodeId: 'write', model: 'a/m', signals: repairedSignals }
    expect(sorted).toEqual([
      { nodeId: 'check', model: 'b/m', slot: 1, signals: {}, attempts: 1, repair: free },
      { ...write, slot: 0, attempts: 2, repair: twice },
      { ...write, slot: 1, attempts: 1, repair },
    ])
    expect(runs).toEqual({ total: 3, byNode: { check: 1, write: 3 }, byModel: { 'a/m': 3, 'b/m': 1 } })
  })

  test('samples by time, step, model, tenant and pipeline', async (made) => {
    await make(made, 'r-1', [{ model: 'a/m', endedAt: 1_000 }])
    await make(made, 'r-2', [{ model: 'b/m', nodeId: 'check', endedAt: 2_000 }], 't-2')
    const total = async (query: object) => (await made.store.sample(query)).runs.total
    expect(await total({})).toBe(2)
    expect(await total({ from: 1_001 })).toBe(1)
    expect(await total({ to: 1_000 })).toBe(1)
    expect(await total({ from: 1_001, to: 1_999 })).toBe(0)
    expect(await total({ nodeId: 'check' })).toBe(1)
    expect(await total({ model: 'a/m' })).toBe(1)
    expect(await total({ model: 'a/m', nodeId: 'check' })).toBe(0)
    expect((await made.store.sample({ nodeId: 'check' })).runs).toEqual({
      total: 1,
      byNode: { check: 1 },
      byModel: { 'b/m': 1 },
    })
    expect((await made.store.sample({ model: 'none' })).runs).toEqual({ total: 0, byNode: {}, byModel: {} })
    expect(await total({ tenant: 't-2' })).toBe(1)
    expect(await total({ pipeline: 'pipeline of t-1' })).toBe(1)
    expect(await total({ pipeline: 'pipeline of t-1', tenant: 't-2' })).toBe(0)
    expect(await total({ pipeline: 'pipeline of' })).toBe(0)
    expect(await total({ pipeline: 'About t-1' })).toBe(0)
    expect((await made.store.head('r-1'))?.pipeline).toBe('pipeline of t-1')
  })

  test('lists the runs in which a node called a model, or a model was called', async (made) => {
    await make(made, 'r-1', [{ model: 'a/m' }, { nodeId: 'check', model: 'b/m' }])
    await make(made, 'r-2', [{ model: 'b/m' }], 't-2')
    await make(made, 'r-3', [{ nodeId: 'check' }])
    const list = async (query: object) => (await made.store.runs(query)).map(({ runId }) => runId).sort()
    expect(await list({ nodeId: 'write' })).toEqual(['r-1', 'r-2'])
    expect(await list({ nodeId: 'check' })).toEqual(['r-1'])
    expect(await list({ model: 'b/m' })).toEqual(['r-1', 'r-2'])
    expect(await list({ model: 'b/m', nodeId: 'write' })).toEqual(['r-2'])
    expect(await list({ model: 'b/m', tenant: 't-1' })).toEqual(['r-1'])
    expect(await list({ nodeId: "' or 1=1 --" })).toEqual([])
  })

  test('counts a run once, regardless of its number of attempts', async (made) => {
    const again = [1, 2, 3].map((attempt) => ({ attempt, model: 'a/m' }))
    await make(made, 'r', again)
    const { groups, runs } = await made.store.sample({})
    expect(groups.map(({ attempts }) => attempts)).toEqual([3])
    expect(runs).toEqual({ total: 1, byNode: { write: 1 }, byModel: { 'a/m': 1 } })
  })
}

function key({ nodeId, slot }: { readonly nodeId: string; readonly slot: number }): string {
  return `${nodeId} ${slot}`
}
