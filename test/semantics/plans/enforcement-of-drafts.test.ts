/**
 * `enforcement: off` in a draft: the answer is neither read toward the contract nor repaired, and the contract still
 * holds. What the proof counts on is judged in the run; what is not to be judged must not be promised to the proof.
 */
import { describe, expect, it } from 'vitest'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { defineCapability } from '../../../src/app.ts'
import { envelope, open } from '../../journeys/support.ts'
import { serveModel } from '../../models/serve-model.ts'

const scored = {
  type: 'object',
  properties: { score: { type: 'number', minimum: 0.8 } },
  required: ['score'],
} as const
const high = { constraintId: 'high', expr: { '>=': [{ var: 'score' }, 0.8] }, level: 'hard' } as const

async function run(
  said: string,
  { contract, caller, processing }: { contract: object; caller: object; processing: object },
) {
  const server = await serveModel(() => ({ text: said }))
  const judge = defineCapability({
    capabilityId: 'judge',
    kind: 'model',
    preferredModels: ['compatible/m'],
    inputContract: { type: 'object' },
    outputContract: contract as never,
  })
  const app = await open({ capabilities: [judge], providers: [compatible({ baseURL: server.url })] })
  const done = await app.run(envelope({ outputContract: caller }), {
    draft: {
      nodes: [{ id: 'judge', capabilityId: 'judge', data: { processing } }],
      output: { node: 'judge' },
    },
  })
  return { done, asked: server.seen.map(({ body }) => JSON.stringify(body)) }
}

const off = { structured_output: 'auto', enforcement: 'off' }

describe('the contract of a node under enforcement: off', () => {
  const caller = {
    schema: { type: 'object', properties: { score: { type: 'number' } } },
    constraints: [high],
  }

  it('is what the proof counts on, and the run holds: a wrong answer fails the node after one call, unrepaired', async () => {
    const { done, asked } = await run('{"score": "0.9"}', { contract: scored, caller, processing: off })
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/invalid' })
    expect(asked).toHaveLength(1)
  })

  it('is satisfied by an answer that is right at once', async () => {
    const { done } = await run('{"score": 0.9}', { contract: scored, caller, processing: off })
    expect(done).toMatchObject({ status: 'completed', output: { score: 0.9 } })
  })

  it('is repaired under repair, and the run completes', async () => {
    const processing = { structured_output: 'auto', enforcement: 'repair' }
    const { done } = await run('{"score": "0.9"}', { contract: scored, caller, processing })
    expect(done).toMatchObject({ status: 'completed', output: { score: 0.9 } })
  })
})

describe('an open contract with a schema to ask for', () => {
  const processing = { ...off, schema: scored }

  it('asks for the schema and takes the answer as it is', async () => {
    const { done, asked } = await run('{"score": "high"}', {
      contract: {},
      caller: { schema: {} },
      processing,
    })
    expect(done).toMatchObject({ status: 'completed', output: { score: 'high' } })
    expect(asked[0]).toContain('score')
  })

  it('promises nothing to the proof: a constraint on the answer has no producer', async () => {
    const { done, asked } = await run('{"score": 0.9}', {
      contract: {},
      caller: { schema: {}, constraints: [high] },
      processing,
    })
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(JSON.stringify(done.error)).toContain('missing_producer')
    expect(asked).toEqual([])
  })
})
