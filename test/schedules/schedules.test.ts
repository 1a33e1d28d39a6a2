/** Schedules from the outside: over HTTP and the client, and their ticks on a clock of the test. */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { createClient } from '../../src/client/index.ts'
import type { App, Clock, Store } from '../../src/index.ts'
import { leave, local, open } from '../journeys/support.ts'
import { api, approved, envelope, flexToken, serve, tea, teaDraft } from '../server/support.ts'

/** A clock that stands still until it is moved; timers fire when it passes them. */
function createHandClock(begin: string): Clock & { moveTo(time: string): void } {
  let now = Date.parse(begin)
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>()
  return {
    now: () => now,
    timer(at, callback) {
      const timer = { at, callback }
      if (at <= now) setImmediate(() => timers.delete(timer) && callback())
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    moveTo(time) {
      now = Date.parse(time)
      for (const timer of [...timers])
        if (timer.at <= now && timers.delete(timer)) setImmediate(timer.callback)
    },
  }
}

const started = { envelope: envelope(), draft: teaDraft }
const daily = { cron: '0 7 * * *', timeZone: 'Europe/Berlin', ...started }
const iso = (times: readonly number[] = []) => times.map((time) => new Date(time).toISOString())

/** Waits until the schedule has moved past this many ticks, and returns them, oldest first. */
async function pastTicks(app: App, scheduleId: string, count: number) {
  await expect
    .poll(async () => (await app.schedules.get(scheduleId)).past.length, { interval: 5 })
    .toBe(count)
  return (await app.schedules.get(scheduleId)).past
    .map(({ at, ...rest }) => ({ at: iso([at])[0], ...rest }))
    .reverse()
}

async function openAt(clock: Clock, store: Store, more = {}): Promise<App> {
  return open({ ...tea, clock, store, ...more })
}

describe('schedules over HTTP', () => {
  it('are added, shown, changed, paused, resumed and deleted by the client', async () => {
    const { address, app } = await serve(tea)
    const client = createClient({ url: address, token: flexToken })
    const added = await client.schedules.create({ scheduleId: 'nightly', ...daily, missed: 'skip' })
    expect(added).toMatchObject({
      scheduleId: 'nightly',
      status: 'active',
      cron: '0 7 * * *',
      timeZone: 'Europe/Berlin',
      missed: 'skip',
      overlap: 'allow',
      past: [],
    })
    expect(added.next).toHaveLength(5)
    expect((await client.schedules.get('nightly', { fires: 2 })).next).toEqual(added.next.slice(0, 2))
    expect(await client.schedules.pause('nightly')).toMatchObject({ status: 'paused', next: [] })
    expect(await client.schedules.resume('nightly')).toMatchObject({ status: 'active', next: added.next })
    const changed = await client.schedules.change('nightly', { timeZone: 'UTC', description: 'Tea' })
    expect(changed).toMatchObject({ timeZone: 'UTC', description: 'Tea' })
    expect(changed.next[0]).toContain('T07:00:00')
    expect(await client.schedules.list()).toEqual([changed])
    await client.schedules.delete('nightly')
    expect(await client.schedules.list()).toEqual([])
    const actions = (await app.store.records.operations.list({ subject: 'nightly' })).map(
      ({ action }) => action,
    )
    expect(actions).toEqual([
      'schedule.removed',
      ...['schedule.changed', 'schedule.changed', 'schedule.changed'],
      'schedule.created',
    ])
  })

  it('start their runs, once', async () => {
    const { address, call, app } = await serve(tea)
    const client = createClient({ url: address, token: flexToken })
    const at = new Date(Date.now() + 1_000).toISOString()
    const { scheduleId } = await client.schedules.create({ at, ...started })
    await expect
      .poll(async () => (await client.schedules.get(scheduleId)).status, { timeout: 20_000 })
      .toBe('done')
    const { past } = await client.schedules.get(scheduleId)
    expect(past).toEqual([{ at, runId: expect.stringMatching(/^flex_/) }])
    expect(await app.result(past[0]?.runId ?? '')).toMatchObject({
      status: 'completed',
      output: { text: 'Tea' },
    })
    const page = await call(`${api}/runs`)
    expect((await page.json()).runs).toHaveLength(1)
  })

  it('are refused with the reason, and the same key adds one', async () => {
    const { call } = await serve(tea)
    const post = (body: object, headers = {}) => call(`${api}/schedules`, { body, headers })
    const refused = async (body: object) => {
      const response = await post(body)
      return [response.status, (await response.json()).code]
    }
    expect((await (await post({ ...daily, cron: '0 0 30 2 *' })).json()).detail).toBe(
      'The cron pattern "0 0 30 2 *" never matches',
    )
    expect(await refused({ ...started })).toEqual([422, 'schedule/invalid'])
    expect(await refused({ ...daily, timeZone: 'Mars/Olympus' })).toEqual([422, 'schedule/invalid'])
    expect(await refused({ ...started, at: '2020-01-01T00:00:00Z' })).toEqual([422, 'schedule/invalid'])
    expect(await refused({ ...daily, envelope: { objective: 3 } })).toEqual([422, 'envelope/invalid'])
    expect(await refused({ ...daily, scheduleId: 'a b' })).toEqual([422, 'schedule/invalid'])
    const keyed = { 'idempotency-key': 'one' }
    const [first, second] = [await post(daily, keyed), await post(daily, keyed)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(await second.json()).toEqual(await first.json())
    await post({ ...daily, scheduleId: 'mine' })
    expect(await refused({ ...daily, scheduleId: 'mine' })).toEqual([409, 'schedule/taken'])
  })

  it('are subject to the quota of runs', async () => {
    const clock = createHandClock('2027-05-01T06:59:00Z')
    let end = () => {}
    const gate = new Promise<void>((resolve) => {
      end = resolve
    })
    const capabilities = [local('write', () => gate.then(() => ({ text: 'Tea' })))]
    const options = { capabilities, clock, store: createMemoryStore({ clock }) }
    const { app } = await serve(options, { limits: { runs: 1 } })
    const busy = await app.prepare(envelope(), { draft: teaDraft }).start()
    await app.schedules.add({ scheduleId: 's', ...daily, timeZone: 'UTC' })
    clock.moveTo('2027-05-01T07:00:00Z')
    expect(await pastTicks(app, 's', 1)).toEqual([
      {
        at: '2027-05-01T07:00:00.000Z',
        skipped: 'quota',
        error: 'The tenant has 1 active runs, the maximum (`server.max_runs`)',
      },
    ])
    end()
    await app.result(busy)
  })
})

describe('the ticks of a schedule', () => {
  it('start one run each over several processes, whose ids depend on schedule and tick alone', async () => {
    const clock = createHandClock('2027-05-01T00:00:00Z')
    const store = createMemoryStore({ clock })
    const apps = [await openAt(clock, store), await openAt(clock, store), await openAt(clock, store)]
    const [app] = apps as [App]
    await app.schedules.add({ scheduleId: 's', ...daily })
    for (const [nth, day] of ['01', '02', '03'].entries()) {
      clock.moveTo(`2027-05-${day}T05:00:00Z`)
      expect(await pastTicks(app, 's', nth + 1)).toHaveLength(nth + 1)
    }
    const past = await pastTicks(app, 's', 3)
    expect(past.map(({ at }) => at)).toEqual(['01', '02', '03'].map((day) => `2027-05-${day}T05:00:00.000Z`))
    const runs = await store.runs({})
    expect(runs.map(({ runId }) => runId).sort()).toEqual(past.map(({ runId }) => runId).sort())
  })

  it('that were missed while nothing ran are started by the rule of the schedule', async () => {
    const clock = createHandClock('2027-05-01T00:00:00Z')
    const store = createMemoryStore({ clock })
    const first = await openAt(clock, store)
    for (const missed of ['skip', 'once', 'all'] as const)
      await first.schedules.add({ scheduleId: missed, ...daily, missed })
    await leave(first)
    clock.moveTo('2027-05-04T12:00:00Z')
    const app = await openAt(clock, store)
    const started = async (id: string) =>
      (await pastTicks(app, id, 4)).flatMap(({ at, runId }) =>
        runId === undefined ? [] : [at?.slice(8, 10)],
      )
    expect([await started('skip'), await started('once'), await started('all')]).toEqual([
      [],
      ['04'],
      ['01', '02', '03', '04'],
    ])
    expect(iso((await app.schedules.get('skip')).next)[0]).toBe('2027-05-05T05:00:00.000Z')
  })

  it('during a pause never happen', async () => {
    const clock = createHandClock('2027-05-01T00:00:00Z')
    const app = await openAt(clock, createMemoryStore({ clock }))
    await app.schedules.add({ scheduleId: 's', ...daily, missed: 'all', isPaused: true })
    clock.moveTo('2027-05-03T00:00:00Z')
    await app.schedules.change('s', { isPaused: false })
    clock.moveTo('2027-05-03T05:00:00Z')
    expect((await pastTicks(app, 's', 1)).map(({ at }) => at)).toEqual(['2027-05-03T05:00:00.000Z'])
  })

  it('are skipped while the last run is not over, if the schedule says so', async () => {
    const clock = createHandClock('2027-05-01T00:00:00Z')
    const app = await openAt(clock, createMemoryStore({ clock }))
    const sixth = { cron: '0 */6 * * *', timeZone: 'UTC', overlap: 'skip' } as const
    await app.schedules.add({ scheduleId: 's', ...sixth, envelope: envelope(approved), draft: teaDraft })
    clock.moveTo('2027-05-01T06:00:00Z')
    const [begun] = await pastTicks(app, 's', 1)
    await app.result(begun?.runId ?? '')
    clock.moveTo('2027-05-01T12:00:00Z')
    expect(await pastTicks(app, 's', 2)).toEqual([
      begun,
      { at: '2027-05-01T12:00:00.000Z', skipped: 'overlap' },
    ])
    await app.cancel(begun?.runId ?? '', { by: 'ann' })
    await expect
      .poll(async () => (await app.store.head(begun?.runId ?? ''))?.status, { interval: 5 })
      .toBe('cancelled')
    clock.moveTo('2027-05-01T18:00:00Z')
    const [, , third] = await pastTicks(app, 's', 3)
    expect(third?.runId).toMatch(/^flex_/)
  })

  it('are fired by processes that execute the runs of others alone', async () => {
    const clock = createHandClock('2027-05-01T00:00:00Z')
    const store = createMemoryStore({ clock })
    const idle = await openAt(clock, store, { claim: 'none' })
    await idle.schedules.add({ scheduleId: 's', ...daily })
    clock.moveTo('2027-05-01T05:00:10Z')
    const working = await openAt(clock, store, { capabilities: [local('write', () => ({ text: 'Here' }))] })
    const [tick] = await pastTicks(working, 's', 1)
    expect(await working.result(tick?.runId ?? '')).toMatchObject({ output: { text: 'Here' } })
  })
})
