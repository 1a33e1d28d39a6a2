/** One mistake, one root: what only follows from it says so. */
import { isConsequence, rootOf } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import { capability, constraint, envelope, object, proofOf } from '../../../test/plan/support.ts'

const text = { type: 'string' } as const
const polish = capability('polish', { in: object({ raw: text }), out: object({ text }) })
const given = envelope(object({ title: text, text }), [
  constraint('titled', { '!=': [{ var: 'title' }, ''] }),
  constraint('wish', { '!=': [{ var: 'title' }, 'x'] }, 'soft'),
])
const proof = (nodes: readonly { id: string; capabilityId?: string; alternates?: string[] }[]) =>
  proofOf({ envelope: given, draft: { nodes }, facets: [], capabilities: [polish], version: 1 })

describe('a node with an unknown capability', () => {
  const { bundle } = proof([
    { id: 'write', capabilityId: 'unknown.write' },
    { id: 'polish', capabilityId: 'polish' },
  ])

  it('is the one root; what it may have supplied follows from it, and nothing is left out', () => {
    const roots = bundle.failures.filter((each) => !isConsequence(each))
    expect(roots).toMatchObject([{ nodeId: 'write', details: { code: 'plan/capability-unknown' } }])
    expect(rootOf(bundle.failures)).toBe(roots[0])
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
  const { bundle } = proofOf({ envelope: given, draft, facets: [], capabilities, version: 1 })
  const title = bundle.failures.find(({ details }) => details?.['property'] === 'title')
  expect(title?.suggestion).toContain('add a node with proviso.answer')
  const raw = bundle.failures.find(({ details }) => details?.['property'] === 'raw')
  expect(raw?.suggestion).not.toContain('proviso.answer')
})
