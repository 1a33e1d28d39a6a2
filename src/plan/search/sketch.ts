/** One pass of the search: from what is known so far to a draft. `search.ts` proves it and, if need be, asks again. */
import type { Draft } from '../../domain/plan.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { checkId, structureId } from '../builtins.ts'
import type { Goal } from '../goals.ts'
import { variantProperty } from '../obligations/policies.ts'
import { type Assembled, assemble } from './assemble.ts'
import { branchesOf, withBranches } from './branches.ts'
import { type Chosen, choose } from './choose.ts'
import { type OptimisationGoal, tokensOf } from './costs.ts'
import { type Enforcement, withCheck } from './enforce.ts'
import { explain, rationaleOf } from './explain.ts'
import { extraOffers, withBrief } from './extras.ts'
import { conditionText } from './instructions.ts'
import type { Market } from './offers.ts'
import type { Priced, Pricing } from './prices.ts'
import type { Choice } from './request.ts'
import { rescuerFor, withRescue } from './resilience.ts'
import { canMeet } from './wants.ts'

/** What proofs of earlier sketches have taught. */
export interface Lessons extends Pricing {
  readonly enforcement: Enforcement
}

export interface Sketch {
  readonly draft: Draft
  readonly assembled: Assembled
  readonly constraints: readonly Goal[]
  readonly choices: readonly Choice[]
  readonly estimatedTokens: number
}

export function sketch(priced: Priced, lessons: Lessons): Sketch {
  const { market, goals, constraints, offers, supporters, left } = priced
  const { goal } = market
  const { shallow } = lessons
  const first = choose(goals, supporters, [])
  const more = extraOffers(market, offers, { supporters, chosen: first })
  const chosen = more.length === 0 ? first : choose(goals, supporters, more)
  const variants = variantsOf(market)
  const assembled = assemble({
    market,
    chosen,
    demands: variants.demands,
    conditions: lessons.enforcement.conditions,
    wishes: constraints
      .filter(({ level, condition }) => level === 'soft' && condition !== undefined)
      .map(({ constraint }) => conditionText(constraint.expr)),
    told: toldTo(chosen, variants, market),
    answerLast: !shallow && goal !== 'speed',
  })
  const grown = grow(assembled, { market, chosen, checked: lessons.enforcement.checked, variants })
  const estimatedTokens = [...chosen.makers.values()]
    .filter(({ way }) => way !== 'done')
    .reduce((sum, { capability }) => sum + tokensOf(capability), 0)
  return {
    draft: { ...grown.draft, metadata: metadataOf(goal, chosen, estimatedTokens) },
    assembled,
    constraints,
    estimatedTokens,
    choices: [
      ...explain({ goals, chosen, supporters, offers, assembled }),
      ...left.map((id) => ({ wanted: id, because: 'its score is below the cut-off' })),
      ...grown.choices,
    ],
  }
}

interface Variants {
  readonly property?: string
  readonly count?: number
  readonly demands: ReadonlyMap<string, JsonSchema>
}

/** The number of variants as a demand on the list that holds them, as far as the contract allows it (C39). */
function variantsOf({ request, goals }: Market): Variants {
  const { schema } = request.envelope.outputContract
  const property = variantProperty({ callerSchema: schema, slots: [] })
  const count = request.envelope.policies.planner.topology?.variantCount
  const want = goals.find((goal) => goal.role === 'answer' && goal.want.name === property)?.want
  if (property === undefined || count === undefined || want === undefined)
    return { demands: new Map(), ...(property !== undefined && { property }) }
  const exactly = { type: 'array', minItems: count, maxItems: count } as const
  if (!canMeet(want.schema, exactly)) return { property, demands: new Map() }
  return { property, count, demands: new Map([[property, exactly]]) }
}

/** "Two variants" and the reason of a new plan, for those whom it concerns. */
function toldTo(
  chosen: Chosen,
  { property, count }: Variants,
  { request }: Market,
): ReadonlyMap<string, readonly string[]> {
  const told = new Map<string, string[]>()
  const rationale = request.phase === 'replan' ? request.trigger?.rationale : undefined
  for (const { key, uses, way } of chosen.makers.values()) {
    const lines: string[] = []
    if (count !== undefined && uses.some(({ want }) => want.forAnswer && want.name === property))
      lines.push(`Give exactly ${count} in "${property}".`)
    if (rationale !== undefined && way !== 'done') lines.push(`This is planned again, because: ${rationale}`)
    if (lines.length > 0) told.set(key, lines)
  }
  return told
}

interface Growing {
  readonly market: Market
  readonly chosen: Chosen
  readonly checked: readonly Goal[]
  readonly variants: Variants
}

/** Branches, briefs, checks and fallbacks: each only where it does something. */
function grow(assembled: Assembled, { market, chosen, checked, variants }: Growing) {
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
      : 'nobody could work them out or read them'
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

/** The node that writes the variants, or else the first part of the answer. */
function authorOf({ places }: Assembled, property: string | undefined): string | undefined {
  const source = places.get(property ?? '') ?? places.get('') ?? places.values().next().value
  return source !== undefined && 'node' in source ? source.node : undefined
}

/** A fallback node for nodes that supply the answer: where somebody is registered for it, or the policies ask for one. */
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

function metadataOf(goal: OptimisationGoal, { makers }: Chosen, estimatedTokens: number) {
  const ways = [...makers.values()].map(({ way }) => way)
  return {
    plannerRuntime: 'search',
    goal,
    estimatedTokens,
    normalizationInjected: ways.includes('transformation'),
  }
}
