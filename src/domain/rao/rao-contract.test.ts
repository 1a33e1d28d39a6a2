/** RAO contracts: what is read from a node, what is refused with which words, and where a confidence leads. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimal, defaultThresholds, isRaoError, readRaoContract, routeConfidence } from './rao-contract.ts'

function message(data: unknown): string {
  const read = readRaoContract(data)
  return isRaoError(read) ? read.message : 'no error'
}

describe('a contract', () => {
  it.each([{}, { contract: false }, { contract: 'false' }, null, 'text', [true]])(
    'is absent when the node does not opt in: %j',
    (data) => {
      expect(readRaoContract(data)).toBeUndefined()
    },
  )

  it.each([true, 'true'])('has the defaults of the reference when it says only %j', (contract) => {
    expect(readRaoContract({ contract })).toEqual({
      contractVersion: '1.0.0',
      thresholds: { autoApproveAbove: 0.85, reviewLow: 0.5, reviewHigh: 0.85, suppressBelow: 0.5 },
    })
  })

  it('reads its own thresholds, confidence type, time and version', () => {
    const data = {
      contract: true,
      autoApproveAbove: 0.9,
      reviewLow: 0.6,
      reviewHigh: 0.9,
      suppressBelow: 0.4,
      confidenceType: 'verbalized',
      maxInferenceMs: 8000,
      contractVersion: '1.1.0',
    }
    expect(readRaoContract(data)).toEqual({
      contractVersion: '1.1.0',
      thresholds: { autoApproveAbove: 0.9, reviewLow: 0.6, reviewHigh: 0.9, suppressBelow: 0.4 },
      confidenceType: 'verbalized',
      maxInferenceMs: 8000,
    })
  })

  it('refuses thresholds out of order and names all four', () => {
    expect(readRaoContract({ contract: true, suppressBelow: 0.9, reviewLow: 0.5 })).toMatchObject({
      error: 'InvalidThresholds',
      message:
        'invalid contract thresholds: expected 0 <= suppressBelow (0.9) <= reviewLow (0.5) <= reviewHigh (0.85) <= autoApproveAbove (0.85) <= 1',
    })
  })

  it('refuses a threshold out of range', () => {
    expect(readRaoContract({ contract: true, autoApproveAbove: 1.5 })).toEqual({
      error: 'InvalidField',
      field: 'autoApproveAbove',
      reason: '1.5 is outside [0.0, 1.0]',
      message: 'invalid contract field `autoApproveAbove`: 1.5 is outside [0.0, 1.0]',
    })
  })

  it.each<[data: Record<string, unknown>, field: string, reason: string]>([
    [{ contract: 1 }, 'contract', 'expected a boolean, got 1'],
    [{ contract: null }, 'contract', 'expected a boolean, got null'],
    [{ contract: 'yes' }, 'contract', 'expected a boolean, got "yes"'],
    [{ contract: 'True' }, 'contract', 'expected a boolean, got "True"'],
    [{ contract: { b: 1, a: 2 } }, 'contract', 'expected a boolean, got {"a":2,"b":1}'],
    [{ contract: true, reviewLow: '0.5' }, 'reviewLow', 'expected a number, got "0.5"'],
    [{ contract: true, suppressBelow: null }, 'suppressBelow', 'expected a number, got null'],
    [{ contract: true, reviewHigh: Number.NaN }, 'reviewHigh', 'NaN is outside [0.0, 1.0]'],
    [{ contract: true, suppressBelow: -1e-7 }, 'suppressBelow', '-0.0000001 is outside [0.0, 1.0]'],
    [
      { contract: true, confidenceType: 'vibes' },
      'confidenceType',
      'expected one of verbalized | token_level | calibrated, got `vibes`',
    ],
    [
      { contract: true, confidenceType: 7 },
      'confidenceType',
      'expected one of verbalized | token_level | calibrated, got 7',
    ],
    [{ contract: true, maxInferenceMs: 0 }, 'maxInferenceMs', 'expected a positive integer, got 0'],
    [{ contract: true, maxInferenceMs: 1.5 }, 'maxInferenceMs', 'expected a positive integer, got 1.5'],
    [{ contract: true, maxInferenceMs: '8000' }, 'maxInferenceMs', 'expected a positive integer, got "8000"'],
  ])('refuses %j', (data, field, reason) => {
    expect(readRaoContract(data)).toMatchObject({ error: 'InvalidField', field, reason })
    expect(message(data)).toBe(`invalid contract field \`${field}\`: ${reason}`)
  })

  it('reads own properties only', () => {
    expect(readRaoContract(Object.create({ contract: true }))).toBeUndefined()
  })
})

describe('routing', () => {
  it.each([
    [0.95, false, 'auto_approve'],
    [0.8500001, false, 'auto_approve'],
    [0.85, false, 'human_review'],
    [0.5, false, 'human_review'],
    [0.49, false, 'suppress'],
    [0, false, 'suppress'],
    [1, true, 'human_review'],
    [0.95, true, 'human_review'],
    [0.1, true, 'suppress'],
  ] as const)('sends confidence %d with escalate %j to %s', (confidence, escalate, route) => {
    expect(routeConfidence(defaultThresholds, confidence, escalate)).toBe(route)
  })

  it('reviews what lies in the gaps beside the band', () => {
    const gaps = { suppressBelow: 0.2, reviewLow: 0.4, reviewHigh: 0.6, autoApproveAbove: 0.8 }
    expect([0.2, 0.3, 0.7, 0.8].map((confidence) => routeConfidence(gaps, confidence, false))).toEqual(
      Array(4).fill('human_review'),
    )
  })

  it('lets nothing through by itself when everything must be above 1', () => {
    const closed = { suppressBelow: 0, reviewLow: 0, reviewHigh: 1, autoApproveAbove: 1 }
    expect(routeConfidence(closed, 1, false)).toBe('human_review')
  })

  it('never lifts an answer by escalating it', () => {
    const order = ['suppress', 'human_review', 'auto_approve']
    const unit = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.array(unit, { minLength: 4, maxLength: 4 }), unit, (four, confidence) => {
        const [suppressBelow = 0, reviewLow = 0, reviewHigh = 0, autoApproveAbove = 0] = four.toSorted(
          (a, b) => a - b,
        )
        const thresholds = { suppressBelow, reviewLow, reviewHigh, autoApproveAbove }
        const plain = order.indexOf(routeConfidence(thresholds, confidence, false))
        const escalated = order.indexOf(routeConfidence(thresholds, confidence, true))
        expect(escalated).toBeLessThanOrEqual(plain)
        expect(escalated).toBeLessThan(2)
      }),
    )
  })
})

it('writes numbers in full digits', () => {
  expect([1, 0.5, 1e-7, 1.25e-9, 1e21, -1.5e22].map(decimal)).toEqual([
    '1',
    '0.5',
    '0.0000001',
    '0.00000000125',
    '1000000000000000000000',
    '-15000000000000000000000',
  ])
})
