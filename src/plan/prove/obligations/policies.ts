/** Obligations on the caller's policies: planner policies, as far as a plan can violate them, and the names in all of them. */
import { closest } from '../../../base/closest.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { listNodeNames } from '../../../domain/plan/node-summary.ts'
import { engineMetrics, getTriggerMetric } from '../../../domain/policy/parse-policies.ts'
import { listMembers } from '../../../schema/build/project.ts'
import { parseCondition } from '../../../schema/condition/condition.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { declares, getValueLookup } from '../../../schema/values/schema-values.ts'
import { assumeAll } from '../../../schema/values/solve.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { settingsFor } from '../goals/answer-values.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'
import { bodyPath } from '../resolve/resolve-body.ts'

export function policies(resolved: Resolved): readonly Diagnostic[] {
  return [...variants(resolved), ...selection(resolved), ...topology(resolved)]
}

/** Treats the number of variants as the length of the list that holds them; a contract that forbids this length wins. */
function variants(resolved: Resolved): Diagnostic[] {
  const count = resolved.request.envelope.policies.planner.topology?.variantCount
  const property = variantProperty(resolved)
  if (count === undefined || property === undefined) return []
  const parsed = parseCondition({ '==': [{ var: `${property}.length` }, count] })
  if (!parsed.ok) return []
  const settings = settingsFor([[property]], resolved)
  const fits = settings.some(({ assured }) =>
    assured.some((world) => assumeAll([parsed.condition], world).length > 0),
  )
  if (fits) return []
  return [
    createDiagnostic('plan/policy-variants', {
      constraint: `${property}.length == ${count}`,
      constraintId: 'policy:variantCount',
      suggestion: `Change policies.planner.topology.variantCount or the bounds of "${property}"`,
      details: { variantCount: count, property },
    }),
  ]
}

/** Returns the list of variants: the property of that name, or the only list in the answer. */
export function variantProperty({
  callerSchema,
  slots,
}: Pick<Resolved, 'callerSchema' | 'slots'>): string | undefined {
  const names = [
    ...new Set([
      ...listMembers(callerSchema).map(({ name }) => name),
      ...slots.flatMap(({ prefix }) => prefix),
    ]),
  ]
  const named = names.find((name) => name === 'copyVariants') ?? names.find((name) => /variants$/i.test(name))
  if (named !== undefined) return named
  const lookup = getValueLookup(callerSchema)
  const lists = names.filter((name) => {
    const { lists: lengths, strings, objects } = lookup([name])
    return lengths !== undefined && !objects && strings.length === 0
  })
  return lists.length === 1 ? lists[0] : undefined
}

function selection({ request, nodes: outermost }: Resolved): Diagnostic[] {
  const nodes = withBodies(outermost)
  const { require = [], forbid = [] } = request.envelope.policies.planner.selection ?? {}
  const used = nodes.flatMap(({ id, draft }) =>
    [draft.capabilityId, ...(draft.alternates ?? [])].flatMap((capabilityId) =>
      capabilityId ? [{ id, capabilityId }] : [],
    ),
  )
  const lacking = require.filter(
    (capabilityId) => !nodes.some(({ draft }) => draft.capabilityId === capabilityId),
  )
  return [
    ...lacking.map((capabilityId) =>
      createDiagnostic('plan/policy-require', {
        constraint: `the plan uses "${capabilityId}"`,
        constraintId: 'policy:require',
        capabilityId,
        suggestion: forbid.includes(capabilityId)
          ? 'The policy requires and forbids it: change the policy'
          : request.capabilities.some((each) => each.capabilityId === capabilityId)
            ? `Add a node with ${capabilityId}`
            : unregistered(capabilityId, request),
        details: { required: [...lacking] },
      }),
    ),
    ...used
      .filter(({ capabilityId }) => forbid.includes(capabilityId))
      .map(({ id, capabilityId }) =>
        createDiagnostic('plan/policy-forbid', {
          constraint: `the plan does not use "${capabilityId}"`,
          constraintId: 'policy:forbid',
          nodeId: id,
          capabilityId,
          suggestion: `Use another capability instead of ${capabilityId}`,
        }),
      ),
  ]
}

/** A node for an unregistered capability cannot be added, so this suggests to register it. */
function unregistered(capabilityId: string, { capabilities }: Resolved['request']): string {
  const meant = closest(
    capabilityId,
    capabilities.map((each) => each.capabilityId),
  )
  const hint = meant === undefined ? '' : `. Did you mean ${meant}?`
  return `${capabilityId} is not registered or not active: register it, or take it out of policies.planner.selection.require${hint}`
}

/** Returns all nodes, those of bodies included. */
export function withBodies(nodes: readonly ResolvedNode[]): readonly ResolvedNode[] {
  return nodes.flatMap((node) => {
    const inner = withBodies(node.body?.nodes ?? [])
    return [node, ...inner.map((each) => ({ ...each, id: bodyPath(node.draft, each.id) }))]
  })
}

function topology({ request, nodes: outermost, graph }: Resolved): Diagnostic[] {
  const nodes = withBodies(outermost)
  const {
    requiredKinds = [],
    forbiddenKinds = [],
    maxDepth,
  } = request.envelope.policies.planner.topology ?? {}
  const found: Diagnostic[] = requiredKinds
    .filter((kind) => !nodes.some((node) => node.kind === kind))
    .map((kind) =>
      createDiagnostic('plan/policy-kind', {
        constraint: `the plan has a node of kind "${kind}"`,
        constraintId: `policy:requiredKinds:${kind}`,
        suggestion: `Add a node of kind ${kind} (by a capability with that nodeKind), or take it out of policies.planner.topology.requiredKinds`,
      }),
    )
  for (const { id, kind } of nodes.filter((node) => forbiddenKinds.includes(node.kind))) {
    found.push(
      createDiagnostic('plan/policy-kind', {
        constraint: `the plan has no node of kind "${kind}"`,
        constraintId: 'policy:forbiddenKinds',
        nodeId: id,
        suggestion: `Replace the node of kind ${kind}`,
      }),
    )
  }
  if (maxDepth !== undefined && graph.depth > maxDepth) {
    found.push(
      createDiagnostic('plan/policy-depth', {
        constraint: `depth <= ${maxDepth}`,
        constraintId: 'policy:maxDepth',
        suggestion: 'Run nodes in parallel, or remove some',
        details: { depth: graph.depth, maxDepth },
      }),
    )
  }
  return found
}

// Reports names in the caller's policies that match nothing: an unknown capability, a metric that no node supplies, a
// label that no node has. Such a policy has no effect, or another one than intended. The plan is accepted, because the
// name may become known later; the diagnostic suggests the closest name.

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
    const metric = getTriggerMetric(policy)
    if (metric === undefined || engineMetrics.includes(metric)) return []
    if (outputs.some((output) => maySupply(output, metric.split('.')))) return []
    const numbers = outputs.flatMap((output) =>
      listMembers(output).flatMap(({ name }) => (maySupply(output, [name]) ? [name] : [])),
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
  const names = new Set(nodes.flatMap(listNodeNames))
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
  if (getValueLookup(output)(path).numbers === undefined) return false
  return declares(output, path) || listMembers(output).length === 0
}
