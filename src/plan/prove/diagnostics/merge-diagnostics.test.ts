/** The merge of findings: order, dominance, buckets, status and score. */
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { mergeDiagnostics } from './merge-diagnostics.ts'

const said = (more: Partial<Diagnostic>): Diagnostic => ({
  severity: 'hard',
  status: 'unsatisfied',
  cause: 'missing_producer',
  ...more,
})

it('orders by severity, constraint and node, says each thing once, and joins suggestions', () => {
  const merged = mergeDiagnostics(
    [
      said({ severity: 'informational', status: 'unknown', constraintId: 'a', cause: 'advisory' }),
      said({ constraintId: 'b', nodeId: 'n2', suggestion: 'one' }),
      said({ constraintId: 'b', nodeId: 'n1' }),
      said({ severity: 'soft', constraintId: 'c', cause: 'unsatisfied_soft' }),
      said({ severity: 'soft', constraintId: 'b', nodeId: 'n2', suggestion: 'two\none' }),
      said({ constraint: 'x > 1' }),
      said({ constraint: 'x > 1', suggestion: 'three' }),
      said({ constraint: 'x > 2' }),
      said({ constraintId: 'a', cause: 'schema_incompatible' }),
    ],
    [],
  )
  expect(merged).toMatchInlineSnapshot(`
    {
      "failures": [
        {
          "cause": "schema_incompatible",
          "constraintId": "a",
          "severity": "hard",
          "status": "unsatisfied",
        },
        {
          "cause": "missing_producer",
          "constraintId": "b",
          "nodeId": "n1",
          "severity": "hard",
          "status": "unsatisfied",
        },
        {
          "cause": "missing_producer",
          "constraintId": "b",
          "nodeId": "n2",
          "severity": "hard",
          "status": "unsatisfied",
          "suggestion": "one
    two",
        },
        {
          "cause": "missing_producer",
          "constraint": "x > 1",
          "severity": "hard",
          "status": "unsatisfied",
          "suggestion": "three",
        },
        {
          "cause": "missing_producer",
          "constraint": "x > 2",
          "severity": "hard",
          "status": "unsatisfied",
        },
      ],
      "infos": [
        {
          "cause": "advisory",
          "constraintId": "a",
          "severity": "informational",
          "status": "unknown",
        },
      ],
      "satisfactionScore": 1,
      "status": "rejected",
      "warnings": [
        {
          "cause": "unsatisfied_soft",
          "constraintId": "c",
          "severity": "soft",
          "status": "unsatisfied",
        },
      ],
    }
  `)
})

describe('the status', () => {
  it.each<[Partial<Diagnostic>[], string]>([
    [[], 'accepted'],
    [[{ status: 'satisfied' }], 'accepted'],
    [[{ status: 'satisfied', cause: 'advisory', severity: 'informational' }], 'accepted_with_findings'],
    [[{ status: 'unknown', cause: 'advisory' }], 'accepted_with_findings'],
    [[{ severity: 'soft' }], 'accepted_with_findings'],
    [[{ severity: 'soft' }, {}], 'rejected'],
  ])('of %j is %s', (diagnostics, status) => {
    expect(mergeDiagnostics(diagnostics.map(said), []).status).toBe(status)
  })
})

it('weighs hard constraints twice as much as soft ones and leaves informational ones out', () => {
  const score = (...scores: ['hard' | 'soft' | 'informational', boolean][]) =>
    mergeDiagnostics(
      [],
      scores.map(([level, met]) => ({ level, met })),
    ).satisfactionScore
  expect(score()).toBe(1)
  expect(score(['hard', true], ['soft', false])).toBeCloseTo(2 / 3)
  expect(score(['hard', false], ['soft', true])).toBeCloseTo(1 / 3)
  expect(score(['informational', false])).toBe(1)
})
