/**
 * The search planner: finds a draft that `prove` accepts, deterministically and without a model. It chains backward
 * from the goals of the contract, proves the draft, and learns constraints for the next iteration from the findings.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Planner } from '../../domain/ports/planner.ts'
import { isBuiltin } from '../builtin-capabilities.ts'
import { type ProveResult, prove } from '../prove/prove.ts'
import { unreadOf } from '../prove/unparsed-input.ts'
import type { Aversion } from './candidates/costs.ts'
import { redoOf } from './candidates/nodes-to-redo.ts'
import { price } from './candidates/prices.ts'
import { type Lessons, type Sketch, sketch } from './draft/draft-iteration.ts'
import { type Enforcement, enforce } from './draft/enforce.ts'
import type { Choice, SearchRequest, SearchResult } from './search-request.ts'

/** Maximum number of iterations before the best draft is returned. */
const mostSketches = 12

/** No constraint has an enforcer yet. */
const nobody: Enforcement = { conditions: new Map(), checked: [] }

/**
 * @example
 * const { draft, proof, choices } = search({ envelope, facets, capabilities: withBuiltins(capabilities) })
 */
export function search(request: SearchRequest): SearchResult {
  const unread = unreadOf(request)
  if (unread)
    throw new ProvisoError('option/invalid', `Nothing can be searched for unless ${unread.wanted}`, {
      hint: unread.hint,
    })
  let lessons: Lessons = {
    banned: new Set(),
    averse: aversionsFrom(request),
    enforcement: nobody,
    shallow: false,
  }
  let priced = price(request, lessons)
  let best: (SearchResult & { readonly faults: number }) | undefined
  const learned: Choice[] = []
  for (let round = 0; round < mostSketches; round++) {
    const made = sketch(priced, lessons)
    const proof = proofOf(request, made)
    const failures = proof.ok ? 0 : proof.diagnostics.failures.length
    const faults = 2 * failures + (isOver(made, request) ? 1 : 0)
    if (best === undefined || faults < best.faults)
      best = { draft: made.draft, proof, choices: [...made.choices, ...learned], faults }
    const next = lessonsFrom(made, proof, { lessons, request })
    if (next === undefined) break
    learned.push(next.choice)
    // A change of enforcers does not affect the choice of suppliers, but other suppliers need other enforcers.
    const anew = pricesDiffer(lessons, next.lessons)
    if (anew) priced = price(request, next.lessons)
    lessons = anew ? { ...next.lessons, enforcement: nobody } : next.lessons
  }
  const { draft, proof, choices } = best as SearchResult
  return { draft, proof, choices }
}

function pricesDiffer(a: Lessons, b: Lessons): boolean {
  return a.banned !== b.banned || a.shallow !== b.shallow || a.goal !== b.goal
}

function proofOf({ envelope, facets, capabilities }: SearchRequest, { draft }: Sketch): ProveResult {
  return prove({ envelope, draft, draftBy: 'planner', facets, capabilities, version: 1 })
}

interface Known {
  readonly lessons: Lessons
  readonly request: SearchRequest
}

interface Lesson {
  readonly lessons: Lessons
  readonly choice: Choice
}

/**
 * Returns what to change in the next iteration; undefined if the draft is good or nothing would help. Applies the first
 * rule that matches.
 */
function lessonsFrom(made: Sketch, proof: ProveResult, known: Known): Lesson | undefined {
  const failures = proof.ok ? [] : proof.diagnostics.failures
  for (const learn of [seeToConstraints, leaveOutTheUnfit, keepItShallow, saveTokens]) {
    const lesson = learn(failures, made, known)
    if (lesson !== undefined) return lesson
  }
  return undefined
}

type Learn = (failures: readonly Diagnostic[], made: Sketch, known: Known) => Lesson | undefined

const seeToConstraints: Learn = (failures, { assembled, constraints }, { lessons }) => {
  const open = new Set(
    failures.filter(({ cause }) => cause === 'missing_enforcer').map(({ constraintId }) => constraintId),
  )
  const before = [...lessons.enforcement.conditions.values()].flat()
  const goals = constraints.filter(({ constraint }) => open.has(constraint.constraintId))
  const fresh = goals.filter(
    (goal) =>
      !lessons.enforcement.checked.some(
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
  const conditions = new Map(lessons.enforcement.conditions)
  for (const [key, more] of found.conditions) conditions.set(key, [...(conditions.get(key) ?? []), ...more])
  const checked = [...lessons.enforcement.checked, ...found.checked, ...again]
  const ids = fresh.map(({ constraint }) => constraint.constraintId).join(', ')
  return {
    lessons: { ...lessons, enforcement: { conditions, checked } },
    choice: { wanted: ids, because: 'what is produced decides it: a post-condition or a check sees to it' },
  }
}

/** Findings that another capability may avoid. */
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

const leaveOutTheUnfit: Learn = (failures, { assembled }, { lessons, request }) => {
  for (const { details, nodeId, capabilityId, cause } of failures) {
    const byVerdict = details?.['reason'] !== undefined && cause === 'schema_incompatible'
    if (!byVerdict && !unfit.has(details?.['code'])) continue
    const blamed = capabilityId ?? assembled.makers.get(nodeId ?? '')?.capability.capabilityId
    // If several nodes supply what a constraint compares, the finding names none: each of them may make it impossible.
    const makers = [...assembled.makers.values()].map(({ capability }) => capability.capabilityId)
    const suspects = blamed !== undefined ? [blamed] : byVerdict ? makers : []
    const required = request.envelope.policies.planner.selection?.require ?? []
    const id = suspects.find((one) => !isBuiltin(one) && !lessons.banned.has(one) && !required.includes(one))
    if (id === undefined) continue
    return {
      lessons: { ...lessons, banned: new Set([...lessons.banned, id]) },
      choice: {
        wanted: id,
        because: `it is left out: ${String(details?.['code'] ?? 'nothing that it supplies can satisfy a constraint')}`,
      },
    }
  }
  return undefined
}

const keepItShallow: Learn = (failures, { assembled }, { lessons, request }) => {
  const tooDeep = failures.some(({ details }) => details?.['code'] === 'plan/policy-depth')
  if (!tooDeep) return undefined
  if (!lessons.shallow) {
    return {
      lessons: { ...lessons, shallow: true },
      choice: {
        wanted: 'policy:maxDepth',
        because: 'the cheapest plan is too deep: few nodes in a row count most',
      },
    }
  }
  // If it is still too deep, the cause is a check after several nodes: the open answer alone needs none.
  const { require = [] } = request.envelope.policies.planner.selection ?? {}
  const used = [...assembled.makers.values()].map(({ capability }) => capability.capabilityId)
  const others = used.filter((id) => !isBuiltin(id) && !require.includes(id))
  if (others.length === 0) return undefined
  return {
    lessons: { ...lessons, banned: new Set([...lessons.banned, ...others]) },
    choice: { wanted: 'policy:maxDepth', because: `still too deep: without ${others.join(', ')}` },
  }
}

const saveTokens: Learn = (_, made, { lessons, request }) => {
  if (!isOver(made, request) || lessons.goal === 'token_efficiency') return undefined
  return {
    lessons: { ...lessons, goal: 'token_efficiency' },
    choice: {
      wanted: 'optimisation.maxTokens',
      because: `${made.estimatedTokens} tokens are estimated: they count most`,
    },
  }
}

/** Whether the estimate exceeds the token limit; an estimate is not a proof, so the draft may still be the best. */
function isOver({ estimatedTokens }: Sketch, { envelope }: SearchRequest): boolean {
  return estimatedTokens > (envelope.policies.planner.optimisation?.maxTokens ?? Number.POSITIVE_INFINITY)
}

/** Ranks last the capabilities an earlier draft was rejected for, and those at the node that triggered a new plan. */
function aversionsFrom(request: SearchRequest): Lessons['averse'] {
  const averse = new Map<string, Aversion>([...redoOf(request).capabilities].map((id) => [id, 'failed']))
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
