/**
 * Turns a draft into a plan, or reports why not. Only this module creates plans, so everything the engine runs was
 * proved here. Fails closed: a check that throws rejects the draft, and no constraint of the caller is ever skipped.
 */

import type { Constraint } from '../../domain/contract.ts'
import type { Diagnostic, DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { BodyPlan, Plan, PlanNode, Source } from '../../domain/plan.ts'
import { listMembers } from '../../schema/build/project.ts'
import { answerId } from '../builtin-capabilities.ts'
import { createDiagnostic } from '../diagnostics.ts'
import { findConflict, type Goal, type Judgement, judgeGoal, toGoals } from './goals/goals.ts'
import { forCaller } from './hints.ts'
import { leaveOutInactive, leaveOutUnfit } from './leave-out.ts'
import { markConsequences, mergeDiagnostics, type Score } from './merge-diagnostics.ts'
import { agents } from './obligations/agents.ts'
import { dag, exits } from './obligations/dag.ts'
import { getEffectiveLimits, nodeConstraints, spending, unlikeConditions } from './obligations/limits.ts'
import { policies, policyNames } from './obligations/policies.ts'
import { applyContracts, nodeContracts, raoPolicies } from './obligations/rao-contracts.ts'
import { shape } from './obligations/shape.ts'
import { answer, contractsFit, supply } from './obligations/supply.ts'
import {
  findUnparsedDraft,
  findUnparsedInput,
  type Obligation,
  type ProveRequest,
  type Resolved,
  type ResolvedNode,
  type Slot,
  size,
} from './proof-request.ts'
import { resolveDraft } from './resolve/resolve.ts'
import { inBody } from './resolve/resolve-body.ts'

export type ProveResult =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly diagnostics: DiagnosticBundle }

/** The checks of every plan, besides the caller's constraints. */
const obligations: Readonly<Record<string, Obligation>> = {
  shape,
  dag,
  supply,
  contractsFit,
  answer,
  policies,
  policyNames,
  agents,
  nodeConstraints,
  unlikeConditions,
  nodeContracts,
  spending,
  bodies,
}

/** The checks of the body of a map or a loop; the caller's policies are checked once, on the whole plan. */
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
  return nodes.flatMap((node) => {
    const { draft, body } = node
    const inside = body && bodyObligations.flatMap((obligation) => obligation(body))
    return inside ? [...exits(node), ...inBody(draft, inside)] : exits(node)
  })
}

/**
 * @example
 * const read = parseEnvelope(given)
 * if (!read.ok) throw new Error(read.issues[0]?.message)
 * const proved = prove({ envelope: read.value, draft, facets: [], capabilities, version: 1 })
 * if (!proved.ok) console.log(proved.diagnostics.failures)
 */
export function prove(given: ProveRequest): ProveResult {
  const unparsed = findUnparsedInput(given) ?? findUnparsedDraft(given)
  if (unparsed)
    return {
      ok: false,
      diagnostics: mergeDiagnostics(
        [createDiagnostic('plan/unread', { constraint: unparsed.wanted, suggestion: unparsed.hint })],
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
  const reduced = fits ? attempt('stand-ins', () => leaveOutInactive(given)) : undefined
  diagnostics.push(...(reduced?.diagnostics ?? []))
  const request = { ...given, draft: reduced?.draft ?? given.draft }
  const goals = fits
    ? (attempt('constraints', () => toGoals(request.envelope.outputContract.constraints)) ?? [])
    : []
  const whole = fits ? attempt('resolve', () => resolveDraft(request)) : undefined
  const fitting = whole && attempt('alternates', () => leaveOutUnfit(whole))
  if (fitting === undefined)
    return {
      ok: false,
      diagnostics: mergeDiagnostics(
        diagnostics.map((each) => addressed(each, request)),
        goals.map(unmetScore),
      ),
    }
  const { resolved } = fitting
  diagnostics.push(...resolved.diagnostics, ...fitting.diagnostics)
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
    markConsequences(diagnostics, resolved).map((each) => withInactive(addressed(each, request), request)),
    scores,
  )
  if (bundle.status === 'rejected') return { ok: false, diagnostics: bundle }
  return { ok: true, plan: buildPlan(resolved, judgements, bundle) }
}

/** Words a diagnostic for its reader: the author of the draft, or a caller whose planner wrote it. */
function addressed(diagnostic: Diagnostic, request: ProveRequest): Diagnostic {
  return request.draftBy === 'planner' ? forCaller(diagnostic, request) : diagnostic
}

/** Adds the inactive capabilities to a diagnostic about a missing producer: one of them may be the producer. */
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

/** Scores the judgements; members of a conflict count as unmet, even if each is satisfiable alone. */
function score(judgements: readonly Judgement[], resolved: Resolved): Scored {
  // Proved constraints hold, and constraints that are false alone are already reported: only the rest can conflict.
  const possible = judgements.filter(
    ({ guards, diagnostic }) => guards.length > 0 || diagnostic?.cause === 'missing_enforcer',
  )
  const goals = possible.map(({ goal }) => goal)
  // A post-condition that excludes a constraint may enforce another constraint: then the two conflict.
  const excluded = judgements.filter(({ diagnostic }) => diagnostic?.details?.['excluded'] === true)
  const conflict =
    findConflict(goals, resolved) ??
    (excluded.length > 0
      ? findConflict([...goals, ...excluded.map(({ goal }) => goal)], resolved, 'schemas')
      : undefined)
  return {
    scores: judgements.map(({ goal, met }) => ({
      level: goal.level,
      met: met && !conflict?.members.includes(goal),
    })),
    ...(conflict && { conflict: conflict.diagnostic }),
  }
}

/** Replaces the suggestion for a member of a conflict: fixing one member alone would not help. */
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
      suggestion: `Change it or ${others.join(', ')}: no value satisfies all of them`,
      details: { ...diagnostic.details, conflictsWith: others },
    },
  ]
}

const unmetScore = ({ level }: Goal): Score => ({ level, met: false })

const unjudged = (goal: Goal): Judgement => ({ goal, met: false, enforcers: [], guards: [] })

function unchecked(what: string, error: unknown): Diagnostic {
  return createDiagnostic('plan/unchecked', {
    constraint: `the prover can check: ${what}`,
    suggestion: 'Check the draft and the contract; if both are valid, report a bug of the prover',
    details: { message: error instanceof Error ? error.message : String(error) },
  })
}

type Unbranded = { readonly [K in keyof Plan as K extends string ? K : never]: Plan[K] }

function buildPlan(
  resolved: Resolved,
  judgements: readonly Judgement[],
  diagnostics: DiagnosticBundle,
): Plan {
  const { request, nodes, graph, slots } = resolved
  const aside = bySlot(slots, false)
  const derived = nodes.filter(({ draft }) => draft.derived).map(({ id }) => id)
  const plan: Unbranded = {
    version: request.version,
    nodes: nodes.map((node) => planNode(node, judgements, request)),
    edges: graph.edges,
    output: toOutput(slots),
    ...(Object.keys(aside).length > 0 && { aside }),
    limits: getEffectiveLimits(request),
    diagnostics,
    metadata: {
      ...request.draft.metadata,
      planVersion: request.version,
      planVersionTag: `v${request.version}`,
      branches: nodes.filter(({ kind }) => kind === 'branch').length,
      derived,
      normalizationInjected: nodes.some(isNormalization),
    },
  }
  // The brand exists only in the type; no other code may cast to it.
  return Object.freeze(plan) as Plan
}

/** Whether a node only converts a value that is supplied in another form (FLEX-32). */
function isNormalization({ kind, draft }: ResolvedNode): boolean {
  return kind === 'transformation' && draft.capabilityId === answerId
}

function planNode(node: ResolvedNode, judgements: readonly Judgement[], request: ProveRequest): PlanNode {
  const { kind, input, output, inputs, needs, requires, postConditions, provenance, alternateContracts } =
    node
  const { body: _, ...draft } = node.draft
  const most = draft.constraints?.max_duration_ms
  const timeoutMs = most === undefined ? draft.timeoutMs : Math.min(most, draft.timeoutMs ?? most)
  const guards: Constraint[] = judgements
    .filter((each) => each.guards.includes(node.id))
    .map(({ goal }) => goal.constraint)
  const rao = applyContracts(node, request)
  return {
    ...draft,
    kind,
    ...(node.capability?.kind === 'mcp' && { capabilityVersion: node.capability.version }),
    contracts: { input, output },
    inputs,
    ...(alternateContracts && { alternateContracts }),
    needs,
    ...(requires.length > 0 && { requires }),
    postConditions,
    guards,
    provides: listMembers(output).map(({ name }) => name),
    enforces: judgements
      .filter(({ enforcers }) => enforcers.includes(node.id))
      .map(({ goal }) => goal.constraint.constraintId),
    facetProvenance: provenance,
    ...(rao.length > 0 && { rao }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(draft.loop && { loop: { ...draft.loop, state: node.state ?? true } }),
    ...(node.body && { body: bodyPlan(node.body) }),
  }
}

/**
 * Builds the plan of a body. Constraints of the caller apply to the whole answer, so nodes of a body guard and enforce
 * none.
 */
function bodyPlan(body: Resolved): BodyPlan {
  return {
    nodes: body.nodes.map((node) => planNode(node, [], body.request)),
    edges: body.graph.edges,
    output: toOutput(body.slots),
  }
}

/** Binds the whole answer to one list of sources, or each property to its own. */
function toOutput(slots: readonly Slot[]): Plan['output'] {
  const [whole] = slots.filter(({ inAnswer, prefix }) => inAnswer && prefix.length === 0)
  return whole === undefined ? { properties: bySlot(slots, true) } : whole.sources
}

function bySlot(slots: readonly Slot[], inAnswer: boolean): { [property: string]: readonly Source[] } {
  return Object.fromEntries(
    slots.flatMap(({ prefix: [name], sources, inAnswer: held }) =>
      name !== undefined && held === inAnswer && sources.length > 0 ? [[name, sources]] : [],
    ),
  )
}
