/**
 * Turns a draft into a plan, or says why not. Nothing else makes plans, so whatever the engine runs was proved here. Fails
 * closed: a check that breaks is a reason to reject, and no constraint of the caller is ever left out.
 */
import type { Diagnostic, DiagnosticBundle } from '../domain/diagnostic.ts'
import type { Plan } from '../domain/plan.ts'
import { exits } from './bodies/exits.ts'
import { inBody } from './bodies/resolve-body.ts'
import { buildPlan } from './build.ts'
import { conflictOf } from './conflicts.ts'
import { markConsequences } from './consequences.ts'
import { finding } from './findings.ts'
import { type Goal, goalsOf, type Judgement, judgeGoal } from './goals.ts'
import { leaveOutInactive } from './leave-out-inactive.ts'
import { mergeDiagnostics, type Score } from './merge.ts'
import { answer } from './obligations/answer.ts'
import { contractsFit } from './obligations/contracts-fit.ts'
import { dag } from './obligations/dag.ts'
import { nodeConstraints } from './obligations/node-constraints.ts'
import { policies } from './obligations/policies.ts'
import { policyNames } from './obligations/policy-names.ts'
import { shape } from './obligations/shape.ts'
import { size } from './obligations/size.ts'
import { spending } from './obligations/spending.ts'
import { supply } from './obligations/supply.ts'
import { unlikeConditions } from './obligations/unlike-conditions.ts'
import { nodeContracts, raoPolicies } from './rao/check-contracts.ts'
import type { Obligation, ProveRequest, Resolved } from './request.ts'
import { resolveDraft } from './resolve.ts'
import { unreadOf } from './unread.ts'

export type ProveResult =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly diagnostics: DiagnosticBundle }

/** What every plan owes, besides the caller's constraints. */
export const obligations: Readonly<Record<string, Obligation>> = {
  shape,
  dag,
  supply,
  contractsFit,
  answer,
  policies,
  policyNames,
  nodeConstraints,
  unlikeConditions,
  nodeContracts,
  spending,
  bodies,
}

/** What the body of a map or a loop owes; the caller's policies look at the whole plan once. */
const bodyObligations: readonly Obligation[] = [
  shape,
  dag,
  supply,
  contractsFit,
  answer,
  nodeConstraints,
  unlikeConditions,
  nodeContracts,
  bodies,
]

function bodies({ nodes }: Resolved): readonly Diagnostic[] {
  return nodes.flatMap((node) => [
    ...exits(node),
    ...inBody(
      node.draft,
      bodyObligations.flatMap((obligation) => (node.body ? obligation(node.body) : [])),
    ),
  ])
}

/**
 * @example
 * const read = parseEnvelope(given)
 * if (!read.ok) throw new Error(read.issues[0]?.message)
 * const proved = prove({ envelope: read.value, draft, facets: [], capabilities, version: 1 })
 * if (!proved.ok) console.log(proved.diagnostics.failures)
 */
export function prove(given: ProveRequest): ProveResult {
  const unread = unreadOf(given)
  if (unread)
    return {
      ok: false,
      diagnostics: mergeDiagnostics(
        [finding('plan/unread', { constraint: unread.wanted, suggestion: unread.hint })],
        [],
      ),
    }
  const diagnostics: Diagnostic[] = []
  const attempt = <T>(what: string, run: () => T): T | undefined => {
    try {
      return run()
    } catch (error) {
      diagnostics.push(unchecked(what, error))
      return undefined
    }
  }
  const tooLarge = attempt('size', () => size(given))
  diagnostics.push(...(tooLarge ?? []))
  const fits = tooLarge?.length === 0
  const carried = fits ? attempt('stand-ins', () => leaveOutInactive(given)) : undefined
  diagnostics.push(...(carried?.diagnostics ?? []))
  const request = { ...given, draft: carried?.draft ?? given.draft }
  const goals = fits
    ? (attempt('constraints', () => goalsOf(request.envelope.outputContract.constraints)) ?? [])
    : []
  const resolved = fits ? attempt('resolve', () => resolveDraft(request)) : undefined
  if (resolved === undefined)
    return { ok: false, diagnostics: mergeDiagnostics(diagnostics, goals.map(unmetScore)) }
  diagnostics.push(...resolved.diagnostics)
  for (const [name, obligation] of Object.entries(obligations)) {
    diagnostics.push(...(attempt(name, () => obligation(resolved)) ?? []))
  }
  diagnostics.push(...(attempt('raoPolicies', () => raoPolicies(resolved, given.draft)) ?? []))
  const judgements = goals.map(
    (goal) =>
      attempt(`constraint ${goal.constraint.constraintId}`, () => judgeGoal(goal, resolved)) ??
      unjudged(goal),
  )
  const { scores, conflict } = attempt('conflicts', () => score(judgements, resolved)) ?? {
    scores: goals.map(unmetScore),
  }
  diagnostics.push(
    ...judgements.flatMap((judgement) => inConflict(judgement, conflict)),
    ...(conflict ? [conflict] : []),
  )
  const bundle = mergeDiagnostics(
    markConsequences(diagnostics, resolved).map((each) => withInactive(each, request)),
    scores,
  )
  if (bundle.status === 'rejected') return { ok: false, diagnostics: bundle }
  return { ok: true, plan: buildPlan(resolved, judgements, bundle) }
}

/** A producer that is missing may be known and inactive: the reason says what to change. */
function withInactive(diagnostic: Diagnostic, { inactive }: ProveRequest): Diagnostic {
  const isMissing = diagnostic.cause === 'missing_producer' && diagnostic.severity === 'hard'
  if (!isMissing || inactive === undefined || inactive.size === 0) return diagnostic
  if (diagnostic.details?.['code'] === 'plan/capability-unknown') return diagnostic
  const named = [...inactive].slice(0, 5).map(([id, reason]) => `${id} (${reason})`)
  const suggestion = [diagnostic.suggestion, `Inactive: ${named.join('; ')}`].filter(Boolean).join('. ')
  return { ...diagnostic, suggestion }
}

interface Scored {
  readonly scores: readonly Score[]
  readonly conflict?: Diagnostic
}

/** Members of a conflict are met by nobody, however well each is looked after alone. */
function score(judgements: readonly Judgement[], resolved: Resolved): Scored {
  // What is proved holds anyway, and what is false alone is said already: the rest may contradict each other.
  const possible = judgements.filter(
    ({ guards, diagnostic }) => guards.length > 0 || diagnostic?.cause === 'missing_enforcer',
  )
  const goals = possible.map(({ goal }) => goal)
  // Post-conditions that exclude a constraint may be there for others: then those are what it contradicts.
  const excluded = judgements.filter(({ diagnostic }) => diagnostic?.details?.['excluded'] === true)
  const conflict =
    conflictOf(goals, resolved) ??
    (excluded.length > 0
      ? conflictOf([...goals, ...excluded.map(({ goal }) => goal)], resolved, 'schemas')
      : undefined)
  return {
    scores: judgements.map(({ goal, met }) => ({
      level: goal.level,
      met: met && !conflict?.members.includes(goal),
    })),
    ...(conflict && { conflict: conflict.diagnostic }),
  }
}

/** Advice for one member of a conflict alone would not help. */
function inConflict({ diagnostic }: Judgement, conflict: Diagnostic | undefined): Diagnostic[] {
  if (diagnostic === undefined) return []
  const members = conflict?.details?.['conflict']
  const id = diagnostic.constraintId
  if (diagnostic.severity !== 'hard' || !Array.isArray(members) || !members.includes(id ?? ''))
    return [diagnostic]
  const others = members.filter((each) => each !== id)
  return [
    {
      ...diagnostic,
      suggestion: `It contradicts ${others.join(', ')}: see what is said of them together`,
      details: { ...diagnostic.details, conflictsWith: others },
    },
  ]
}

const unmetScore = ({ level }: Goal): Score => ({ level, met: false })

const unjudged = (goal: Goal): Judgement => ({ goal, met: false, enforcers: [], guards: [] })

function unchecked(what: string, error: unknown): Diagnostic {
  return finding('plan/unchecked', {
    constraint: `the prover can check: ${what}`,
    suggestion: 'The draft or the contract is not what it should be, or this is a fault of the prover',
    details: { message: error instanceof Error ? error.message : String(error) },
  })
}
