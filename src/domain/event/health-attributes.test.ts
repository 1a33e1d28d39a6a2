import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addHealthEvent,
  fallbackStages,
  finishHealthAttributes,
  type HealthAttributes,
  stages,
} from './health-attributes.ts'

/** What a trace leaves on the span of its attempt. */
const collect = (...events: [string, object?][]): HealthAttributes =>
  finishHealthAttributes(
    events.reduce<HealthAttributes | undefined>(
      (signals, [event, payload]) =>
        addHealthEvent(signals, { event, ...(payload && { payload: payload as never }) }),
      undefined,
    ),
    {},
  )

describe('the signals of an attempt', () => {
  it('count every stage by its name, and rules once each', () => {
    const success = (stage: string, ...transforms: string[]): [string, object] => [
      'output.coercion.success',
      { stage, transforms },
    ]
    expect(collect(success('semantic', 'b', 'a'), success('semantic', 'a'), success('extract', 'c'))).toEqual(
      {
        'aros.coercion.total': 3,
        'aros.coercion.stage.semantic': 2,
        'aros.coercion.stage.extract': 1,
        'aros.coercion.transforms': ['a', 'b', 'c'],
      },
    )
  })

  it('keep twenty names at most, each of a bounded length', () => {
    const transforms = Array.from({ length: 50 }, (_, index) => `${index}-${'x'.repeat(500)}`)
    const names = collect(['output.coercion.success', { stage: 'custom', transforms }])?.[
      'aros.coercion.transforms'
    ]
    expect(names).toHaveLength(20)
    expect(Math.max(...(names as string[]).map(({ length }) => length))).toBe(120)
  })

  it('know the reader from the model that is asked again', () => {
    expect(collect(['aros.repair.started', { stage: 'deterministic' }])).toEqual({})
    expect(
      collect(
        ['aros.repair.started', { stage: 'llm' }],
        ['aros.repair.failed', { stage: 'llm', input_tokens: 3, output_tokens: 2 }],
        ['aros.fallback.stage', { stage: 'degrade', result: 'started' }],
        ['aros.fallback.stage', { stage: 'degrade', result: 'success' }],
      ),
    ).toEqual({
      'aros.fallback.stage.llm': 1,
      'aros.fallback.stage.degrade': 1,
      'aros.fallback.stage.degrade.success': 1,
      'aros.repair.calls': 1,
      'aros.repair.input_tokens': 3,
      'aros.repair.output_tokens': 2,
      'aros.repair.cost_unknown': 1,
    })
  })

  it('say nothing of an attempt without a model', () => {
    expect(finishHealthAttributes(undefined, {})).toEqual({})
    expect(finishHealthAttributes(undefined, { model: 'a/m' })).toEqual({ 'aros.model_id': 'a/m' })
  })

  it('take whatever a trace holds: they stay small, plain, and never throw', () => {
    const events = [
      'output.coercion.success',
      'output.coercion.fail',
      'aros.soe.enabled',
      'aros.soe.skipped',
      'aros.repair.success',
      'aros.fallback.stage',
      'agent.usage',
      'constructor',
    ]
    const payload = fc.oneof(
      fc.jsonValue(),
      fc.record({
        stage: fc.oneof(fc.constantFrom(...stages, ...fallbackStages), fc.jsonValue()),
        transforms: fc.jsonValue(),
        reason: fc.jsonValue(),
        result: fc.oneof(fc.constantFrom('started', 'success', 'failed'), fc.jsonValue()),
        input_tokens: fc.oneof(fc.double(), fc.jsonValue()),
        output_tokens: fc.oneof(fc.double(), fc.jsonValue()),
        shadow: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...events), payload), { maxLength: 40 }), (trace) => {
        const signals = collect(...(trace as [string, object][]))
        expect(JSON.parse(JSON.stringify(signals))).toEqual(signals)
        expect(Object.keys(signals).every((key) => key.startsWith('aros.'))).toBe(true)
        expect(JSON.stringify(signals).length).toBeLessThan(8_000)
      }),
      { seed: 7, numRuns: 500 },
    )
  })
})
