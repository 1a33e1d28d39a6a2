/**
 * The scenarios of the prover are exactly the runs that the fold allows: for small random drafts, every decision is played
 * through on the state of a run, and the ends are compared with the scenarios.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { NewEvent } from '../../../src/domain/event.ts'
import type { Draft, DraftNode, Edge, Plan, Source } from '../../../src/domain/plan.ts'
import { applyEvent, begin } from '../../../src/domain/run/fold.ts'
import type { RunState } from '../../../src/domain/run.ts'
import { prove } from '../../../src/plan/prove/prove.ts'
import { resolveDraft } from '../../../src/plan/prove/resolve/resolve.ts'
import { capability, envelope } from '../../plan/support.ts'

const value = { type: 'object', properties: { v: { type: 'integer' } }, required: ['v'] } as const
/** `a` is required, `b` is optional, and of `c` the contract says nothing. */
const input = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a'],
} as const
const capabilities = [capability('work', { out: value }), capability('take', { in: input, out: value })]

const targets = fc.array(fc.nat({ max: 4 }), { maxLength: 2 })
const drafts = fc.array(
  fc.record({
    kind: fc.constantFrom('execution', 'execution', 'fallback', 'routing'),
    routes: fc.array(targets, { minLength: 1, maxLength: 2 }),
    elseTo: fc.option(targets, { nil: undefined }),
    reads: fc.array(
      fc.record({
        input: fc.constantFrom('a', 'b', 'c'),
        from: fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 2 }),
        literal: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    edges: fc.array(
      fc.record({ to: fc.nat({ max: 4 }), when: fc.constantFrom('pass', 'pass', 'fail', 'always') }),
      { maxLength: 1 },
    ),
  }),
  { minLength: 2, maxLength: 6 },
)

type Given = typeof drafts extends fc.Arbitrary<infer T> ? T : never

function draftOf(given: Given): Draft {
  const last = given.length - 1
  const later = (at: number, to: number) => `n${Math.min(last, at + 1 + to)}`
  const nodes = given.map(({ kind, routes, elseTo, reads }, at): DraftNode => {
    const inputs: { [name: string]: Source[] } = { a: [{ value: 1 }] }
    for (const each of reads) {
      const sources = each.from
        .filter((index) => index < at)
        .map((index) => ({ node: `n${index}`, pointer: '/v' }))
      if (sources.length > 0) inputs[each.input] = [...sources, ...(each.literal ? [{ value: 0 }] : [])]
    }
    const to = (list: readonly number[]) => list.map((index) => later(at, index))
    if (kind !== 'routing' || at === last)
      return { id: `n${at}`, capabilityId: 'take', inputs, ...(kind === 'fallback' && { kind }) }
    return {
      id: `n${at}`,
      inputs,
      contracts: { input, output: value },
      routing: {
        routes: routes.map((list, index) => ({ condition: { '==': [{ var: 'a' }, index] }, to: to(list) })),
        ...(elseTo && { elseTo: to(elseTo) }),
      },
    }
  })
  const edges = given.flatMap(({ edges: own }, at) =>
    at === last ? [] : own.map(({ to, when }): Edge => ({ from: `n${at}`, to: later(at, to), when })),
  )
  return { nodes, edges, output: { value: { done: true } } }
}

const at = { version: 1, at: 0, planVersion: 1 }

function stateAfter(plan: Plan, events: readonly NewEvent[]): RunState {
  const payload = { envelope: {}, correlationId: '', schemaHash: '' }
  const state = begin('r', { ...at, type: 'start', payload } as never)
  applyEvent(state, {
    ...at,
    type: 'plan_generated',
    payload: { planVersion: 1, plan, metadata: {} },
  } as never)
  for (const event of events) applyEvent(state, event)
  return state
}

/** How every run of the plan can end: what each node came to. */
function endsOf(plan: Plan): Set<string> {
  const ends = new Set<string>()
  const open: NewEvent[][] = [[]]
  for (let events = open.pop(); events !== undefined; events = open.pop()) {
    const state = stateAfter(plan, events)
    const event = (type: string, nodeId: string, payload: object) => [
      ...(events as NewEvent[]),
      { ...at, type, nodeId, payload } as never,
    ]
    const [dead] = state.dead
    const [ready] = state.ready
    if (dead !== undefined) open.push(event('node_skipped', dead, { reason: '' }))
    else if (ready === undefined) {
      expect(state.unsettled, 'every node is settled').toBe(0)
      ends.add(
        [...state.nodes]
          .map(([id, { status }]) => `${id} ${status}`)
          .sort()
          .join(', '),
      )
    } else {
      const done = { attempt: 1, output: { value: { v: 1 } } }
      const { routing } = plan.nodes.find(({ id }) => id === ready)!
      const caught = plan.edges.some(({ from, when }) => from === ready && when !== 'pass')
      const chosen =
        routing && [...routing.routes.map(({ to }) => to), routing.elseTo ?? []].map((to) => [to].flat())
      for (const each of chosen ?? [undefined])
        if (each?.length !== 0)
          open.push(event('node_complete', ready, { ...done, ...(each && { chosen: each }) }))
      if (caught || chosen?.some((each) => each.length === 0))
        open.push(event('node_error', ready, { error: {} }))
    }
  }
  return ends
}

function scenariosOf(draft: Draft, request: Parameters<typeof resolveDraft>[0]): Set<string> {
  const { scenarios } = resolveDraft(request)
  const ids = draft.nodes.map(({ id }) => id)
  return new Set(
    scenarios.over(ids).map(({ started, completed }) =>
      ids
        .map((id) => `${id} ${completed.has(id) ? 'completed' : started.has(id) ? 'error' : 'skipped'}`)
        .sort()
        .join(', '),
    ),
  )
}

it('runs end as the scenarios of the prover say, and each scenario is a run', () => {
  let several = 0
  fc.assert(
    fc.property(drafts, (given) => {
      const draft = draftOf(given)
      const request = { envelope: envelope(true), draft, facets: [], capabilities, version: 1 }
      const proof = prove(request)
      if (!proof.ok) return
      const ends = endsOf(proof.plan)
      if (ends.size > 1) several++
      expect([...ends].sort()).toEqual([...scenariosOf(draft, request)].sort())
    }),
    { numRuns: 400, seed: 38 },
  )
  expect(several).toBeGreaterThan(100)
})
