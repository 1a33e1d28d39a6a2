/**
 * The health attributes of a span, for health figures: what is the same in attempts that are alike, and what is only added up.
 * Databases keep them as columns; a store without queries forms the same groups here.
 */
import type { Json } from '../../../base/json.ts'
import { counted, type HealthAttributes } from '../../../domain/event/health-attributes.ts'
import type { RepairCost, Sample, SampleGroup, SampleQuery } from '../../../domain/ports/sample.ts'
import type { SpanRow } from '../../../domain/ports/store.ts'
import type { StoredHead } from './heads.ts'

interface SpanHealth {
  readonly nodeId: string
  readonly model?: string
  /** JSON with sorted keys: equal text, equal attributes. */
  readonly signals: string
  readonly repair: RepairCost
}

const repairPrefix = 'aros.repair.'
const modelAttribute = 'aros.model_id'

/** `undefined` for spans that say nothing about models. */
export function readSpanHealth({ name, attributes }: Pick<SpanRow, 'name' | 'attributes'>) {
  if (name !== 'attempt' || !saysHealth(attributes)) return undefined
  const own: [string, Json][] = Object.entries(attributes).filter(([key]) => key.startsWith('aros.'))
  const alike = own
    .filter(([key]) => key !== modelAttribute && !key.startsWith(repairPrefix))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const model = attributes[modelAttribute]
  const found: SpanHealth = {
    nodeId: String(attributes['nodeId'] ?? ''),
    ...(typeof model === 'string' && { model }),
    signals: JSON.stringify(Object.fromEntries(alike)),
    repair: repairCost(attributes),
  }
  return found
}

/** Without a list of the entries: most attempts of local functions and agents have no such attribute. */
function saysHealth(attributes: HealthAttributes): boolean {
  for (const key in attributes) if (key.startsWith('aros.')) return true
  return false
}

function repairCost(attributes: HealthAttributes): RepairCost {
  return {
    calls: counted(attributes, 'aros.repair.calls'),
    inputTokens: counted(attributes, 'aros.repair.input_tokens'),
    outputTokens: counted(attributes, 'aros.repair.output_tokens'),
    costUsd: counted(attributes, 'aros.repair.cost_usd'),
    unknownCost: counted(attributes, 'aros.repair.cost_unknown'),
  }
}

/** Which part of the time between `from` and `to` (the last one closed) a moment belongs to. */
export function slotWidth({
  from,
  to,
  slots = 1,
}: {
  from?: number
  to?: number
  slots?: number
}): number | undefined {
  return from === undefined || to === undefined || to <= from || slots < 2 ? undefined : (to - from) / slots
}

interface SampledRun {
  readonly head: Pick<StoredHead, 'runId' | 'tenant' | 'pipeline'>
  readonly spans: ReadonlyMap<string, SpanRow>
}

/** Returns the health sample of the runs: the same groups that databases compute. */
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
      const found = readSpanHealth(span)
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
