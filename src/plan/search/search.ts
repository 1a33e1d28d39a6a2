/**
 * The search planner: from an envelope to a draft that `prove` accepts, the same every time and without a model. It chains
 * backward from what the contract needs, proves what it has found, and lets the findings change the next sketch.
 */
import { ProvisoError } from '../../base/error.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { isBuiltin } from '../builtins.ts'
import { type ProveResult, prove } from '../prove.ts'
import { unreadOf } from '../unread.ts'
import type { Aversion } from './costs.ts'
import { type Enforcement, enforce } from './enforce.ts'
import { price } from './prices.ts'
import { redoOf } from './redo.ts'
import type { Choice, SearchRequest, SearchResult } from './request.ts'
import { type Lessons, type Sketch, sketch } from './sketch.ts'

/** Sketches that are made before the best of them is returned. */
const mostSketches = 12

/** Nobody sees to any constraint yet. */
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
    // Who sees to a constraint changes nothing about who supplies what; but who supplies it may see to other things.
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
  return prove({ envelope, draft, facets, capabilities, version: 1 })
}

interface Known {
  readonly lessons: Lessons
  readonly request: SearchRequest
}

interface Lesson {
  readonly lessons: Lessons
  readonly choice: Choice
}

/** What to do differently; nothing if the draft is good or nothing would help. The first lesson that applies is learned. */
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
  // What a post-condition could not prove is left to a check.
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

/** Findings that another capability may not have. */
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
    // Where several supply what a constraint compares, nobody is named: each may be the one that makes it impossible.
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
  // What is still too deep is a check after several nodes: the open answer alone needs none.
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

/** More tokens are estimated than the run may have; an estimate is no proof, so the draft may still be the best. */
function isOver({ estimatedTokens }: Sketch, { envelope }: SearchRequest): boolean {
  return estimatedTokens > (envelope.policies.planner.optimisation?.maxTokens ?? Number.POSITIVE_INFINITY)
}

/** What an earlier draft was rejected for, and what was at the node that a new plan was ordered for, comes last. */
function aversionsFrom(request: SearchRequest): Lessons['averse'] {
  const averse = new Map<string, Aversion>([...redoOf(request).capabilities].map((id) => [id, 'failed']))
  for (const { capabilityId, details } of request.diagnostics?.failures ?? []) {
    if (capabilityId !== undefined && unfit.has(details?.['code'])) averse.set(capabilityId, 'avoided')
  }
  return averse
}
