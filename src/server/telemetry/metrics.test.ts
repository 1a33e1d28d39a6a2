/** Labels stay bounded for every capability name that callers choose; the counters of reading are derived from one family of events (C3). */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../base/json.ts'
import type { JournalEvent } from '../../domain/event.ts'
import { boundedLabel, otherLabel, traceCounts } from './metrics.ts'

it('keeps the first values, counts all further ones as other, and cuts long ones', () => {
  const label = boundedLabel(3)
  expect(['a', 'b', 'c', 'd', 'a', 'e'].map(label)).toEqual(['a', 'b', 'c', otherLabel, 'a', otherLabel])
  expect(boundedLabel()('x'.repeat(1000))).toHaveLength(128)
  expect(boundedLabel()(undefined)).toBe('none')
})

it('does not grow with what it is asked', () => {
  const label = boundedLabel()
  const seen = new Set(Array.from({ length: 5_000 }, (_, index) => label(`capability-${index}`)))
  expect(seen.size).toBe(201)
})

const log = (event: string, payload: { [key: string]: Json }, nodeId = 'write') =>
  ({ type: 'log', nodeId, payload: { event, payload } }) as unknown as JournalEvent
const end = (nodeId = 'write', model: string | undefined = 'house/tea', calls = 1) =>
  ({
    type: 'attempt_end',
    nodeId,
    payload: { attempt: 1, outcome: 'ok', issues: [], usage: { calls }, ...(model && { model }) },
  }) as unknown as JournalEvent
const aop = (events: JournalEvent[]) =>
  traceCounts(events).flatMap((count) => (count.kind === 'aop' ? [`${count.half}.${count.result}`] : []))

describe('aros.aop', () => {
  it('counts an answer that needed nothing as skipped by both halves', () => {
    expect(aop([end()])).toEqual(['syntactic.skip', 'coercion.skip'])
  })

  it('counts what each half did, and the other as skipped', () => {
    expect(aop([log('output.coercion.success', { stage: 'tolerant' }), end()])).toEqual([
      'syntactic.success',
      'coercion.skip',
    ])
    expect(
      aop([
        log('output.coercion.success', { stage: 'extract' }),
        log('output.coercion.fail', { stage: 'semantic' }),
        end(),
      ]),
    ).toEqual(['syntactic.success', 'coercion.fail'])
  })

  it('keeps nodes apart, and leaves calls without a model and shadow readings alone', () => {
    expect(aop([log('output.coercion.success', { stage: 'custom' }, 'a'), end('b'), end('a')])).toEqual([
      'coercion.success',
      'syntactic.skip',
      'coercion.skip',
      'syntactic.skip',
    ])
    expect(aop([end('write', '')])).toEqual([])
    expect(aop([end('write', 'house/tea', 0)])).toEqual([])
    expect(aop([log('output.coercion.success', { stage: 'tolerant', shadow: true })])).toEqual([])
  })
})

it('counts usage by model and unit, and says where no price is known', () => {
  const used = { model: 'm', calls: 2, input_tokens: 10, output_tokens: 0, cost_usd: 'unknown' }
  expect(traceCounts([log('agent.usage', used)])).toEqual([
    { kind: 'usage', model: 'm', unit: 'calls', amount: 2 },
    { kind: 'usage', model: 'm', unit: 'input_tokens', amount: 10 },
    { kind: 'usage', model: 'm', unit: 'unpriced_calls', amount: 2 },
  ])
})
