/** A registered fallback is part of the plan and runs only after its primary has failed. */

import { describe, expect, it } from 'vitest'
import type { DraftInput } from '../../../src/domain/envelope/envelope-input.ts'
import { answer, envelope, journal, local, open, rao, says, text } from '../../journeys/support.ts'

const post = { type: 'object', properties: { post: { type: 'string' } }, required: ['post'] } as const
const idea = { type: 'object', properties: { idea: { type: 'string' } }, required: ['idea'] } as const

async function endsOf(app: Awaited<ReturnType<typeof open>>, runId: string) {
  return (await journal(app, runId)).flatMap(({ type, nodeId }) =>
    ['node_complete', 'node_error', 'node_skipped'].includes(type) ? [`${nodeId} ${type.slice(5)}`] : [],
  )
}

describe('a fallback of a search plan', () => {
  const planned = async (fails: boolean) => {
    const calls: string[] = []
    const app = await open({
      capabilities: [
        local('think', () => ({ idea: 'steam' }), { outputContract: idea }),
        local(
          'write',
          () => {
            calls.push('write')
            if (fails) throw new Error('out of ink')
            return { post: 'written' }
          },
          { inputContract: idea, outputContract: post },
        ),
        local(
          'copy',
          () => {
            calls.push('copy')
            return { post: 'copied' }
          },
          { inputContract: idea, outputContract: post, nodeKind: 'fallback' },
        ),
      ],
    })
    const done = await app.run(envelope({ outputContract: { schema: post } }))
    return { app, done, calls }
  }

  it('is not called after a success, and does not answer', async () => {
    const { app, done, calls } = await planned(false)
    expect(done).toMatchObject({ status: 'completed', output: { post: 'written' } })
    expect(calls).toEqual(['write'])
    const ends = await endsOf(app, done.runId)
    expect(ends.filter((end) => end.includes('fallback'))).toEqual(['write_fallback skipped'])
  })

  it('answers after a failure', async () => {
    const { done, calls } = await planned(true)
    expect(done).toMatchObject({ status: 'completed', output: { post: 'copied' } })
    expect(calls.at(-1)).toBe('copy')
  })
})

describe('a fallback under RAO', () => {
  const capabilities = () => [
    local('think', () => ({ idea: 'steam' }), { outputContract: idea }),
    says('write', [rao({ text: 'Steam' }, 0.5)]),
    local('plain', () => ({ text: 'Plain' }), { inputContract: idea }),
  ]
  const draft: DraftInput = {
    nodes: [
      { id: 'think', capabilityId: 'think' },
      {
        id: 'write',
        capabilityId: 'write',
        inputs: { idea: { node: 'think', pointer: '/idea' } },
        data: { contract: true, autoApproveAbove: 0.7, reviewHigh: 0.6, reviewLow: 0.3, suppressBelow: 0.2 },
      },
      {
        id: 'plain',
        capabilityId: 'plain',
        kind: 'fallback',
        inputs: { idea: { node: 'think', pointer: '/idea' } },
      },
    ],
  }

  it('does not replace an answer that a person approved', async () => {
    const app = await open({ capabilities: capabilities() })
    const { runId } = await app.run(envelope({ outputContract: { schema: text } }), { draft: draft })
    await answer(app, runId, 'approve')
    const done = await app.result(runId)
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Steam' } })
    expect(await endsOf(app, runId)).toContain('plain skipped')
  })

  it('answers when a person rejected the answer', async () => {
    const app = await open({ capabilities: capabilities() })
    const { runId } = await app.run(envelope({ outputContract: { schema: text } }), { draft: draft })
    await answer(app, runId, 'reject')
    const done = await app.result(runId)
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Plain' } })
  })
})
