/** Health samples of the memory store: the same groups that databases compute. */
import type { RepairCost, Sample, SampleGroup, SampleQuery } from '../../../domain/ports/sample.ts'
import type { SpanRow } from '../../../domain/ports/store.ts'
import type { RunHead } from '../../../domain/run.ts'
import { slotWidth, spanSignals } from '../projections/span-signals.ts'

interface SampledRun {
  readonly head: Pick<RunHead, 'runId' | 'tenant' | 'pipeline'>
  readonly spans: ReadonlyMap<string, SpanRow>
}

export function sampleRuns(runs: Iterable<SampledRun>, query: SampleQuery): Sample {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = query
  const width = slotWidth(query)
  const groups = new Map<string, SampleGroup>()
  const total = new Set<string>()
  const byNode = new Map<string, Set<string>>()
  const byModel = new Map<string, Set<string>>()
  for (const { head, spans } of runs) {
    if (query.tenant !== undefined && head.tenant !== query.tenant) continue
    if (query.pipeline !== undefined && head.pipeline !== query.pipeline) continue
    for (const span of spans.values()) {
      const found = spanSignals(span)
      if (found === undefined || span.endedAt < from || span.endedAt > to) continue
      const { nodeId, model, signals, repair } = found
      if (query.nodeId !== undefined && nodeId !== query.nodeId) continue
      if (query.model !== undefined && model !== query.model) continue
      const slot = width === undefined ? 0 : Math.trunc((span.endedAt - from) / width)
      const within = Math.min(slot, (query.slots ?? 1) - 1)
      const key = JSON.stringify([nodeId, model ?? null, signals, within])
      const before = groups.get(key)
      groups.set(key, {
        nodeId,
        ...(model !== undefined && { model }),
        slot: within,
        signals: before?.signals ?? JSON.parse(signals),
        attempts: (before?.attempts ?? 0) + 1,
        repair: before === undefined ? repair : sum(before.repair, repair),
      })
      total.add(head.runId)
      note(byNode, nodeId, head.runId)
      if (model !== undefined) note(byModel, model, head.runId)
    }
  }
  return {
    groups: [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group),
    runs: { total: total.size, byNode: sizes(byNode), byModel: sizes(byModel) },
  }
}

function sum(one: RepairCost, other: RepairCost): RepairCost {
  return {
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costUsd: one.costUsd + other.costUsd,
    unknownCost: one.unknownCost + other.unknownCost,
  }
}

function note(sets: Map<string, Set<string>>, key: string, runId: string): void {
  const known = sets.get(key)
  if (known === undefined) sets.set(key, new Set([runId]))
  else known.add(runId)
}

function sizes(sets: ReadonlyMap<string, ReadonlySet<string>>): { [key: string]: number } {
  return Object.fromEntries([...sets].map(([key, ids]) => [key, ids.size]))
}
