/**
 * Derives counters from the trace events of model calls: `agent.usage`, `aros.fallback.stage` (FSD-35), and the family
 * `aros.aop.*`, which is computed from `output.coercion.*` and is not emitted itself (AROS-57, C3).
 */
import type { Json } from '../../base/json.ts'
import type { EventPayloads, JournalEvent } from '../../domain/event.ts'

/** Reading has two halves: parsing the text as JSON, and converting the value to the schema. */
type Half = 'syntactic' | 'coercion'
type AopResult = 'success' | 'skip' | 'fail'

const halves: { readonly [stage: string]: Half } = {
  extract: 'syntactic',
  tolerant: 'syntactic',
  syntactic: 'syntactic',
  semantic: 'coercion',
  custom: 'coercion',
}

type TraceCount =
  | { readonly kind: 'aop'; readonly half: Half; readonly result: AopResult }
  | { readonly kind: 'usage'; readonly model: string; readonly unit: string; readonly amount: number }
  | { readonly kind: 'fallback'; readonly stage: string; readonly result: string }

/** Counts events that were appended together: an attempt's trace precedes its end. */
export function traceCounts(events: readonly JournalEvent[]): TraceCount[] {
  const counts: TraceCount[] = []
  const touched = new Map<string, Set<Half>>()
  for (const event of events) {
    const node = event.nodeId ?? ''
    if (event.type === 'log') {
      const found = toCounts(event.payload)
      counts.push(...found)
      for (const count of found)
        if (count.kind === 'aop') touched.set(node, (touched.get(node) ?? new Set()).add(count.half))
    } else if (event.type === 'attempt_end') {
      // A half that had nothing to do for a model's answer counts as skipped.
      const seen = touched.get(node)
      if (event.payload.model !== undefined && event.payload.usage.calls > 0)
        for (const half of ['syntactic', 'coercion'] as const)
          if (!seen?.has(half)) counts.push({ kind: 'aop', half, result: 'skip' })
      touched.delete(node)
    }
  }
  return counts
}

function toCounts({ event, payload = {} }: EventPayloads['log']): TraceCount[] {
  switch (event) {
    case 'output.coercion.success':
    case 'output.coercion.fail': {
      const half = halves[text(payload['stage'])]
      // In shadow mode the reader only reports what it would have done.
      if (half === undefined || payload['shadow'] === true) return []
      return [{ kind: 'aop', half, result: event.endsWith('success') ? 'success' : 'fail' }]
    }
    case 'aros.fallback.stage':
      return [{ kind: 'fallback', stage: text(payload['stage']), result: text(payload['result']) }]
    case 'agent.usage':
      return toUsageCounts(payload)
    default:
      return []
  }
}

/** Separates the amounts under one name by unit; calls without a known price are counted as unpriced. */
function toUsageCounts(payload: { readonly [key: string]: Json }): TraceCount[] {
  const model = text(payload['model'])
  const { calls, input_tokens, output_tokens, cost_usd } = payload
  const amounts: readonly (readonly [string, Json | undefined])[] = [
    ['calls', calls],
    ['input_tokens', input_tokens],
    ['output_tokens', output_tokens],
    ['usd', cost_usd],
    ['unpriced_calls', typeof cost_usd === 'number' ? 0 : calls],
  ]
  return amounts.flatMap(([unit, amount]) =>
    typeof amount === 'number' && amount > 0 ? [{ kind: 'usage' as const, model, unit, amount }] : [],
  )
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
