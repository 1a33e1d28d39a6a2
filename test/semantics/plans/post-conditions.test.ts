/**
 * A hard constraint that a node promises word for word is satisfied, whether or not its properties are required: a node
 * that leaves a property out has kept its post-conditions, too.
 */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import type { JsonSchema } from '../../../src/schema/json-schema.ts'
import { local, open } from '../../journeys/support.ts'

const mixed = { type: ['string', 'number', 'null'] } as const
const number = { type: 'number' } as const
const text = { type: 'string' } as const

const object = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  type: 'object',
  properties,
  required: [...required],
})

interface Case {
  readonly schema: JsonSchema
  readonly postConditions: readonly Json[]
  readonly expr: Json
  readonly value: Json
}

async function run({ schema, postConditions, expr, value }: Case) {
  const app = await open({
    capabilities: [local('make', () => value, { outputContract: schema, postConditions })],
  })
  const constraint = { constraintId: 'k', expr, level: 'hard' }
  return app.run(
    { objective: 'Make it', outputContract: { schema, constraints: [constraint as never] } },
    { draft: { nodes: [{ id: 'make', capabilityId: 'make' }] } },
  )
}

const differs: Json = { '!=': [{ var: 'a' }, 'zz'] }
const listed: Json = { in: [{ var: 'a' }, ['x', 3]] }
const enough: Json = { '>=': [{ var: 'n' }, 1] }
const present: Json = { '!': { missing: ['a'] } }

describe.each([
  ['optional', ['n']],
  ['required', ['a', 'n']],
] as const)('a post-condition on a property that is %s', (_, required) => {
  it.each<[string, JsonSchema, Json]>([
    ['!=', mixed, differs],
    ['in', mixed, listed],
    ['in, of a text', text, { in: [{ var: 'a' }, ['x', 'y']] }],
    ['is there', mixed, present],
  ])('satisfies the same constraint: %s', async (_name, a, expr) => {
    const schema = object({ a, n: number }, required)
    const done = await run({ schema, postConditions: [expr], expr, value: { a: 'x', n: 1 } })
    expect(done).toMatchObject({ status: 'completed', output: { a: 'x', n: 1 } })
  })
})

describe('a post-condition on an optional property', () => {
  const optional = object({ a: mixed, n: number }, [])

  it('satisfies an ordering', async () => {
    const done = await run({ schema: optional, postConditions: [enough], expr: enough, value: { n: 1 } })
    expect(done.status).toBe('completed')
  })

  it('satisfies a weaker constraint', async () => {
    const weaker = { '>=': [{ var: 'n' }, 0] }
    const done = await run({ schema: optional, postConditions: [enough], expr: weaker, value: { n: 1 } })
    expect(done.status).toBe('completed')
  })

  it('satisfies one that holds without the property where the node may leave it out', async () => {
    const done = await run({ schema: optional, postConditions: [differs], expr: differs, value: {} })
    expect(done.status).toBe('completed')
  })

  it.each<[string, Json, Json]>([
    ['a stronger one', enough, { '>=': [{ var: 'n' }, 2] }],
    ['one on presence, where leaving it out keeps the promise', differs, present],
    ['one on another property', enough, listed],
  ])('does not satisfy %s', async (_, promised, expr) => {
    const done = await run({ schema: optional, postConditions: [promised], expr, value: { a: 'x', n: 2 } })
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
  })

  it('does not speak for runs in which its node was skipped', async () => {
    const make = local('make', () => ({ a: 'x' }), { outputContract: optional, postConditions: [listed] })
    const app = await open({ capabilities: [make, local('other', () => ({ text: 'Tea' }))] })
    const done = await app.run(
      {
        objective: 'Make it',
        inputs: { go: false },
        outputContract: {
          schema: optional,
          constraints: [{ constraintId: 'k', expr: listed, level: 'hard' }],
        },
      },
      {
        draft: {
          nodes: [
            { id: 'other', capabilityId: 'other' },
            {
              id: 'pick',
              routing: {
                routes: [{ condition: { '==': [{ var: 'other.text' }, 'no'] }, to: 'make' }],
                elseTo: 'other2',
              },
            },
            { id: 'make', capabilityId: 'make' },
            { id: 'other2', capabilityId: 'other' },
          ],
          edges: [{ from: 'other', to: 'pick' }],
        },
      },
    )
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
  })
})

describe('a constraint that nothing promises', () => {
  it.each([
    ['optional', ['n']],
    ['required', ['a', 'n']],
  ] as const)('is guarded by the search on a property that is %s', async (_, required) => {
    const schema = object({ a: mixed, n: number }, required)
    const app = await open({
      capabilities: [local('make', () => ({ a: 'x', n: 1 }), { outputContract: schema })],
    })
    const constraint = { constraintId: 'k', expr: listed, level: 'hard' }
    const done = await app.run({
      objective: 'Make it',
      outputContract: { schema, constraints: [constraint as never] },
    })
    expect(done).toMatchObject({ status: 'completed', output: { a: 'x', n: 1 } })
  })
})
