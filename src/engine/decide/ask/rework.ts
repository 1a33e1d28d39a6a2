/** Rework after a rejection: which nodes produce the value, which nodes are downstream, and how often they may run again. */
import type { Issue } from '../../../base/errors/issue.ts'
import { own } from '../../../base/json.ts'
import { tokens } from '../../../base/pointer.ts'
import type { RejectAction } from '../../../domain/ask.ts'
import type { Failure, PlanTrigger } from '../../../domain/event.ts'
import type { Source } from '../../../domain/plan.ts'
import type { Action } from '../../../domain/policy.ts'
import { findValue } from '../../../domain/run/bound-values.ts'
import type { NodeState, RunState } from '../../../domain/run.ts'

/** Maximum number of reworks of the same value. */
const maxReworks = 3
const defaultMaxReplans = 2

/** Whether the run may have another new plan. */
export function mayReplan(state: RunState): boolean {
  return state.replans < maxReplans(state)
}

function maxReplans({ plan }: RunState): number {
  return plan?.limits.maxReplans ?? defaultMaxReplans
}

/** The failure of a run when a new plan is ordered beyond its limit of new plans. */
export function replanLimitFailure(state: RunState, { policyId, rationale }: PlanTrigger): Failure {
  const most = maxReplans(state)
  const by = policyId === undefined ? 'A person' : `Policy "${policyId}"`
  const why = rationale === undefined ? '' : ` (${rationale})`
  return {
    code: 'plan/replan-limit',
    message: `${by} orders a new plan${why}, and the run has had ${state.replans} of at most ${most} new plans (constraints.maxReplans)`,
    details: {
      ...(policyId !== undefined && { policyId }),
      limit: 'maxReplans',
      most,
      setting: 'constraints.maxReplans',
    },
  }
}

/**
 * Returns the nodes that produce an answer: those whose outputs fill its slots, by the sources that were used. A routing
 * node only passes its inputs through, so the nodes it reads from count instead. With issues: only the slots in which they
 * are located.
 */
export function producingNodes(state: RunState, at: readonly Issue[] = []): readonly string[] {
  const binding = state.plan?.output ?? []
  const slots = 'properties' in binding ? slotsAt(binding.properties, at) : [binding]
  return producersFrom(state, slots)
}

/** Returns the nodes that produce the output of a node: itself, or for a routing node the nodes it reads from. */
export function listProducers(state: RunState, { node }: Pick<NodeState, 'node'>): readonly string[] {
  return node.routing ? producersFrom(state, Object.values(node.inputs)) : [node.id]
}

/** Follows the sources that were used to the producing nodes, through routing nodes, which only pass values on. */
function producersFrom(state: RunState, bindings: readonly (readonly Source[])[]): readonly string[] {
  const found = new Set<string>()
  const seen = new Set<string>()
  const add = (sources: readonly Source[]) => {
    const used = findValue(state, sources)?.source
    for (const source of used === undefined ? sources : [used]) {
      if (!('node' in source) || seen.has(source.node)) continue
      seen.add(source.node)
      const { node, status } = state.nodes.get(source.node) ?? {}
      if (status === 'skipped' || status === 'error') continue
      if (node?.routing) for (const inputs of Object.values(node.inputs)) add(inputs)
      else found.add(source.node)
    }
  }
  for (const sources of bindings) add(sources)
  return [...found]
}

type Slots = { readonly [property: string]: readonly Source[] }

/** Returns the slots in which the issues are located; all slots if an issue is about the whole answer. */
function slotsAt(properties: Slots, issues: readonly Issue[]): (readonly Source[])[] {
  const names = issues.map(({ at }) => ('pointer' in at ? tokens(at.pointer)[0] : undefined))
  const slots = names.map((name) => (name === undefined ? undefined : own(properties, name)))
  const located = slots.filter((sources) => sources !== undefined) as (readonly Source[])[]
  return located.length === slots.length && located.length > 0 ? located : Object.values(properties)
}

/** Returns the actions that a reply may choose after a rejection, within the limits of the run. */
export function allowedAfterRejection(
  state: RunState,
  about: { readonly subject: string; readonly producers: readonly string[]; readonly isLastAsk: boolean },
): RejectAction[] {
  const { subject, producers, isLastAsk } = about
  const reworks = state.reworks.get(subject) ?? 0
  // No ask would be left for the result of more work.
  if (isLastAsk) return ['fail']
  const mayRework = producers.length > 0 && reworks < maxReworks
  return [
    'fail',
    ...(mayRework ? (['retry'] as const) : []),
    ...(mayReplan(state) ? (['replan'] as const) : []),
  ]
}

/** The caller's default action after the rejection of the answer or of a labelled node's output. */
export function usualRejectAction({ envelope }: RunState): Action {
  return { type: envelope.policies.rejectAction ?? 'retry' }
}
