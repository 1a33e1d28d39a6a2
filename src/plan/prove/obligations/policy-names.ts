/**
 * Reports names in the caller's policies that match nothing: an unknown capability, a metric that no node supplies, a
 * label that no node has. Such a policy has no effect, or another one than intended. The plan is accepted, because the
 * name may become known later; the diagnostic suggests the closest name.
 */
import { closest } from '../../../base/closest.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { namesOf } from '../../../domain/plan/node-summary.ts'
import { engineMetrics, metricOf } from '../../../domain/policy/parse-policies.ts'
import { membersOf } from '../../../schema/build/members.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { declares, valuesOf } from '../../../schema/values/schema-values.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved } from '../proof-request.ts'
import { withBodies } from './policies.ts'

export function policyNames(resolved: Resolved): readonly Diagnostic[] {
  return [...capabilityNames(resolved), ...metricNames(resolved), ...labelNames(resolved)]
}

interface Named {
  readonly capabilityId: string
  /** Key of the envelope that contains the name. */
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
      return createDiagnostic('plan/policy-capability', {
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

/** Omits `require`: a plan without a required capability is rejected. */
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
      createDiagnostic('plan/policy-metric', {
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

/** Reports labels that no node has: the person is asked at the end instead. */
function labelNames(resolved: Resolved): Diagnostic[] {
  const labels = resolved.request.envelope.policies.planner.directives?.hitlRequiredFor
  if (!Array.isArray(labels)) return []
  const nodes = withBodies(resolved.nodes).map(({ id, kind, draft }) => ({
    ...draft,
    id,
    kind,
    bodyId: draft.id,
  }))
  const names = new Set(nodes.flatMap(namesOf))
  return labels.map(String).flatMap((label) => {
    if (names.has(label)) return []
    const known = [...new Set(nodes.map((node) => node.label ?? node.id))]
    const meant = closest(label, [...names])
    const instead =
      meant === undefined ? `Nodes are ${known.slice(0, 10).join(', ')}` : `Did you mean "${meant}"?`
    return [
      createDiagnostic('plan/policy-label', {
        constraint: `a node has the label "${label}" of policies.planner.directives.hitlRequiredFor`,
        constraintId: `policy:hitlRequiredFor:${label}`,
        suggestion: `${instead}${meant === undefined ? '.' : ''} A person is asked to approve the answer instead`,
      }),
    ]
  })
}

/** Whether the output may have a number at the path; an output that names no members may hold any. */
function maySupply(output: JsonSchema, path: readonly string[]): boolean {
  if (valuesOf(output)(path).numbers === undefined) return false
  return declares(output, path) || membersOf(output).length === 0
}
