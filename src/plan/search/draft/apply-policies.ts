/**
 * Adds to a draft what policies and constraints require: branches, briefs, checks and fallbacks, each only where it has
 * an effect.
 */
import type { Draft } from '../../../domain/plan.ts'
import { checkId, structureId } from '../../builtin-capabilities.ts'
import type { Goal } from '../../prove/goals/goals.ts'
import type { Market } from '../candidates/candidates.ts'
import type { Variants } from '../candidates/variants.ts'
import type { Choice } from '../search-request.ts'
import type { Assembled } from './assemble.ts'
import { branchesOf, withBranches } from './branches.ts'
import type { Chosen } from './choose.ts'
import { withCheck } from './enforce.ts'
import { rationaleOf } from './explain.ts'
import { withBrief } from './policy-nodes.ts'
import { rescuerFor, withRescue } from './resilience.ts'

export interface Growing {
  readonly market: Market
  readonly chosen: Chosen
  readonly checked: readonly Goal[]
  readonly variants: Variants
}

export function grow(assembled: Assembled, { market, chosen, checked, variants }: Growing) {
  const { requiredKinds = [] } = market.request.envelope.policies.planner.topology ?? {}
  const { require = [] } = market.request.envelope.policies.planner.selection ?? {}
  const able = new Set(market.allowed.map(({ capabilityId }) => capabilityId))
  const kinds = () => new Set(draft.nodes.map(({ kind }) => kind))
  const uses = (capabilityId: string) => draft.nodes.some((node) => node.capabilityId === capabilityId)
  const choices: Choice[] = []
  let draft: Draft = {
    ...assembled.draft,
    nodes: assembled.draft.nodes.map((node) => explained(node, assembled)),
  }

  const branches = isForbidden('branch', market) ? [] : branchesOf(market)
  if (branches.length > 0) {
    const nodeId = authorOf(assembled, variants.property)
    const grown =
      able.has(structureId) && nodeId ? withBranches(assembled, draft, { branches, nodeId }) : undefined
    draft = grown ?? draft
    const because = grown
      ? 'a direction of its own for each variant'
      : 'no node could work them out or read them'
    choices.push({
      wanted: `${branches.length} branches`,
      ...(grown && nodeId && { taken: nodeId }),
      because,
    })
  }
  const wantsBrief =
    (requiredKinds.includes('structuring') && !kinds().has('structuring')) ||
    (require.includes(structureId) && !uses(structureId))
  if (wantsBrief && able.has(structureId)) draft = withBrief(assembled, draft, market)
  const rescued = rescue(assembled, draft, { market, chosen, always: requiredKinds.includes('fallback') })
  draft = rescued.draft
  choices.push(...rescued.choices)
  const wantsCheck =
    (requiredKinds.includes('validation') && !kinds().has('validation')) || require.includes(checkId)
  if (able.has(checkId) && (checked.length > 0 || wantsCheck)) draft = withCheck(assembled, draft, checked)
  return { draft, choices }
}

function explained(node: Draft['nodes'][number], { makers }: Assembled) {
  const maker = makers.get(node.id)
  return maker === undefined ? node : { ...node, rationale: rationaleOf(maker) }
}

function isForbidden(kind: string, { request }: Market): boolean {
  return (request.envelope.policies.planner.topology?.forbiddenKinds ?? []).includes(kind)
}

/** Returns the node that writes the variants, or else that of the first part of the answer. */
function authorOf({ places }: Assembled, property: string | undefined): string | undefined {
  const source = places.get(property ?? '') ?? places.get('') ?? places.values().next().value
  return source !== undefined && 'node' in source ? source.node : undefined
}

/**
 * Adds fallback nodes for nodes that supply the answer, if a fallback capability is registered or the policies require
 * one.
 */
function rescue(
  { makers, naming }: Assembled,
  draft: Draft,
  { market, chosen, always }: { readonly market: Market; readonly chosen: Chosen; readonly always: boolean },
) {
  let grown = draft
  const choices: Choice[] = []
  if (isForbidden('fallback', market)) return { draft, choices }
  const capabilities = market.allowed
  for (const [nodeId, maker] of makers) {
    const isPart = [...chosen.met].some(
      ([{ role }, by]) => role !== 'aside' && 'offer' in by && maker.offers.includes(by.offer),
    )
    if (!isPart || maker.way === 'done') continue
    const worker = rescuerFor(maker.capability, capabilities, { facets: market.facets, always })
    if (worker === undefined) continue
    const id = naming.fresh(`${nodeId}_fallback`)
    grown = withRescue({ draft: grown, nodeId, capability: maker.capability, worker, id })
    choices.push({
      wanted: `a fallback for ${nodeId}`,
      taken: id,
      because: `${worker.capabilityId} can stand in`,
    })
  }
  return { draft: grown, choices }
}
