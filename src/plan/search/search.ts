/**
 * The search planner: finds a draft that `prove` accepts, deterministically and without a model. It chains backward
 * from the goals of the contract, proves the draft, and learns constraints for the next iteration from the diagnostics.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Planner } from '../../domain/ports/planner.ts'
import { isBuiltin } from '../builtin-capabilities.ts'
import { findUnparsedInput } from '../prove/proof-request.ts'
import { type ProveResult, prove } from '../prove/prove.ts'
import { findNodesToRedo } from './candidates/completed-nodes.ts'
import type { Aversion } from './candidates/costs.ts'
import { listConsidered, priceCandidates, priceRequest } from './candidates/prices.ts'
import { buildDraftIteration, type DraftIteration, type LearnedConstraints } from './draft/draft-iteration.ts'
import { type Enforcement, enforce } from './draft/policy-nodes.ts'
import type { Choice, SearchRequest, SearchResult } from './search-request.ts'

/** Maximum number of iterations before the best draft is returned. */
const maxIterations = 12

/** No constraint has an enforcer yet. */
const noEnforcement: Enforcement = { conditions: new Map(), checked: [] }

/**
 * @example
 * const { draft, proof, choices } = search({ envelope, facets, capabilities: withBuiltins(capabilities) })
 */
export function search(request: SearchRequest): SearchResult {
  const unparsed = findUnparsedInput(request)
  if (unparsed)
    throw new ProvisoError(
      'option/invalid',
      `Cannot search for a plan: it is required that ${unparsed.wanted}`,
      {
        hint: unparsed.hint,
      },
    )
  let learned: LearnedConstraints = {
    banned: new Set(),
    averse: collectAversions(request),
    enforcement: noEnforcement,
    shallow: false,
  }
  let priced = learned.averse.size === 0 ? priceRequest(request) : priceCandidates(request, learned)
  let best: (SearchResult & { readonly faults: number }) | undefined
  let considered = listConsidered(priced)
  const learnedChoices: Choice[] = []
  for (let round = 0; round < maxIterations; round++) {
    const made = buildDraftIteration(priced, learned)
    const proof = proveIteration(request, made)
    const failures = proof.ok ? 0 : proof.diagnostics.failures.length
    const faults = 2 * failures + (exceedsTokenLimit(made, request) ? 1 : 0)
    if (best === undefined || faults < best.faults)
      best = { draft: made.draft, proof, choices: [...made.choices, ...learnedChoices], considered, faults }
    const next = learnFromProof(made, proof, { learned, request })
    if (next === undefined) break
    learnedChoices.push(next.choice)
    // A change of enforcers does not affect the choice of suppliers, but other suppliers need other enforcers.
    const shouldPrice = pricesDiffer(learned, next.learned)
    if (shouldPrice) {
      priced = priceCandidates(request, next.learned)
      considered = listConsidered(priced)
    }
    learned = shouldPrice ? { ...next.learned, enforcement: noEnforcement } : next.learned
  }
  const { draft, proof, choices, considered: seen } = best as SearchResult
  return { draft, proof, choices, considered: seen }
}

function pricesDiffer(a: LearnedConstraints, b: LearnedConstraints): boolean {
  return a.banned !== b.banned || a.shallow !== b.shallow || a.goal !== b.goal
}

function proveIteration(
  { envelope, facets, capabilities }: SearchRequest,
  { draft }: DraftIteration,
): ProveResult {
  return prove({
    envelope,
    draft,
    draftBy: 'planner',
    facets,
    capabilities,
    version: 1,
    linearPatterns: true,
  })
}

interface Known {
  readonly learned: LearnedConstraints
  readonly request: SearchRequest
}

interface Revision {
  readonly learned: LearnedConstraints
  readonly choice: Choice
}

/**
 * Returns what to change in the next iteration; undefined if the draft is good or nothing would help. Applies the first
 * rule that matches.
 */
function learnFromProof(made: DraftIteration, proof: ProveResult, known: Known): Revision | undefined {
  const failures = proof.ok ? [] : proof.diagnostics.failures
  for (const learn of [enforceConstraints, banUnfitCapability, preferShallowPlans, preferFewTokens]) {
    const revision = learn(failures, made, known)
    if (revision !== undefined) return revision
  }
  return undefined
}

type Learn = (failures: readonly Diagnostic[], made: DraftIteration, known: Known) => Revision | undefined

const enforceConstraints: Learn = (failures, { assembled, constraints }, { learned }) => {
  const open = new Set(
    failures.filter(({ cause }) => cause === 'missing_enforcer').map(({ constraintId }) => constraintId),
  )
  const before = [...learned.enforcement.conditions.values()].flat()
  const goals = constraints.filter(({ constraint }) => open.has(constraint.constraintId))
  const fresh = goals.filter(
    (goal) =>
      !learned.enforcement.checked.some(
        ({ constraint }) => constraint.constraintId === goal.constraint.constraintId,
      ),
  )
  if (fresh.length === 0) return undefined
  const tried = new Set(before)
  // A constraint that a post-condition could not prove is left to a check.
  const again = fresh.filter(({ constraint }) => tried.has(constraint.expr))
  const found = enforce(
    fresh.filter((goal) => !again.includes(goal)),
    assembled,
  )
  const conditions = new Map(learned.enforcement.conditions)
  for (const [key, more] of found.conditions) conditions.set(key, [...(conditions.get(key) ?? []), ...more])
  const checked = [...learned.enforcement.checked, ...found.checked, ...again]
  const ids = fresh.map(({ constraint }) => constraint.constraintId).join(', ')
  return {
    learned: { ...learned, enforcement: { conditions, checked } },
    choice: { wanted: ids, because: 'what is produced decides it: a post-condition or a check enforces it' },
  }
}

/** Diagnostics that another capability may avoid. */
const unfit: ReadonlySet<unknown> = new Set([
  'plan/input-mismatch',
  'plan/input-missing',
  'plan/output-mismatch',
  'plan/output-missing',
  'plan/facet-conflict',
  'plan/facet-unknown',
  'plan/facet-direction',
  'plan/schema',
  'plan/condition',
  'plan/rao',
])

const banUnfitCapability: Learn = (failures, { assembled }, { learned, request }) => {
  for (const { details, nodeId, capabilityId, cause } of failures) {
    const byVerdict = details?.['reason'] !== undefined && cause === 'schema_incompatible'
    if (!byVerdict && !unfit.has(details?.['code'])) continue
    const blamed = capabilityId ?? assembled.plannedNodes.get(nodeId ?? '')?.capability.capabilityId
    // If several nodes supply what a constraint compares, the diagnostic names none: each of them may make it impossible.
    const plannedNodes = [...assembled.plannedNodes.values()].map(({ capability }) => capability.capabilityId)
    const suspects = blamed !== undefined ? [blamed] : byVerdict ? plannedNodes : []
    const required = request.envelope.policies.planner.selection?.require ?? []
    const id = suspects.find((one) => !isBuiltin(one) && !learned.banned.has(one) && !required.includes(one))
    if (id === undefined) continue
    return {
      learned: { ...learned, banned: new Set([...learned.banned, id]) },
      choice: {
        wanted: id,
        because: `it is left out: ${String(details?.['code'] ?? 'nothing that it supplies can satisfy a constraint')}`,
      },
    }
  }
  return undefined
}

const preferShallowPlans: Learn = (failures, { assembled }, { learned, request }) => {
  const tooDeep = failures.some(({ details }) => details?.['code'] === 'plan/policy-depth')
  if (!tooDeep) return undefined
  if (!learned.shallow) {
    return {
      learned: { ...learned, shallow: true },
      choice: {
        wanted: 'policy:maxDepth',
        because: 'the cheapest plan is too deep: few nodes in a row count most',
      },
    }
  }
  // If it is still too deep, the cause is a check after several nodes: the open answer alone needs none.
  const { require = [] } = request.envelope.policies.planner.selection ?? {}
  const used = [...assembled.plannedNodes.values()].map(({ capability }) => capability.capabilityId)
  const others = used.filter((id) => !isBuiltin(id) && !require.includes(id))
  if (others.length === 0) return undefined
  return {
    learned: { ...learned, banned: new Set([...learned.banned, ...others]) },
    choice: { wanted: 'policy:maxDepth', because: `still too deep: without ${others.join(', ')}` },
  }
}

const preferFewTokens: Learn = (_, made, { learned, request }) => {
  if (!exceedsTokenLimit(made, request) || learned.goal === 'token_efficiency') return undefined
  return {
    learned: { ...learned, goal: 'token_efficiency' },
    choice: {
      wanted: 'optimisation.maxTokens',
      because: `${made.estimatedTokens} tokens are estimated: they count most`,
    },
  }
}

/** Whether the estimate exceeds the token limit; an estimate is not a proof, so the draft may still be the best. */
function exceedsTokenLimit({ estimatedTokens }: DraftIteration, { envelope }: SearchRequest): boolean {
  return estimatedTokens > (envelope.policies.planner.optimisation?.maxTokens ?? Number.POSITIVE_INFINITY)
}

/** Ranks last the capabilities an earlier draft was rejected for, and the capabilities at the node that triggered a new plan. */
function collectAversions(request: SearchRequest): LearnedConstraints['averse'] {
  const averse = new Map<string, Aversion>(
    [...findNodesToRedo(request).capabilities].map((id) => [id, 'failed']),
  )
  for (const { capabilityId, details } of request.diagnostics?.failures ?? []) {
    if (capabilityId !== undefined && unfit.has(details?.['code'])) averse.set(capabilityId, 'avoided')
  }
  return averse
}

/** The search as a `Planner`: the default of `createApp`. */
export function searchPlanner(options: Pick<SearchRequest, 'cutoff'> = {}): Planner {
  return {
    name: 'search',
    deterministic: true,
    async draft({ signal, ...request }) {
      signal.throwIfAborted()
      return search({ ...request, ...options }).draft
    },
  }
}
