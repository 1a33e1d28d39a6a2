/** Obligation on the caller's planner policies, as far as a plan can violate them. */
import { closest } from '../../../base/closest.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { parseCondition } from '../../../schema/condition/condition.ts'
import { valuesOf } from '../../../schema/values/schema-values.ts'
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
      ...membersOf(callerSchema).map(({ name }) => name),
      ...slots.flatMap(({ prefix }) => prefix),
    ]),
  ]
  const named = names.find((name) => name === 'copyVariants') ?? names.find((name) => /variants$/i.test(name))
  if (named !== undefined) return named
  const lookup = valuesOf(callerSchema)
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
