import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DraftNode, Need, PlanEdge } from '../../../domain/plan.ts'
import { createGraph } from '../graph.ts'
import { listChoices, mergeScenarios, type Scenario } from './scenario.ts'
import { buildScenarios } from './scenarios.ts'

/** A few nodes, each with edges to later ones; some of them route, some failures are caught. */
const plans = fc.array(
  fc.record({
    routes: fc.array(fc.array(fc.nat({ max: 8 }), { maxLength: 2 }), { maxLength: 3 }),
    edges: fc.array(fc.record({ to: fc.nat({ max: 8 }), when: fc.constantFrom('pass', 'fail', 'always') }), {
      maxLength: 3,
    }),
    /** Inputs that others read: each by a later node, alone or beside those of earlier nodes. */
    reads: fc.array(fc.record({ by: fc.nat({ max: 8 }), input: fc.constantFrom('a', 'b') }), {
      maxLength: 2,
    }),
  }),
  { minLength: 2, maxLength: 9 },
)

function planOf(given: readonly Given[]) {
  const later = (from: number, to: number) => `n${Math.min(given.length - 1, from + 1 + to)}`
  const nodes = given.map(({ routes }, index): DraftNode => {
    const id = `n${index}`
    const to = routes.map((targets) =>
      targets.map((target) => later(index, target)).filter((each) => each !== id),
    )
    return index < given.length - 1 && routes.length > 0
      ? { id, kind: 'routing', routing: { routes: to.map((each) => ({ condition: true, to: each })) } }
      : { id }
  })
  const edges = given.flatMap(({ edges: own }, index) =>
    index === given.length - 1
      ? []
      : own.map(({ to, when }) => ({ from: `n${index}`, to: later(index, to), when })),
  )
  const routed = nodes.flatMap(({ id, routing }) =>
    (routing?.routes ?? []).flatMap(({ to }) =>
      [to].flat().map((each) => ({ from: id, to: each, when: 'pass' as const })),
    ),
  )
  const reads = given.flatMap(({ reads: own }, index) =>
    index === given.length - 1
      ? []
      : own.map(({ by, input }) => ({ from: `n${index}`, to: later(index, by), input })),
  )
  const needs = new Map(
    nodes.map(({ id }): [string, readonly Need[]] => [
      id,
      ['a', 'b']
        .map((input) => ({
          input,
          from: reads.filter((each) => each.to === id && each.input === input).map(({ from }) => from),
        }))
        .filter(({ from }) => from.length > 0),
    ]),
  )
  const control = [...edges, ...routed].map((edge) => ({ ...edge, kind: 'control' }))
  const data = reads.map(({ from, to }) => ({ from, to, when: 'pass', kind: 'data' }))
  return {
    nodes,
    needs,
    graph: createGraph(
      nodes.map(({ id }) => id),
      [...control, ...data] as PlanEdge[],
    ),
  }
}

interface Given {
  readonly routes: readonly (readonly number[])[]
  readonly edges: readonly { readonly to: number; readonly when: string }[]
  readonly reads: readonly { readonly by: number; readonly input: string }[]
}

const seenBy = (list: readonly Scenario[], watched: readonly string[]) =>
  [
    ...new Set(
      list.map(({ started, completed }) =>
        watched.map((id) => (completed.has(id) ? 'done' : started.has(id) ? 'failed' : 'skipped')).join(' '),
      ),
    ),
  ].sort()

describe('merged scenarios', () => {
  it('agree with the full enumeration about the nodes that are asked about', () => {
    fc.assert(
      fc.property(
        plans,
        fc.array(fc.nat({ max: 8 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat({ max: 8 }), { maxLength: 2 }),
        (given, asked, not) => {
          const { nodes, needs, graph } = planOf(given)
          const watched = [...new Set(asked.map((index) => `n${Math.min(index, nodes.length - 1)}`))]
          const without = not.map((index) => `n${Math.min(index, nodes.length - 1)}`)
          const byId = new Map(nodes.map((node) => [node.id, node]))
          const choices = new Map(nodes.map((node) => [node.id, listChoices(node, graph)]))
          const merged = mergeScenarios({ graph, needs, byId, choicesAt: (id) => choices.get(id) ?? [] })
          const all = buildScenarios(nodes, { graph, needs })
          expect(seenBy(merged.over(watched, without) ?? [], watched)).toEqual(
            seenBy(all.over(watched, without), watched),
          )
          expect([...(merged.reachable ?? [])].sort()).toEqual([...all.reachable].sort())
        },
      ),
      { numRuns: 500 },
    )
  })

  const choose = (n: number): DraftNode[] => [
    {
      id: `r${n}`,
      kind: 'routing',
      routing: { routes: [{ condition: true, to: `a${n}` }], elseTo: `b${n}` },
    },
    { id: `a${n}` },
    { id: `b${n}` },
  ]
  const chain = (count: number) => {
    const nodes = Array.from({ length: count }, (_, n) => choose(n)).flat()
    const edges = Array.from({ length: count }, (_, n) =>
      ['a', 'b'].flatMap((branch) => [
        { from: `r${n}`, to: `${branch}${n}`, when: 'pass' as const },
        ...(n + 1 < count ? [{ from: `${branch}${n}`, to: `r${n + 1}`, when: 'pass' as const }] : []),
      ]),
    ).flat()
    const graph = createGraph(
      nodes.map(({ id }) => id),
      edges.map((edge) => ({ ...edge, kind: 'control' as const })),
    )
    return buildScenarios(nodes, { graph, needs: new Map() })
  }

  it('are few where choices come one after the other, however many there are', () => {
    const merged = chain(200).over(['a199', 'b199'])
    expect(seenBy(merged, ['a199', 'b199'])).toEqual(['done skipped', 'skipped done'])
    expect(merged.every(({ complete }) => complete)).toBe(true)
  })

  it('report that they are too many to enumerate where the question is about too many choices at once', () => {
    const asked = Array.from({ length: 13 }, (_, n) => `a${n}`)
    expect(chain(13).over(asked)).toMatchObject([
      { complete: false, label: 'too many scenarios to enumerate' },
    ])
  })
})
