/** Spans ↔ their rows, with the columns that health figures are added up from. */
import type { SpanRow } from '../../../../domain/ports/store.ts'
import type { StoredSpan } from '../../projections/node-steps.ts'
import { readSpanHealth } from '../../projections/span-health.ts'
import { decode } from '../../shared/codec.ts'
import type { SpanTable } from '../tables.ts'
import type { Encode, Values } from './rows.ts'

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

export function toSpan(row: SpanTable, values: Values): SpanRow {
  return {
    runId: row.run_id,
    spanId: row.span_id,
    name: row.name,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    status: row.status,
    attributes: decode(row.attributes, values) as SpanRow['attributes'],
    ...(row.parent_span_id !== null && { parentSpanId: row.parent_span_id }),
  }
}
