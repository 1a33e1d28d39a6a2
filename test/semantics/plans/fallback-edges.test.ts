/** An edge to a node of kind `fallback` is followed when its source has failed, unless the draft says otherwise. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../../src/index.ts'
import { open } from '../../journeys/support.ts'

const output = z.object({ reply: z.string() })
const input = z.object({ ok: z.boolean() })
const main = defineCapability({
  id: 'main',
  input,
  output,
  run({ ok }, context) {
    if (!ok) return context.reject('no')
    return { reply: 'main' }
  },
})
const back = defineCapability({
  id: 'back',
  nodeKind: 'fallback',
  input,
  output,
  run: () => ({ reply: 'back' }),
})

async function answer(when: 'pass' | 'fail' | 'always' | undefined, ok: boolean) {
  const app = await open({ capabilities: [main, back] })
  const edge = { from: 'a', to: 'f', ...(when && { when }) }
  const nodes = [
    { id: 'a', capabilityId: 'main' },
    { id: 'f', capabilityId: 'back' },
  ]
  const result = await app.run(
    { objective: 'Reply', inputs: { ok }, output },
    { draft: { nodes, edges: [edge] } },
  )
  const { plan } = await app.state(result.runId)
  const found = plan?.diagnostics.infos.filter(({ details }) => details?.['code'] === 'plan/fallback-edge')
  return { reply: result.output?.reply, edges: plan?.edges, found }
}

describe('an edge to a fallback node', () => {
  it('without `when` is followed when its source has failed', async () => {
    expect(await answer(undefined, false)).toMatchObject({
      reply: 'back',
      edges: [{ when: 'fail' }],
      found: [],
    })
    expect(await answer(undefined, true)).toMatchObject({ reply: 'main', found: [] })
    expect(await answer('fail', false)).toMatchObject({ reply: 'back', found: [] })
  })

  it('with `pass` does what it says, and is a finding that says what to write', async () => {
    expect(await answer('pass', true)).toMatchObject({
      reply: 'back',
      found: [
        { nodeId: 'f', suggestion: expect.stringContaining('{ "from": "a", "to": "f", "when": "fail" }') },
      ],
    })
  })
})
