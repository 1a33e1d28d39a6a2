/** From a request for a plan to a proven one, or to the account of why the draft was refused. Never throws. */

import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import { child } from '../base/pointer.ts'
import type { Diagnostic, DiagnosticBundle } from '../domain/diagnostic.ts'
import type { NewEvent } from '../domain/event.ts'
import type { Draft, Plan } from '../domain/plan.ts'
import type { Catalog } from '../domain/ports/catalog.ts'
import type { Planner } from '../domain/ports/planner.ts'
import { isRaoError, readRaoContract } from '../domain/rao.ts'
import type { Planning, PlanTrigger, RunState } from '../domain/run.ts'
import { prove } from '../plan/index.ts'
import { factsFor } from './fact.ts'

export interface PlanningCall {
  readonly state: RunState
  readonly catalog: Catalog
  readonly planner: Planner | undefined
  readonly signal: AbortSignal
}

/** What came of it, as events for the moment at which they are appended. */
export type PlanningResult = (state: RunState, now: number) => NewEvent[]

export async function makePlan(call: PlanningCall): Promise<PlanningResult> {
  const { planning } = call.state
  if (!planning) return () => []
  const drafted = await draftOf(call, planning)
  if ('failure' in drafted) return rejected(planning.attempt, bundleOf(drafted.failure))
  return proveDraft(call.state, call.catalog, drafted.draft)
}

/** The draft that was handed in with the envelope needs nobody to be asked. */
export function draftAtHand(state: RunState): Draft | undefined {
  return state.planning?.phase === 'initial' ? state.draft : undefined
}

export function proveDraft(state: RunState, catalog: Catalog, draft: Draft): PlanningResult {
  const { planning } = state
  if (!planning) return () => []
  const proof = prove({
    envelope: state.envelope,
    draft,
    facets: catalog.facets(),
    capabilities: catalog.capabilities(),
    version: state.planVersion + 1,
    readRao: raoIssues,
  })
  if (!proof.ok) return rejected(planning.attempt, proof.diagnostics)
  return (latest, now) => planFacts(latest, now, { plan: proof.plan, trigger: planning.trigger })
}

/** A RAO contract that cannot be read must not reach a model. */
function raoIssues(data: { readonly [key: string]: Json }): Issue[] {
  const contract = readRaoContract(data)
  if (!isRaoError(contract)) return []
  const pointer = contract.error === 'InvalidField' ? child('', contract.field) : ''
  return [{ code: 'rao/contract', at: { pointer }, message: contract.message }]
}

function planFacts(state: RunState, now: number, proven: { plan: Plan; trigger: PlanTrigger }): NewEvent[] {
  const { plan, trigger } = proven
  const { version, diagnostics, metadata, limits } = plan
  const make = factsFor({ planVersion: version }, now)
  const { satisfactionScore } = diagnostics
  const events = [
    make('plan_generated', { plan, planVersion: version, satisfactionScore, diagnostics, metadata }),
  ]
  if (state.plan) {
    const nodes = plan.nodes.map(({ id }) => {
      const carried = state.nodes.get(id)?.status === 'completed'
      return { id, status: carried ? 'completed' : 'pending' } as const
    })
    events.push(make('plan_updated', { previousVersion: state.planVersion, version, nodes, trigger }))
  } else if (limits.deadlineMs !== undefined) {
    const dueAt = state.startedAt + limits.deadlineMs
    events.push(make('timer_set', { timerId: 'deadline', dueAt, purpose: { kind: 'deadline' } }))
  }
  return events
}

async function draftOf(
  call: PlanningCall,
  planning: Planning,
): Promise<{ draft: Draft } | { failure: Diagnostic }> {
  const { state, catalog, planner, signal } = call
  const missing: Diagnostic = {
    severity: 'hard',
    status: 'unsatisfied',
    constraint: 'a planner',
    cause: 'missing_producer',
    suggestion: 'Hand in a draft, or give createApp a planner',
  }
  if (!planner) return { failure: missing }
  try {
    const draft = await planner.draft({
      envelope: state.envelope,
      facets: catalog.facets(),
      capabilities: catalog.capabilities(),
      attempt: planning.attempt,
      phase: planning.phase,
      ...(planning.previous && { diagnostics: planning.previous }),
      trigger: planning.trigger,
      completed: [...state.nodes.values()].flatMap(({ node, status, output }) =>
        status === 'completed' && output
          ? [
              {
                id: node.id,
                ...(node.capabilityId !== undefined && { capabilityId: node.capabilityId }),
                output: output.value,
              },
            ]
          : [],
      ),
      runId: state.runId,
      ...(state.traceparent !== undefined && { trace: { traceparent: state.traceparent } }),
      signal,
    })
    return { draft }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    return {
      failure: {
        ...missing,
        constraint: `the planner "${planner.name}" failed: ${message}`,
        suggestion: 'Try again',
      },
    }
  }
}

function rejected(attempt: number, diagnostics: DiagnosticBundle): PlanningResult {
  return (latest, now) => [factsFor(latest, now)('plan_rejected', { attempt, diagnostics })]
}

function bundleOf(failure: Diagnostic): DiagnosticBundle {
  return { status: 'rejected', satisfactionScore: 0, failures: [failure], warnings: [], infos: [] }
}
