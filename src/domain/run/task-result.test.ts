/** Results of tasks and the one error shape: text always, a value when the text is JSON, known reasons for every failure. */
import { describe, expect, it } from 'vitest'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import { blueprintError, diagnosticError, issueError, raoError } from '../errors/error-envelope.ts'
import { isRaoError, readRaoContract } from '../rao/rao-contract.ts'
import { readRaoEnvelope } from '../rao/rao-envelope.ts'
import { taskResult } from './task-result.ts'

describe('a task result', () => {
  it.each<[value: Json, content: string, parsed: object]>([
    ['Hello there', 'Hello there', {}],
    ['{"a": 1}', '{"a": 1}', { parsedContent: { a: 1 } }],
    ['Not {json}', 'Not {json}', {}],
    ['42', '42', { parsedContent: 42 }],
    [['a', 'b'], '["a","b"]', { parsedContent: ['a', 'b'] }],
    [{ a: null }, '{"a":null}', { parsedContent: { a: null } }],
    [null, 'null', { parsedContent: null }],
    [false, 'false', { parsedContent: false }],
    ['', '', {}],
  ])('of %j has its content as text', (value, content, parsed) => {
    expect(taskResult({ output: { value } })).toEqual({ content, status: 'COMPLETE', notes: {}, ...parsed })
  })

  it.each(['{oops', '[1, 2', '42 is the answer', 'true or not', '-'])(
    'of %j keeps the text, does not fail, and notes why it is no JSON',
    (value) => {
      const { notes, ...result } = taskResult({ output: { value } })
      expect(result).toEqual({ content: value, status: 'COMPLETE' })
      expect(notes['parseError']).toEqual(expect.any(String))
    },
  )

  it('does not look into what was declared as text', () => {
    for (const value of ['{"a": 1}', '{oops'])
      expect(taskResult({ output: { value }, format: { type: 'text' } })).toEqual({
        content: value,
        status: 'COMPLETE',
        notes: {},
      })
  })

  it('notes confidence, reasoning and repairs', () => {
    const repairs = [{ stage: 'tolerant', rule: 'number', pointer: '/a' }]
    expect(
      taskResult({ output: { value: 'x', confidence: 0.9, escalate: false, reasoning: 'r', repairs } }).notes,
    ).toEqual({ confidence: 0.9, escalate: false, reasoning: 'r', repairs })
  })

  it('is failed with the error in its notes, and keeps what there was', () => {
    const error = issueError({ code: 'x/y', at: { pointer: '/a' }, message: 'no' })
    expect(taskResult({ error })).toEqual({ content: '', status: 'FAILED', notes: { error } })
    expect(taskResult({ error, output: { value: 'half' } })).toMatchObject({
      content: 'half',
      status: 'FAILED',
    })
  })

  it('continues while it waits for a person', () => {
    expect(taskResult({ waitingFor: 'approval' })).toEqual({
      content: '',
      status: 'CONTINUATION',
      notes: { waitingFor: 'approval' },
    })
    expect(taskResult({ output: { value: 'x' }, waitingFor: 'approval' }).status).toBe('CONTINUATION')
  })
})

describe('a task that was skipped', () => {
  it('is complete without content, and says why', () => {
    const skipped = 'No control edge to it was followed'
    expect(taskResult({ skipped })).toEqual({ content: '', status: 'COMPLETE', notes: { skipped } })
  })
})

describe('the error shape', () => {
  it('holds an issue, without what JSON cannot hold', () => {
    const issue = {
      code: 'schema/type',
      at: { pointer: '/x' },
      message: 'must be string',
      expected: 'string',
      actual: Number.NaN,
      hint: 'Quote it',
    }
    expect(issueError(issue, 'output_format_failure')).toEqual({
      type: 'TASK_FAILURE',
      reason: 'output_format_failure',
      message: 'must be string',
      details: { code: 'schema/type', expected: 'string', hint: 'Quote it' },
      path: '/x',
    })
  })

  it('holds RAO errors: a broken answer fails the task, a broken contract is a contract error', () => {
    const contract = readRaoContract({ contract: 'yes' })
    const answer = readRaoEnvelope('text')
    if (!isRaoError(contract) || !isRaoError(answer)) throw new Error('expected errors')
    expect(raoError(contract, '/nodes/0/data')).toMatchObject({
      type: 'CONTRACT_ERROR',
      reason: 'InvalidField',
      details: { field: 'contract' },
      path: '/nodes/0/data',
    })
    expect(raoError(answer)).toMatchObject({
      type: 'TASK_FAILURE',
      reason: 'output_format_failure',
      path: '',
    })
  })

  it('holds findings of the prover and mistakes in sources', () => {
    const finding = {
      severity: 'hard',
      status: 'unsatisfied',
      constraint: 'qaFindings.overallScore >= 0.8',
      constraintId: 'min_qa',
      nodeId: 'publish-1',
      cause: 'missing_producer',
    } as const
    expect(diagnosticError(finding)).toEqual({
      type: 'PLAN_REJECTED',
      reason: 'missing_producer',
      message: 'qaFindings.overallScore >= 0.8: missing producer',
      details: finding,
      path: '/nodes/publish-1',
    })
    const mistake = new ProvisoError('option/invalid', 'No such option', { hint: 'Remove it' })
    expect(blueprintError(mistake)).toEqual({
      type: 'BLUEPRINT_ERROR',
      reason: 'option/invalid',
      message: 'No such option',
      details: { hint: 'Remove it' },
      path: '',
    })
  })
})
