/** What holds of the search planner for every catalog: it proves what it plans, and follows the settings. */
import fc from 'fast-check'
import { prove, search, withBuiltins } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import type { Capability, Envelope, Facet, JsonSchema } from '../../src/index.ts'
import type { Direction, PlannerPolicy } from '../seams/domain.ts'
import { capability, constraint, envelope, object } from './support.ts'

const runs = { numRuns: Number(process.env['PROVISO_RUNS'] ?? 120) }

const schemas: readonly JsonSchema[] = [
  { type: 'string' },
  { type: 'string', minLength: 1 },
  { type: 'number', minimum: 0, maximum: 10 },
  { type: 'integer', minimum: 1 },
  { type: 'array', items: { type: 'string' } },
  { type: 'object', properties: { score: { type: 'number', minimum: 0, maximum: 1 } }, required: ['score'] },
  { enum: ['a', 'b', 3] },
]
const values = ['x', '', 5, 0, ['x'], { score: 0.5 }, 'a', null]

const facetOf = (i: number, schema: JsonSchema, direction: Direction): Facet => ({
  name: `f${i}`,
  title: `F${i}`,
  description: `Facet ${i}.`,
  schema,
  semantics: { instruction: `Mind f${i}.` },
  metadata: { version: '1', direction },
})

interface World {
  readonly facets: readonly Facet[]
  readonly capabilities: readonly Capability[]
  readonly envelope: Envelope
}

const kinds = ['execution', 'structuring', 'validation', 'transformation'] as const

/** Catalogs of a few facets and capabilities, and contracts over the same names, with the same or with other schemas. */
const worlds: fc.Arbitrary<World> = fc
  .record({
    facets: fc.array(
      fc.tuple(fc.nat(schemas.length - 1), fc.constantFrom<Direction>('input', 'output', 'bidirectional')),
      {
        minLength: 2,
        maxLength: 8,
      },
    ),
    capabilities: fc.array(
      fc.record({
        input: fc.array(fc.nat(7), { maxLength: 3 }),
        output: fc.array(fc.nat(7), { minLength: 1, maxLength: 3 }),
        byHand: fc.boolean(),
        other: fc.nat(schemas.length - 1),
        kind: fc.constantFrom(...kinds),
        sideEffect: fc.boolean(),
      }),
      { maxLength: 8 },
    ),
    wanted: fc.array(fc.tuple(fc.nat(9), fc.nat(schemas.length - 1), fc.boolean()), {
      minLength: 1,
      maxLength: 4,
    }),
    given: fc.array(fc.tuple(fc.nat(9), fc.nat(values.length - 1)), { maxLength: 4 }),
    policy: fc.record({
      objective: fc.constantFrom('speed', 'quality', 'diversity', 'token_efficiency', undefined),
      avoid: fc.array(fc.nat(7), { maxLength: 2 }),
      prefer: fc.array(fc.nat(7), { maxLength: 2 }),
    }),
    constrained: fc.subarray(['there', 'odd', 'differ'] as const),
    kinds: fc.subarray(['validation', 'structuring'] as const),
  })
  .map((made) => {
    const facets = made.facets.map(([schema, direction], i) =>
      facetOf(i, schemas[schema] as JsonSchema, direction),
    )
    const named = (numbers: readonly number[], side: 'input' | 'output') =>
      [...new Set(numbers)]
        .flatMap((n) => facets[n] ?? [])
        .filter(({ metadata }) => metadata.direction === side || metadata.direction === 'bidirectional')
        .map(({ name }) => name)
    const capabilities = made.capabilities.flatMap((each, i): Capability[] => {
      const out = named(each.output, 'output')
      const hand = object(
        Object.fromEntries(
          each.output.map((n) => [`f${n}`, schemas[(each.other + n) % schemas.length] as JsonSchema]),
        ),
      )
      if (!each.byHand && out.length === 0) return []
      return [
        capability(
          `agent${i % 3}.c${i}`,
          { in: named(each.input, 'input'), out: each.byHand ? hand : out },
          { nodeKind: each.kind, sideEffect: each.sideEffect },
        ),
      ]
    })
    const properties: Record<string, JsonSchema> = {}
    for (const [name, schema, same] of made.wanted) {
      properties[`f${name}`] = (same ? facets[name]?.schema : undefined) ?? (schemas[schema] as JsonSchema)
    }
    const [first = ''] = Object.keys(properties)
    const id = (n: number) => `agent${n % 3}.c${n}`
    const planner: PlannerPolicy = {
      ...(made.policy.objective && { optimisation: { objective: made.policy.objective as 'speed' } }),
      selection: { avoid: made.policy.avoid.map(id), prefer: made.policy.prefer.map(id) },
      ...(made.kinds.length > 0 && { topology: { requiredKinds: made.kinds } }),
    }
    const inputs = Object.fromEntries(made.given.map(([name, value]) => [`f${name}`, values[value] ?? null]))
    const last = Object.keys(properties).at(-1) ?? ''
    const satisfiable = {
      there: { '!': { missing: [first] } },
      // What is produced decides these two: one node sees to the first, the second may need a check.
      odd: { '!=': [{ var: first }, 'odd'] },
      differ: { or: [{ '!=': [{ var: first }, { var: last }] }, { '==': [first, last] }] },
    }
    const constraints = made.constrained.map((id) => constraint(id, satisfiable[id]))
    return {
      facets,
      capabilities,
      envelope: envelope(object(properties), constraints, { inputs, policies: { planner, runtime: [] } }),
    }
  })

const found = ({ facets, capabilities, envelope: given }: World) =>
  search({ envelope: given, facets, capabilities: withBuiltins(capabilities) })

const usedBy = ({ draft }: ReturnType<typeof search>) =>
  draft.nodes.flatMap(({ capabilityId, alternates = [] }) => [capabilityId ?? '', ...alternates])

const withSelection = (world: World, selection: NonNullable<PlannerPolicy['selection']>): World => ({
  ...world,
  envelope: {
    ...world.envelope,
    policies: { planner: { ...world.envelope.policies.planner, selection }, runtime: [] },
  },
})

describe('the search planner', () => {
  it('finds a plan for every contract that its open capabilities can satisfy, and prove accepts it', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { draft } = found(world)
        const capabilities = withBuiltins(world.capabilities)
        const proof = prove({ ...world, capabilities, draft, version: 1 })
        if (!proof.ok)
          throw new Error(JSON.stringify({ failures: proof.diagnostics.failures, draft }, null, 1))
      }),
      runs,
    )
  })

  it('leaves out the capability that makes a comparison impossible, although the proof cannot name one', () => {
    const number = (name: string, direction: 'input' | 'bidirectional') => ({
      name,
      title: name,
      description: name,
      schema: { type: 'number', minimum: 0, maximum: 10 } as JsonSchema,
      semantics: { instruction: `Mind ${name}.` },
      metadata: { version: '1', direction },
    })
    const either = { enum: ['a', 'b', 3] } as JsonSchema
    const differ = constraint('differ', { '!=': [{ var: 'f0' }, { var: 'f1' }] })
    const world: World = {
      facets: [number('f0', 'bidirectional'), number('f1', 'input')],
      // It takes f1 as a number and gives f0 as one: both can only be 3.
      capabilities: [capability('c0', { in: ['f1'], out: ['f0'] })],
      envelope: envelope(object({ f0: either, f1: either }), [differ]),
    }
    const { proof, draft } = found(world)
    expect(proof.ok).toBe(true)
    expect(draft.nodes.map(({ capabilityId }) => capabilityId)).not.toContain('c0')
  })

  it('plans the same request in the same way', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        expect(found(world).draft).toEqual(found(structuredClone(world)).draft)
      }),
      { numRuns: 60 },
    )
  })

  it('does not care in which order capabilities and facets are registered', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const turned = {
          ...world,
          capabilities: [...world.capabilities].reverse(),
          facets: [...world.facets].reverse(),
        }
        expect(usedBy(found(turned)).sort()).toEqual(usedBy(found(world)).sort())
      }),
      { numRuns: 60 },
    )
  })

  it('never uses what the caller forbids, not even as an alternate', () => {
    fc.assert(
      fc.property(worlds, fc.nat(), (world, n) => {
        const used = usedBy(found(world))
        const forbidden = used[n % used.length] ?? ''
        const without = found(withSelection(world, { forbid: [forbidden] }))
        expect(usedBy(without)).not.toContain(forbidden)
      }),
      runs,
    )
  })

  it('uses what the caller requires, where it can be supplied at all', () => {
    fc.assert(
      fc.property(worlds, fc.nat(7), (world, n) => {
        const required = world.capabilities[n % Math.max(world.capabilities.length, 1)]
        if (required === undefined) return
        const { proof, draft } = found(withSelection(world, { require: [required.capabilityId] }))
        if (proof.ok)
          expect(draft.nodes.map(({ capabilityId }) => capabilityId)).toContain(required.capabilityId)
      }),
      runs,
    )
  })

  it('never plans deeper than the caller allows, if it has a plan', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const policies = {
          planner: { ...world.envelope.policies.planner, topology: { maxDepth: 1 } },
          runtime: [],
        }
        const { proof, draft } = found({ ...world, envelope: { ...world.envelope, policies } })
        if (proof.ok) expect(proof.plan.edges).toEqual([])
        else throw new Error(JSON.stringify({ failures: proof.diagnostics.failures, draft }, null, 1))
      }),
      runs,
    )
  })
})
