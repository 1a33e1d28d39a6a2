/**
 * Counters and the histogram of FLEX-71…76, fed by the lifecycle and therefore by every path alike: started over HTTP, by
 * the library, resumed, or taken over from a dead process. Names are the specification's with underscores for dots.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { JournalEvent } from '../../domain/event.ts'
import type { AppendedNotice, LifecycleNotice } from '../../domain/lifecycle.ts'
import { boundedLabel } from './labels.ts'
import { traceCounts } from './trace-counts.ts'

export interface Metrics {
  readonly hear: (notice: LifecycleNotice) => void
  /** Runs that are carried here, asked for when somebody scrapes. */
  watchActive(active: () => number): void
  /** All of it in the text format of Prometheus. */
  text(): Promise<string>
}

const durations = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000, 600_000, 3_600_000]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name, help, labelNames: [...labelNames], registers })

  const requests = counter('flex_planner_requests', 'Drafts that were wanted', ['phase'])
  const rejections = counter('flex_planner_rejections', 'Drafts that were not proved')
  const generated = counter('flex_planner_generated', 'Plans in force; resumed: under the plan it had', [
    'resumed',
  ])
  const updated = counter('flex_planner_updated', 'Plans that replaced another')
  const triggers = counter('flex_policy_triggers', 'Runtime policies that acted', ['action'])
  const asked = counter('flex_hitl_requests', 'Questions to people', ['kind'])
  const resolved = counter('flex_hitl_resolved', 'Questions that were decided', ['decision'])
  const retries = counter('flex_validation_retries', 'Attempts made again because a contract was not met')
  const statuses = counter('flex_run_status', 'Runs that came to rest, by where they stand', ['status'])
  const nodes = new Histogram({
    name: 'flex_node_duration_ms',
    help: 'From the start of a node to its end, waiting included',
    labelNames: ['capabilityId'],
    buckets: durations,
    registers,
  })
  const usage = counter('agent_usage', 'What models used: calls, tokens, dollars', ['model', 'unit'])
  const fallback = counter('aros_fallback_stage', 'Rungs of the ladder', ['stage', 'result'])
  const aop = {
    syntactic: {
      success: counter('aros_aop_syntactic_success', 'Texts of models that were mended into JSON'),
      skip: counter('aros_aop_syntactic_skip', 'Answers of models that were JSON as they stood'),
      fail: counter('aros_aop_syntactic_fail', 'Texts of models in which no JSON was found'),
    },
    coercion: {
      success: counter('aros_aop_coercion_success', 'Values that were converted toward their schema'),
      skip: counter('aros_aop_coercion_skip', 'Values that needed no conversion'),
      fail: counter('aros_aop_coercion_fail', 'Values that could not be made to fit'),
    },
  }
  const capability = boundedLabel()
  const model = boundedLabel()
  const action = boundedLabel()
  const stage = boundedLabel()

  const count = (event: JournalEvent) => {
    switch (event.type) {
      case 'plan_requested':
        return requests.inc({ phase: event.payload.phase })
      case 'plan_rejected':
        return rejections.inc()
      case 'plan_generated':
        return generated.inc({ resumed: String(event.payload.metadata.resumed === true) })
      case 'plan_updated':
        return updated.inc()
      case 'policy_triggered':
        return triggers.inc({ action: action(event.payload.action) })
      case 'hitl_request':
        return asked.inc({ kind: event.payload.kind })
      case 'hitl_resolved':
        return resolved.inc({ decision: event.payload.decision })
      case 'complete':
        return statuses.inc({ status: event.payload.status })
      default:
        return undefined
    }
  }

  const appended = ({ events, ended }: AppendedNotice) => {
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

  return {
    hear(notice) {
      if (notice.kind === 'appended') return appended(notice)
      const { why, status } = notice
      // How a run ended is an event; that it waits is not.
      if (why === 'rests' && (status === 'awaiting_hitl' || status === 'awaiting_human'))
        statuses.inc({ status })
    },
    watchActive(active) {
      new Gauge({
        name: 'proviso_runs_active',
        help: 'Runs that this process carries at this moment',
        registers,
        collect() {
          this.set(active())
        },
      })
    },
    text: () => registry.metrics(),
  }
}

/** A node whose answer was invalid and that gets another try: both are decided together, and appended so. */
function validationRetries(events: readonly JournalEvent[]): number {
  const invalid = new Set<string>()
  let count = 0
  for (const { type, nodeId = '', payload } of events) {
    if (type === 'validation_error') invalid.add(nodeId)
    else if (type === 'timer_set' && payload.purpose.kind === 'retry' && invalid.has(nodeId)) count++
  }
  return count
}
