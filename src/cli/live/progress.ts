/** Tracks the progress of a run: folds its journal as the engine does, and adds the times to display. */
import type { JournalEvent } from '../../domain/event.ts'
import { isInternalNode, joinVisible, type Link } from '../../domain/plan/visible-nodes.ts'
import { applyEvent, begin } from '../../domain/run/fold.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import type { NodeStatus } from '../../domain/status.ts'

/** `cancelled`: interrupted because another node failed, or the run was cancelled. */
export type ShownStatus = NodeStatus | 'cancelled'

export interface NodeView {
  readonly id: string
  readonly label?: string
  /** The node to show it under. */
  readonly parent?: string
  readonly status: ShownStatus
  readonly attempts: number
  /** Start of the interval shown; without `endedAt` it lasts until now. */
  readonly startedAt?: number
  readonly endedAt?: number
  /** All nodes that it waits for, if there are several; it is drawn once, under the last of them. */
  readonly joins?: readonly string[]
  /** What a person is asked, why it failed, or why and when it is retried. */
  readonly detail?: string
  /** For an active map or loop: ended items or rounds, their total, and how many failed. */
  readonly iterations?: { readonly ended: number; readonly total: number; readonly failed: number }
}

export interface Progress {
  take(event: JournalEvent): void
  /** Absent before the first event. */
  readonly state: RunState | undefined
  /** Nodes of the current plan that people wrote, in its order; under a map or a loop, its nodes that wait for a person. */
  nodes(): NodeView[]
  /** The view of one node. */
  node(id: string): NodeView | undefined
}

interface Times {
  startedAt?: number
  endedAt?: number
}

export function createProgress(): Progress {
  const times = new Map<string, Times>()
  let state: RunState | undefined
  return {
    take(event) {
      if (state) applyEvent(state, event)
      else state = begin(event.runId, event)
      if (event.nodeId !== undefined) noteTime(times, event.nodeId, event)
    },
    get state() {
      return state
    },
    nodes() {
      if (!state) return []
      const run = state
      const links = findLinks(run)
      const around = { parents: findParents(run, links), sources: groupSources(links), times }
      return [...run.nodes.values()].filter(isShown).map((node) => toView(run, node, around))
    },
    node(id) {
      const node = state?.nodes.get(id)
      if (!state || !node || !isShown(node)) return undefined
      return toView(state, node, { parents: new Map(), sources: new Map(), times })
    },
  }
}

/**
 * Of many items, shows only those waiting for a person; the others are counted at their map or loop. Of the nodes that a
 * compiler inserted, only the failed ones.
 */
function isShown({ node, instance, status }: NodeState): boolean {
  if (instance !== undefined) return status === 'awaiting_hitl'
  return !isInternalNode(node) || status === 'error'
}

/** Links between shown nodes. */
function findLinks(state: RunState): Link[] {
  const links = [...state.outgoing].flatMap(([from, edges]) => edges.map(({ to }) => ({ from, to })))
  const isHidden = (id: string) => {
    const node = state.nodes.get(id)
    return node === undefined || !isShown(node)
  }
  return joinVisible(state.nodes.keys(), links, isHidden)
}

function groupSources(links: readonly Link[]): Map<string, string[]> {
  const sources = new Map<string, string[]>()
  for (const { from, to } of links) push(sources, to, from)
  return sources
}

const ends: ReadonlySet<string> = new Set(['node_complete', 'node_error', 'node_skipped'])

function noteTime(times: Map<string, Times>, nodeId: string, { type, at }: JournalEvent): void {
  const known = times.get(nodeId) ?? {}
  if (type === 'node_start') times.set(nodeId, { startedAt: at })
  else if (ends.has(type)) times.set(nodeId, { ...known, endedAt: at })
}

function toView(
  state: RunState,
  node: NodeState,
  beside: {
    parents: ReadonlyMap<string, string>
    sources: ReadonlyMap<string, readonly string[]>
    times: ReadonlyMap<string, Times>
  },
): NodeView {
  const { id, label } = node.node
  const parent = beside.parents.get(id)
  const detail = getDetail(state, node)
  const { ended = 0, total = 0, failed = 0 } = node.iterations ?? {}
  const joins = beside.sources.get(id) ?? []
  const isCancelled = node.status === 'error' && node.attempt?.result?.interrupted === true
  return {
    id,
    ...(label !== undefined && { label }),
    ...(parent !== undefined && { parent }),
    status: isCancelled ? 'cancelled' : node.status,
    attempts: node.attempts,
    ...(joins.length > 1 && { joins }),
    ...beside.times.get(id),
    ...(detail !== undefined && { detail }),
    ...(node.iterations && { iterations: { ended, total, failed } }),
  }
}

function getDetail(state: RunState, node: NodeState): string | undefined {
  const { id } = node.node
  switch (node.status) {
    case 'awaiting_hitl':
      for (const requestId of state.openAsks) {
        const ask = state.asks.get(requestId)
        if (ask?.nodeId === id) return ask.question
      }
      return undefined
    case 'error':
      return node.failed?.error.message
    case 'completed': {
      const fallback = node.completed?.person === undefined ? getFallback(node) : undefined
      return fallback && `answered by the fallback ${fallback}`
    }
    case 'waiting': {
      const due = [...state.timers.values()].find(
        ({ purpose }) => purpose.kind === 'retry' && purpose.nodeId === id,
      )
      return due && `again at ${new Date(due.dueAt).toISOString().slice(11, 19)} UTC: ${retryReason(node)}`
    }
    default:
      return undefined
  }
}

/** Why the last attempt is repeated, such as `invalid, no value was found in the text`. */
function retryReason({ attempt }: NodeState): string {
  const { outcome = 'failed', issues = [] } = attempt?.result ?? {}
  const [issue] = issues
  return [outcome.replaceAll('_', ' '), ...(issue ? [issue.message] : [])].join(', ')
}

/** Returns the alternate in use, or the capability of a fallback node; `undefined` while any other node calls its own capability. */
function getFallback({ node, candidate }: NodeState): string | undefined {
  if (candidate === 0) return node.kind === 'fallback' ? node.capabilityId : undefined
  return node.alternates?.[candidate - 1]
}

/** Turns the graph of shown nodes into a tree: the parent of a node is its deepest predecessor, usually the last one it waits for. */
function findParents(state: RunState, links: readonly Link[]): Map<string, string> {
  const depths = measureDepths(links)
  const parents = new Map<string, string>()
  for (const { from, to } of links) {
    const parent = parents.get(to)
    if (parent === undefined || (depths.get(from) ?? 0) > (depths.get(parent) ?? 0)) parents.set(to, from)
  }
  for (const { node, instance } of state.nodes.values())
    if (instance !== undefined) parents.set(node.id, mapAround(state, instance))
  return parents
}

/** Finds the top-level map or loop around an item or a round, at any nesting depth. */
function mapAround(state: RunState, instance: string): string {
  const of = state.instances.get(instance)?.of ?? instance
  const around = state.nodes.get(of)?.instance
  return around === undefined ? of : mapAround(state, around)
}

/** Computes the longest path to each node in topological order (Kahn's algorithm); iterative, so that deep plans cannot overflow the stack. */
function measureDepths(links: readonly Link[]): Map<string, number> {
  const targets = new Map<string, string[]>()
  const open = new Map<string, number>()
  for (const { from, to } of links) {
    push(targets, from, to)
    open.set(to, (open.get(to) ?? 0) + 1)
  }
  const depths = new Map<string, number>()
  const next = [...targets.keys()].filter((id) => !open.has(id))
  for (const id of next) {
    const depth = depths.get(id) ?? 0
    depths.set(id, depth)
    for (const to of targets.get(id) ?? []) {
      depths.set(to, Math.max(depths.get(to) ?? 0, depth + 1))
      const left = (open.get(to) ?? 0) - 1
      open.set(to, left)
      if (left === 0) next.push(to)
    }
  }
  return depths
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
