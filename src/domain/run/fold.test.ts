/** States keep their shape: one that loses or gains members becomes a dictionary, which every decision then pays for. */
import { expect, it } from 'vitest'
import { planEvent, sampleEvent, startEvent } from '../../testing/stores/sample.ts'
import type { NewEvent } from '../event.ts'
import type { RunState } from '../run.ts'
import { applyEvent, begin } from './fold.ts'

const key = { attempt: 1, capabilityId: 'cap.write', idempotencyKey: 'k', idempotent: true }
const usage = { calls: 1 }
const output = { value: 'tea', text: 'tea', repairs: [] } as never
const purpose = { kind: 'retry', nodeId: 'write', candidate: 0 } as const
const write = { nodeId: 'write' }

/** The life of a node that is tried twice, and the end of its run. */
const events: readonly NewEvent[] = [
  sampleEvent('plan_requested', { attempt: 1, phase: 'initial', capabilities: [] } as never),
  planEvent(),
  sampleEvent('node_start', {} as never, write),
  sampleEvent('attempt_start', { ...key, inputs: {}, deadlineAt: 9_000 } as never, write),
  sampleEvent('lease_lost', { attempt: 1 } as never, write),
  sampleEvent('attempt_end', { attempt: 1, outcome: 'invalid', issues: [], usage } as never, write),
  sampleEvent('timer_set', { timerId: 't', dueAt: 2_000, purpose } as never, write),
  sampleEvent('timer_fired', { timerId: 't' } as never),
  sampleEvent('attempt_start', { ...key, attempt: 2, inputs: {} } as never, write),
  sampleEvent('attempt_end', { attempt: 2, outcome: 'ok', output, issues: [], usage } as never, write),
  sampleEvent('node_complete', { attempt: 2, output } as never, write),
  sampleEvent('cancel_requested', { by: 'ann' }),
  sampleEvent('complete', { status: 'cancelled' } as never),
]

const membersOf = ({ nodes, ...state }: RunState) => [
  Object.keys(state),
  ...[...nodes.values()].map((node) => Object.keys(node)),
]

it('adds no member to a state, and removes none', () => {
  const state = begin('r', startEvent())
  const [members] = membersOf(state)
  let ofNodes: string[][] = []
  for (const event of events) {
    applyEvent(state, event)
    const [own, ...nodes] = membersOf(state)
    expect(own, event.type).toEqual(members)
    if (ofNodes.length > 0) expect(nodes, event.type).toEqual(ofNodes)
    ofNodes = nodes
  }
  expect(state.nodes.get('write')).toMatchObject({ status: 'completed', attempts: 2 })
})
