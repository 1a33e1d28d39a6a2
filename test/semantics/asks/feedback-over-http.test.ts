/** Feedback over HTTP: what a reviewer posts is what the agent's own server receives with the next call. */
import { describe, expect, it } from 'vitest'
import { agent, api, copyVariants, json, serveAgents, wanted, writer, writing } from '../../agents/support.ts'
import { frames } from '../../server/support.ts'

const better = [{ headline: 'Tea!', body: 'Warm.', callToAction: 'Sip' }]

async function reviewed() {
  const copywriter = await agent(json({ copyVariants }), json({ copyVariants: better }))
  const served = await serveAgents()
  await served.register(writer(copywriter.url), await served.agentToken())
  const policies = { planner: { directives: { askBeforeFinish: true } } }
  const body = { envelope: wanted({ policies }), draft: writing() }
  const [first] = await frames(await served.call(`${api}/run.stream`, { body }))
  const { runId = '' } = first ?? {}
  const pending = async () => (await (await served.call(`${api}/hitl?runId=${runId}`)).json()).asks[0]!
  const resolve = async (more: object) => {
    const { requestId, valueHash } = await pending()
    return served.call(`${api}/hitl/resolve`, { body: { requestId, valueHash, ...more } })
  }
  return { ...served, copywriter, runId, pending, resolve }
}

describe('POST hitl/resolve with a rejection', () => {
  it('sends the note and the rejected value to the agent with the next call', async () => {
    const { app, call, copywriter, runId, pending, resolve } = await reviewed()
    expect(JSON.parse(copywriter.received[0]!.body)).toMatchObject({ feedback: [] })
    const answer = await resolve({ decision: 'reject', note: 'Shorter, please', rejectAction: 'retry' })
    expect(answer.status).toBe(200)
    await app.result(runId)
    expect(JSON.parse(copywriter.received[1]!.body)).toMatchObject({
      attempt: 2,
      feedback: [
        {
          source: 'reply',
          decision: 'reject',
          note: 'Shorter, please',
          value: { copyVariants },
          by: expect.any(String),
        },
      ],
    })
    expect(copywriter.received[1]!.headers['idempotency-key']).not.toBe(
      copywriter.received[0]!.headers['idempotency-key'],
    )
    expect(await pending()).toMatchObject({
      value: { copyVariants: better },
      producers: ['write'],
      feedback: [{ note: 'Shorter, please' }],
    })
    const page = (await (await call(`${api}/runs/${runId}`)).json()) as unknown as { feedback: unknown[] }
    expect(page.feedback).toMatchObject([{ source: 'reply', nodes: ['write'], note: 'Shorter, please' }])
    expect((await resolve({ decision: 'approve' })).status).toBe(200)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { copyVariants: better } })
    const { events } = await (await call(`${api}/runs/${runId}/events`)).json()
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['feedback_recorded', 'nodes_reopened']),
    )
  })

  it('refuses what it cannot do, located', async () => {
    const { resolve } = await reviewed()
    for (const [more, pointer] of [
      [{ decision: 'approve', rejectAction: 'retry' }, '/rejectAction'],
      [{ decision: 'reject', rejectAction: 'again' }, '/rejectAction'],
    ] as const) {
      const answer = await resolve(more)
      expect(answer.status).toBe(422)
      expect((await answer.json()).issues).toMatchObject([{ pointer }])
    }
  })
})
