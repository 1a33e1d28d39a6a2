/** Names that an `onMetricBelow` trigger may have without any node supplying them. */
import { closest } from '../base/closest.ts'
import type { Issue } from '../base/issue.ts'

/** What the engine itself measures. Every other metric is a path into what nodes yield. */
export const engineMetrics: readonly string[] = ['confidence', 'satisfaction']

/** Metrics that are nearly one of the engine's: such a policy would never act. */
export function checkMetrics(runtime: readonly object[]): Issue[] {
  return runtime.flatMap((policy, index): Issue[] => {
    const metric = metricOf(policy)
    if (metric === undefined || engineMetrics.includes(metric)) return []
    const meant = closest(metric, engineMetrics)
    if (meant === undefined) return []
    return [
      {
        code: 'policy/metric',
        at: { pointer: `/runtime/${index}/trigger/metric` },
        message: `there is no metric ${JSON.stringify(metric)}, and the policy would never act`,
        hint: `Did you mean "${meant}"?`,
      },
    ]
  })
}

/** The metric of a policy; nothing where another trigger sets it off. */
export function metricOf(policy: object): string | undefined {
  const trigger = 'trigger' in policy ? policy.trigger : undefined
  const isTrigger = typeof trigger === 'object' && trigger !== null && 'metric' in trigger
  return isTrigger && typeof trigger.metric === 'string' ? trigger.metric : undefined
}
