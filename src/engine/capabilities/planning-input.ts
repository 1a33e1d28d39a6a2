/** Builds the input of a planning request: the policies and the candidate capabilities, as `plan_requested` records them. */
import type { ConsideredCapability, EventPayloads } from '../../domain/event.ts'
import type { Draft } from '../../domain/plan.ts'
import { isRaoPolicy } from '../../domain/policy.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { Considered, DraftRequest } from '../../domain/ports/planner.ts'
import type { RunState } from '../../domain/run.ts'
import { promptLimits, shortlist } from '../../plan/index.ts'

interface PlanningInput {
  /** As `plan_requested` records it. */
  readonly recorded: Pick<EventPayloads['plan_requested'], 'capabilities' | 'crcs'>
  /** For the planner, so that it does not price the same candidates again; absent if a draft names them. */
  readonly considered?: Considered
}

/** Maximum number of capabilities in one request: as many as the prompt of a model planner holds. */
const rowCap = promptLimits.capabilities

/**
 * Selects the capabilities that the draft names, or else the ones on a path from the given to the wanted facets, plus the
 * ones that the caller requires. The catalog can change, so the journal records the result.
 */
export function considerCapabilities(state: RunState, catalog: Catalog): PlanningInput {
  const active = catalog.capabilities()
  const alive = new Set(active.map(({ capabilityId }) => capabilityId))
  const row = (id: string): ConsideredCapability => {
    const known = catalog.capability(id)
    const status = alive.has(id) ? 'active' : known ? 'inactive' : 'unknown'
    return { id, name: known?.displayName ?? id, status }
  }
  const { ids, count, missing, considered } =
    state.plan || !state.draft ? findOnPath(state, catalog) : listNamed(state)
  return {
    recorded: {
      capabilities: [...new Set([...ids, ...missing])].slice(0, rowCap).map(row),
      crcs: { total: active.length, considered: count, rowCap, missing },
    },
    ...(considered && { considered }),
  }
}

interface Found {
  readonly ids: readonly string[]
  readonly count: number
  readonly missing: readonly string[]
  readonly considered?: Considered
}

function listNamed({ draft }: RunState): Found {
  const ids = [...new Set(draft ? usedIn(draft) : [])].filter((id) => id !== undefined)
  return { ids, count: ids.length, missing: [] }
}

/** Returns the capabilities that a draft names, including those of its bodies. */
function usedIn({ nodes }: Draft): readonly (string | undefined)[] {
  return nodes.flatMap(({ capabilityId, alternates = [], body }) => [
    capabilityId,
    ...alternates,
    ...(body ? usedIn(body) : []),
  ])
}

function findOnPath(state: RunState, catalog: Catalog): Found {
  const { envelope } = state
  const request = {
    envelope,
    facets: catalog.facets(),
    capabilities: catalog.capabilities(),
    completed: completedNodes(state),
  }
  try {
    const { capabilities, cut, lost, considered } = shortlist(request, rowCap)
    const ids = capabilities.map(({ capabilityId }) => capabilityId)
    return { ids, count: ids.length + cut, missing: lost, considered }
  } catch {
    // The contract cannot be searched: the planner fails on it next, and its rejection says why.
    return { ids: [], count: 0, missing: [] }
  }
}

type PolicyFields = Pick<EventPayloads['plan_requested'], 'policies' | 'policyMetadata' | 'variantCount'>

/** Lists the caller's policies by name: planner settings and runtime policies. */
export function policyFields({ envelope }: RunState): PolicyFields {
  const { planner, runtime } = envelope.policies
  const { topology = {}, selection = {}, optimisation = {}, directives = {} } = planner
  const groups = { topology, selection, optimisation, directives }
  return {
    policies: runtime.map(({ id }) => id),
    policyMetadata: {
      planner: Object.entries(groups).flatMap(([group, said]) =>
        Object.keys(said).map((key) => `${group}.${key}`),
      ),
      runtime: runtime.map((policy) => ({
        id: policy.id,
        enabled: policy.enabled,
        ...(isRaoPolicy(policy)
          ? { trigger: 'onAnswer', action: 'rao' }
          : { trigger: policy.trigger.kind, action: policy.action.type }),
      })),
    },
    ...(topology.variantCount !== undefined && { variantCount: topology.variantCount }),
  }
}

/** Returns the completed nodes of a run, as input for planning the rest. */
export function completedNodes(state: RunState): DraftRequest['completed'] {
  return [...state.nodes.values()].flatMap(({ node, status, output, instance }) => {
    // A new plan names maps and loops, not the nodes of their items and rounds.
    if (status !== 'completed' || !output || instance !== undefined) return []
    const { id, capabilityId, instructions } = node
    return [
      {
        id,
        ...(capabilityId !== undefined && { capabilityId }),
        ...(instructions && { instructions }),
        output: output.value,
      },
    ]
  })
}
