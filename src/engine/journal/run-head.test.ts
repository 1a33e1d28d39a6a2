import { describe, expect, it } from 'vitest'
import type { Envelope } from '../../domain/envelope.ts'
import type { Action } from '../../domain/policy.ts'
import { applyEvent, begin } from '../../domain/run/fold.ts'
import { fact } from '../events.ts'
import { buildRunHead } from './run-head.ts'

const envelope: Envelope = {
  objective: '',
  inputs: {},
  constraints: {},
  outputContract: { schema: {}, constraints: [] },
  policies: { planner: {}, runtime: [] },
  specialInstructions: [],
  metadata: {},
}

/** A run in which policies have acted, before anything else. */
function headAfter(...actions: readonly Action[]) {
  const at = { now: 0, planVersion: 0 }
  const state = begin('r', fact('start', { envelope, correlationId: 'r', schemaHash: '' }, at))
  for (const action of actions)
    applyEvent(
      state,
      fact('policy_triggered', { policyId: 'p', trigger: 'manual', actionDetails: action, action: '' }, at),
    )
  return buildRunHead(state, 5)
}

describe('the head of a run', () => {
  it('makes a run with work to do due at once', () => {
    expect(headAfter()).toMatchObject({ status: 'pending', wakeAt: 5 })
    expect(headAfter({ type: 'replan' })).toMatchObject({ status: 'pending', wakeAt: 5 })
  })

  it('lets a paused run wait for a person, even when a new plan is ordered', () => {
    expect(headAfter({ type: 'pause' })).not.toHaveProperty('wakeAt')
    expect(headAfter({ type: 'replan' }, { type: 'pause' })).toEqual({
      status: 'awaiting_human',
      planVersion: 0,
    })
  })

  it('does not let a pause keep a run from failing', () => {
    expect(headAfter({ type: 'pause' }, { type: 'fail' })).toMatchObject({ wakeAt: 5 })
  })
})
