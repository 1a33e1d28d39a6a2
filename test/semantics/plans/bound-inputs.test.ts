/**
 * A bound input is required, also where no contract names it: a loose contract (`{ type: object }`) does not call a function
 * without its text, and a gate does not take `elseTo` for lack of a value.
 */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import { local, open, text } from '../../journeys/support.ts'

const object = { type: 'object' }
const optional = { ...object, properties: { r: { type: 'string' }, xs: { type: 'array' } } }
const envelope = {
  objective: 'Bind',
  inputs: { x: 1, xs: [1, 2] },
  outputContract: { schema: true },
}

/** Runs a draft; `made` is what the optional producer returns. */
async function run(draft: { nodes: object[]; [key: string]: unknown }, made: Json = {}) {
  const calls: Json[] = []
  const called = (inputs: Json) => {
    calls.push(inputs)
    return { text: JSON.stringify(inputs) }
  }
  const app = await open({
    capabilities: [
      local('any', called),
      local('other', called),
      local('optional', () => made, { outputContract: optional }),
      local('open', () => made, { outputContract: object }),
      local('never', () => ({ text: 'x' }), {
        outputContract: { ...text, additionalProperties: false },
      }),
      local('lost', () => ({}), { outputContract: object }),
    ],
  })
  const result = await app.run(envelope, { draft: draft as never })
  const { diagnostics } = (await app.state(result.runId))?.plan ?? {}
  const details = result.status === 'failed' ? result.error?.details : undefined
  return { result, calls, infos: diagnostics?.infos ?? [], details }
}

const reader = (binding: object, more: object = {}) => ({
  id: 'o',
  capabilityId: 'any',
  inputs: { v: binding },
  ...more,
})
const gate = (binding: object, more: object = {}) => ({
  id: 'g',
  inputs: { n: binding },
  routing: { routes: [{ condition: { '==': [{ var: 'n' }, 1] }, to: 'a' }], elseTo: 'b' },
  ...more,
})
const targets = [
  { id: 'a', capabilityId: 'any' },
  { id: 'b', capabilityId: 'other' },
]

describe('an input that is bound to what is never there', () => {
  const missing = { code: 'plan/input-missing' }
  it.each<[string, object[], string, string]>([
    ['the envelope', [reader({ envelope: '/inputs/nope' })], 'o', 'v'],
    [
      'a closed output',
      [{ id: 'm', capabilityId: 'never' }, reader({ node: 'm', pointer: '/zz' })],
      'o',
      'v',
    ],
    ['the envelope, of a gate', [gate({ envelope: '/inputs/nope' }), ...targets], 'g', 'n'],
    [
      'an item without members',
      [
        {
          id: 'each',
          inputs: { items: { envelope: '/inputs/xs' } },
          map: {},
          body: { nodes: [reader({ input: '/item/zz' })], output: { node: 'o' } },
        },
      ],
      'each[].o',
      'v',
    ],
  ])('rejects the draft: %s', async (_, nodes, nodeId, property) => {
    const { result, calls, details } = await run({ nodes })
    expect(result).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('No plan satisfies') },
    })
    expect(details).toMatchObject({
      diagnostics: { failures: [{ nodeId, details: { ...missing, property } }] },
    })
    expect(calls).toEqual([])
  })
})

describe('an input that is bound to what may be absent', () => {
  const bound = (capabilityId: string) => [
    { id: 'm', capabilityId },
    reader({ node: 'm', pointer: '/r' }, { label: 'reader' }),
  ]

  it.each(['optional', 'open'])(
    'is a finding, and fails the node before the call (%s)',
    async (capabilityId) => {
      const { result, calls, infos } = await run({ nodes: bound(capabilityId) })
      expect(infos).toMatchObject([
        {
          nodeId: 'o',
          constraint: 'input "v" of "o" is supplied',
          details: { code: 'plan/input-unproven', property: 'v' },
        },
      ])
      expect(result).toMatchObject({
        status: 'failed',
        error: {
          reason: 'input_validation_failure',
          message: expect.stringContaining('input "v" has no value'),
        },
      })
      expect(result).toMatchObject({ error: { message: expect.stringContaining('node "m" at /r') } })
      expect(calls).toEqual([])
    },
  )

  it('runs the node where the value is there', async () => {
    const { result, calls } = await run({ nodes: bound('optional') }, { r: 'here' })
    expect(result.status).toBe('completed')
    expect(calls).toEqual([{ v: 'here' }])
  })

  it('takes the next source, without a finding', async () => {
    const [m] = bound('optional')
    const { infos, calls } = await run({
      nodes: [m!, { ...reader({}), inputs: { v: [{ node: 'm', pointer: '/r' }, { value: 'else' }] } }],
    })
    expect(infos).toEqual([])
    expect(calls).toEqual([{ v: 'else' }])
  })

  it('runs without it where a contract names the input and does not require it', async () => {
    const optional = { contracts: { input: { type: 'object', properties: { v: true } } } }
    const { result, infos, calls } = await run({
      nodes: [{ id: 'm', capabilityId: 'optional' }, reader({ node: 'm', pointer: '/r' }, optional)],
    })
    expect(result.status).toBe('completed')
    expect(infos).toEqual([])
    expect(calls).toEqual([{}])
  })

  it('follows the fail edge of the node', async () => {
    const { result, calls } = await run({
      nodes: [...bound('optional'), { id: 'f', capabilityId: 'other' }],
      edges: [{ from: 'o', to: 'f', when: 'fail' }],
      output: [{ node: 'o' }, { node: 'f' }],
    })
    expect(result).toMatchObject({ status: 'completed', output: { text: '{}' } })
    expect(calls).toEqual([{}])
  })

  it('skips the node where its source was skipped', async () => {
    const { result, calls } = await run({
      nodes: [
        gate({ envelope: '/inputs/x' }),
        ...targets,
        { id: 'late', capabilityId: 'any', inputs: { v: { node: 'b', pointer: '/text' } } },
      ],
      output: [{ node: 'a' }, { node: 'b' }],
    })
    expect(result).toMatchObject({ status: 'completed' })
    expect(calls).toEqual([{}])
  })

  it('fails a reader of the label of a gate that took elseTo', async () => {
    const labelled = gate({ envelope: '/inputs/xs' })
    const routes = labelled.routing.routes.map((route) => ({ ...route, label: 'one' }))
    const { result, calls } = await run({
      nodes: [
        { ...labelled, routing: { ...labelled.routing, routes } },
        ...targets,
        reader({ node: 'g', pointer: '/route' }),
      ],
    })
    expect(result).toMatchObject({ status: 'failed', error: { reason: 'input_validation_failure' } })
    expect(calls.filter((inputs) => JSON.stringify(inputs) !== '{}')).toEqual([])
  })
})

describe('a gate that is bound to what may be absent', () => {
  const nodes = (more: object = {}) => [
    { id: 'm', capabilityId: 'optional' },
    gate({ node: 'm', pointer: '/r' }, more),
    ...targets,
  ]

  it('fails instead of taking elseTo', async () => {
    const { result, calls, infos } = await run({ nodes: nodes() })
    expect(infos).toMatchObject([{ nodeId: 'g', details: { code: 'plan/input-unproven', property: 'n' } }])
    expect(result).toMatchObject({
      status: 'failed',
      error: {
        reason: 'input_validation_failure',
        message: expect.stringContaining('input "n" has no value'),
      },
    })
    expect(calls).toEqual([])
  })

  it('takes elseTo where its contract makes the input optional', async () => {
    const { result, infos } = await run({
      nodes: nodes({ contracts: { input: { type: 'object', properties: { n: true } } } }),
      output: [{ node: 'a' }, { node: 'b' }],
    })
    expect(result.status).toBe('completed')
    expect(infos).toEqual([])
  })

  it('may ask whether the input is missing', async () => {
    const routing = { routes: [{ condition: { missing: ['n'] }, to: 'a' }], elseTo: 'b' }
    const output = [{ node: 'a' }, { node: 'b' }]
    const absent = await run({ nodes: nodes({ routing }), output })
    expect(absent.result.status).toBe('completed')
    expect(absent.infos).toEqual([])
  })

  it('hands on its inputs: who reads them through the gate can count on them', async () => {
    const { infos, calls } = await run({
      nodes: [gate({ envelope: '/inputs/x' }), ...targets, reader({ node: 'g', pointer: '/n' })],
      output: { node: 'o' },
    })
    expect(infos).toEqual([])
    expect(calls).toContainEqual({ v: 1 })
  })
})
