/**
 * What a case holds: a random draft with everything around it (which capabilities answer how, what people decide, what goes
 * wrong). A case is plain data, made from a seed by `generate/`, and knows nothing of the engine.
 */

/** `v` values are texts, `s` values are whole numbers from 0 to 9, `list` values are lists of texts. */
export type ValueType = 'v' | 's' | 'list'

export type Value = string | number | readonly Value[] | { readonly [name: string]: Value }

export type CaseSource =
  /** A member of a node's output; `''`: the whole of it. */
  | { readonly node: string; readonly type: ValueType; readonly name: string }
  | { readonly literal: Value }
  | { readonly envelope: string }
  /** Inside a body: what its map or loop gives it, as a path such as `item` or `state/s`. */
  | { readonly given: string }

export interface CaseInput {
  readonly name: string
  readonly type: ValueType
  readonly required: boolean
  /** The contract does not name it: what is bound is required all the same. */
  readonly unnamed?: true
  /** Absent: bound by name. */
  readonly sources?: readonly CaseSource[]
}

/** How one attempt of a capability ends. */
export type Answer =
  | { readonly kind: 'ok'; readonly confidence?: number; readonly escalate?: boolean }
  /** A value that the contract does not allow. */
  | { readonly kind: 'bad-value' }
  | { readonly kind: 'error' }
  /** An error that says that nothing was done. */
  | { readonly kind: 'not-applied' }
  /** An error that says that another try is no use. */
  | { readonly kind: 'final-error' }
  /** The answer declines the task; models say so in words. */
  | { readonly kind: 'refused' }
  /** Words without a value in them; from models only. */
  | { readonly kind: 'babble' }
  | { readonly kind: 'hang' }
  /** It hangs until the run is interrupted, and works when it is called again. */
  | { readonly kind: 'stall' }
  /** It needs an answer first. */
  | { readonly kind: 'unclear' }
  /** So many tries are turned away, or do not arrive, before the rest of the attempt. */
  | {
      readonly kind: 'throttled'
      readonly times: number
      readonly unreachable: boolean
      readonly retryAfterMs?: number
    }

export interface Script {
  readonly answers: readonly Answer[]
  /** What follows when the list is at its end. */
  readonly rest: Answer
  /** In a body: so many items or rounds out of four have this answer only. */
  readonly spoilt?: { readonly outOfFour: number; readonly answer: Answer }
  /** Of an alternate: how its contracts differ from those of the node. */
  readonly unlike?: Unlike
}

/** What an alternate asks for besides the contracts of its node. */
export interface Unlike {
  /** It needs this input of the node; one that is a number must be at least so large where it is there. */
  readonly input?: { readonly index: number; readonly least?: number }
  /** The score of its answers must be at least this: by its schema, or by a post-condition of its own. */
  readonly output?: { readonly least: number; readonly by: 'schema' | 'condition' }
  /** It can never replace the node's own: it needs an input that the node does not bind, or supplies no score. */
  readonly never?: 'input' | 'output'
}

export interface CaseRoute {
  readonly input: string
  readonly operator: '<' | '>=' | '=='
  readonly value: string | number
  /** The condition is negated. */
  readonly not: boolean
  readonly to: readonly string[]
}

export interface CaseEdge {
  readonly from: string
  readonly to: string
  readonly when: 'pass' | 'fail' | 'always'
}

/** Who does the work: a function here, an agent that answers at once or accepts and answers later, a model, a person. */
export type Executor = 'local' | 'agent' | 'courier' | 'model' | 'human'

export interface CaseNode {
  readonly id: string
  readonly role: 'work' | 'routing' | 'fallback' | 'map' | 'loop'
  /** The names of its output's members: `v<key>` and `s<key>`; a fallback has those of the node it stands in for. */
  readonly key: string
  readonly standsInFor?: string
  readonly inputs: readonly CaseInput[]
  readonly routes: readonly CaseRoute[]
  readonly elseTo: readonly string[]
  /** How it ends, whatever it is: for asking what may happen at all. */
  readonly forced?: { readonly output?: Value; readonly chosen?: readonly string[] }
  readonly retryMax: number
  readonly backoffMs: number
  /** The script of the node's own capability, then those of its alternates. */
  readonly scripts: readonly Script[]
  readonly executor: Executor
  readonly idempotent: boolean
  readonly sideEffect: boolean
  readonly timeoutMs?: number
  readonly onFail?: 'ask' | 'fail'
  readonly rao: boolean
  /** A person is asked about its output (`hitlRequiredFor`). */
  readonly labelled: boolean
  /** The score of its output must be at least this. */
  readonly leastScore?: number
  /** The same, by the output contract of the node itself. */
  readonly leastInContract?: number
  readonly iteration?: Iteration
  /** Part of the names of its capabilities where a new plan gives it to others. */
  readonly variant?: string
}

export interface Graph {
  readonly nodes: readonly CaseNode[]
  /** Absent: the draft has none. */
  readonly edges?: readonly CaseEdge[]
}

/** What a map does for each of its items, or a loop in each round. */
export interface Iteration {
  readonly body: Graph
  /** What an item or a round yields, by name; a map yields the text alone. */
  readonly yields: { readonly v: readonly CaseSource[]; readonly s: readonly CaseSource[] }
  readonly most: number
  readonly concurrency: number
  readonly onItemFail: 'fail' | 'skip' | 'collect'
  /** Of a loop: it ends when the score of the state is at least this. */
  readonly untilScore?: number
  readonly onMaxRounds: 'fail' | 'accept'
}

export interface CaseOutput {
  readonly name: string
  readonly type: ValueType
  readonly required: boolean
  /** Absent: bound by name. */
  readonly sources?: readonly CaseSource[]
}

/** What a person says when asked: `retry` and `replan` are rejections that are followed by approval, `ignore` is silence. */
export type Decision = 'approve' | 'reject' | 'edit' | 'retry' | 'replan' | 'ignore'

export interface CasePolicy {
  readonly id: string
  /** Acts when an output of the node does not satisfy its contract, and not on scores. */
  readonly onInvalid?: true
  /** The node whose capability it selects. Absent: it acts when the run takes longer than `policyTimeoutMs`. */
  readonly nodeId?: string
  /** Acts when the score of the node that completed is below. */
  readonly below: { readonly name: string; readonly value: number }
  readonly action: 'emit' | 'fail' | 'pause' | 'hitl' | 'replan'
}

/**
 * What a new plan changes of a node: a literal that it is called with, its capability, the least score by a post-condition
 * or by its output contract (`least`), or the capability of a node of its body (`inner`).
 */
export interface Change {
  readonly nodeId: string
  readonly how: 'literal' | 'capability' | 'condition' | 'contract' | 'body'
  readonly least?: number
  readonly inner?: string
}

export interface Case extends Graph {
  readonly seed: number
  readonly inputs: { readonly [name: string]: Value }
  readonly outputs: readonly CaseOutput[]
  readonly policies: readonly CasePolicy[]
  readonly askBeforeFinish: boolean
  /** What people say, by node (or `final`, or the id of a policy). */
  readonly decisions: { readonly [subject: string]: Decision }
  /** What follows when a node has failed that does not say so itself. */
  readonly onNodeFail?: 'ask'
  readonly sideEffectsAllowed: boolean
  /** The node that a new plan has besides those of the first one. */
  readonly extra: CaseNode
  /** What a new plan changes of a node that keeps its id. */
  readonly change?: Change
  /** How many members the answer has at least, or at most. */
  readonly answerSize?: { readonly minProperties?: number; readonly maxProperties?: number }
  /** The run may make no more calls than it needs. */
  readonly tight: boolean
  /** The draft lists its nodes in another order. */
  readonly shuffled: boolean
  readonly concurrency: number
  /** Processes die at random. */
  readonly crashes: boolean
}

/** How long people have to answer. */
export const askMs = 20_000
/** How long a node's attempt may take where it can hang, and where it stalls. */
export const timeoutMs = 5_000
export const stallTimeoutMs = 3_600_000
/** When policies on time act; nothing else takes that long. */
export const policyTimeoutMs = 120_000

/** A node that calls nothing itself: its output is a list, a state, or the inputs that it passes on. */
export function isStructured({ role }: CaseNode): boolean {
  return role === 'map' || role === 'loop' || role === 'routing'
}

/** All nodes of a case, those of bodies included. */
export function allNodes({ nodes }: Graph): CaseNode[] {
  return nodes.flatMap((node) => [node, ...(node.iteration ? allNodes(node.iteration.body) : [])])
}
