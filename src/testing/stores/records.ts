/** Tests of the records that a server stores beside the runs: tokens, registrations of agents, and idempotency keys. */
import type { Json } from '../../base/json.ts'
import { verifyOperations } from '../../domain/ports/operations.ts'
import type { RegistrationRow, TokenRow } from '../../domain/ports/records.ts'
import type { Suite } from './test-api.ts'

/** Long enough for a database on a busy machine to answer several times. */
const shortMs = 400
const hostileNames = ['a\u0000b', 'a', '\ud800', '\udc00', '\uffff', '\uffff0000', '\ufffd', `'; --`, '']

type NewToken = Omit<TokenRow, 'createdAt' | 'revokedAt'>
type NewRegistration = Omit<RegistrationRow, 'status' | 'registeredAt' | 'heartbeatAt'>

const token = (tokenId: string, members: Partial<NewToken> = {}): NewToken => ({
  tokenId,
  tenant: 't-1',
  role: 'caller',
  name: 'of a test',
  hash: `hash of ${tokenId}`,
  ...members,
})

const registration = (capabilityId: string, members: Partial<NewRegistration> = {}): NewRegistration => ({
  tenant: 't-1',
  capabilityId,
  payload: { capabilityId },
  endpoint: { url: 'https://agents.example/', secret: 's' },
  ttlMs: 60_000,
  tokenId: 'mine',
  ...members,
})

export function recordSuite(suite: Suite): void {
  tokenSuite(suite)
  registrationSuite(suite)
  onceSuite(suite)
  operationSuite(suite)
}

function tokenSuite({ test, expect }: Suite): void {
  test('finds a token by its hash, as it was added', async ({ store }) => {
    const { tokens } = store.records
    const added = await tokens.add(token('a', { role: 'agent', capabilityId: 'cap.a' }))
    const { createdAt, ...rest } = added
    expect(rest).toEqual(token('a', { role: 'agent', capabilityId: 'cap.a' }))
    expect(createdAt).toBeGreaterThan(0)
    expect(await tokens.byHash('hash of a')).toEqual(added)
    expect(await tokens.byHash('a')).toBe(undefined)
  })

  test('does not find revoked or expired tokens, but lists them', async ({ store, elapse }) => {
    const { tokens } = store.records
    const { createdAt } = await tokens.add(token('a'))
    await tokens.add(token('b', { expiresAt: createdAt + shortMs }))
    expect((await tokens.byHash('hash of b'))?.tokenId).toBe('b')
    await elapse(shortMs + 1)
    expect(await tokens.byHash('hash of b')).toBe(undefined)
    expect(await tokens.revoke('a')).toBe(true)
    expect(await tokens.revoke('a'), 'once').toBe(false)
    expect(await tokens.revoke('none')).toBe(false)
    expect(await tokens.byHash('hash of a')).toBe(undefined)
    const [a, b] = await tokens.list({})
    expect(a?.revokedAt).toBeGreaterThan(createdAt)
    expect(b?.expiresAt).toBe(createdAt + shortMs)
    expect(b?.revokedAt).toBe(undefined)
  })

  test('rejects a second token with the same id, and keeps the first', async ({ store }) => {
    const { tokens } = store.records
    await tokens.add(token('a'))
    const code = await tokens.add(token('a', { hash: 'other', role: 'admin' })).then(
      () => 'added',
      (error: { code?: unknown }) => error.code,
    )
    expect(code).toBe('option/invalid')
    expect((await tokens.byHash('hash of a'))?.role).toBe('caller')
    expect(await tokens.byHash('other')).toBe(undefined)
  })

  test('lists tokens oldest first, also for one tenant', async ({ store, elapse }) => {
    const { tokens } = store.records
    const order = [
      ['z', 'even'],
      ['y', 'odd'],
      ['x', 'even'],
    ] as const
    for (const [tokenId, tenant] of order) {
      await tokens.add(token(tokenId, { tenant }))
      await elapse(2)
    }
    const ids = async (query: { tenant?: string }) => (await tokens.list(query)).map(({ tokenId }) => tokenId)
    expect(await ids({})).toEqual(['z', 'y', 'x'])
    expect(await ids({ tenant: 'even' })).toEqual(['z', 'x'])
    expect(await ids({ tenant: 'none' })).toEqual([])
  })

  test('rotates a token: both are valid for the overlap, then the new one alone', async ({
    store,
    elapse,
  }) => {
    const { tokens } = store.records
    await tokens.add(token('a', { role: 'agent', capabilityId: 'cap.a' }))
    const next = { tokenId: 'b', hash: 'hash of b' }
    const rotated = await tokens.rotate({ tokenId: 'a', next, overlapMs: shortMs, by: 'ann' })
    expect(rotated?.next.familyId).toBe('a')
    expect([rotated?.next.role, rotated?.next.capabilityId, rotated?.next.tenant]).toEqual([
      'agent',
      'cap.a',
      't-1',
    ])
    expect((await tokens.byHash('hash of a'))?.tokenId).toBe('a')
    expect((await tokens.byHash('hash of b'))?.tokenId).toBe('b')
    await elapse(shortMs + 1)
    expect(await tokens.byHash('hash of a')).toBe(undefined)
    expect((await tokens.byHash('hash of b'))?.tokenId).toBe('b')
    const again = { tokenId: 'c', hash: 'hash of c' }
    expect(await tokens.rotate({ tokenId: 'a', next: again, overlapMs: 1 }), 'it has expired').toBe(undefined)
    const third = await tokens.rotate({ tokenId: 'b', next: again, overlapMs: 0 })
    expect(third?.next.familyId, 'the family of the first').toBe('a')
    expect(await tokens.byHash('hash of b'), 'no overlap').toBe(undefined)
    await tokens.revoke('c')
    expect(await tokens.rotate({ tokenId: 'c', next, overlapMs: 1 }), 'it is revoked').toBe(undefined)
    expect(await tokens.rotate({ tokenId: 'none', next, overlapMs: 1 })).toBe(undefined)
  })

  test('stores hostile text in tokens unchanged', async ({ store }) => {
    const { tokens } = store.records
    for (const text of hostileNames) {
      const given = token(text, { name: text, tenant: text, hash: `h ${text}`, capabilityId: text })
      const added = await tokens.add(given)
      expect({ ...(await tokens.byHash(`h ${text}`)) }).toEqual(added)
      expect((await tokens.list({ tenant: text })).map(({ tokenId }) => tokenId)).toEqual([text])
    }
    expect((await tokens.list({})).length).toBe(hostileNames.length)
  })
}

function registrationSuite({ test, expect }: Suite): void {
  test('stores a registration unchanged, as active', async ({ store }) => {
    const { registrations } = store.records
    const payload = JSON.parse('{"__proto__": 1, "$value": "x", "text": "\\u0000\\ud800"}') as Json
    const put = await registrations.put(registration('cap', { payload, endpoint: payload }))
    expect(put?.status).toBe('active')
    expect(put?.heartbeatAt).toBe(put?.registeredAt)
    const [row] = await registrations.list({})
    expect(row).toEqual(put)
    expect(JSON.stringify(row?.payload)).toBe(JSON.stringify(payload))
    expect(JSON.stringify(row?.endpoint)).toBe(JSON.stringify(payload))
    expect(row?.tokenId).toBe('mine')
  })

  test('marks a registration inactive when its heartbeat is overdue, and active after the next one', async ({
    store,
    elapse,
  }) => {
    const { registrations } = store.records
    const put = await registrations.put(registration('cap', { ttlMs: shortMs }))
    await elapse(shortMs + 1)
    expect((await registrations.list({}))[0]?.status).toBe('inactive')
    const beaten = await registrations.beat({ tenant: 't-1', capabilityId: 'cap' })
    expect(beaten?.status).toBe('active')
    expect(beaten?.registeredAt).toBe(put?.registeredAt)
    expect(beaten?.heartbeatAt).toBeGreaterThan(put?.heartbeatAt ?? 0)
    expect(await registrations.list({})).toEqual([beaten])
    expect(await registrations.beat({ tenant: 't-1', capabilityId: 'none' })).toBe(undefined)
  })

  test("replaces the owner's registration, and another's only if that one is inactive", async ({
    store,
    elapse,
  }) => {
    const { registrations } = store.records
    const first = await registrations.put(registration('cap', { ttlMs: shortMs }))
    expect(await registrations.put(registration('cap', { tokenId: 'theirs', payload: 2 }))).toBe(undefined)
    const again = await registrations.put(registration('cap', { ttlMs: shortMs, payload: 3 }))
    expect(again?.payload).toBe(3)
    expect(again?.registeredAt).toBe(first?.registeredAt)
    await elapse(shortMs + 1)
    const taken = await registrations.put(registration('cap', { tokenId: 'theirs', payload: 4 }))
    expect(taken?.tokenId).toBe('theirs')
    expect(taken?.status).toBe('active')
    expect(await registrations.put(registration('cap', { payload: 5 })), 'the old owner is too late').toBe(
      undefined,
    )
    expect((await registrations.list({}))[0]?.payload).toBe(4)
  })

  test('lets one of many owners register a free id', async ({ store }) => {
    const { registrations } = store.records
    const owners = Array.from({ length: 8 }, (_, index) => `o-${index}`)
    const put = await Promise.all(
      owners.map((tokenId) => registrations.put(registration('cap', { tokenId }))),
    )
    const winners = put.flatMap((row) => row?.tokenId ?? [])
    expect(winners.length).toBe(1)
    expect((await registrations.list({})).map(({ tokenId }) => tokenId)).toEqual(winners)
  })

  test('removes a registration once', async ({ store }) => {
    const { registrations } = store.records
    const key = { tenant: 't-1', capabilityId: 'cap' }
    await registrations.put(registration('cap'))
    expect(await registrations.remove({ ...key, tenant: 't-2' })).toBe(false)
    expect(await registrations.remove(key)).toBe(true)
    expect(await registrations.remove(key)).toBe(false)
    expect(await registrations.list({})).toEqual([])
  })

  test('separates tenants, and lists registrations oldest first', async ({ store, elapse }) => {
    const { registrations } = store.records
    for (const [capabilityId, tenant] of [
      ['b', 'even'],
      ['b', 'odd'],
      ['a', 'even'],
    ] as const) {
      await registrations.put(registration(capabilityId, { tenant, tokenId: tenant }))
      await elapse(2)
    }
    await registrations.put(registration('b', { tenant: 'even', tokenId: 'even', payload: 'anew' }))
    const names = async (query: { tenant?: string }) =>
      (await registrations.list(query)).map(({ tenant, capabilityId }) => `${tenant} ${capabilityId}`)
    expect(await names({})).toEqual(['even b', 'odd b', 'even a'])
    expect(await names({ tenant: 'even' })).toEqual(['even b', 'even a'])
    for (const text of hostileNames) await registrations.put(registration(text, { tenant: text }))
    for (const text of hostileNames) expect(await names({ tenant: text })).toEqual([`${text} ${text}`])
  })
}

function onceSuite({ test, expect }: Suite): void {
  const given = (body: Json, keepMs = 60_000) => ({ body, keepMs })

  test('gives a name to the first caller, and returns its value to the others', async ({ store }) => {
    const { once } = store.records
    expect(await once.take('n', given({ state: 'working' }))).toEqual({ kind: 'taken' })
    expect(await once.take('n', given(2))).toEqual({ kind: 'held', body: { state: 'working' } })
    const done = JSON.parse('{"__proto__": 1, "$value": "x", "text": "\\u0000\\ud800"}') as Json
    await once.settle('n', done)
    const held = await once.take('n', given(3))
    expect(held.kind).toBe('held')
    expect(JSON.stringify('body' in held && held.body)).toBe(JSON.stringify(done))
    await once.release('n')
    expect(await once.take('n', given(4)), 'it was released').toEqual({ kind: 'taken' })
    await once.settle('none', 5)
    expect(await once.take('none', given(6)), 'settling takes nothing').toEqual({ kind: 'taken' })
  })

  test('returns the value of a name to readers that do not take it', async ({ store, elapse }) => {
    const { once } = store.records
    expect(await once.look('n')).toBe(undefined)
    expect(await once.take('n', given({ answer: 1 }, shortMs)), 'reading takes nothing').toEqual({
      kind: 'taken',
    })
    expect(await once.look('n')).toEqual({ body: { answer: 1 } })
    await once.settle('n', 2)
    expect(await once.look('n')).toEqual({ body: 2 })
    await elapse(shortMs + 1)
    expect(await once.look('n'), 'it has expired').toBe(undefined)
    await once.take('n', given(3))
    await once.release('n')
    expect(await once.look('n')).toBe(undefined)
  })

  test('keeps a name that is renewed, and only while it is held', async ({ store, elapse }) => {
    const { once } = store.records
    expect(await once.renew('n', shortMs), 'it is not held').toBe(false)
    await once.take('n', given(1, 2 * shortMs))
    expect(await once.renew('n', 60_000)).toBe(true)
    await elapse(2 * shortMs + 1)
    expect(await once.look('n')).toEqual({ body: 1 })
    expect(await once.renew('n', shortMs)).toBe(true)
    await elapse(shortMs + 1)
    expect(await once.renew('n', shortMs), 'it has expired').toBe(false)
    expect(await once.look('n')).toBe(undefined)
  })

  test('gives a name to one of many concurrent callers', async ({ store }) => {
    const { once } = store.records
    for (const name of ['n-1', 'n-2', 'n-3']) {
      const takes = await Promise.all(Array.from({ length: 12 }, (_, index) => once.take(name, given(index))))
      const winner = takes.findIndex(({ kind }) => kind === 'taken')
      const others = takes.filter((_, index) => index !== winner)
      expect(others).toEqual(others.map(() => ({ kind: 'held', body: winner })))
    }
  })

  test('gives an expired name to one of many concurrent callers', async ({ store, elapse }) => {
    const { once } = store.records
    await once.take('n', given('old', shortMs))
    await once.take('m', given('old', shortMs))
    await elapse(shortMs + 1)
    await once.settle('n', 'too late')
    const takes = await Promise.all(Array.from({ length: 8 }, (_, index) => once.take('n', given(index))))
    expect(takes.filter(({ kind }) => kind === 'taken').length).toBe(1)
    expect(await once.take('m', given('new'))).toEqual({ kind: 'taken' })
  })

  test('distinguishes names that databases confuse, and long names', async ({ store }) => {
    const { once } = store.records
    const long = 'x'.repeat(20_000)
    const names = [...hostileNames, long, `${long}y`]
    for (const name of names) expect(await once.take(name, given(name))).toEqual({ kind: 'taken' })
    for (const name of names) expect(await once.take(name, given(null))).toEqual({ kind: 'held', body: name })
  })

  test('rejects calls for records after close', async ({ store }) => {
    await store.close()
    const codes = await Promise.all(
      [
        store.records.tokens.list({}),
        store.records.registrations.list({}),
        store.records.once.take('n', given(1)),
        store.records.once.look('n'),
      ].map((call: Promise<unknown>) => call.catch((error: { code?: unknown }) => error.code)),
    )
    expect(codes).toEqual(codes.map(() => 'store/closed'))
  })
}

function operationSuite({ test, expect }: Suite): void {
  test('records every change of tokens and registrations in one chain', async ({ store }) => {
    const { tokens, registrations, operations } = store.records
    await tokens.add(token('a'), { by: 'ann' })
    await tokens.rotate({ tokenId: 'a', next: { tokenId: 'b', hash: 'h' }, overlapMs: 1_000, by: 'ben' })
    await tokens.revoke('b', { by: 'ann' })
    await tokens.revoke('b', { by: 'no change, no row' })
    await registrations.put(registration('cap'), { by: 'agent' })
    await registrations.put(registration('cap'), { by: 'agent' })
    await registrations.put(registration('cap', { tokenId: 'other' }), { by: 'refused, no row' })
    await registrations.beat({ tenant: 't-1', capabilityId: 'cap' })
    await registrations.remove({ tenant: 't-1', capabilityId: 'cap' })
    await registrations.remove({ tenant: 't-1', capabilityId: 'cap' })
    const rows = await operations.list({})
    expect(rows.map(({ seq, by, action, subject }) => [seq, by, action, subject]).reverse()).toEqual([
      [1, 'ann', 'token.created', 'a'],
      [2, 'ben', 'token.rotated', 'a'],
      [3, 'ann', 'token.revoked', 'b'],
      [4, 'agent', 'registration.created', 'cap'],
      [5, 'agent', 'registration.changed', 'cap'],
      [6, 'library', 'registration.removed', 'cap'],
    ])
    expect(JSON.stringify(rows).includes('hash of a'), 'no secrets').toBe(false)
    const { broken, ...chain } = await verifyOperations(operations)
    expect(broken).toEqual([])
    expect(chain).toEqual({ rows: 6, head: rows[0]?.hash })
  })

  test('has another version after every change of records, and the same one otherwise', async ({ store }) => {
    const { version, tokens, registrations, documents } = store.records
    const operation = { tenant: 't-1', by: 'a', action: 'facet.created', subject: 'f', details: {} } as const
    const facet = { kind: 'facet', tenant: 't-1', id: 'f', body: {} } as const
    const key = { tenant: 't-1', capabilityId: 'cap' }
    const changes: (() => Promise<unknown>)[] = [
      () => tokens.add(token('a')),
      () => registrations.put(registration('cap')),
      () => registrations.put(registration('cap', { payload: { changed: true } })),
      () => registrations.remove(key),
      () => documents.add(facet, { operation }),
      () => documents.remove(facet, { operation: { ...operation, action: 'facet.removed' } }),
    ]
    const seen = new Set([await version()])
    for (const change of changes) {
      await change()
      const now = await version()
      expect(seen.has(now)).toBe(false)
      seen.add(now)
      await registrations.beat(key)
      await registrations.list({})
      expect(await version()).toBe(now)
    }
  })

  test('lists operations newest first, by tenant, action and subject, in pages', async ({ store }) => {
    const { operations } = store.records
    const add = (tenant: string, subject: string) =>
      operations.append({
        tenant,
        by: 'a',
        action: 'runs.pruned',
        subject,
        details: { n: 1, text: '\u0000' },
      })
    for (const [tenant, subject] of [
      ['x', '1'],
      ['y', '2'],
      ['x', '3'],
    ] as const)
      await add(tenant, subject)
    const subjects = async (query: object) => (await operations.list(query)).map(({ subject }) => subject)
    expect(await subjects({})).toEqual(['3', '2', '1'])
    expect(await subjects({ tenant: 'x' })).toEqual(['3', '1'])
    expect(await subjects({ subject: '2' })).toEqual(['2'])
    expect(await subjects({ action: 'token.created' })).toEqual([])
    expect(await subjects({ limit: 2 })).toEqual(['3', '2'])
    expect(await subjects({ before: 2 })).toEqual(['1'])
    expect((await operations.list({}))[0]?.details).toEqual({ n: 1, text: '\u0000' })
  })

  test('keeps one chain when several callers append at once', async ({ store }) => {
    const { operations, tokens } = store.records
    const work = Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0
        ? tokens.add(token(`t${index}`))
        : operations.append({
            tenant: 't',
            by: 'a',
            action: 'runs.pruned',
            subject: `${index}`,
            details: {},
          }),
    )
    await Promise.all(work)
    const { broken, rows } = await verifyOperations(operations)
    expect([rows, broken]).toEqual([12, []])
  })

  test('replaces a sealed endpoint only if it is still the one that was read', async ({ store }) => {
    const { registrations } = store.records
    await registrations.put(registration('cap', { endpoint: { sealed: 'one' } }))
    const change = { tenant: 't-1', capabilityId: 'cap', from: { sealed: 'one' }, to: { sealed: 'two' } }
    expect(await registrations.reseal(change)).toBe(true)
    expect((await registrations.list({}))[0]?.endpoint).toEqual({ sealed: 'two' })
    expect(await registrations.reseal(change)).toBe(false)
  })
}
