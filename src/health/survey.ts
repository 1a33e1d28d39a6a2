/** Reads a sample from a store and aggregates it in every way that reports and checks need. */
import type { Sample, SampleGroup, SampleQuery, SampleRuns } from '../domain/ports/sample.ts'
import { addGroup, emptyFigures, type Figures } from './figures.ts'

export interface HealthQuery extends Omit<SampleQuery, 'from' | 'to' | 'slots'> {
  /** End of the time range, in milliseconds since 1970; also the time of the report. */
  readonly now: number
  /** Length of the time range. Without it everything is included, and there is no trend. */
  readonly sinceHours?: number
  /** Number of equal buckets for the trend; at least two, or none. */
  readonly trendBuckets?: number
}

/** Figures by name; names without figures are absent. */
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
  /** Figures by step, then by model. */
  readonly modelsOfStep: ReadonlyMap<string, Named>
  /** Only with `sinceHours`. */
  readonly trend?: { readonly prev: Part; readonly last: Part; readonly buckets: readonly Part[] }
}

/** Name of attempts whose model is unknown. */
export const unknownModel = '(unknown)'

const hour = 3_600_000

export async function surveyHealth(
  store: { sample(query: SampleQuery): Promise<Sample> },
  query: HealthQuery,
): Promise<Survey> {
  const { now, sinceHours, trendBuckets = 0, ...filters } = query
  const buckets = trendBuckets >= 2 ? trendBuckets : 0
  // Twice as many parts as buckets, so that an odd number of buckets can be halved.
  const slots = Math.max(buckets, 1) * 2
  const from = sinceHours === undefined ? undefined : now - sinceHours * hour
  const { groups, runs } = await store.sample({
    ...filters,
    to: now,
    ...(from !== undefined && { from, slots }),
  })
  const whole = gather(groups)
  const modelsOfStep = new Map(
    [...groupBy(groups, ({ nodeId }) => nodeId)].map(([step, some]) => [step, gather(some).models]),
  )
  const survey = { query, runs, ...whole, modelsOfStep }
  if (from === undefined) return survey
  const bySlot = groupBy(groups, ({ slot }) => slot)
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

/** Groups by key in one pass. */
function groupBy<K>(groups: Sample['groups'], key: (group: SampleGroup) => K): Map<K, SampleGroup[]> {
  const parts = new Map<K, SampleGroup[]>()
  for (const group of groups) {
    const part = parts.get(key(group))
    if (part === undefined) parts.set(key(group), [group])
    else part.push(group)
  }
  return parts
}

function gather(groups: Sample['groups']): { all: Figures; steps: Named; models: Named } {
  const all = emptyFigures()
  const steps = new Map<string, Figures>()
  const models = new Map<string, Figures>()
  for (const group of groups) {
    addGroup(all, group)
    addGroup(getFigures(steps, group.nodeId), group)
    addGroup(getFigures(models, group.model ?? unknownModel), group)
  }
  return { all, steps, models }
}

function getFigures(named: Map<string, Figures>, name: string): Figures {
  const known = named.get(name)
  if (known !== undefined) return known
  const fresh = emptyFigures()
  named.set(name, fresh)
  return fresh
}
