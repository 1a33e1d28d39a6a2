/** Asks a store for a sample and adds it up every way that reports and checks look at it. */
import type { Sample, SampleGroup, SampleQuery, SampleRuns } from '../domain/ports/sample.ts'
import { addGroup, type Figures, noFigures } from './figures.ts'

export interface HealthQuery extends Omit<SampleQuery, 'from' | 'to' | 'slots'> {
  /** The end of the time that is looked at, in milliseconds since 1970; also when the report was made. */
  readonly now: number
  /** How far back. Without it everything is looked at, and there is no trend. */
  readonly sinceHours?: number
  /** In how many equal parts the time is cut for the trend; two at least, or none. */
  readonly trendBuckets?: number
}

/** Figures by name; absent names have none. */
export type Named = ReadonlyMap<string, Figures>

export interface Part {
  readonly start: number
  readonly end: number
  readonly all: Figures
  readonly steps: Named
  readonly models: Named
}

export interface Survey {
  readonly query: HealthQuery
  readonly runs: SampleRuns
  readonly all: Figures
  readonly steps: Named
  readonly models: Named
  /** Who answered for a step: by step, then by model. */
  readonly modelsOfStep: ReadonlyMap<string, Named>
  /** Only where there is a start. */
  readonly trend?: { readonly prev: Part; readonly last: Part; readonly buckets: readonly Part[] }
}

/** How attempts are listed of which nobody knows who answered. */
export const unknownModel = '(unknown)'

const hour = 3_600_000

export async function surveyHealth(
  store: { sample(query: SampleQuery): Promise<Sample> },
  query: HealthQuery,
): Promise<Survey> {
  const { now, sinceHours, trendBuckets = 0, ...filters } = query
  const buckets = trendBuckets >= 2 ? trendBuckets : 0
  // Twice as many parts as buckets, so that the halves of an odd number can be added up as well.
  const slots = Math.max(buckets, 1) * 2
  const from = sinceHours === undefined ? undefined : now - sinceHours * hour
  const { groups, runs } = await store.sample({
    ...filters,
    to: now,
    ...(from !== undefined && { from, slots }),
  })
  const whole = gather(groups)
  const modelsOfStep = new Map(
    [...parted(groups, ({ nodeId }) => nodeId)].map(([step, some]) => [step, gather(some).models]),
  )
  const survey = { query, runs, ...whole, modelsOfStep }
  if (from === undefined) return survey
  const bySlot = parted(groups, ({ slot }) => slot)
  const within = (first: number, end: number) =>
    Array.from({ length: end - first }, (_, index) => bySlot.get(first + index) ?? []).flat()
  const part = (first: number, end: number): Part => ({
    start: from + ((now - from) * first) / slots,
    end: from + ((now - from) * end) / slots,
    ...gather(within(first, end)),
  })
  return {
    ...survey,
    trend: {
      prev: part(0, slots / 2),
      last: part(slots / 2, slots),
      buckets: Array.from({ length: buckets }, (_, index) => part(index * 2, index * 2 + 2)),
    },
  }
}

/** One pass, however many parts there are. */
function parted<K>(groups: Sample['groups'], key: (group: SampleGroup) => K): Map<K, SampleGroup[]> {
  const parts = new Map<K, SampleGroup[]>()
  for (const group of groups) {
    const part = parts.get(key(group))
    if (part === undefined) parts.set(key(group), [group])
    else part.push(group)
  }
  return parts
}

function gather(groups: Sample['groups']): { all: Figures; steps: Named; models: Named } {
  const all = noFigures()
  const steps = new Map<string, Figures>()
  const models = new Map<string, Figures>()
  for (const group of groups) {
    addGroup(all, group)
    addGroup(figuresOf(steps, group.nodeId), group)
    addGroup(figuresOf(models, group.model ?? unknownModel), group)
  }
  return { all, steps, models }
}

function figuresOf(named: Map<string, Figures>, name: string): Figures {
  const known = named.get(name)
  if (known !== undefined) return known
  const fresh = noFigures()
  named.set(name, fresh)
  return fresh
}
