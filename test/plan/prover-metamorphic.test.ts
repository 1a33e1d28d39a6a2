/** Relations between proofs: what follows from a change of the draft, whatever the draft is; and proofs against runs. */
import { prove } from 'proviso/plan'
import { expect, it } from 'vitest'
import type { Capability, Draft, Json, JsonSchema } from '../../src/index.ts'
import { type Generated, Random, randomCondition, randomObject } from '../random.ts'
import { evaluate, parseCondition } from '../seams/schema.ts'
import { capability, constraint, envelope, object, proveWith, runProver, verdictOn } from './support.ts'

const long = process.env['PROVISO_LONG'] === '1'
const rounds = long ? 4_000 : 120

it('tightening a bound never turns satisfied into missing_enforcer', () => {
  let tightened = 0
  for (let seed = 1; seed <= rounds; seed++) {
    const random = new Random(seed)
    const [min, max] = [random.int(0, 4), random.int(9, 12)]
    const expr = { [random.pick(['<', '<=', '>', '>=', '==', '!='])]: [{ var: 'k' }, random.int(0, 10)] }
    const hard = [constraint('k', random.chance(0.3) ? { '!': expr } : expr)]
    const judge = (k: JsonSchema) =>
      verdictOn(
        proveWith(envelope(object({ k: true }), hard), [capability('maker', { out: object({ k }) })]),
        'k',
      )
    const type = random.pick(['integer', 'number'])
    const wide = judge({ type, minimum: min, maximum: max })
    const narrow = judge({ type, minimum: min + random.int(0, 2), maximum: max - random.int(0, 2) })
    if (wide !== 'missing_enforcer') expect(narrow, `seed ${seed}`).toBe(wide)
    else tightened += narrow === 'missing_enforcer' ? 0 : 1
  }
  expect(tightened).toBeGreaterThan(0)
}, 300_000)

it('removing a node never adds a producer', () => {
  for (let seed = 1; seed <= rounds / 5; seed++) {
    const random = new Random(seed)
    const names = ['a', 'b', 'c', 'd']
    const made = names.map((_, i) => {
      const [needs, supplies] = [
        names.filter(() => random.chance(0.2)),
        names.filter(() => random.chance(0.5)),
      ]
      const all = (list: string[]) =>
        object(Object.fromEntries(list.map((name) => [name, { type: 'number' }])))
      return capability(`n${i}`, { in: all(needs), out: all(supplies) })
    })
    const given = envelope(
      { type: 'object' },
      names.map((name) => constraint(name, { '==': [{ var: name }, 1] }, 'informational')),
    )
    const produced = (list: readonly Capability[]) => {
      const proof = proveWith(given, list)
      return names.filter((name) =>
        proof.all.some(
          ({ constraintId, details }) => constraintId === name && details?.['reason'] !== 'missing_producer',
        ),
      )
    }
    const before = produced(made)
    const gone = random.int(0, made.length - 1)
    const after = produced(made.filter((_, i) => i !== gone))
    expect(before, `seed ${seed}`).toEqual(expect.arrayContaining(after))
  }
}, 300_000)

it('the order of constraints and of capabilities changes nothing', () => {
  for (let seed = 1; seed <= rounds / 10; seed++) {
    const random = new Random(seed)
    const made = randomObject(random)
    const list = Array.from({ length: 4 }, (_, i) =>
      constraint(`c${i}`, randomCondition(random, made), random.pick(['hard', 'soft'])),
    )
    const maker = capability('maker', { out: made.schema as JsonSchema })
    const other = capability('other', { out: object({ z: true }) })
    const nodes = [{ id: 'maker', capabilityId: 'maker' }]
    const given = (constraints: typeof list, capabilities: readonly Capability[]) =>
      runProver({
        envelope: envelope({ type: 'object' }, constraints),
        draft: { nodes },
        facets: [],
        capabilities,
        version: 1,
      }).bundle
    expect(given([...list].reverse(), [other, maker]), `seed ${seed}`).toEqual(given(list, [maker, other]))
  }
}, 300_000)

/** What runs of an accepted plan answer: any value that the makers' schemas allow, from whichever branch was taken. */
it('satisfied is true, and schema_incompatible false, in every run that its schemas allow', () => {
  const counts = { satisfied: 0, incompatible: 0 }
  for (let seed = 1; seed <= rounds; seed++) {
    const random = new Random(seed + 7e6)
    const [left, right] = [randomObject(random), randomObject(random)]
    const paths = {
      ...left,
      paths: left.paths.map((path) => `r.${path}`),
      lists: left.lists.map((each) => ({ ...each, path: `r.${each.path}` })),
    }
    const expr = randomCondition(random, paths)
    const parsed = parseCondition(expr)
    if (!parsed.ok) throw new Error('refused')
    const draft = branching(random)
    const maker = (id: string, { schema }: Generated) =>
      capability(id, { out: { ...object({ r: withoutDefs(schema) }), $defs: schema['$defs'] } })
    const proof = runProver({
      envelope: envelope(object({ r: true }), [constraint('c', expr, 'soft')], { inputs: { go: true } }),
      draft,
      facets: [],
      capabilities: [maker('left', left), maker('right', right)],
      version: 1,
    })
    expect(proof.plan, `seed ${seed}: ${JSON.stringify(proof.bundle.failures)}`).toBeDefined()
    const said = proof.all.find(({ constraintId }) => constraintId === 'c')
    const reason = said === undefined || said.cause === 'advisory' ? 'satisfied' : said.details?.['reason']
    if (reason !== 'satisfied' && reason !== 'schema_incompatible') continue
    counts[reason === 'satisfied' ? 'satisfied' : 'incompatible'] += 1
    for (let i = 0; i < 30; i++) {
      const answer: Json = { r: (draft.nodes.length > 1 && random.chance(0.5) ? right : left).sample() }
      const { kind } = evaluate(parsed.condition, answer)
      if (kind !== (reason === 'satisfied' ? 'true' : 'false'))
        expect.fail(
          `seed ${seed}: ${JSON.stringify({ expr, answer, reason, left: left.schema, right: right.schema })}`,
        )
    }
  }
  console.log(`proofs against runs: ${rounds} plans, ${JSON.stringify(counts)}`)
  expect(counts.satisfied).toBeGreaterThan(rounds / 50)
  expect(counts.incompatible).toBeGreaterThan(rounds / 50)
}, 300_000)

function branching(random: Random): Draft {
  const left = { id: 'left', capabilityId: 'left' }
  if (random.chance(0.4)) return { nodes: [left] }
  const routing = { routes: [{ condition: { var: 'go' }, to: 'left' }], elseTo: 'right' }
  return { nodes: [{ id: 'route', routing }, left, { id: 'right', capabilityId: 'right' }] }
}

function withoutDefs(schema: Record<string, unknown>): JsonSchema {
  const { $defs: _, ...rest } = schema
  return rest
}

/** A planner that does what the diagnostics say: the loop ends. */
it('diagnostics of the first draft are enough to write the second', () => {
  const writer = capability('writer', { out: object({ copy: { type: 'string' } }) })
  const qa = capability(
    'qa',
    { in: object({ copy: { type: 'string' } }), out: object({ score: { type: 'number' } }) },
    { nodeKind: 'validation' },
  )
  const given = envelope(object({ copy: true }), [constraint('min', { '>=': [{ var: 'score' }, 0.8] })])
  const request = (ids: string[]) => ({
    envelope: given,
    draft: { nodes: ids.map((id) => ({ id, capabilityId: id })) },
    facets: [],
    capabilities: [writer, qa],
    version: 1,
  })
  const first = prove(request(['writer']))
  if (first.ok) throw new Error('accepted')
  const [failure] = first.diagnostics.failures
  expect(failure).toMatchObject({ constraintId: 'min', cause: 'missing_producer' })
  const named = /with (\w+)/.exec(failure?.suggestion ?? '')?.[1] ?? ''
  expect(prove(request(['writer', named])).ok).toBe(true)
})
