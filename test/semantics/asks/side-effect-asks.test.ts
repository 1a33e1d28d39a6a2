/** Who refuses a change of the world may order a plan without it; where a new plan is not offered, the reply is refused. */
import { describe, expect, it } from 'vitest'
import type { Draft } from '../../../src/domain/plan.ts'
import type { DraftRequest } from '../../../src/domain/ports/planner.ts'
import { api, envelope, local, serve, text } from '../../server/support.ts'

const S = { type: 'string' } as const
const obj = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) })

const read: Draft['nodes'][number] = { id: 'read', capabilityId: 'read' }
const publishing: Draft = {
  nodes: [
    read,
    { id: 'publish', capabilityId: 'publish', inputs: { found: { node: 'read', pointer: '/found' } } },
  ],
}
const noting: Draft = {
  nodes: [read, { id: 'note', capabilityId: 'note', inputs: { found: { node: 'read', pointer: '/found' } } }],
}

async function begin(constraints: object = { maxAsks: 9 }) {
  const calls: string[] = []
  const requests: DraftRequest[] = []
  const defineNotice = (id: string, more: object = {}) =>
    local(
      id,
      () => {
        calls.push(id)
        return { text: `by ${id}` }
      },
      { inputContract: obj({ found: S }), outputContract: text, ...more },
    )
  const served = await serve({
    capabilities: [
      local('read', () => ({ found: 'words of others' }), {
        kind: 'mcp',
        run: undefined,
        outputContract: obj({ found: S }),
      } as never),
      defineNotice('publish', { sideEffect: true, idempotent: false }),
      defineNotice('note'),
    ],
    dispatchers: [
      {
        kind: 'mcp',
        remote: true,
        dispatch: async () => ({
          outcome: 'ok',
          output: { value: { found: 'words of others' } },
          issues: [],
          usage: { calls: 1 },
        }),
      },
    ],
    planner: {
      name: 'own',
      draft: async (request) => {
        requests.push(request)
        return noting
      },
    },
  })
  const { app, call } = served
  const { id: runId } = await app.start(envelope({ constraints }), { draft: publishing })
  await app.result(runId)
  const asked = await (await call(`${api}/hitl?runId=${runId}`)).json()
  const [ask] = asked.asks as unknown as {
    readonly requestId: string
    readonly valueHash: string
    readonly kind: string
    readonly rejectActions: readonly string[]
  }[]
  if (!ask) throw new Error('Nothing is asked')
  const reply = (more: object) =>
    call(`${api}/hitl/resolve`, {
      body: { requestId: ask.requestId, valueHash: ask.valueHash, decision: 'reject', ...more },
    })
  return { ...served, runId, ask, reply, calls, requests }
}

describe('an ask about a side effect', () => {
  it('offers a new plan besides the failure, and no repetition: nothing was made', async () => {
    const { ask } = await begin()
    expect(ask).toMatchObject({ kind: 'side_effect', rejectActions: ['fail', 'replan'] })
  })

  it('leads to a plan without it, and the planner reads the note', async () => {
    const { app, runId, reply, calls, requests } = await begin()
    const answer = await reply({ rejectAction: 'replan', note: 'Do not publish' })
    expect(answer.status).toBe(200)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'by note' } })
    expect(calls).toEqual(['note'])
    expect(requests[0]).toMatchObject({
      phase: 'replan',
      feedback: [expect.objectContaining({ decision: 'reject', note: 'Do not publish', nodes: ['publish'] })],
    })
  })

  it('fails the node where the reply does not say what follows', async () => {
    const { app, runId, reply, calls, requests } = await begin()
    expect((await reply({ note: 'No' })).status).toBe(200)
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
    expect(calls).toEqual([])
    expect(requests).toEqual([])
  })

  it('refuses a repetition', async () => {
    const { reply } = await begin()
    const refused = await reply({ rejectAction: 'retry' })
    expect(refused.status).toBe(422)
    expect(JSON.stringify(await refused.json())).toContain('Use one of: fail, replan')
  })

  it('offers no new plan where the run may have none', async () => {
    expect((await begin({ maxAsks: 9, maxReplans: 0 })).ask.rejectActions).toEqual(['fail'])
  })
})
