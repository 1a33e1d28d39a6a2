/**
 * Counters and histograms of FLEX-71…76. They are fed by the lifecycle, so every path counts alike: runs started over HTTP
 * or by the library, resumed, or claimed from a dead process. Names are the specification's, with underscores for dots.
 */

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AppendedNotice, LifecycleNotice } from '../../domain/event/lifecycle.ts'
import type { JournalEvent } from '../../domain/event.ts'
import { isWaiting } from '../../domain/status.ts'
import { traceCounts } from './trace-counts.ts'

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

export interface Metrics {
  readonly onNotice: (notice: LifecycleNotice) => void
  /** Sets the source of the active-runs gauge, read on each scrape. */
  watchActive(active: () => number): void
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string>
}

const durations = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000, 600_000, 3_600_000]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const meters = createMeters(registry)
  const record = createRecorder(meters)

  return {
    onNotice(notice) {
      if (notice.kind === 'appended') return record(notice)
      const { why, status } = notice
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
