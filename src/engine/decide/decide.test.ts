/** What is decided first when several things are due. */
import { describe, expect, it } from 'vitest'
import type { Envelope } from '../../domain/envelope.ts'
import { applyEvent, begin } from '../../domain/run/fold.ts'
import { type DecisionContext, fact } from '../events.ts'
import { decide } from './decide.ts'
import { decideUntilIdle } from './decide-until-idle.ts'

const envelope: Envelope = {
  objective: '',
  inputs: {},
  constraints: {},
  outputContract: { schema: {}, constraints: [] },
  policies: { planner: {}, runtime: [] },
  specialInstructions: [],
  metadata: {},
}
const context: DecisionContext = {
  now: 100,
  askMs: 1000,
  capability: () => undefined,
  considerCapabilities: () => ({ recorded: { capabilities: [] } }),
}

/** The timers that fire, one after the other, of the timers set in this order. */
function fired(...timers: readonly (readonly [timerId: string, dueAt: number])[]): string[] {
  const at = { now: 0, planVersion: 0 }
  const state = begin('r', fact('start', { envelope, correlationId: 'r', schemaHash: '' }, at))
  for (const [timerId, dueAt] of timers) {
    const purpose = { kind: 'policy', policyId: timerId } as const
    applyEvent(state, fact('timer_set', { timerId, dueAt, purpose }, at))
  }
  const names: string[] = []
  for (;;) {
    const decision = decide(state, context)
    const [event] = decision.kind === 'facts' ? decision.facts : []
    if (event?.type !== 'timer_fired') return names
    names.push(event.payload.timerId)
    applyEvent(state, event)
  }
}

it('prices the candidates with the request for a plan, and returns the prices for the planner', () => {
  const state = begin(
    'r',
    fact('start', { envelope, correlationId: 'r', schemaHash: '' }, { now: 0, planVersion: 0 }),
  )
  let priced = 0
  const considered = { capabilities: [] }
  const considerCapabilities = () => {
    priced++
    return { recorded: { capabilities: [] }, considered }
  }
  const given = { happened: [], takeSlot: () => true }
  const decided = decideUntilIdle(state, { ...context, considerCapabilities }, given)
  expect(decided.events.map(({ type }) => type)).toEqual(['plan_requested'])
  expect([decided.plan, decided.considered, priced]).toEqual([true, considered, 1])
})

describe('timers that are due at once', () => {
  it('fire in the order of their times, however they were set; those to come do not', () => {
    expect(fired(['late', 90], ['never', 101], ['early', 10], ['now', 100])).toEqual(['early', 'late', 'now'])
  })

  it('fire by their names where their times are the same', () => {
    expect(fired(['b', 50], ['c', 50], ['a', 50])).toEqual(['a', 'b', 'c'])
  })
})
