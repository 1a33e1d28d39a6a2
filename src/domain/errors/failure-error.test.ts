/** Every code under which the engine lets a run or a node fail leaves in the one shape of errors, under a known type and reason. */
import { describe, expect, it } from 'vitest'
import { compileSchema } from '../../schema/compile/compile.ts'
import { type FailureCode, failureTable } from '../attempt/failure-code.ts'
import { outcomeTable } from '../event/event-table.ts'
import type { Failure } from '../event.ts'
import { withFacets } from '../plan.ts'
import { errorSchema } from './error-envelope.ts'
import { failureError, nodeError, rejectionError, storedError, validationErrors } from './failure-error.ts'

/** Complete by its type: a code that is new to the engine has no row here, and this does not compile. */
const leaves: Readonly<Record<FailureCode, string>> = {
  'ask/limit': 'TASK_FAILURE execution_halted',
  'ask/rejected': 'TASK_FAILURE execution_halted',
  'attempt/cancelled': 'TASK_FAILURE execution_halted',
  'attempt/invalid': 'TASK_FAILURE output_format_failure',
  'attempt/ok': 'TASK_FAILURE unexpected_error',
  'attempt/outcome_unknown': 'TASK_FAILURE unexpected_error',
  'attempt/provider_error': 'TASK_FAILURE unexpected_error',
  'attempt/refused': 'TASK_FAILURE execution_halted',
  'attempt/throttled': 'TASK_FAILURE unexpected_error',
  'attempt/unavailable': 'TASK_FAILURE unexpected_error',
  'attempt/timed_out': 'TASK_FAILURE execution_timeout',
  'attempt/unclear': 'TASK_FAILURE execution_halted',
  'attempt/truncated': 'RESOURCE_EXHAUSTION output',
  'budget/exhausted': 'RESOURCE_EXHAUSTION turns',
  'contract/unmet': 'TASK_FAILURE output_format_failure',
  'loop/limit': 'TASK_FAILURE execution_halted',
  'loop/state': 'TASK_FAILURE output_format_failure',
  'map/limit': 'TASK_FAILURE input_validation_failure',
  'node/failed': 'TASK_FAILURE unexpected_error',
  'node/input-invalid': 'TASK_FAILURE input_validation_failure',
  'node/no-route': 'TASK_FAILURE execution_halted',
  'plan/rejected': 'PLAN_REJECTED rejected',
  'plan/replan-limit': 'TASK_FAILURE execution_halted',
  'planner/throttled': 'TASK_FAILURE unexpected_error',
  'planner/unavailable': 'TASK_FAILURE unexpected_error',
  'policy/fail': 'TASK_FAILURE execution_halted',
  'rao/contract': 'CONTRACT_ERROR InvalidField',
  'rao/suppressed': 'TASK_FAILURE execution_halted',
  'run/cancelled': 'TASK_FAILURE execution_halted',
  'run/deadline': 'TASK_FAILURE execution_timeout',
}

const codes = Object.keys(leaves) as FailureCode[]
const issues = [{ code: 'schema/type', at: { pointer: '/a/b' }, message: 'must be string' }]
const finding = (nodeId: string, details = {}) =>
  ({ severity: 'hard', status: 'unsatisfied', nodeId, cause: 'missing_producer', details }) as const
const rejected = {
  status: 'rejected',
  satisfactionScore: 0,
  failures: [finding('follows', { consequenceOf: ['first'] }), finding('first')],
  warnings: [],
  infos: [],
} as const

describe('the failure of a run or a node', () => {
  it('has a row for every code that the engine knows and every outcome of an attempt', () => {
    const attempts = Object.keys(outcomeTable).map((outcome) => `attempt/${outcome}`)
    expect(codes).toEqual(expect.arrayContaining(attempts))
    expect(codes.toSorted()).toEqual(Object.keys(failureTable).toSorted())
  })

  it('says what its own issue says to do, where that knows better', () => {
    const issue = { code: 'model/no-provider', at: { pointer: '' }, message: 'None', hint: 'Set its key' }
    const error = failureError({ code: 'attempt/provider_error', message: 'No', issues: [...issues, issue] })
    expect(error.details).toMatchObject({ hint: 'Set its key' })
  })

  it.each(codes)('%s has the shape, a type and a reason, and keeps its code', (code) => {
    const envelope = failureError({ code, message: 'No', issues })
    expect(compileSchema(errorSchema).validate(envelope)).toEqual([])
    expect(`${envelope.type} ${envelope.reason}`).toBe(leaves[code])
    const { hint } = failureTable[code]
    expect(hint.length).toBeGreaterThan(10)
    expect(envelope).toMatchObject({ message: 'No', details: { code, issues, hint } })
    if (code !== 'plan/rejected') expect(envelope.path).toBe('/a/b')
  })

  it.each(codes)('%s is reported alike by a frame of a node, a row and the end of the run', (code) => {
    const error: Failure = { code, message: 'No', issues }
    const whole = failureError(error)
    expect(storedError(JSON.parse(JSON.stringify(error)))).toEqual(whole)
    const outcome = 'rejected'
    expect(nodeError({ attempt: 2, outcome, error })).toEqual({
      ...whole,
      details: { ...whole.details, outcome, attempt: 2 },
    })
  })

  it('says which resource ran out, how much of it was used and what the limit is', () => {
    const details = { resource: 'context', metrics: { used: 900, limit: 1000 } }
    expect(failureError({ code: 'budget/exhausted', message: 'Used up', details })).toMatchObject({
      type: 'RESOURCE_EXHAUSTION',
      reason: 'context',
      details,
    })
  })

  it('an attempt that ran out of turns says so, unless its answer was wrong', () => {
    const spent = [{ code: 'budget/exhausted', at: { pointer: '' }, message: 'No call is left' }]
    const of = (code: FailureCode) => failureError({ code, message: 'No', issues: spent })
    expect(of('attempt/provider_error')).toMatchObject({ type: 'RESOURCE_EXHAUSTION', reason: 'turns' })
    expect(of('attempt/invalid')).toMatchObject({ type: 'TASK_FAILURE', reason: 'output_format_failure' })
  })

  it('a rejected plan leads to the diagnostic to fix first', () => {
    const details = { diagnostics: rejected as never }
    expect(failureError({ code: 'plan/rejected', message: 'No plan', details })).toMatchObject({
      type: 'PLAN_REJECTED',
      reason: 'missing_producer',
      message: 'No plan',
      path: '/nodes/first',
    })
    expect(rejectionError({ attempt: 1, diagnostics: rejected })).toMatchObject({
      type: 'PLAN_REJECTED',
      reason: 'missing_producer',
      path: '/nodes/first',
    })
  })

  it('a RAO contract that cannot be used is an error of the contract', () => {
    const details = { error: 'InvalidThresholds', violation: 'lower above upper' }
    expect(failureError({ code: 'rao/contract', message: 'No', details })).toMatchObject({
      type: 'CONTRACT_ERROR',
      reason: 'InvalidThresholds',
      details,
    })
  })

  it('a code of another version is unexpected, and not lost', () => {
    const error = { code: 'moon/full', message: 'Too bright' } as unknown as Failure
    expect(failureError(error)).toEqual({
      type: 'TASK_FAILURE',
      reason: 'unexpected_error',
      message: 'Too bright',
      details: { code: 'moon/full' },
      path: '',
    })
  })
})

describe('what does not satisfy a contract', () => {
  it.each<[scope: string, reason: string]>([
    ['input:write', 'input_validation_failure'],
    ['node:write', 'output_format_failure'],
    ['output', 'output_format_failure'],
  ])('in %s leaves as %s, with its place and facet', (scope, reason) => {
    const provenance = [{ facet: 'tone', pointer: '/a' }]
    const errors = withFacets(issues, provenance)
    expect(validationErrors({ scope, errors })).toEqual([
      {
        type: 'TASK_FAILURE',
        reason,
        message: 'must be string',
        details: { code: 'schema/type', facet: 'tone', keyword: 'type' },
        path: '/a/b',
      },
    ])
  })
})
