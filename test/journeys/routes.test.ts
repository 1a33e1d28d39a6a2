/** Ways through a plan: fallbacks, routes and joins, retries, alternates, new plans. */

import { describe, expect, it } from 'vitest'
import type { DraftInput } from '../../src/domain/envelope/envelope-input.ts'
import type { Planner } from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'
import { envelope, journal, listTypes, local, open, rao, says } from './support.ts'

describe('routes', () => {
  it('suppress-takes-fallback: an output below the threshold is dropped, and the fallback answers', async () => {
    const app = await open({
      capabilities: [
        says('write', [rao({ text: 'Nonsense' }, 0.2)]),
        local('plain', () => ({ text: 'Tea' })),
      ],
    })
    const draft: DraftInput = {
      nodes: [
        { id: 'write', capabilityId: 'write', data: { contract: true } },
        { id: 'plain', capabilityId: 'plain', kind: 'fallback' },
      ],
      edges: [{ from: 'write', to: 'plain', when: 'fail' }],
      output: [{ node: 'write' }, { node: 'plain' }],
    }
    const done = await app.run(envelope(), { draft })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const events = await journal(app, done.runId)
    expect(events.find(({ type }) => type === 'node_error')?.payload).toMatchObject({ outcome: 'suppressed' })
    expect(JSON.stringify(events.filter(({ type }) => type === 'complete'))).not.toContain('Nonsense')
  })

  it('a fallback that is not needed is skipped, and says so', async () => {
    const app = await open({
      capabilities: [local('write', () => ({ text: 'Tea' })), local('plain', () => ({ text: '?' }))],
    })
    const draft: DraftInput = {
      nodes: [
        { id: 'write', capabilityId: 'write' },
        { id: 'plain', capabilityId: 'plain', kind: 'fallback' },
      ],
      edges: [{ from: 'write', to: 'plain', when: 'fail' }],
      output: [{ node: 'write' }, { node: 'plain' }],
    }
    const done = await app.run(envelope(), { draft })
    expect(done.output).toEqual({ text: 'Tea' })
    const skipped = (await journal(app, done.runId)).find(({ type }) => type === 'node_skipped')
    expect(skipped?.nodeId).toBe('plain')
  })

  it('a routing node with many targets and a join never waits for the way not taken', async () => {
    const say = (word: string) => local(word, () => ({ text: word }))
    const app = await open({ capabilities: [say('short'), say('long'), say('end')] })
    const draft: DraftInput = {
      nodes: [
        {
          id: 'size',
          kind: 'routing',
          inputs: { topic: { envelope: '/inputs/topic' } },
          routing: {
            routes: [{ condition: { '==': [{ var: 'topic' }, 'tea'] }, to: ['short'] }],
            elseTo: ['long', 'longer'],
          },
        },
        { id: 'short', capabilityId: 'short' },
        { id: 'long', capabilityId: 'long' },
        { id: 'longer', capabilityId: 'long' },
        {
          id: 'end',
          capabilityId: 'end',
          inputs: {
            text: [
              { node: 'short', pointer: '/text' },
              { node: 'long', pointer: '/text' },
            ],
          },
        },
      ],
      edges: [
        { from: 'size', to: 'short' },
        { from: 'size', to: 'long' },
        { from: 'size', to: 'longer' },
        { from: 'short', to: 'end' },
        { from: 'longer', to: 'end' },
      ],
      output: { node: 'end' },
    }
    const done = await app.run(envelope(), { draft })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'end' } })
    const skipped = (await journal(app, done.runId)).filter(({ type }) => type === 'node_skipped')
    expect(skipped.map(({ nodeId }) => nodeId).sort()).toEqual(['long', 'longer'])
  })

  it('tries again as often as planned, then with the alternate, within one budget of calls', async () => {
    const app = await open({
      capabilities: [
        says('write', ['no json', 'nor here', 'nor there']),
        local('other', () => ({ text: 'Tea' })),
      ],
    })
    const draft: DraftInput = {
      nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 1 }, alternates: ['other'] }],
    }
    const done = await app.run(envelope(), { draft })
    expect(done).toMatchObject({
      status: 'completed',
      output: { text: 'Tea' },
      provenance: [{ attempt: 3, capabilityId: 'other' }],
    })
    const ends = (await journal(app, done.runId)).filter(({ type }) => type === 'attempt_end')
    expect(ends.map(({ payload }) => (payload as { outcome: string }).outcome)).toEqual([
      'invalid',
      'invalid',
      'ok',
    ])
  })

  it('an attempt that would end the same way again is not retried, and the alternate has a budget of its own', async () => {
    const refuse = () => {
      throw new ProvisoError('capability/refused', 'Not like this')
    }
    const app = await open({
      capabilities: [local('write', refuse), local('other', () => ({ text: 'Tea' }))],
    })
    const node = {
      id: 'write',
      capabilityId: 'write',
      alternates: ['other'],
      callBudget: 1,
      retry: { max: 3 },
    }
    const done = await app.run(envelope(), { draft: { nodes: [node] } })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const starts = (await journal(app, done.runId)).filter(({ type }) => type === 'attempt_start')
    expect(starts).toHaveLength(2)
  })

  it('replan-carries-completed-nodes: a new version keeps what was done, in the order of the specification', async () => {
    let wrote = 0
    const node = (id: string, more = {}) => ({ id, capabilityId: id, ...more })
    const planner: Planner = {
      name: 'scripted',
      async draft({ phase }) {
        const check = phase === 'initial' ? 'check' : 'recheck'
        return {
          nodes: [
            node('write'),
            {
              id: check,
              capabilityId: check,
              kind: 'validation',
              inputs: { text: { node: 'write', pointer: '/text' } },
            },
          ],
          output: { node: 'write' },
        }
      },
    }
    const scored = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] } as const
    const app = await open({
      planner,
      capabilities: [
        local('write', () => ({ text: `Tea ${++wrote}` })),
        local('check', () => ({ score: 0.3 }), { outputContract: scored, nodeKind: 'validation' }),
        local('recheck', () => ({ score: 0.9 }), { outputContract: scored, nodeKind: 'validation' }),
      ],
    })
    const runtime = [
      {
        id: 'low',
        trigger: {
          kind: 'onNodeComplete',
          selector: { kind: 'validation' },
          condition: { '<': [{ var: 'score' }, 0.6] },
        },
        action: { type: 'replan', rationale: 'Low score' },
      },
    ]
    const done = await app.run(envelope({ policies: { runtime } }))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea 1' } })
    expect(wrote).toBe(1)
    const types = listTypes(await journal(app, done.runId))
    const order = types.filter((type) => /^(policy_triggered|plan_)/.test(type))
    expect(order).toEqual([
      'plan_requested',
      'plan_generated',
      'policy_triggered',
      'plan_requested',
      'plan_generated',
      'plan_updated',
    ])
  })
})
