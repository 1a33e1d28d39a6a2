/** Rows of the spans that health figures count, with the columns that they are added up from. */
import type { StoredSpan } from '../../projections/node-steps.ts'
import { readSpanHealth } from '../../projections/span-health.ts'
import type { SpanTable } from '../tables.ts'
import type { Encode } from './rows.ts'

export function spanRow(span: StoredSpan, encode: Encode): SpanTable {
  const found = readSpanHealth(span)
  return {
    run_id: span.runId,
    span_id: span.spanId,
    parent_span_id: span.parentSpanId ?? null,
    name: span.name,
    started_at: span.startedAt,
    ended_at: span.endedAt,
    status: span.status,
    attributes: encode(span.attributes),
    seq: span.seq,
    node_id: found?.nodeId ?? null,
    model_id: found?.model ?? null,
    signals: found?.signals ?? null,
    repair_calls: found?.repair.calls || null,
    repair_input_tokens: found?.repair.inputTokens || null,
    repair_output_tokens: found?.repair.outputTokens || null,
    repair_cost_usd: found?.repair.costUsd || null,
    repair_cost_unknown: found?.repair.unknownCost || null,
  }
}
