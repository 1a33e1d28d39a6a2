/** The signals of a span as columns: what is the same in attempts that are alike, and what is only added up. */
import type { Json } from '../../../base/json.ts'
import { counted, type HealthAttributes } from '../../../domain/event/health-attributes.ts'
import type { RepairCost } from '../../../domain/ports/sample.ts'
import type { SpanRow } from '../../../domain/ports/store.ts'

export interface SpanSignals {
  readonly nodeId: string
  readonly model?: string
  /** JSON with sorted keys: equal text, equal signals. */
  readonly signals: string
  readonly repair: RepairCost
}

const repairPrefix = 'aros.repair.'
const modelAttribute = 'aros.model_id'

/** `undefined` for spans that say nothing about models. */
export function spanSignals({ name, attributes }: Pick<SpanRow, 'name' | 'attributes'>) {
  if (name !== 'attempt') return undefined
  const own: [string, Json][] = Object.entries(attributes).filter(([key]) => key.startsWith('aros.'))
  if (own.length === 0) return undefined
  const alike = own
    .filter(([key]) => key !== modelAttribute && !key.startsWith(repairPrefix))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const model = attributes[modelAttribute]
  const found: SpanSignals = {
    nodeId: String(attributes['nodeId'] ?? ''),
    ...(typeof model === 'string' && { model }),
    signals: JSON.stringify(Object.fromEntries(alike)),
    repair: repairCost(attributes),
  }
  return found
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
