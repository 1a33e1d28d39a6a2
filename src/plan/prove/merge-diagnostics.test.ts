/** The merge of findings: order, dominance, buckets, status and score. */

import { findRootCause, isConsequence } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import { capability, constraint, envelope, object, runProver } from '../../../test/plan/support.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
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

const text = { type: 'string' } as const
const polish = capability('polish', { in: object({ raw: text }), out: object({ text }) })
const given = envelope(object({ title: text, text }), [
  constraint('titled', { '!=': [{ var: 'title' }, ''] }),
  constraint('wish', { '!=': [{ var: 'title' }, 'x'] }, 'soft'),
])
const proof = (nodes: readonly { id: string; capabilityId?: string; alternates?: string[] }[]) =>
  runProver({ envelope: given, draft: { nodes }, facets: [], capabilities: [polish], version: 1 })

describe('a node with an unknown capability', () => {
  const { bundle } = proof([
    { id: 'write', capabilityId: 'unknown.write' },
    { id: 'polish', capabilityId: 'polish' },
  ])

  it('is the one root; what it may have supplied follows from it, and nothing is left out', () => {
    const roots = bundle.failures.filter((each) => !isConsequence(each))
    expect(roots).toMatchObject([{ nodeId: 'write', details: { code: 'plan/capability-unknown' } }])
    expect(findRootCause(bundle.failures)).toBe(roots[0])
    const rest = [...bundle.failures, ...bundle.warnings].filter(isConsequence)
    expect(rest.map(({ constraintId, details }) => constraintId ?? details?.['property'])).toEqual([
      'titled',
      'raw',
      'title',
      'wish',
    ])
    expect(bundle.satisfactionScore).toBe(0)
  })

  it('is what the others name to fix first, instead of advice that would not help', () => {
    for (const { suggestion, details } of bundle.failures.filter(isConsequence)) {
      expect(suggestion).toMatch(/^Correct "write" first/)
      expect(details?.['consequenceOf']).toEqual(['write'])
    }
  })
})

it('a lack in a draft without such a node is a root of its own', () => {
  const { bundle } = proof([{ id: 'polish', capabilityId: 'polish' }])
  expect(bundle.failures.length).toBeGreaterThan(1)
  expect(bundle.failures.filter(isConsequence)).toEqual([])
})

it('an unknown alternate changes nothing about what its node supplies', () => {
  const { bundle } = proof([{ id: 'polish', capabilityId: 'polish', alternates: ['unknown'] }])
  expect(bundle.failures.filter(isConsequence)).toEqual([])
})

it('says that the open answer could supply a property of the contract', () => {
  const capabilities = [polish, capability('proviso.answer', { out: {} })]
  const draft = { nodes: [{ id: 'polish', capabilityId: 'polish' }] }
  const { bundle } = runProver({ envelope: given, draft, facets: [], capabilities, version: 1 })
  const title = bundle.failures.find(({ details }) => details?.['property'] === 'title')
  expect(title?.suggestion).toContain('add a node with proviso.answer')
  const raw = bundle.failures.find(({ details }) => details?.['property'] === 'raw')
  expect(raw?.suggestion).not.toContain('proviso.answer')
})
