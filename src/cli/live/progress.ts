/** Tracks the progress of a run: folds its journal as the engine does, and adds the times to display. */
import type { JournalEvent } from '../../domain/event.ts'
import { applyEvent, begin } from '../../domain/run/fold.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import type { NodeStatus } from '../../domain/status.ts'

export interface NodeView {
  readonly id: string
  readonly label?: string
  /** The node to show it under. */
  readonly parent?: string
  readonly status: NodeStatus
  readonly attempts: number
  /** Start of the interval shown; without `endedAt` it lasts until now. */
  readonly startedAt?: number
  readonly endedAt?: number
  /** What a person is asked, why it failed, or when it is retried. */
  readonly detail?: string
  /** For an active map or loop: ended items or rounds, their total, and how many failed. */
  readonly iterations?: { readonly ended: number; readonly total: number; readonly failed: number }
}

export interface Progress {
  take(event: JournalEvent): void
  /** Absent before the first event. */
  readonly state: RunState | undefined
  /** Nodes of the current plan, in its order; under a map or a loop, its nodes that wait for a person. */
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
      const parents = parentsOf(run)
      return [...run.nodes.values()].filter(isShown).map((node) => viewOf(run, node, { parents, times }))
    },
    node(id) {
      const node = state?.nodes.get(id)
      if (!state || !node || !isShown(node)) return undefined
      return viewOf(state, node, { parents: new Map(), times })
    },
  }
}

/** Of many items, shows only those waiting for a person; the others are counted at their map or loop. */
function isShown({ instance, status }: NodeState): boolean {
  return instance === undefined || status === 'awaiting_hitl'
}

const ends: ReadonlySet<string> = new Set(['node_complete', 'node_error', 'node_skipped'])

function noteTime(times: Map<string, Times>, nodeId: string, { type, at }: JournalEvent): void {
  const known = times.get(nodeId) ?? {}
  if (type === 'node_start') times.set(nodeId, { startedAt: at })
  else if (ends.has(type)) times.set(nodeId, { ...known, endedAt: at })
}

function viewOf(
  state: RunState,
  node: NodeState,
  beside: { parents: ReadonlyMap<string, string>; times: ReadonlyMap<string, Times> },
): NodeView {
  const { id, label } = node.node
  const parent = beside.parents.get(id)
  const detail = detailOf(state, node)
  const { ended = 0, total = 0, failed = 0 } = node.iterations ?? {}
  return {
    id,
    ...(label !== undefined && { label }),
    ...(parent !== undefined && { parent }),
    status: node.status,
    attempts: node.attempts,
    ...beside.times.get(id),
    ...(detail !== undefined && { detail }),
    ...(node.iterations && { iterations: { ended, total, failed } }),
  }
}

function detailOf(state: RunState, node: NodeState): string | undefined {
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
      const fallback = node.completed?.person === undefined ? fallbackOf(node) : undefined
      return fallback && `answered by the fallback ${fallback}`
    }
    case 'waiting': {
      const due = [...state.timers.values()].find(
        ({ purpose }) => purpose.kind === 'retry' && purpose.nodeId === id,
      )
      return due && `again at ${new Date(due.dueAt).toISOString().slice(11, 19)} UTC`
    }
    default:
      return undefined
  }
}

/** Returns the alternate in use, or the capability of a fallback node; `undefined` while any other node calls its own capability. */
function fallbackOf({ node, candidate }: NodeState): string | undefined {
  if (candidate === 0) return node.kind === 'fallback' ? node.capabilityId : undefined
  return node.alternates?.[candidate - 1]
}

/** Turns the plan's graph into a tree: the parent of a node is its deepest predecessor, usually the last one it waits for. */
function parentsOf(state: RunState): Map<string, string> {
  const order = [...state.nodes.keys()]
  const incoming = new Map<string, string[]>(order.map((id) => [id, []]))
  for (const [from, edges] of state.outgoing) for (const { to } of edges) incoming.get(to)?.push(from)
  const depths = depthsOf(state, incoming)
  const parents = new Map<string, string>()
  for (const { node, instance } of state.nodes.values())
    if (instance !== undefined) parents.set(node.id, mapAround(state, instance))
  for (const [id, sources] of incoming) {
    if (parents.has(id)) continue
    let parent: string | undefined
    for (const from of sources)
      if (parent === undefined || (depths.get(from) ?? 0) > (depths.get(parent) ?? 0)) parent = from
    if (parent !== undefined) parents.set(id, parent)
  }
  return parents
}

/** Finds the top-level map or loop around an item or a round, at any nesting depth. */
function mapAround(state: RunState, instance: string): string {
  const of = state.instances.get(instance)?.of ?? instance
  const around = state.nodes.get(of)?.instance
  return around === undefined ? of : mapAround(state, around)
}

/** Computes the longest path to each node in topological order (Kahn's algorithm); iterative, so that deep plans cannot overflow the stack. */
function depthsOf(state: RunState, incoming: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const open = new Map([...incoming].map(([id, sources]) => [id, sources.length]))
  const depths = new Map<string, number>()
  const next = [...open].filter(([, count]) => count === 0).map(([id]) => id)
  for (const id of next) {
    const depth = depths.get(id) ?? 0
    depths.set(id, depth)
    for (const { to } of state.outgoing.get(id) ?? []) {
      depths.set(to, Math.max(depths.get(to) ?? 0, depth + 1))
      const left = (open.get(to) ?? 0) - 1
      open.set(to, left)
      if (left === 0) next.push(to)
    }
  }
  return depths
}
