/** Tests of the documents that a server keeps beside the runs: written with events, changed by version, claimed when due. */
import type { NewDocument } from '../../domain/ports/documents.ts'
import { logEvent, newRun, runningHead } from './sample.ts'
import type { Suite } from './test-api.ts'

/** Long enough for a database on a busy machine to answer several times. */
const shortMs = 400

const document = (id: string, members: Partial<NewDocument> = {}): NewDocument => ({
  kind: 'delivery',
  tenant: 't-1',
  id,
  body: { id, text: 'a\u0000\ud800b' },
  ...members,
})

const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).sort()

export function documentSuite({ test, expect }: Suite): void {
  test('adds a document once, finds it, lists it by kind, tenant and prefix, and removes it', async ({
    store,
  }) => {
    const { documents, operations } = store.records
    const operation = {
      tenant: 't-1',
      by: 'ann',
      action: 'webhook.created',
      subject: 'a',
      details: {},
    } as const
    const added = await documents.add(document('a'), { operation })
    const { version, createdAt, updatedAt, ...rest } = added ?? { version: 0, createdAt: 0, updatedAt: 0 }
    expect(rest).toEqual(document('a'))
    expect([version, createdAt === updatedAt]).toEqual([1, true])
    expect(await documents.add(document('a', { body: 2 }), { operation })).toBe(undefined)
    expect((await operations.list({})).length, 'what was refused is not recorded').toBe(1)
    expect(await documents.find(document('a'))).toEqual(added)
    await documents.add(document('ab'))
    await documents.add(document('a', { tenant: 't-2' }))
    await documents.add(document('a', { kind: 'webhook' }))
    expect(ids(await documents.list({ kind: 'delivery', tenant: 't-1' }))).toEqual(['a', 'ab'])
    expect(ids(await documents.list({ kind: 'delivery' }))).toEqual(['a', 'a', 'ab'])
    expect(ids(await documents.list({ kind: 'delivery', prefix: 'ab' }))).toEqual(['ab'])
    expect((await documents.list({ kind: 'delivery', limit: 2 })).length).toBe(2)
    const removed = { ...operation, action: 'webhook.removed' } as const
    expect(await documents.remove(document('a'), { operation: removed })).toBe(true)
    expect(await documents.remove(document('a'), { operation: removed })).toBe(false)
    expect(await documents.find(document('a'))).toBe(undefined)
    expect((await operations.list({})).map(({ action }) => action)).toEqual([
      'webhook.removed',
      'webhook.created',
    ])
  })

  test('lists documents page by page, each once, also those of one time', async ({ store }) => {
    const { documents } = store.records
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    await Promise.all(names.map((id) => documents.add(document(id))))
    const all = await documents.list({ kind: 'delivery' })
    const paged: typeof all = []
    for (let after = all[0]; after !== undefined; ) {
      if (paged.length === 0) paged.push(after)
      const page = await documents.list({ kind: 'delivery', tenant: 't-1', limit: 2, after })
      paged.push(...page)
      after = page.at(-1)
    }
    expect(paged).toEqual(all)
    expect(ids(all)).toEqual(names)
  })

  test('replaces a document only at the version that the caller has read', async ({ store }) => {
    const { documents } = store.records
    await documents.add(document('a', { dueAt: 5 }))
    const changes = [1, 2, 3].map((body) => documents.replace(document('a', { body }), { version: 1 }))
    const won = (await Promise.all(changes)).filter((row) => row !== undefined)
    expect(won.length).toBe(1)
    expect([won[0]?.version, won[0]?.dueAt]).toEqual([2, undefined])
    expect(await documents.find(document('a'))).toEqual(won[0])
    expect(await documents.replace(document('none'), { version: 1 })).toBe(undefined)
  })

  test('gives each due document to one caller, and again when its time is over', async ({
    store,
    elapse,
  }) => {
    const { documents } = store.records
    expect(await documents.nextDue('delivery')).toBe(undefined)
    for (const id of ['a', 'b', 'c']) {
      const added = await documents.add(document(id, { dueAt: 0 }))
      expect(added?.dueAt, 'due in the order in which they were added').toBe(added?.createdAt)
    }
    await documents.add(document('later', { dueAt: Number.MAX_SAFE_INTEGER }))
    await documents.add(document('never'))
    await documents.add(document('other', { kind: 'webhook', dueAt: 0 }))
    const request = { kind: 'delivery', limit: 2, leaseMs: shortMs } as const
    const claims = await Promise.all([documents.claimDue(request), documents.claimDue(request)])
    const claimed = claims.flat()
    expect(ids(claimed)).toEqual(['a', 'b', 'c'])
    const [first] = claimed
    expect(
      (await documents.replace(document(first?.id ?? ''), { version: first?.version ?? 0 }))?.version,
    ).toBe(3)
    await elapse(shortMs + 1)
    expect(
      (await documents.claimDue({ ...request, limit: 10 })).length,
      'what was done is not due again',
    ).toBe(2)
    expect((await documents.claimDue({ ...request, within: { tenant: 't-2', prefix: '' } })).length).toBe(0)
    await documents.add(document('b-2', { dueAt: 0 }))
    await documents.add(document('c-2', { tenant: 't-2', dueAt: 0 }))
    await documents.add(document('b-2', { tenant: 't-2', dueAt: 0 }))
    const within = await documents.claimDue({ ...request, within: { tenant: 't-2', prefix: 'b-' } })
    expect(within.map(({ tenant, id }) => [tenant, id])).toEqual([['t-2', 'b-2']])
    const [held] = within
    const renewed = held && (await documents.replace(held, { version: held.version, dueInMs: 60_000 }))
    expect(renewed?.dueAt).toBe((renewed?.updatedAt ?? 0) + 60_000)
    for (const each of [
      document('b-2'),
      document('b-2', { tenant: 't-2' }),
      document('c-2', { tenant: 't-2' }),
    ])
      await documents.remove(each)
    await documents.remove(document('later'))
    const next = await documents.nextDue('delivery')
    expect(next !== undefined && next.at > next.now).toBe(true)
  })

  test('adds documents with the events of a run, or neither, and deletes them with it', async ({ store }) => {
    const { documents } = store.records
    const with_ = (id: string) => ({ documents: [document(id, { runId: 'r', dueAt: 0 })] })
    await store.create({ ...newRun('r'), ...with_('a') })
    expect(await store.create({ ...newRun('r'), ...with_('no') }), 'taken').toBe(false)
    const append = { runId: 'r', expectedSeq: 1, events: [logEvent(1)], head: runningHead }
    await store.append({ ...append, ...with_('b') })
    const late = await store.append({ ...append, ...with_('no') })
    expect(late.kind).toBe('conflict')
    const done = { status: 'completed', planVersion: 1 } as const
    await store.append({ ...append, expectedSeq: 2, head: done, ...with_('b') })
    await documents.add(document('own'))
    expect(ids(await documents.list({ kind: 'delivery' }))).toEqual(['a', 'b', 'own'])
    expect((await documents.claimDue({ kind: 'delivery', limit: 9, leaseMs: 1_000 })).length).toBe(2)
    await store.erase({ by: 'ann', receiptId: 'receipt', runIds: ['r'] })
    expect(ids(await documents.list({ kind: 'delivery' }))).toEqual(['own'])
    await store.create({ ...newRun('p', { head: done }), documents: [document('p', { runId: 'p' })] })
    await store.prune({ before: Number.MAX_SAFE_INTEGER })
    expect(ids(await documents.list({ kind: 'delivery' }))).toEqual(['own'])
  })
}
