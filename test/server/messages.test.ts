/** Promises about what people and a run say to each other, as a page of the run shows it (FLEX-86). */
import { describe, expect, it } from 'vitest'
import { newRun, sampleAsk, sampleEvent, startEvent } from '../seams/stores.ts'
import { api, approved, frames, type Served, serve, start, tea } from './support.ts'

const page = async (served: Served, runId: string, token?: string) =>
  served.call(`${api}/runs/${runId}`, token === undefined ? {} : { token })

async function answered(served: Served, note: string) {
  const [first] = await frames(await served.call(`${api}/run.stream`, { body: start(approved) }))
  const { runId } = first!
  const { asks } = await (await served.call(`${api}/hitl?runId=${runId}`)).json()
  const { requestId, valueHash } = asks[0]!
  const token = await served.tokenFor('operator', 'default', 'ann')
  const body = { requestId, valueHash, decision: 'approve', note }
  expect((await served.call(`${api}/hitl/resolve`, { token, body })).status).toBe(200)
  await served.app.result(runId)
  return { runId, requestId }
}

describe('messages of a run', () => {
  it('are the question with what it showed, and the decision with who took it', async () => {
    const served = await serve(tea)
    const { runId, requestId } = await answered(served, 'Fine')
    const { messages, olderMessages } = await (await page(served, runId)).json()
    const about = { requestId, at: expect.stringMatching(/Z$/), messageId: expect.stringContaining(runId) }
    expect(messages).toMatchObject([
      { ...about, role: 'agent', body: { kind: 'final', value: { text: 'Tea' } } },
      {
        ...about,
        role: 'operator',
        body: { decision: 'approve', by: expect.stringMatching(/^ann /), note: 'Fine' },
      },
    ])
    expect(messages[0]!.body['question']).toMatch(/\S/)
    expect(olderMessages).toBe(undefined)
  })

  it('are empty for a run without asks', async () => {
    const served = await serve(tea)
    const { runId } = await (await served.call(`${api}/runs?wait=30`, { body: start() })).json()
    expect((await (await page(served, runId)).json()).messages).toEqual([])
  })

  it('hold no known secret in the store, and nothing that looks like one when they leave', async () => {
    const shaped = 'Bearer planted-b3arer'
    const served = await serve({ ...tea, secrets: ['planted-note-secret'] })
    const { runId } = await answered(served, `planted-note-secret and ${shaped}`)
    expect(JSON.stringify(await served.app.store.messages(runId))).not.toContain('planted-note-secret')
    const text = await (await page(served, runId)).text()
    expect(text).toContain('[redacted]')
    expect(text).not.toContain('planted-note-secret')
    expect(text).not.toContain('planted-b3arer')
  })

  it('are hidden from other tenants', async () => {
    const served = await serve(tea)
    const { runId } = await answered(served, 'Fine')
    const other = await served.tokenFor('operator', 'other', 'eve')
    expect((await page(served, runId, other)).status).toBe(404)
  })

  it('are the newest 200, and the page says that there are older ones', async () => {
    const served = await serve(tea)
    const audit = { prev: '', subjectHash: 'v', hash: 'h' }
    const asks = Array.from({ length: 201 }, (_, index) =>
      sampleEvent('hitl_request', { ...sampleAsk(`q-${index}`), audit }),
    )
    const events = [startEvent(), ...asks]
    const head = { status: 'completed', planVersion: 1 } as const
    await served.app.store.create(newRun('many', { tenant: 'default', events, head }))
    const shown = await (await page(served, 'many')).json()
    expect(shown.messages.length).toBe(200)
    expect([shown.messages[0]!.requestId, shown.messages[199]!.requestId]).toEqual(['q-1', 'q-200'])
    expect(shown.olderMessages).toBe(true)
    // No real history, which every other one is held to be.
    await served.app.store.prune({ before: Number.MAX_SAFE_INTEGER })
  })
})
