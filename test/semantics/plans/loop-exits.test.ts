/** The exit condition of a loop reads the state: a path that the state does not have is found before the run. */

import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import type { JsonSchema } from '../../../src/schema/json-schema.ts'
import { local, open } from '../../journeys/support.ts'

const integer = { type: 'integer' }
const state = { type: 'object', properties: { n: integer }, required: ['n'] }
const closed = { ...state, additionalProperties: false }

async function run(schema: JsonSchema, until: Json, onMaxRounds: 'fail' | 'accept' = 'fail') {
  let calls = 0
  const increment = local(
    'inc',
    ({ n }) => {
      calls++
      return { n: Number(n) + 1 }
    },
    { inputContract: state, outputContract: schema },
  )
  const app = await open({ capabilities: [increment] })
  const body = {
    nodes: [{ id: 'i', capabilityId: 'inc', inputs: { n: { input: '/state/n' } } }],
    output: { node: 'i' },
  }
  const loop = { maxRounds: 5, until, onMaxRounds }
  const nodes = [{ id: 'l', inputs: { state: { envelope: '/inputs/s' } }, loop, body }]
  const given = { objective: 'Count', inputs: { s: { n: 0 } }, outputContract: { schema: state } }
  const result = await app.run(given, { draft: { nodes, output: { node: 'l' } } })
  const { warnings = [] } = (await app.state(result.runId))?.plan?.diagnostics ?? {}
  const failures = (result.status === 'failed' && result.error?.details?.['diagnostics']) || {}
  return { result, warnings, failures, calls }
}

describe('an exit condition on a path that the state does not have', () => {
  it('rejects the draft where the schema is closed', async () => {
    const { result, failures, calls } = await run(closed, { '==': [{ var: 'done' }, true] })
    expect(result.status).toBe('failed')
    expect(failures).toMatchObject({
      failures: [{ nodeId: 'l', details: { code: 'plan/exit-unknown', path: 'done' } }],
    })
    expect(calls).toBe(0)
  })

  it.each(['fail', 'accept'] as const)('warns where the schema is open (%s)', async (onMaxRounds) => {
    const { warnings } = await run(state, { '==': [{ var: 'done' }, true] }, onMaxRounds)
    expect(warnings).toMatchObject([
      {
        nodeId: 'l',
        constraint: 'loop.until of "l" finds "done" in the state',
        details: { code: 'plan/exit-undeclared', path: 'done' },
      },
    ])
  })

  it('suggests the path without "state"', async () => {
    const { warnings } = await run(state, { '>=': [{ var: 'state.n' }, 3] })
    expect(warnings).toMatchObject([{ suggestion: expect.stringContaining('Did you mean "n"?') }])
  })

  it('is named when the rounds are used up', async () => {
    const { result, calls } = await run(state, { '>=': [{ var: 'done' }, 3] })
    expect(calls).toBe(5)
    expect(result).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('done is missing') },
    })
  })

  it('is meant where it is tested with missing, or there', async () => {
    for (const until of [{ missing: ['done'] }, { '>=': [{ var: 'n' }, 3] }])
      expect(await run(state, until)).toMatchObject({ result: { status: 'completed' }, warnings: [] })
  })
})

it('names an inactive capability in a body first, and the other findings as its consequence', async () => {
  const gone = local('gone', () => ({ n: 1 }), {
    kind: 'model',
    preferredModels: ['nowhere/x'],
    outputContract: state,
  })
  const app = await open({ providers: [], capabilities: [{ capability: gone.capability }] })
  const body = {
    nodes: [{ id: 'w', capabilityId: 'gone', inputs: { x: { input: '/item' } } }],
    output: { node: 'w', pointer: '/n' },
  }
  const nodes = [{ id: 'each', inputs: { items: { value: [1] } }, map: {}, body }]
  const given = { objective: 'Count', inputs: {}, outputContract: { schema: { type: 'array' } } }
  const done = await app.run(given, { draft: { nodes, output: { node: 'each' } } })
  expect(done).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('capability "gone" is active') },
  })
  expect(done).toMatchObject({
    error: {
      details: {
        diagnostics: {
          failures: expect.arrayContaining([
            expect.objectContaining({
              nodeId: 'each[]',
              details: expect.objectContaining({ consequenceOf: ['each[].w'] }),
            }),
          ]),
        },
      },
    },
  })
})
