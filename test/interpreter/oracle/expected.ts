/** What the interpreter says of a case. */
import type { Case, Graph, Value } from '../case.ts'
import type { Values } from '../values.ts'

/** Calls of one capability at one address, such as `n2[3].n4`. */
export interface Call {
  readonly address: string
  readonly capabilityId: string
  readonly inputs: Values
  readonly least: number
  readonly most: number
  /** What they count for `maxCalls`, at most. */
  readonly cost: number
}

/** What a RAO contract decides; `perhaps`: if it comes to that. */
export interface Decided {
  readonly address: string
  readonly route: 'auto_approve' | 'human_review' | 'suppress'
  readonly perhaps?: true
}

/** What was done at a node, those of its items and rounds included. */
export interface Log {
  readonly calls: readonly Call[]
  /** Addresses whose later calls receive what a person said of the earlier ones. */
  readonly noted: readonly string[]
  readonly routes: readonly Decided[]
  /** A call hung until a policy interrupted it. */
  readonly stalled: boolean
  /** The policy on outputs that do not satisfy their contract that ends the run. */
  readonly endedBy?: string
}

export interface NodeEnd extends Log {
  readonly status: 'completed' | 'failed' | 'skipped'
  readonly output?: Value
  /** A person gave the value instead: no approval follows. */
  readonly written?: true
  /** The targets that a routing node has chosen. */
  readonly chosen?: readonly string[]
}

export interface Expected {
  readonly status: 'completed' | 'failed'
  readonly nodes: ReadonlyMap<string, NodeEnd>
  /** What was begun under the plan that was replaced. */
  readonly earlier?: ReadonlyMap<string, NodeEnd>
  readonly output?: Values
  /** Why a run fails: the node that is lost, a policy, or a person. */
  readonly cause?: string
}

/** The graph that is being worked out, and where. */
export interface Scope {
  readonly given: Case
  readonly graph: Graph
  /** What the addresses of its nodes begin with: `` or `n2[3].`. */
  readonly prefix: string
  /** In a body: what its map or loop gives it. */
  readonly supplied: Values
}

export type Ends = ReadonlyMap<string, NodeEnd>

export const nothingDone: Log = { calls: [], noted: [], routes: [], stalled: false }

export function joinLogs(logs: readonly Log[]): Log {
  return {
    calls: logs.flatMap(({ calls }) => calls),
    noted: logs.flatMap(({ noted }) => noted),
    routes: logs.flatMap(({ routes }) => routes),
    stalled: logs.some(({ stalled }) => stalled),
  }
}

/** The same, where it depends on who was faster how much of it is done. */
export function atMost(log: Log): Log {
  return {
    ...log,
    calls: log.calls.map((call) => ({ ...call, least: 0 })),
    noted: [],
    routes: log.routes.map((decided) => ({ ...decided, perhaps: true })),
  }
}
