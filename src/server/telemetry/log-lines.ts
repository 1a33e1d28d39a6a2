/** Maps events to log lines (FLEX-70): one row each, with the fields that dashboards need and no text of callers. */
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { AppendedNotice } from '../../domain/event/lifecycle.ts'
import type { EventType, JournalEvent } from '../../domain/event.ts'

interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly name: string
  readonly fields: { readonly [key: string]: Json | undefined }
}

type Row<T extends EventType> = (event: JournalEvent<T>, notice: AppendedNotice) => LogLine | undefined
type Rows = { readonly [T in EventType]?: Row<T> }

const rows: Rows = {
  plan_requested: ({ payload: { attempt, phase, trigger } }) => ({
    level: 'info',
    name: 'flex_plan_requested',
    fields: { attempt, phase, policyId: trigger?.policyId },
  }),
  node_complete: ({ nodeId, payload }, { ended }) => ({
    level: 'info',
    name: 'flex_node_complete',
    fields: {
      capabilityId: payload.capabilityId,
      attempt: payload.attempt,
      durationMs: ended.find((one) => one.nodeId === nodeId)?.durationMs,
      facetProvenance: plain(payload.facetProvenance),
    },
  }),
  policy_triggered: ({ payload: { policyId, trigger, action, by } }) => ({
    level: 'info',
    name: 'flex_policy_triggered',
    fields: { policyId, trigger, action, by },
  }),
  validation_error: ({ payload: { scope, errors } }) => ({
    level: 'warn',
    name: 'flex_validation_failed',
    fields: { scope, issues: toLocations(errors) },
  }),
  attempt_start: ({ payload: { capabilityId, attempt } }) => ({
    level: 'info',
    name: 'flex_capability_dispatch_start',
    fields: { capabilityId, attempt },
  }),
  attempt_end: ({ payload: { attempt, outcome, issues, usage, model } }) => ({
    level: outcome === 'ok' ? 'info' : 'warn',
    name: outcome === 'ok' ? 'flex_capability_dispatch_complete' : 'flex_capability_dispatch_error',
    fields: {
      attempt,
      outcome,
      issues: outcome === 'ok' ? undefined : toLocations(issues),
      usage: { ...usage },
      model,
    },
  }),
  complete: ({ payload: { status, error } }) => ({
    level: status === 'failed' ? 'error' : 'info',
    name: 'flex_run_complete',
    fields: { status, code: error?.code },
  }),
}

/** Maximum issues per log line. */
const mostIssues = 20

export function logLine(event: JournalEvent, notice: AppendedNotice): LogLine | undefined {
  // Type and payload belong together; the type of the table ensures it, but the union cannot express it.
  const row = rows[event.type] as Row<EventType> | undefined
  return row?.(event, notice)
}

/** With `aros.telemetry.verbose` (FSD-32): also logs the trace events of model calls, by their own names. */
export function verboseLine(event: JournalEvent): LogLine | undefined {
  if (event.type !== 'log') return undefined
  return { level: 'info', name: event.payload.event, fields: { ...event.payload.payload } }
}

/** Keeps location and rule of issues only, because messages quote values. */
function toLocations(issues: readonly Issue[]): Json {
  return issues.slice(0, mostIssues).map(({ code, at }) => ({ code, at: plain(at) ?? null }))
}

function plain(value: object | undefined): Json | undefined {
  return value === undefined ? undefined : (value as Json)
}
