/** Where an answer comes from when several nodes supply it: exclusive, ordered, or a finding. */
import { describe, expect, it } from 'vitest'
import type { Draft, DraftNode } from '../../../src/domain/plan.ts'
import { capability, envelope, object, runProver } from '../../plan/support.ts'

const text = { type: 'string' } as const
const wanted = object({ text })
const capabilities = [
  capability('write', { out: wanted }),
  capability('edit', { in: wanted, out: wanted }),
  capability('print', { in: wanted, out: object({ page: text }) }),
]
const node = (id: string, capabilityId: string, more: Partial<DraftNode> = {}): DraftNode => ({
  id,
  capabilityId,
  ...more,
})
const from = (id: string) => ({ node: id, pointer: '/text' })
const choice: DraftNode = {
  id: 'gate',
  inputs: { topic: { envelope: '/inputs/topic' } },
  routing: { routes: [{ condition: { '==': [{ var: 'topic' }, 'tea'] }, to: 'a' }], elseTo: 'b' },
}

function proved(draft: Draft, schema = wanted) {
  const given = envelope(schema, [], { inputs: { topic: 'tea' } })
  const { plan, all } = runProver({ envelope: given, draft, facets: [], capabilities, version: 1 })
  const ambiguous = all.filter(({ details }) => details?.['code'] === 'plan/ambiguous')
  const sources = plan?.output
  return { plan, ambiguous: ambiguous.map(({ constraint }) => constraint), sources, all }
}

describe('two nodes that supply the answer', () => {
  it('are a finding if both can run and neither waits for the other', () => {
    const draft = { nodes: [node('a', 'write'), node('b', 'write')] }
    expect(proved(draft).ambiguous).toEqual(['"text" of the answer has one source'])
    expect(proved(draft, { type: 'object' }).ambiguous).toEqual(['the answer has one source'])
  })

  it('are a finding if both are targets of one route', () => {
    const routing = { routes: [], elseTo: ['a', 'b'] }
    expect(
      proved({ nodes: [{ ...choice, routing }, node('a', 'write'), node('b', 'write')] }).ambiguous,
    ).toHaveLength(1)
  })

  it('do not exist if a route takes one of them', () => {
    const { ambiguous, sources } = proved({ nodes: [choice, node('a', 'write'), node('b', 'write')] })
    expect(ambiguous).toEqual([])
    expect(sources).toEqual({ properties: { text: [from('b'), from('a')] } })
  })

  it('do not exist if one replaces the other', () => {
    const nodes = [node('a', 'write'), node('b', 'write', { kind: 'fallback' })]
    expect(proved({ nodes }).ambiguous).toEqual([])
    expect(proved({ nodes: nodes.toReversed() })).toMatchObject({
      ambiguous: [],
      plan: { edges: [{ from: 'a', to: 'b', when: 'fail', kind: 'control' }] },
    })
  })

  it('do not exist if the later reads the earlier, and the later one answers', () => {
    const { ambiguous, sources } = proved({ nodes: [node('a', 'write'), node('b', 'edit')] })
    expect(ambiguous).toEqual([])
    expect(sources).toEqual({ properties: { text: [from('b')] } })
  })

  it('do not exist if the draft lists them in order', () => {
    const { ambiguous, sources } = proved({
      nodes: [node('a', 'write'), node('b', 'write')],
      output: { properties: { text: [from('a'), from('b')] } },
    })
    expect(ambiguous).toEqual([])
    expect(sources).toEqual({ properties: { text: [from('a'), from('b')] } })
  })
})

describe('edges and names', () => {
  it('a node that no edge leads to finds its input by name, also where others have edges', () => {
    const { plan } = proved({
      nodes: [node('a', 'write'), node('b', 'write'), node('page', 'print')],
      edges: [{ from: 'a', to: 'b', when: 'fail' }],
    })
    expect(plan?.nodes[2]).toMatchObject({
      inputs: { text: [from('b'), from('a')] },
      needs: [{ input: 'text', from: ['b', 'a'] }],
    })
  })

  it('an edge from before a route to its target is a finding: it activates the target as well', () => {
    const nodes = [node('first', 'write'), { ...choice, inputs: { topic: from('first') } }]
    const { all, plan } = proved({
      nodes: [...nodes, node('a', 'edit'), node('b', 'edit')],
      edges: [{ from: 'first', to: 'a' }],
    })
    expect(plan).toBeDefined()
    expect(all.filter(({ details }) => details?.['code'] === 'plan/route-bypassed')).toMatchObject([
      { nodeId: 'a', severity: 'informational', details: { router: 'gate', from: 'first' } },
    ])
  })
})
