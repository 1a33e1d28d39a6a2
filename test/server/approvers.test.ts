/** Promises of the four-eyes principle: with `policies.approvers`, an ask needs the approval of several different people. */
import { expect, it } from 'vitest'
import { loadEvents, verifyHistory } from '../seams/engine.ts'
import { type AskBody, api, approved, frames, type Served, serve, start, tea } from './support.ts'

const fourEyes = { policies: { ...approved.policies, approvers: 2 } }

async function asked({ call }: Served) {
  const events = await frames(await call(`${api}/run.stream`, { body: start(fourEyes) }))
  const { runId } = events[0]!
  const show = async () =>
    (await (await call(`${api}/hitl?runId=${runId}`)).json()).asks[0] as Shown | undefined
  return { runId, ask: (await show())!, show }
}

interface Shown extends AskBody {
  readonly decisions: readonly string[]
  readonly approvers?: number
  readonly approvedBy?: readonly string[]
}

async function check({ app }: Served, runId: string) {
  const { store } = app
  const events = await loadEvents(store, runId)
  const [head, audit, asks] = [await store.head(runId), await store.audit(runId), await store.asks({ runId })]
  expect(verifyHistory(events, { head: head!, audit, asks })).toEqual([])
  return { head: head!, audit }
}

it('two different people approve over HTTP; the run waits after the first and ends after the second', async () => {
  const served = await serve(tea)
  const { call, tokenFor } = served
  const { runId, ask, show } = await asked(served)
  expect([ask.approvers, ask.decisions]).toEqual([2, ['approve', 'reject']])
  const { requestId, valueHash } = ask
  const resolve = (token: string, more: object = {}) =>
    call(`${api}/hitl/resolve`, { body: { requestId, valueHash, decision: 'approve', ...more }, token })
  const [ann, alsoAnn, ben] = [
    await tokenFor('operator', 'default', 'ann'),
    await tokenFor('operator', 'default', 'Ann '),
    await tokenFor('operator', 'default', 'ben'),
  ]
  const first = await resolve(ann, { note: 'fine' })
  expect(await first.json()).toMatchObject({ ok: true, status: 'awaiting_hitl', missingApprovals: 1 })
  expect((await show())?.approvedBy?.[0]).toMatch(/^ann \(tok_/)
  for (const token of [ann, alsoAnn]) {
    const again = await resolve(token)
    expect(again.status, 'the same person, with the same or another token').toBe(422)
    expect((await again.json()).detail).toContain('2 different people')
  }
  const edited = await resolve(ben, { decision: 'edit', value: { text: 'x' } })
  expect(edited.status, 'both approve the same value').toBe(422)
  const second = await resolve(ben)
  expect(second.status).toBe(200)
  expect(await second.json()).not.toHaveProperty('missingApprovals')
  expect((await served.app.result(runId)).status).toBe('completed')
  const { audit } = await check(served, runId)
  expect(audit.map(({ what, by }) => `${what} ${by.replace(/ \(.*/, '')}`)).toEqual([
    'asked system',
    'approve ann',
    'approve ben',
  ])
  expect((await resolve(ann)).status, 'only the first two count').toBe(409)
})

it('one rejection is enough, before and after an approval', async () => {
  for (const before of [false, true]) {
    const served = await serve(tea)
    const { runId, ask } = await asked(served)
    const { requestId, valueHash } = ask
    const reply = { requestId, valueHash, rejectAction: 'fail' } as const
    if (before) await served.app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
    await served.app.reply(runId, { ...reply, decision: 'reject', by: 'ann' })
    expect((await served.app.result(runId)).status).toBe('failed')
    await check(served, runId)
  }
})

it('two approvals at the same time by one person count once, by two people twice', async () => {
  for (const [people, counted] of [
    [['ann', 'ann'], 1],
    [['ann', 'ben'], 2],
  ] as const) {
    const served = await serve(tea)
    const { runId, ask } = await asked(served)
    const { requestId, valueHash } = ask
    const replies = people.map((by) =>
      served.app.reply(runId, { requestId, valueHash, decision: 'approve', by }),
    )
    const ends = await Promise.allSettled(replies)
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBe(counted)
    const { head } = await check(served, runId)
    expect(head.status === 'awaiting_hitl').toBe(counted === 1)
  }
})

it('refuses a number of approvers that makes no sense, with its location', async () => {
  const { call } = await serve(tea)
  const answer = await call(`${api}/runs`, { body: start({ policies: { approvers: 0 } }) })
  expect(answer.status).toBe(422)
  expect(JSON.stringify(await answer.json())).toContain('/policies/approvers')
})
