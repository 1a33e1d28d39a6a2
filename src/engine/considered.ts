/** What a plan is asked for with: the policies and the capabilities that come into question, as `plan_requested` tells them. */
import type { ConsideredCapability, EventPayloads } from '../domain/event.ts'
import type { Draft } from '../domain/plan.ts'
import { isRaoPolicy } from '../domain/policy.ts'
import type { Catalog } from '../domain/ports/catalog.ts'
import type { RunState } from '../domain/run.ts'
import { promptLimits, shortlist } from '../plan/index.ts'
import { completedNodes } from './completed-nodes.ts'

export type Considered = Pick<EventPayloads['plan_requested'], 'capabilities' | 'crcs'>

/** Most capabilities of one request: as many as a model planner is shown. */
const rowCap = promptLimits.capabilities

/**
 * Those that the draft at hand names, or those on a way from what is given to what is wanted, and what the caller requires
 * besides. The catalog is as it is at this moment, which is why the journal keeps the answer.
 */
export function considerCapabilities(state: RunState, catalog: Catalog): Considered {
  const active = catalog.capabilities()
  const alive = new Set(active.map(({ capabilityId }) => capabilityId))
  const row = (id: string): ConsideredCapability => {
    const known = catalog.capability(id)
    const status = alive.has(id) ? 'active' : known ? 'inactive' : 'unknown'
    return { id, name: known?.displayName ?? id, status }
  }
  const { ids, considered, missing } = state.plan || !state.draft ? onTheWay(state, catalog) : named(state)
  return {
    capabilities: [...new Set([...ids, ...missing])].slice(0, rowCap).map(row),
    crcs: { total: active.length, considered, rowCap, missing },
  }
}

interface Found {
  readonly ids: readonly string[]
  readonly considered: number
  readonly missing: readonly string[]
}

function named({ draft }: RunState): Found {
  const ids = [...new Set(draft ? usedIn(draft) : [])].filter((id) => id !== undefined)
  return { ids, considered: ids.length, missing: [] }
}

/** The capabilities that a draft names, those of its bodies included. */
function usedIn({ nodes }: Draft): readonly (string | undefined)[] {
  return nodes.flatMap(({ capabilityId, alternates = [], body }) => [
    capabilityId,
    ...alternates,
    ...(body ? usedIn(body) : []),
  ])
}

function onTheWay(state: RunState, catalog: Catalog): Found {
  const { envelope } = state
  const request = {
    envelope,
    facets: catalog.facets(),
    capabilities: catalog.capabilities(),
    completed: completedNodes(state),
  }
  try {
    const { capabilities, cut, lost } = shortlist(request, rowCap)
    const ids = capabilities.map(({ capabilityId }) => capabilityId)
    return { ids, considered: ids.length + cut, missing: lost }
  } catch {
    // A contract that no way can be looked for: the planner fails on it next, and the rejection says why.
    return { ids: [], considered: 0, missing: [] }
  }
}

type PolicyFields = Pick<EventPayloads['plan_requested'], 'policies' | 'policyMetadata' | 'variantCount'>

/** The caller's policies, by name: what is said about planning, and what each runtime policy is. */
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
