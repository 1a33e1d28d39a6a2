/** What a routing node hands on: its inputs, typed as they came, and the label of the route that it took. */

import { describe, expect, it } from 'vitest'
import type { DraftInput } from '../../../src/domain/envelope/envelope-input.ts'
import type { Routing } from '../../../src/domain/plan.ts'
import { envelope, local, open } from '../../journeys/support.ts'

const score = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] } as const

const takesScore = (id: string) =>
  local(id, ({ score: given }) => ({ text: `${id} ${given}` }), { inputContract: score })

function gated(routing: Routing): DraftInput {
  return {
    nodes: [
      { id: 'rate', capabilityId: 'rate' },
      {
        id: 'gate',
        contracts: { input: score },
        inputs: { score: { node: 'rate', pointer: '/score' } },
        routing,
      },
      { id: 'publish', capabilityId: 'publish', inputs: { score: { node: 'gate', pointer: '/score' } } },
      { id: 'hold', capabilityId: 'hold', inputs: { score: { node: 'gate', pointer: '/score' } } },
    ],
    output: [{ node: 'publish' }, { node: 'hold' }],
  }
}

const rate = (value: number) => local('rate', () => ({ score: value }), { outputContract: score })
const high = { '>=': [{ var: 'score' }, 0.8] }

describe('the output of a routing node', () => {
  it.each([
    [0.9, 'publish 0.9'],
    [0.2, 'hold 0.2'],
  ])('has the members of its inputs: a target reads a score of %s through the gate', async (value, text) => {
    const app = await open({ capabilities: [rate(value), takesScore('publish'), takesScore('hold')] })
    const draft = gated({ routes: [{ condition: high, to: 'publish', label: 'good' }], elseTo: 'hold' })
    const done = await app.run(envelope(), { draft })
    expect(done).toMatchObject({ status: 'completed', output: { text } })
  })

  it('does not make it a second supplier of what it hands on', async () => {
    const app = await open({ capabilities: [rate(0.9), takesScore('publish'), takesScore('hold')] })
    const draft = gated({ routes: [{ condition: high, to: 'publish' }], elseTo: 'hold' })
    const asked = { ...envelope(), outputContract: { schema: score } }
    const done = await app.run(asked, { draft: { nodes: draft.nodes } })
    expect(done).toMatchObject({
      status: 'completed',
      output: { score: 0.9 },
      provenance: [{ pointer: '/score', nodeId: 'rate' }],
    })
  })

  it('is typed for the body of a map or loop that reads it', async () => {
    const app = await open({ capabilities: [rate(0.9), takesScore('publish'), takesScore('hold')] })
    const draft = gated({ routes: [{ condition: high, to: 'publish' }], elseTo: 'hold' })
    const each = {
      id: 'each',
      inputs: { items: { value: ['a', 'b'] }, score: { node: 'gate', pointer: '/score' } },
      map: {},
      body: {
        nodes: [{ id: 'notice', capabilityId: 'publish', inputs: { score: { input: '/score' } } }],
        output: { node: 'notice', pointer: '/text' },
      },
    }
    const texts = { type: 'object', properties: { texts: { type: 'array' } }, required: ['texts'] }
    const done = await app.run(
      { ...envelope(), outputContract: { schema: texts } },
      {
        draft: {
          nodes: [...draft.nodes, each],
          output: { properties: { texts: { node: 'each' } } },
        },
      },
    )
    expect(done).toMatchObject({ status: 'completed', output: { texts: ['publish 0.9', 'publish 0.9'] } })
  })
})
