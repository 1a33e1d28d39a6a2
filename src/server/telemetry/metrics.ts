/**
 * Counters and histograms of FLEX-71…76. They are fed by the lifecycle, so every path counts alike: runs started over HTTP
 * or by the library, resumed, or claimed from a dead process. Names are the specification's, with underscores for dots.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Json } from '../../base/json.ts'
import type { AppendedNotice, LifecycleNotice } from '../../domain/event/lifecycle.ts'
import type { EventPayloads, JournalEvent } from '../../domain/event.ts'
import { isWaiting } from '../../domain/status.ts'
import { createServerMeters, type ServerMeters, type Watched, watchServer } from './server-metrics.ts'

// Bounds the number of values of labels that callers choose (capabilities, models): each value adds a time series.

/** Maximum distinct values per label. */
const mostLabelValues = 200
/** Label of all further values. */
export const otherLabel = 'other'
const longestValue = 128

/** @example const model = boundedLabel(); model('openai/gpt-5') // 'openai/gpt-5', until there are 200 others */
export function boundedLabel(most = mostLabelValues): (value: string | undefined) => string {
  const known = new Set<string>()
  return (value) => {
    const label = (value === undefined || value === '' ? 'none' : value).slice(0, longestValue)
    if (known.has(label)) return label
    if (known.size >= most) return otherLabel
    known.add(label)
    return label
  }
}

export interface Metrics extends ServerMeters {
  readonly onNotice: (notice: LifecycleNotice) => void
  /** Sets the source of the active-runs gauge, read on each scrape. */
  watchActive(active: () => number): void
  /** Registers the gauges of a server. */
  watchServer(watched: Watched): void
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string>
}

const durations = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000, 600_000, 3_600_000]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const meters = createMeters(registry)
  const record = createRecorder(meters)

  const server = createServerMeters(registry)

  return {
    ...server,
    watchServer: (watched) => watchServer(registry, watched),
    onNotice(notice) {
      if (notice.kind === 'appended') return record(notice)
      const { why, status } = notice
      if (why === 'lost') server.countLostLease()
      // The end of a run is an event; waiting is not.
      if (why === 'rests' && status !== undefined && isWaiting(status)) meters.statuses.inc({ status })
    },
    watchActive(active) {
      new Gauge({
        name: 'proviso_runs_active',
        help: 'Runs active in this process',
        registers: [registry],
        collect() {
          this.set(active())
        },
      })
    },
    text: () => registry.metrics(),
  }
}

type Meters = ReturnType<typeof createMeters>

/** Defines the counters and histograms: name, help and labels of each. */
function createMeters(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name, help, labelNames: [...labelNames], registers })

  const requests = counter('flex_planner_requests', 'Drafts requested from planners', ['phase'])
  const rejections = counter('flex_planner_rejections', 'Drafts rejected by the proof')
  const generated = counter(
    'flex_planner_generated',
    'Plans put in force; resumed: the previous plan continued',
    ['resumed'],
  )
  const updated = counter('flex_planner_updated', 'Plans that replaced an earlier plan')
  const triggers = counter('flex_policy_triggers', 'Runtime policies triggered', ['action'])
  const asked = counter('flex_hitl_requests', 'Human-in-the-loop requests', ['kind'])
  const resolved = counter('flex_hitl_resolved', 'Human-in-the-loop requests resolved', ['decision'])
  const retries = counter('flex_validation_retries', 'Attempts retried because the contract was not met')
  const statuses = counter('flex_run_status', 'Runs that ended or wait for a person, by status', ['status'])
  const nodes = new Histogram({
    name: 'flex_node_duration_ms',
    help: 'Duration of a node from start to end, including waiting time',
    labelNames: ['capabilityId'],
    buckets: durations,
    registers,
  })
  const usage = counter('agent_usage', 'Model usage: calls, tokens, dollars', ['model', 'unit'])
  const fallback = counter('aros_fallback_stage', 'Fallback steps taken', ['stage', 'result'])
  const aop = {
    syntactic: {
      success: counter('aros_aop_syntactic_success', 'Model answers repaired into JSON'),
      skip: counter('aros_aop_syntactic_skip', 'Model answers that were valid JSON'),
      fail: counter('aros_aop_syntactic_fail', 'Model answers without readable JSON'),
    },
    coercion: {
      success: counter('aros_aop_coercion_success', 'Values converted to match their schema'),
      skip: counter('aros_aop_coercion_skip', 'Values that needed no conversion'),
      fail: counter('aros_aop_coercion_fail', 'Values that could not be converted to match their schema'),
    },
  }
  return {
    requests,
    rejections,
    generated,
    updated,
    triggers,
    asked,
    resolved,
    retries,
    statuses,
    nodes,
    usage,
    fallback,
    aop,
  }
}

/** Returns a function that counts the events of an append. */
function createRecorder(meters: Meters): (notice: AppendedNotice) => void {
  const { retries, nodes, usage, fallback, aop } = meters
  const capability = boundedLabel()
  const model = boundedLabel()
  const action = boundedLabel()
  const stage = boundedLabel()

  const count = (event: JournalEvent) => {
    switch (event.type) {
      case 'plan_requested':
        return meters.requests.inc({ phase: event.payload.phase })
      case 'plan_rejected':
        return meters.rejections.inc()
      case 'plan_generated':
        return meters.generated.inc({ resumed: String(event.payload.metadata.resumed === true) })
      case 'plan_updated':
        return meters.updated.inc()
      case 'policy_triggered':
        return meters.triggers.inc({ action: action(event.payload.action) })
      case 'hitl_request':
        return meters.asked.inc({ kind: event.payload.kind })
      case 'hitl_resolved':
        return meters.resolved.inc({ decision: event.payload.decision })
      case 'complete':
        return meters.statuses.inc({ status: event.payload.status })
      default:
        return undefined
    }
  }

  return ({ events, ended }) => {
    for (const event of events) count(event)
    retries.inc(validationRetries(events))
    for (const { capabilityId, durationMs } of ended)
      nodes.observe({ capabilityId: capability(capabilityId) }, durationMs)
    for (const found of traceCounts(events))
      if (found.kind === 'aop') aop[found.half][found.result].inc()
      else if (found.kind === 'usage')
        usage.inc({ model: model(found.model), unit: found.unit }, found.amount)
      else fallback.inc({ stage: stage(found.stage), result: found.result })
  }
}

/** Counts retries after an invalid answer: the engine appends the error and the retry timer together. */
function validationRetries(events: readonly JournalEvent[]): number {
  const invalid = new Set<string>()
  let count = 0
  for (const { type, nodeId = '', payload } of events) {
    if (type === 'validation_error') invalid.add(nodeId)
    else if (type === 'timer_set' && payload.purpose.kind === 'retry' && invalid.has(nodeId)) count++
  }
  return count
}

/*
 * Counters from the trace events of model calls: `agent.usage`, `aros.fallback.stage` (FSD-35), and the family
 * `aros.aop.*`, which is computed from `output.coercion.*` and is not emitted itself (AROS-57, C3).
 */

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
