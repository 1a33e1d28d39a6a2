/** An ask that takes a value shows everything that the value must satisfy: the schema, and the conditions beyond it. */
import { describe, expect, it } from 'vitest'
import type { Draft } from '../../../src/domain/plan.ts'
import { api, envelope, local, serve } from '../../server/support.ts'

const score = {
  type: 'object',
  properties: { score: { type: 'integer' } },
  required: ['score'],
} as const
const isHigh = { '>=': [{ var: 'score' }, 5] }

const person = local('person', () => ({}), { kind: 'human', run: undefined, outputContract: score } as never)
const rate = local('rate', () => ({ score: 7 }), { outputContract: score })

const improve = {
  id: 'improve',
  inputs: { state: { value: { score: 0 } } },
  loop: { state: score, maxRounds: 2, until: isHigh },
  body: { nodes: [{ id: 'rate', capabilityId: 'rate' }], output: { node: 'rate' } },
}
const label = { planner: { directives: { hitlRequiredFor: ['improve'] } } }
const final = { planner: { directives: { askBeforeFinish: true } } }
const high = { constraintId: 'high', expr: isHigh, level: 'hard' }

const cases: readonly [string, { readonly nodes: readonly object[] }, object, string][] = [
  ['the approval of a loop', { nodes: [improve] }, { policies: label }, 'approval'],
  ['a task', { nodes: [{ id: 'improve', capabilityId: 'person', postConditions: [isHigh] }] }, {}, 'task'],
  [
    'the approval of the answer',
    { nodes: [{ id: 'improve', capabilityId: 'rate', postConditions: [isHigh] }] },
    { policies: final, outputContract: { schema: score, constraints: [high] } },
    'final',
  ],
]

describe.each(cases)('%s', (_, draft, more, kind) => {
  it('shows the conditions, refuses a value that breaks them and takes one that does not', async () => {
    const { app, call } = await serve({ capabilities: [person, rate] })
    const wanted = envelope({ outputContract: { schema: score }, ...more })
    const { id: runId } = await app.start(wanted, { draft: draft as Draft })
    await app.result(runId)
    const { asks } = await (await call(`${api}/hitl?runId=${runId}`)).json()
    expect(asks).toMatchObject([{ kind, conditions: [isHigh] }])
    const { requestId, valueHash } = asks[0]!
    const decision = kind === 'task' ? 'answer' : 'edit'
    const sendScore = (value: number) =>
      call(`${api}/hitl/resolve`, { body: { requestId, valueHash, decision, value: { score: value } } })
    const refused = await sendScore(4)
    expect(refused.status).toBe(422)
    expect(JSON.stringify(await refused.json())).toContain('score >= 5')
    expect((await sendScore(5)).status).toBe(200)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { score: 5 } })
  })
})
