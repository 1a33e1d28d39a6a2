/** Converts between instants and the wall clock of a time zone. A wall clock time is kept as the instant at which UTC shows it. */

const dayMs = 86_400_000

const formats = new Map<string, Intl.DateTimeFormat>()

function getFormat(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const number = '2-digit'
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: number, day: number },
    ...{ hour: number, minute: number, second: number },
  })
  formats.set(timeZone, format)
  return format
}

/** What a clock in the time zone shows at an instant, in whole seconds. */
export function toWallClock(instant: number, timeZone: string): number {
  const parts = getFormat(timeZone).formatToParts(instant)
  const read = (wanted: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find(({ type }) => type === wanted)?.value)
  const [year, month, day] = [read('year'), read('month'), read('day')]
  return Date.UTC(year, month - 1, day, read('hour'), read('minute'), read('second'))
}

/**
 * When a clock in the time zone shows this time: the first time if it does so twice, and the instant at which the clocks change
 * if they skip it.
 */
export function fromWallClock(wall: number, timeZone: string): number {
  const offset = (instant: number) => toWallClock(instant, timeZone) - Math.floor(instant / 1_000) * 1_000
  const [before, after] = [offset(wall - dayMs), offset(wall + dayMs)]
  // In a repeated hour both are right, and the offset from before the change belongs to the first time.
  for (const each of [before, after]) if (offset(wall - each) === each) return wall - each
  // Binary search for the change.
  let [early, late] = [wall - after, wall - before]
  while (late - early > 1_000) {
    const middle = Math.floor((early + late) / 2_000) * 1_000
    if (offset(middle) === before) early = middle
    else late = middle
  }
  return late
}
