/** Carries out a request for a plan: gets a draft and proves it; the result has the reasons if it is rejected. Never throws. */

import { canonicalJson } from '../../base/canonical.ts'
import { type ErrorCode, errorTable, ProvisoError, toErrorMessage } from '../../base/errors/error.ts'
import { type Diagnostic, type DiagnosticBundle, forPlanner, plannerFailed } from '../../domain/diagnostic.ts'
import type { Envelope } from '../../domain/envelope.ts'
import { type PlannerFailure, plannerFailureIn } from '../../domain/errors/planner-failure.ts'
import type { EventPayloads, NewEvent, PlanTrigger } from '../../domain/event.ts'
import type { Usage } from '../../domain/output.ts'
import { plainCopy } from '../../domain/parse/plain-copy.ts'
import { summariseNodes } from '../../domain/plan/node-summary.ts'
import type { Draft, Plan } from '../../domain/plan.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { Considered, DraftRequest, Planner } from '../../domain/ports/planner.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import type { Planning, RunState } from '../../domain/run.ts'
import type { NodeStatus } from '../../domain/status.ts'
import type { DraftEstimate, ProveResult, prove } from '../../plan/index.ts'
import { completedNodes } from '../capabilities.ts'
import { diagnosticIssues, feedbackFact, plannerFeedback } from '../decide/ask/feedback.ts'
import { deadlineFacts, leftToSpend } from '../decide/budget.ts'
import { factsFor } from '../events.ts'
import { keptNodes } from './kept-nodes.ts'

/** Proves drafts; an engine remembers recent proofs. */
type Prove = typeof prove

export interface PlanningCall {
  readonly prove: Prove
  /** Estimates the usage of a draft. */
  readonly estimate?: ((envelope: Envelope, draft: Draft) => DraftEstimate) | undefined
  readonly state: RunState
  readonly catalog: Catalog
  readonly planner: Planner | undefined
  /** What was considered when the plan was requested. */
  readonly considered?: Considered | undefined
  readonly redactor: Redactor
  readonly signal: AbortSignal
}

/** Creates the events of the result for the time at which they are appended. */
export type PlanningResult = (state: RunState, now: number) => NewEvent[]

/** Capabilities that a plan may need and this process does not have: the run is left to a process that has them. */
export interface PlanningLack {
  readonly missing: readonly string[]
}

/**
 * A rejection is final, so it is left to a process that has what the plan was requested with. Only a deterministic planner
 * is asked without these capabilities: another one may cost money each time, or plan with less than the run could have.
 */
export async function makePlan(call: PlanningCall): Promise<PlanningResult | PlanningLack> {
  const missing = (call.state.planning?.candidates ?? []).filter((id) => !call.catalog.capability(id))
  if (missing.length > 0 && !call.planner?.deterministic) return { missing }
  const { isAccepted, result } = await draftAndProve(call)
  return isAccepted || missing.length === 0 ? result : { missing }
}

interface Drafting {
  readonly isAccepted: boolean
  readonly result: PlanningResult
}

async function draftAndProve(call: PlanningCall): Promise<Drafting> {
  const { state, catalog, planner, signal } = call
  const { planning } = state
  if (!planning) return { isAccepted: true, result: () => [] }
  let usage: Usage | undefined
  const request = toRequest(state, catalog, { planning, signal })
  const onUsage = (spent: Usage) => {
    usage = spent
  }
  const { considered } = call
  const first = { ...request, onUsage, ...(considered && { considered }) }
  const drafted = call.redactor.known(await draftBy(planner, first, call.redactor))
  const paid = () => ({ ...(usage && { usage }) })
  if ('failure' in drafted) {
    const { failure, final } = drafted
    const account = { ...paid(), ...(final && { final }) }
    return { isAccepted: false, result: rejected(planning, toBundle(failure), account) }
  }
  const proof = getProof(call, drafted.draft, 'planner')
  if (proof.ok) return { isAccepted: true, result: accepted(planning, proof.plan, paid()) }
  const final =
    planner && (await repeats(planner, drafted.draft, { request, proof, redactor: call.redactor }))
  const account = { ...paid(), ...(final && { final }) }
  return { isAccepted: false, result: rejected(planning, proof.diagnostics, account) }
}

/** Returns the draft that was submitted with the envelope: it needs no planner. */
export function draftAtHand(state: RunState): Draft | undefined {
  return state.planning?.phase === 'initial' ? state.draft : undefined
}

export function proveDraft(
  call: Pick<PlanningCall, 'state' | 'catalog' | 'prove' | 'estimate'>,
  draft: Draft,
): PlanningResult {
  const { planning } = call.state
  if (!planning) return () => []
  const proof = getProof(call, draft, 'caller')
  return proof.ok ? accepted(planning, proof.plan, {}) : rejected(planning, proof.diagnostics, {})
}

function getProof(
  { state, catalog, prove, estimate }: Pick<PlanningCall, 'state' | 'catalog' | 'prove' | 'estimate'>,
  draft: Draft,
  draftBy: 'caller' | 'planner',
): ProveResult {
  const inactive = catalog.inactive?.()
  // A later plan is made with part of the work done and part of the limits used: the budget decides then.
  const isFirst = state.planning?.phase === 'initial'
  return prove({
    envelope: state.envelope,
    draft,
    draftBy,
    facets: catalog.facets(),
    capabilities: catalog.capabilities(),
    findTool: (id) => catalog.capability(id),
    version: state.planVersion + 1,
    linearPatterns: state.compileOptions?.linearPatterns ?? false,
    ...(inactive && { inactive }),
    ...(estimate && isFirst && { estimate: (each: Draft) => estimate(state.envelope, each) }),
  })
}

/** Recorded in the journal with the verdict on the draft. */
interface Account {
  readonly usage?: Usage
  /** Why the planner is not called again. */
  readonly final?: string
}

function accepted({ trigger }: Planning, plan: Plan, { usage }: Account): PlanningResult {
  return (latest, now) => planFacts(latest, now, { plan, trigger, ...(usage && { usage }) })
}

function rejected({ attempt }: Planning, diagnostics: DiagnosticBundle, account: Account): PlanningResult {
  const issues = diagnosticIssues(forPlanner(diagnostics).failures)
  return (latest, now) => [
    factsFor(latest, now)('plan_rejected', { attempt, diagnostics, ...account }),
    feedbackFact(latest, now, { source: 'plan', issues }),
  ]
}

interface Proven {
  readonly plan: Plan
  readonly trigger: PlanTrigger
  readonly usage?: Usage
}

function planFacts(state: RunState, now: number, { plan, trigger, usage }: Proven): NewEvent[] {
  const { version, limits } = plan
  const make = factsFor({ planVersion: version }, now)
  // A first plan keeps nothing.
  const kept = state.plan ? keptNodes(state, plan) : new Map<string, NodeStatus>()
  const getStatus = (id: string) => kept.get(id) ?? ('pending' as const)
  const announced = kept.size === 0 ? toAnnouncement(plan) : announce(plan, getStatus)
  const events = [make('plan_generated', usage ? { ...announced, usage } : announced)]
  if (state.plan) {
    const nodes = plan.nodes.map(({ id }) => ({ id, status: getStatus(id) }))
    events.push(make('plan_updated', { previousVersion: state.planVersion, version, nodes, trigger }))
  }
  const { startedAt, timers } = state
  events.push(...deadlineFacts({ startedAt, timers, planVersion: version }, now, limits))
  return events
}

/** The payload for a plan of which nothing is done: the same for every run with this plan. */
const announcements = new WeakMap<Plan, Announcement>()

type Announcement = EventPayloads['plan_generated']

function toAnnouncement(plan: Plan): Announcement {
  const announced = announcements.get(plan) ?? announce(plan, () => 'pending')
  announcements.set(plan, announced)
  return announced
}

function announce(plan: Plan, getStatus: (nodeId: string) => NodeStatus): Announcement {
  const { version, diagnostics, metadata } = plan
  const { satisfactionScore } = diagnostics
  const nodes = summariseNodes(plan, getStatus)
  return { plan, planVersion: version, nodes, satisfactionScore, diagnostics, metadata }
}

function toRequest(
  state: RunState,
  catalog: Catalog,
  { planning, signal }: { readonly planning: Planning; readonly signal: AbortSignal },
): DraftRequest {
  const feedback = state.feedback.length > 0 ? plannerFeedback(state) : []
  return {
    envelope: state.envelope,
    ...(state.thread && {
      conversation: {
        turns: state.thread.turns,
        ...(state.thread.summary && { summary: state.thread.summary }),
      },
    }),
    facets: catalog.facets(),
    capabilities: catalog.capabilities(),
    attempt: planning.attempt,
    phase: planning.phase,
    ...(planning.previous && { diagnostics: forPlanner(planning.previous) }),
    trigger: planning.trigger,
    ...(feedback.length > 0 && { feedback }),
    completed: completedNodes(state),
    left: leftToSpend(state),
    runId: state.runId,
    ...(state.traceparent !== undefined && { trace: { traceparent: state.traceparent } }),
    signal,
  }
}

type Drafted = { readonly draft: Draft } | { readonly failure: Diagnostic; readonly final?: string }

async function draftBy(
  planner: Planner | undefined,
  request: DraftRequest,
  redactor: Redactor,
): Promise<Drafted> {
  const missing: Diagnostic = {
    severity: 'hard',
    status: 'unsatisfied',
    constraint: 'a planner',
    cause: 'missing_producer',
    suggestion: 'Send a draft with the envelope, or start the server with a planner',
  }
  if (!planner) return { failure: missing, final: 'there is no planner to ask' }
  try {
    const copy = plainCopy(await planner.draft(request))
    if (!copy.ok) throw new Error(`its draft is no plain JSON: ${copy.issue.message}`)
    // The prover checks its shape.
    return { draft: copy.value as unknown as Draft }
  } catch (cause) {
    const message = redactor.text(toErrorMessage(cause))
    const code = cause instanceof ProvisoError ? cause.code : undefined
    const isFinal = code !== undefined && finalCodes.has(code)
    const unanswered = plannerFailureIn(cause)
    return {
      failure: {
        ...missing,
        constraint: unanswered
          ? describePlannerFailure(unanswered, message)
          : `the planner "${planner.name}" failed: ${message}`,
        suggestion:
          code !== undefined && (unanswered || code === 'planner/refused')
            ? errorTable[code].hint
            : plannerHint(message),
        details: {
          code: plannerFailed,
          ...(code === 'planner/refused' && { outcome: 'refused' }),
          ...unanswered,
        },
      },
      // Calls of an unavailable model have been retried already, with pauses; a refusal is an answer.
      ...(isFinal && { final: 'it was not asked again' }),
      ...(planner.deterministic && { final: `the planner "${planner.name}" would fail again` }),
    }
  }
}

/** After these the planner is not asked again. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([
  'planner/throttled',
  'planner/unavailable',
  'planner/refused',
])

function describePlannerFailure({ outcome, provider, model, tries }: PlannerFailure, last: string): string {
  const often = tries === 1 ? '1 try' : `${tries} tries`
  return `the planner model "${model}" of provider "${provider}" is ${outcome}: no answer in ${often}: ${last}`
}

function plannerHint(message: string): string {
  return /\b40[13]\b/.test(message)
    ? 'Set or replace the API key of the planner model'
    : 'Start the run again, or choose another planner (`planner.mode`)'
}

/** Returns why another call would not help: a deterministic planner costs nothing, so it is called with the diagnostics at once. */
async function repeats(
  planner: Planner,
  draft: Draft,
  {
    request,
    proof,
    redactor,
  }: {
    readonly request: DraftRequest
    readonly proof: ProveResult & { ok: false }
    readonly redactor: Redactor
  },
): Promise<string | undefined> {
  if (!planner.deterministic) return undefined
  const diagnostics = forPlanner(proof.diagnostics)
  const next = { ...request, attempt: request.attempt + 1, diagnostics }
  const again = redactor.known(await draftBy(planner, next, redactor))
  if ('failure' in again) return again.final
  if (canonicalJson(again.draft) !== canonicalJson(draft)) return undefined
  return `the planner "${planner.name}" would draft the same again, so it was not asked again`
}

function toBundle(failure: Diagnostic): DiagnosticBundle {
  return { status: 'rejected', satisfactionScore: 0, failures: [failure], warnings: [], infos: [] }
}
