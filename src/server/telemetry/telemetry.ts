/** Connects metrics and the log to the runs of this process, and writes the log. */

import { type DestinationStream, type Logger, pino } from 'pino'
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { AppendedNotice, LifecycleNotice, SubscribeToLifecycle } from '../../domain/event/lifecycle.ts'
import type { EventType, JournalEvent } from '../../domain/event.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import type { ServedApp } from '../served.ts'
import { createMetrics, type Metrics } from './metrics.ts'

interface Watched {
  readonly subscribeToLifecycle: SubscribeToLifecycle
  readonly redactor: Redactor
  /** Number of runs active in this process. */
  readonly active: number
  readonly subscribeToStoreCalls?: ServedApp['subscribeToStoreCalls']
}

interface Telemetry {
  readonly metrics: Metrics
  readonly log: Log | undefined
  end(): void
}

/** The connection ends with the server. */
export function createTelemetry(app: Watched, log?: Omit<LogOptions, 'redactor'>): Telemetry {
  const metrics = createMetrics()
  metrics.watchActive(() => app.active)
  const own = log && createLog({ ...log, redactor: app.redactor })
  const ends = [
    app.subscribeToLifecycle(metrics.onNotice),
    ...(app.subscribeToStoreCalls ? [app.subscribeToStoreCalls(metrics.observeStore)] : []),
    ...(own ? [app.subscribeToLifecycle(own.onNotice)] : []),
  ]
  return {
    metrics,
    log: own,
    end() {
      for (const end of ends) end()
    },
  }
}

// The log: structured lines for the lifecycle of runs, JSON by pino, one per named event (FLEX-70), redacted.

export interface LogOptions {
  readonly redactor: Redactor
  /** Destination of log lines. Default: standard output. */
  readonly destination?: DestinationStream
  /** Default `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `aros.telemetry.verbose`: also logs the trace events of model calls. Default false. */
  readonly verbose?: boolean
}

interface Log {
  readonly onNotice: (notice: LifecycleNotice) => void
  /** For all other log lines of the server. */
  readonly logger: Logger
}

export function createLog({ redactor, destination, level = 'info', verbose = false }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redactor.value(fields) as { [key: string]: unknown },
      },
    },
    destination ?? pino.destination(1),
  )
  return {
    logger,
    onNotice(notice) {
      if (notice.kind === 'left') {
        if (notice.why === 'crashed') logger.error({ runId: notice.runId }, 'flex_run_crashed')
        return
      }
      const { runId, correlationId } = notice
      for (const event of notice.events) {
        const line = logLine(event, notice) ?? (verbose ? verboseLine(event) : undefined)
        if (!line) continue
        const { nodeId, planVersion, seq } = event
        logger[line.level]({ runId, correlationId, planVersion, seq, nodeId, ...line.fields }, line.name)
      }
    },
  }
}

/** What is logged of an event (FLEX-70): the fields that dashboards need, and no text of callers. */
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

function logLine(event: JournalEvent, notice: AppendedNotice): LogLine | undefined {
  // Type and payload belong together; the type of the table ensures it, but the union cannot express it.
  const row = rows[event.type] as Row<EventType> | undefined
  return row?.(event, notice)
}

/** With `aros.telemetry.verbose` (FSD-32): also logs the trace events of model calls, by their own names. */
function verboseLine(event: JournalEvent): LogLine | undefined {
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
