/** Promises about decisions over HTTP: bound to what was shown, taken once, signed by the token. */
import { describe, expect, it } from 'vitest'
import { api, approved, frames, type Served, serve, start, tea } from './support.ts'

async function waiting(served: Served) {
  const [first] = await frames(await served.call(`${api}/run.stream`, { body: start(approved) }))
  const { runId } = first!
  const { asks } = await (await served.call(`${api}/hitl?runId=${runId}`)).json()
  return { runId, ask: asks[0]! }
}

describe('hitl', () => {
  it('lists what waits, with the hash of what it shows', async () => {
    const served = await serve(tea)
    const { runId, ask } = await waiting(served)
    expect(ask).toMatchObject({
      requestId: `${runId}:ask:1`,
      runId,
      kind: 'final',
      status: 'pending',
      value: { text: 'Tea' },
      valueHash: expect.stringMatching(/^[\da-f]{64}$/),
      expiresAt: expect.stringMatching(/Z$/),
    })
    expect((await (await served.call(`${api}/hitl?status=resolved`)).json()).asks).toEqual([])
  })

  it('lists page by page, so that none is beyond reach, and only those of the caller', async () => {
    const served = await serve(tea)
    const asked: string[] = []
    for (let round = 0; round < 5; round++) {
      const { requestId, valueHash } = (await waiting(served)).ask
      const body = { requestId, valueHash, decision: 'approve' }
      expect((await served.call(`${api}/hitl/resolve`, { body })).status).toBe(200)
      asked.push(requestId)
    }
    const page = async (query: string) => (await served.call(`${api}/hitl?status=resolved&${query}`)).json()
    const paged: string[] = []
    let next: string | undefined
    do {
      const body = await page(`limit=2${next === undefined ? '' : `&after=${next}`}`)
      expect(body.asks.length).toBe(next === asked[3] ? 1 : 2)
      paged.push(...body.asks.map((ask: { requestId: string }) => ask.requestId))
      // Here it is the id of an ask.
      next = body.next as unknown as string | undefined
    } while (next !== undefined)
    expect(paged).toEqual(asked)
    expect(await page('limit=5')).not.toHaveProperty('next')
    const token = await served.tokenFor('operator', 'other', 'eve')
    for (const [after, who] of [
      ['none', {}],
      [asked[0], { token }],
    ] as const) {
      const lost = await served.call(`${api}/hitl?after=${after}`, who)
      expect([lost.status, (await lost.json()).code]).toEqual([404, 'ask/unknown'])
    }
  })

  it('resolve records the decision with who took it, and the run continues to its end', async () => {
    const served = await serve(tea)
    const { runId, ask } = await waiting(served)
    const { requestId, valueHash } = ask
    const token = await served.tokenFor('operator', 'default', 'ann')
    const body = { requestId, valueHash, decision: 'approve', note: 'Fine' }
    const response = await served.call(`${api}/hitl/resolve`, { token, body })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ ok: true, runId, requestId, decision: 'approve' })
    expect(await served.app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const [row] = await served.app.store.asks({ runId })
    expect(row).toMatchObject({
      decision: 'approve',
      by: expect.stringMatching(/^ann \(tok_[\da-f]{16}\)$/),
      note: 'Fine',
    })
    const page = await (await served.call(`${api}/runs/${runId}`)).json()
    expect(page).toMatchObject({ run: { metadata: { lastOperator: { displayName: row?.by } } } })
  })

  it('of two decisions at the same moment one counts, and the other gets 409', async () => {
    const served = await serve(tea)
    for (let round = 0; round < 20; round++) {
      const { runId, ask } = await waiting(served)
      const { requestId, valueHash } = ask
      const resolve = (decision: string) =>
        served.call(`${api}/hitl/resolve`, { body: { requestId, valueHash, decision } })
      const answers = await Promise.all([resolve('approve'), resolve('reject')])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
      const lost = answers.find(({ status }) => status === 409)!
      expect(await lost.json()).toMatchObject({ code: 'ask/resolved' })
      const { status } = await served.app.result(runId)
      const won = answers[0]!.status === 200 ? 'completed' : 'failed'
      expect(status).toBe(won)
    }
  })

  it('refuses a reply to another value, to nothing, and one that breaks the contract', async () => {
    const served = await serve(tea)
    const { ask } = await waiting(served)
    const { requestId, valueHash } = ask
    const resolve = (body: object) =>
      served.call(`${api}/hitl/resolve`, { body: { requestId, valueHash, ...body } })
    const stale = await resolve({ decision: 'approve', valueHash: 'f'.repeat(64) })
    expect([stale.status, (await stale.json()).code]).toEqual([409, 'ask/stale'])
    const unknown = await resolve({ decision: 'approve', requestId: 'none' })
    expect([unknown.status, (await unknown.json()).code]).toEqual([404, 'ask/unknown'])
    const wrong = await resolve({ decision: 'edit', value: { text: 7 } })
    expect(wrong.status).toBe(422)
    expect(await wrong.json()).toMatchObject({ code: 'ask/invalid', issues: [{ pointer: '/text' }] })
    const forged = await resolve({ decision: 'approve', by: 'another user' })
    expect(forged.status).toBe(422)
    expect(await forged.json()).toMatchObject({ issues: [{ pointer: '/by' }] })
    expect((await resolve({ decision: 'edit', value: { text: 'Hot tea' } })).status).toBe(200)
  })

  it('the older path does the same and says where the new one is', async () => {
    const served = await serve(tea)
    const { ask } = await waiting(served)
    const { requestId, valueHash } = ask
    const body = { requestId, valueHash, decision: 'approve' }
    const response = await served.call('/api/hitl/resume', { body })
    expect(response.status).toBe(200)
    expect(response.headers.get('deprecation')).toBe('true')
    expect(response.headers.get('link')).toContain('/api/v1/flex/hitl/resolve')
  })
})
