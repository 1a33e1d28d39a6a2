import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../domain/event.ts'
import { begin } from '../../domain/run/fold.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { fact } from '../events.ts'
import { canBeAhead } from './can-be-ahead.ts'

const envelope = {
  objective: '',
  inputs: {},
  constraints: {},
  outputContract: { schema: {}, constraints: [] },
  policies: { planner: {}, runtime: [] },
  specialInstructions: [],
  metadata: {},
}
const start = fact('start', { envelope, correlationId: 'r', schemaHash: '' }, { now: 0, planVersion: 0 })

const properties = { idempotent: true, sideEffect: false, untrusted: false, tokens: 0 }
const capabilities: Readonly<Record<string, { kind: string } & typeof properties>> = {
  local: { ...properties, kind: 'local' },
  other: { ...properties, kind: 'local' },
  once: { ...properties, kind: 'local', idempotent: false },
  effect: { ...properties, kind: 'local', sideEffect: true },
  ...Object.fromEntries(
    ['model', 'http', 'mcp', 'human', 'scripted', 'fetch', 'memory', 'agent'].map((kind) => [
      kind,
      { ...properties, kind },
    ]),
  ),
}
const capability = (id: string) => capabilities[id]

const nodes: Readonly<Record<string, object>> = {
  ...Object.fromEntries([...Object.keys(capabilities), 'unknown'].map((id) => [id, { capabilityId: id }])),
  fallback: { capabilityId: 'local', alternates: ['other'] },
  leaving: { capabilityId: 'local', alternates: ['other', 'model'] },
  route: { routing: { routes: [] } },
  map: { body: { nodes: [] } },
}

function runWith(more: Partial<RunState> = {}): RunState {
  const all = Object.entries(nodes).map(([id, node]): [string, NodeState] => [
    id,
    { node: { id, ...node } } as unknown as NodeState,
  ])
  return { ...begin('r', start), planVersion: 1, nodes: new Map(all), ...more }
}

function event(type: string, nodeId?: string, planVersion = 1): NewEvent {
  return {
    type,
    version: 1,
    at: 0,
    planVersion,
    payload: {},
    ...(nodeId && { nodeId }),
  } as unknown as NewEvent
}

const isAhead = (events: readonly NewEvent[], more?: Partial<RunState>) =>
  canBeAhead(runWith(more), events, capability)
const attempt = (nodeId: string) => [event('node_start', nodeId), event('attempt_start', nodeId)]
const end = (nodeId: string) => [event('attempt_end', nodeId), event('node_complete', nodeId)]

describe('an append may be ahead of the disk', () => {
  it('if it starts and ends attempts of idempotent local functions', () => {
    expect(isAhead([...end('local'), ...attempt('other')])).toBe(true)
    expect(isAhead([...end('fallback'), event('node_skipped', 'other')])).toBe(true)
    expect(isAhead([...end('local'), ...end('route'), ...attempt('other')])).toBe(true)
  })

  it.each([
    'once',
    'effect',
    'model',
    'http',
    'mcp',
    'human',
    'scripted',
    'fetch',
    'memory',
    'agent',
    'unknown',
    'map',
  ])('but not if it starts or ends an attempt of another capability: %s', (nodeId) => {
    expect(isAhead([...end('local'), ...attempt(nodeId)])).toBe(false)
    expect(isAhead([...end(nodeId), ...attempt('local')])).toBe(false)
  })

  it('nor if an alternate of the node leaves the process', () => {
    expect(isAhead(end('leaving'))).toBe(false)
  })

  it.each([
    'hitl_request',
    'policy_triggered',
    'timer_set',
    'timer_fired',
    'budget_reserved',
    'budget_settled',
    'log',
    'node_error',
    'plan_requested',
    'rao_decision',
    'complete',
    'an event of a later version',
  ])('nor with any other event: %s', (type) => {
    expect(isAhead([...end('local'), event(type, 'local')])).toBe(false)
    expect(isAhead([...end('local'), event(type)])).toBe(false)
  })

  it('nor for nodes of another plan, while a plan is made, and at the end of the run', () => {
    expect(isAhead([event('attempt_end', 'local', 2)])).toBe(false)
    expect(isAhead([event('attempt_end', 'removed')])).toBe(false)
    expect(isAhead(end('local'), { planning: {} as NonNullable<RunState['planning']> })).toBe(false)
    expect(isAhead(end('local'), { finished: {} as NonNullable<RunState['finished']> })).toBe(false)
  })
})
