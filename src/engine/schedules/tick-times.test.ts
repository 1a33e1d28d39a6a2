/** Tick times on fixed clocks: time zones, changes of clocks, and ticks that were missed. */
import { describe, expect, it } from 'vitest'
import { decideTicks, listNextTicks, mostMissed, parseCron } from './tick-times.ts'

const iso = (times: readonly number[]) => times.map((time) => new Date(time).toISOString())
const next = (cron: string, timeZone: string, after: string, count = 3) =>
  iso(listNextTicks(parseCron(cron, timeZone), { after: Date.parse(after), count }))

describe('the next ticks of a pattern', () => {
  it('keep the local time in Berlin and New York when clocks change', () => {
    expect(next('0 7 * * *', 'Europe/Berlin', '2027-03-27T00:00:00Z')).toEqual([
      '2027-03-27T06:00:00.000Z',
      '2027-03-28T05:00:00.000Z',
      '2027-03-29T05:00:00.000Z',
    ])
    expect(next('0 7 * * *', 'America/New_York', '2027-11-06T00:00:00Z')).toEqual([
      '2027-11-06T11:00:00.000Z',
      '2027-11-07T12:00:00.000Z',
      '2027-11-08T12:00:00.000Z',
    ])
  })

  it('fire a local time that is skipped when the clocks have changed', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', 2)).toEqual([
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T00:30:00.000Z',
    ])
    expect(next('30 2 * * *', 'America/New_York', '2027-03-13T12:00:00Z', 2)).toEqual([
      '2027-03-14T07:00:00.000Z',
      '2027-03-15T06:30:00.000Z',
    ])
  })

  it('fire a local time that occurs twice once, and every hour in both', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00:00Z', 2)).toEqual([
      '2027-10-31T00:30:00.000Z',
      '2027-11-01T01:30:00.000Z',
    ])
    expect(next('30 * * * *', 'America/New_York', '2027-11-07T05:00:00Z')).toEqual([
      '2027-11-07T05:30:00.000Z',
      '2027-11-07T06:30:00.000Z',
      '2027-11-07T07:30:00.000Z',
    ])
  })

  it('skip no tick and repeat none when clocks change, with several times in a day', () => {
    const spring = '2027-03-27T12:00:00Z'
    expect(next('0 2,14 * * *', 'Europe/Berlin', spring, 4)).toEqual([
      '2027-03-27T13:00:00.000Z',
      '2027-03-28T01:00:00.000Z',
      '2027-03-28T12:00:00.000Z',
      '2027-03-29T00:00:00.000Z',
    ])
    // Both are in the hour that is skipped.
    expect(next('*/30 2 * * *', 'Europe/Berlin', spring, 3)).toEqual([
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T00:00:00.000Z',
      '2027-03-29T00:30:00.000Z',
    ])
    expect(next('*/30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00:00Z', 3)).toEqual([
      '2027-10-31T00:00:00.000Z',
      '2027-10-31T00:30:00.000Z',
      '2027-11-01T01:00:00.000Z',
    ])
    // By half an hour, in the southern hemisphere.
    expect(next('45 1,13 * * *', 'Australia/Lord_Howe', '2027-04-03T00:00:00Z', 3)).toEqual([
      '2027-04-03T02:45:00.000Z',
      '2027-04-03T14:45:00.000Z',
      '2027-04-04T03:15:00.000Z',
    ])
  })

  it('are the same forwards and backwards around every change of clocks', () => {
    const changes = {
      'Europe/Berlin': ['2027-03-27', '2027-10-30'],
      'America/New_York': ['2027-03-13', '2027-11-06'],
      'Australia/Lord_Howe': ['2027-04-02', '2027-10-01'],
    }
    for (const [timeZone, days] of Object.entries(changes))
      for (const day of days)
        for (const cron of ['*/20 0-3 * * *', '30 2 * * *', '15 */2 * * *']) {
          const timing = parseCron(cron, timeZone)
          const all = listNextTicks(timing, { after: Date.parse(`${day}T12:00:00Z`), count: 30 })
          for (const [nth, now] of all.entries()) {
            const { starts } = decideTicks(timing, { first: all[0] ?? 0, now, missed: 'all' })
            expect(iso(starts), `${cron} in ${timeZone}`).toEqual(iso(all.slice(0, nth + 1)))
          }
        }
  })

  it('do not exist for a pattern that never matches and a time that has passed', () => {
    expect(next('0 0 30 2 *', 'UTC', '2027-01-01T00:00:00Z')).toEqual([])
    expect(listNextTicks({ at: 5 }, { after: 5, count: 3 })).toEqual([])
  })

  it('refuse patterns and time zones that cannot be read', () => {
    const refused = (cron: string, timeZone: string) => {
      try {
        return parseCron(cron, timeZone)
      } catch (cause) {
        return (cause as Error).message
      }
    }
    expect(refused('61 * * * *', 'UTC')).toContain('Invalid value for minute')
    expect(refused('2027-01-01T00:00:00', 'UTC')).toBe(
      'cron must have 5 or 6 fields, got "2027-01-01T00:00:00"',
    )
    expect(refused('* * * * *', 'Mars/Olympus')).toContain('must be an IANA time zone')
    expect(refused('* * * * *', '+02:00')).toContain('must be an IANA time zone')
    expect(refused('@daily', 'UTC')).toEqual({ cron: '@daily', timeZone: 'UTC' })
  })
})

describe('due ticks', () => {
  const hourly = parseCron('0 * * * *', 'UTC')
  const at = (time: string) => Date.parse(`2027-05-01T${time}Z`)
  const decide = (missed: 'skip' | 'once' | 'all', now: string, timing = hourly) => {
    const due = decideTicks(timing, { first: at('08:00:00'), now: at(now), missed })
    const short = (ticks: readonly number[]) => iso(ticks).map((time) => time.slice(11, 16))
    return { starts: short(due.starts), skipped: short(due.skipped), next: short([due.next ?? 0]) }
  }

  it('start on time whatever the rule', () => {
    for (const missed of ['skip', 'once', 'all'] as const)
      expect(decide(missed, '08:00:59')).toEqual({ starts: ['08:00'], skipped: [], next: ['09:00'] })
  })

  it('that were missed are skipped, started once, or all started', () => {
    const next = ['12:00']
    expect(decide('skip', '11:30:00')).toEqual({
      starts: [],
      skipped: ['08:00', '09:00', '10:00', '11:00'],
      next,
    })
    expect(decide('once', '11:30:00')).toEqual({
      starts: ['11:00'],
      skipped: ['08:00', '09:00', '10:00'],
      next,
    })
    expect(decide('all', '11:30:00')).toEqual({
      starts: ['08:00', '09:00', '10:00', '11:00'],
      skipped: [],
      next,
    })
  })

  it('that are on time catch up for the missed ones with `once`', () => {
    expect(decide('once', '11:00:10')).toMatchObject({
      starts: ['11:00'],
      skipped: ['08:00', '09:00', '10:00'],
    })
  })

  it('are bounded after a long downtime', () => {
    const secondly = parseCron('* * * * * *', 'UTC')
    const now = Date.parse('2029-05-01T00:00:00Z')
    const { starts } = decideTicks(secondly, { first: at('08:00:00'), now, missed: 'all' })
    expect(starts.length).toBeLessThanOrEqual(mostMissed + 61)
    expect(starts.at(-1)).toBe(now)
    expect(starts).toEqual([...starts].sort((one, other) => one - other))
  })

  it('of a single start are missed like any other', () => {
    const once = { at: at('08:00:00') }
    expect(decideTicks(once, { first: once.at, now: at('08:00:30'), missed: 'skip' })).toEqual({
      starts: [once.at],
      skipped: [],
    })
    expect(decideTicks(once, { first: once.at, now: at('09:00:00'), missed: 'skip' })).toEqual({
      starts: [],
      skipped: [once.at],
    })
    expect(decideTicks(once, { first: once.at, now: at('09:00:00'), missed: 'once' }).starts).toEqual([
      once.at,
    ])
  })
})
