/** Making a rejected value again: which nodes produce it, which come after them, and how often that may be. */
import type { Issue } from '../base/issue.ts'
import { own } from '../base/json.ts'
import { tokens } from '../base/pointer.ts'
import type { RejectAction } from '../domain/ask.ts'
import { findValue } from '../domain/bound-values.ts'
import { downstreamOf } from '../domain/downstream.ts'
import type { NewEvent } from '../domain/event.ts'
import type { Plan, Source } from '../domain/plan.ts'
import type { Action } from '../domain/policy.ts'
import type { RunState } from '../domain/run.ts'
import { factsFor } from './fact.ts'

/** How often the same value may be made again after a rejection. */
export const maxReworks = 3
export const defaultMaxReplans = 2

/**
 * The nodes that an answer is made by: those whose outputs fill its slots, by the sources that were used. A routing node only
 * passes its inputs on, so the nodes that it reads from count instead. With issues: only the slots that they are located in.
 */
export function producingNodes(state: RunState, at: readonly Issue[] = []): readonly string[] {
  const binding = state.plan?.output ?? []
  const slots = 'properties' in binding ? slotsAt(binding.properties, at) : [binding]
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
  for (const sources of slots) add(sources)
  return [...found]
}

type Slots = { readonly [property: string]: readonly Source[] }

/** The slots that the issues are located in; all of them where one is about the whole answer. */
function slotsAt(properties: Slots, issues: readonly Issue[]): (readonly Source[])[] {
  const names = issues.map(({ at }) => ('pointer' in at ? tokens(at.pointer)[0] : undefined))
  const slots = names.map((name) => (name === undefined ? undefined : own(properties, name)))
  const located = slots.filter((sources) => sources !== undefined) as (readonly Source[])[]
  return located.length === slots.length && located.length > 0 ? located : Object.values(properties)
}

/** What a reply may choose after a rejection, given what the run may still do. */
export function allowedAfterRejection(
  state: RunState,
  about: { readonly subject: string; readonly producers: readonly string[]; readonly isLastAsk: boolean },
): RejectAction[] {
  const { subject, producers, isLastAsk } = about
  const reworks = state.reworks.get(subject) ?? 0
  // No ask would be left for what comes of more work.
  if (isLastAsk) return ['fail']
  const mayRework = producers.length > 0 && reworks < maxReworks
  const mayReplan = state.replans < (state.plan?.limits.maxReplans ?? defaultMaxReplans)
  return ['fail', ...(mayRework ? (['retry'] as const) : []), ...(mayReplan ? (['replan'] as const) : [])]
}

/** What the caller wants after the rejection of the answer or of a labelled node's output. */
export function usualRejectAction({ envelope }: RunState): Action {
  return { type: envelope.policies.rejectAction ?? 'retry' }
}

/** The nodes that a node has edges with: those of its item or round, or of the plan. */
function graphOf(state: RunState, nodeId = ''): Pick<Plan, 'nodes' | 'edges'> {
  const instance = state.instances.get(state.nodes.get(nodeId)?.instance ?? '')
  if (!instance) return state.plan ?? { nodes: [], edges: [] }
  const nodes = instance.nodes.flatMap((id) => state.nodes.get(id)?.node ?? [])
  return { nodes, edges: nodes.flatMap(({ id }) => state.outgoing.get(id) ?? []) }
}

/** The producing nodes of a rejected value and everything after them run again. */
export function reopenFacts(
  state: RunState,
  now: number,
  { requestId, nodes }: { readonly requestId: string; readonly nodes: readonly string[] },
): NewEvent[] {
  const ask = state.asks.get(requestId)
  const downstream = downstreamOf(graphOf(state, nodes[0]), nodes)
  const round = (state.reworks.get(ask?.nodeId ?? '') ?? 0) + 1
  return [
    factsFor(state, now)('nodes_reopened', { requestId, nodes, downstream, round }, { nodeId: ask?.nodeId }),
  ]
}
