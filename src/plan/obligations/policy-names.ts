/**
 * Names in the caller's policies that nothing here has: a capability that is not known, a metric that no node supplies.
 * Such a policy is without effect. The plan stands, because both may become known later; the finding says what was meant.
 */
import { closest } from '../../base/closest.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { engineMetrics, metricOf } from '../../domain/policy-metrics.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { membersOf } from '../../schema/members.ts'
import { declares, valuesOf } from '../../schema/schema-values.ts'
import { finding } from '../findings.ts'
import type { Resolved } from '../request.ts'
import { withBodies } from './policies.ts'

export function policyNames(resolved: Resolved): readonly Diagnostic[] {
  return [...capabilityNames(resolved), ...metricNames(resolved)]
}

interface Named {
  readonly capabilityId: string
  /** Where the caller wrote it. */
  readonly key: string
  readonly policyId: string
}

function capabilityNames({ request }: Resolved): Diagnostic[] {
  const { capabilities, inactive, envelope } = request
  const known = [...capabilities.map(({ capabilityId }) => capabilityId), ...(inactive?.keys() ?? [])]
  return namedIn(envelope.policies)
    .filter(({ capabilityId }) => !known.includes(capabilityId))
    .map(({ capabilityId, key, policyId }) => {
      const meant = closest(capabilityId, known)
      return finding('plan/policy-capability', {
        constraint: `${key} names a known capability, not "${capabilityId}"`,
        constraintId: `policy:${policyId}`,
        capabilityId,
        suggestion:
          meant === undefined
            ? `Register ${capabilityId}, or take it out of ${key}`
            : `Did you mean "${meant}"?`,
      })
    })
}

/** `require` is not here: a plan that lacks a required capability is rejected. */
function namedIn({ planner, runtime }: Resolved['request']['envelope']['policies']): Named[] {
  const selection = (['forbid', 'avoid', 'prefer'] as const).flatMap((key) =>
    (planner.selection?.[key] ?? []).map((capabilityId) => ({
      capabilityId,
      key: `policies.planner.selection.${key}`,
      policyId: key,
    })),
  )
  const selectors = runtime.flatMap((policy, index): Named[] => {
    const trigger = 'trigger' in policy ? policy.trigger : undefined
    const capabilityId =
      trigger !== undefined && 'selector' in trigger ? trigger.selector?.capabilityId : undefined
    const key = `policies.runtime[${index}].trigger.selector.capabilityId`
    return capabilityId === undefined ? [] : [{ capabilityId, key, policyId: policy.id }]
  })
  return [...selection, ...selectors]
}

function metricNames(resolved: Resolved): Diagnostic[] {
  const outputs = withBodies(resolved.nodes).map(({ output }) => output)
  return resolved.request.envelope.policies.runtime.flatMap((policy, index) => {
    const metric = metricOf(policy)
    if (metric === undefined || engineMetrics.includes(metric)) return []
    if (outputs.some((output) => maySupply(output, metric.split('.')))) return []
    const numbers = outputs.flatMap((output) =>
      membersOf(output).flatMap(({ name }) => (maySupply(output, [name]) ? [name] : [])),
    )
    const known = [...new Set([...engineMetrics, ...numbers])]
    const meant = closest(metric, known)
    return [
      finding('plan/policy-metric', {
        constraint: `something supplies the metric "${metric}" of policies.runtime[${index}]`,
        constraintId: `policy:${policy.id}`,
        suggestion:
          meant === undefined
            ? `Use ${known.slice(0, 10).join(', ')}, or the path of another number in a node's output`
            : `Did you mean "${meant}"?`,
      }),
    ]
  })
}

/** Whether a number at the path is declared; an output that names no members may hold any. */
function maySupply(output: JsonSchema, path: readonly string[]): boolean {
  if (valuesOf(output)(path).numbers === undefined) return false
  return declares(output, path) || membersOf(output).length === 0
}
