/** The fold of the console: however events are delivered, the same state. */
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/client/index.ts'
import { createFold, fold } from '../../ui/src/fold/fold.ts'
import type { PlanView } from '../../ui/src/fold/run-state.ts'
import { isShown, toVisiblePlan } from '../../ui/src/fold/visible-plan.ts'
import { diffLines } from '../../ui/src/parts/diff-lines.ts'
import { locateValues } from '../../ui/src/parts/locate-values.ts'
import { markPointers } from '../../ui/src/parts/mark-pointers.ts'
import { cutText } from '../../ui/src/parts/text-pieces.ts'
import { Random } from '../random.ts'

const plan = {
  nodes: [
    { id: 'write', capabilityId: 'writer', kind: 'model' },
    { id: 'check', capabilityId: 'checker', kind: 'local' },
  ],
  edges: [{ from: 'write', to: 'check', when: 'pass', kind: 'control' }],
}
const given: readonly (readonly [RunEvent['type'], object, string?])[] = [
  ['start', { envelope: { objective: 'Tea' } }],
  ['plan_generated', { plan, planVersion: 1, nodes: [], satisfactionScore: 1, metadata: {} }],
  ['node_start', {}, 'write'],
  ['attempt_start', { attempt: 1, capabilityId: 'writer', inputs: { topic: 'tea' } }, 'write'],
  [
    'attempt_end',
    {
      attempt: 1,
      outcome: 'invalid',
      issues: [{ code: 'x', message: 'No text' }],
      usage: { calls: 1, costUsd: 0.5 },
    },
    'write',
  ],
  ['timer_set', { timerId: 't', dueAt: 9, purpose: { kind: 'retry', nodeId: 'write', candidate: 0 } }],
  ['attempt_start', { attempt: 2, capabilityId: 'writer', inputs: { topic: 'tea' } }, 'write'],
  [
    'attempt_end',
    {
      attempt: 2,
      outcome: 'ok',
      output: { value: 1, raw: '1' },
      issues: [],
      usage: { calls: 1, costUsd: 0.25 },
    },
    'write',
  ],
  [
    'hitl_request',
    { requestId: 'q', kind: 'approval', nodeId: 'write', question: 'Good?', value: 1, expiresAt: 0 },
    'write',
  ],
  ['hitl_resolved', { requestId: 'q', decision: 'approve', by: 'ann' }, 'write'],
  ['node_complete', { attempt: 2, output: { value: 1 }, person: 'ann' }, 'write'],
  ['node_skipped', { reason: 'not needed' }, 'check'],
  ['complete', { status: 'completed', output: 1, provenance: [] }],
]
const events = given.map(
  ([type, payload, nodeId], index) =>
    ({
      type,
      payload,
      id: index + 1,
      timestamp: new Date(index * 1_000).toISOString(),
      runId: 'r',
      planVersion: 1,
      correlationId: 'r',
      ...(nodeId && { nodeId }),
    }) as unknown as RunEvent,
)

describe('the fold', () => {
  it('shows nodes, attempts, asks, cost and the answer', () => {
    const state = fold(events)
    expect(state).toMatchObject({
      status: 'completed',
      output: 1,
      objective: 'Tea',
      planVersion: 1,
      events: 13,
    })
    expect(state.nodes.get('write')).toMatchObject({
      status: 'completed',
      person: 'ann',
      output: { value: 1 },
    })
    expect(state.nodes.get('write')?.attempts.map(({ outcome }) => outcome)).toEqual(['invalid', 'ok'])
    expect(state.nodes.get('check')).toMatchObject({ status: 'skipped', message: 'not needed' })
    expect(state.usage).toMatchObject({ calls: 2, costUsd: 0.75 })
    expect(state.asks.get('q')?.resolved).toMatchObject({ decision: 'approve', by: 'ann' })
  })

  it('up to an event, shows the run as it was then', () => {
    expect(fold(events, 6).nodes.get('write')?.status).toBe('retrying')
    expect(fold(events, 9)).toMatchObject({ status: 'waiting', events: 9 })
    expect(fold(events, 9).nodes.get('write')?.status).toBe('waiting')
    expect(fold(events, 10).status).toBe('running')
    expect(fold(events, 0).status).toBe('unknown')
  })

  it('repeated and reordered events change nothing, and one by one is the same as all at once', () => {
    const random = new Random(7)
    for (let round = 0; round < 50; round++) {
      const delivered = [...events, ...events.slice(0, round % events.length)]
        .map((event) => ({ event, order: random.next() }))
        .sort((one, other) => one.order - other.order)
        .map(({ event }) => event)
      const folder = createFold('r')
      for (const event of delivered) folder.add(event)
      expect(folder.state).toEqual(fold(events))
    }
  })

  it('waits for a missing event instead of skipping it', () => {
    const folder = createFold('r')
    for (const event of events.filter(({ id }) => id !== 3)) folder.add(event)
    expect(folder.state.events).toBe(2)
    folder.add(events[2] as RunEvent)
    expect(folder.state).toEqual(fold(events))
  })
})

describe('nodes that a compiler inserted', () => {
  const edge = (from: string, to: string, kind = 'control') => ({ from, to, when: 'pass', kind })
  const compiled = {
    nodes: [
      { id: 'ask', capabilityId: 'writer', kind: 'model' },
      { id: 'length', kind: 'routing', routing: { routes: [{ to: 'length/short.if', label: 'short' }] } },
      { id: 'length/short.if', kind: 'routing' },
      { id: 'length/short/write.input', capabilityId: 'proviso.pipeline.render', kind: 'local' },
      { id: 'length/short/write', capabilityId: 'writer', kind: 'model' },
    ],
    edges: [
      edge('ask', 'length'),
      edge('length', 'length/short.if'),
      edge('length/short.if', 'length/short/write.input'),
      edge('ask', 'length/short/write.input', 'data'),
      edge('length/short/write.input', 'length/short/write'),
    ],
  }
  const at = (id: number, type: string, more: object) =>
    ({ ...events[0], id, type, payload: {}, ...more }) as unknown as RunEvent
  const written = [
    events[0] as RunEvent,
    at(2, 'plan_generated', { payload: { plan: compiled, planVersion: 1, nodes: [], metadata: {} } }),
    at(3, 'node_start', { nodeId: 'length/short.if' }),
    at(4, 'node_complete', { nodeId: 'length/short.if' }),
    at(5, 'node_complete', { nodeId: 'ask' }),
  ]

  it('are not shown; their edges are joined, and their events are minor', () => {
    const { nodes, plans, timeline } = fold(written)
    expect([...nodes.values()].filter(isShown).map(({ id }) => id)).toEqual([
      'ask',
      'length',
      'length/short/write',
    ])
    const shown = toVisiblePlan(plans[0] as PlanView, () => false)
    expect(shown.nodes.map(({ id }) => id)).toEqual(['ask', 'length', 'length/short/write'])
    expect(shown.edges).toEqual([
      { from: 'ask', to: 'length', via: 'length', when: 'pass', kind: 'control' },
      { from: 'length', to: 'length/short/write', via: 'length/short.if', when: 'pass', kind: 'control' },
    ])
    expect(timeline.map(({ id, minor }) => [id, minor])).toEqual([
      [1, false],
      [2, false],
      [3, true],
      [4, true],
      [5, false],
    ])
  })

  it('are shown if they fail', () => {
    const failed = { nodeId: 'length/short/write.input', payload: { error: { message: 'No topic' } } }
    const { nodes, plans, timeline } = fold([...written, at(6, 'node_error', failed)])
    expect([...nodes.values()].filter(isShown).map(({ id }) => id)).toContain(failed.nodeId)
    expect(timeline.at(-1)).toMatchObject({ minor: false, text: 'failed: No topic' })
    const shown = toVisiblePlan(plans[0] as PlanView, (id) => id === failed.nodeId)
    expect(shown.edges.map(({ from, to }) => `${from} ${to}`)).toContain(
      'length/short/write.input length/short/write',
    )
  })

  it('a plan without them is the same object, so that it is not drawn again', () => {
    const [plan] = fold(events).plans
    expect(toVisiblePlan(plan as PlanView, () => false)).toBe(plan)
  })
})

describe('what is shown of repairs', () => {
  it('marks the repaired parts of a value and nothing else', () => {
    const parts = markPointers({ a: '1', 'b/c': [1, 2] }, new Set(['/b~1c/1']))
    expect(parts.map(({ text }) => text).join('')).toBe(JSON.stringify({ a: '1', 'b/c': [1, 2] }, null, 2))
    expect(parts.filter(({ pointer }) => pointer !== undefined)).toEqual([{ text: '2', pointer: '/b~1c/1' }])
  })

  it('locates values in the text of a model, with its quotes, comments and commas', () => {
    const text = `Sure:\n{ name: 'Tea', // green\n "tags": ["a", 'b',], "a/b": {"c": 4,}, }`
    const found = new Map(
      locateValues(text).map(({ pointer, start, end }) => [pointer, text.slice(start, end)]),
    )
    expect(Object.fromEntries(found)).toEqual({
      '/name': `name: 'Tea'`,
      '/tags': `"tags": ["a", 'b',]`,
      '/tags/0': '"a"',
      '/tags/1': `'b'`,
      '/a~1b': '"a/b": {"c": 4,}',
      '/a~1b/c': '"c": 4',
    })
    const random = new Random(3)
    for (let round = 0; round < 300; round++) {
      const broken = [...text].filter(() => random.next() > 0.1).join('')
      for (const { start, end } of locateValues(broken))
        expect(start <= end && end <= broken.length).toBe(true)
    }
  })

  it('shows the whole text of a model, with each change where it was made', () => {
    const raw = 'Here: {a: \'1\', n: "2",}'
    const repairs = [
      { stage: 'extract', rule: 'surroundings', range: [0, 6] as const, after: '' },
      { stage: 'syntactic', rule: 'bare-key', range: [7, 8] as const, after: '"a"' },
      { stage: 'semantic', rule: 'str->int', pointer: '/n' },
    ]
    const parts = cutText(raw, repairs, locateValues(raw, 6))
    expect(parts.map(({ text }) => text).join('')).toBe(raw)
    const changed = parts.filter(({ repair }) => repair !== undefined)
    expect(changed.map(({ repair, text, after }) => [repair, text, after])).toEqual([
      [0, 'Here: ', ''],
      [1, 'a', '"a"'],
      [2, 'n: "2"', undefined],
    ])
    expect(changed[1]?.pointer).toBe('/a')
  })

  it('compares two texts line by line, and both can be read back from the difference', () => {
    const [before, after] = ['a\nb\nc\nd', 'a\nx\nc\nd\ne']
    const lines = diffLines(before, after)
    const side = (kind: 'added' | 'removed') =>
      lines
        .filter((line) => line.kind === 'same' || line.kind === kind)
        .map(({ text }) => text)
        .join('\n')
    expect([side('removed'), side('added')]).toEqual([before, after])
    expect(lines.filter(({ kind }) => kind === 'same').length).toBe(3)
    const long = Array.from({ length: 700 }, (_, index) => String(index)).join('\n')
    expect(diffLines(long, `${long}\nend`).filter(({ kind }) => kind !== 'same')).toEqual([
      { kind: 'added', text: 'end' },
    ])
  })
})
