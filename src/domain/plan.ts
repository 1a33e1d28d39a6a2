/** A Draft is a proposed DAG; a Plan is one that `prove` has accepted. The engine runs only plans. */

import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import { type Pointer, tokens } from '../base/pointer.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { NodeKind } from './capability.ts'
import type { Condition, Constraint } from './contract.ts'
import type { DiagnosticBundle } from './diagnostic.ts'
import type { ToolUse } from './loop/agent-settings.ts'
import type { AppliedContract } from './rao/rao-contract.ts'

/** Where a value comes from. */
export type Source =
  | { readonly node: string; readonly pointer?: Pointer }
  /** From the envelope: `/inputs/x`, `/objective`, `/specialInstructions`. */
  | { readonly envelope: Pointer }
  | { readonly value: Json }
  /** Inside a body: what its map or loop gives it: `/item`, `/index`, `/state`, `/round`, or another of its inputs. */
  | { readonly input: Pointer }

/** One source, or several of which the first that exists is taken (branches that join). */
export type Binding = Source | readonly Source[]

export interface Retry {
  /** Further attempts with the same capability after one failed. Default 0. */
  readonly max?: number
  /** Wait before the first of them; doubles each time. Default 0. */
  readonly backoffMs?: number
}

export interface Route {
  /** JSON Logic over the node's inputs, such as `{ '>': [{ var: 'score' }, 0.5] }`. */
  readonly condition: Condition
  /** Ids of the nodes that run then. */
  readonly to: string | readonly string[]
  /** Name of the route in events and graphs. */
  readonly label?: string
}

/** The first route whose condition holds for the node's inputs is taken, else `elseTo`; all other targets are skipped. */
export interface Routing {
  readonly routes: readonly Route[]
  /** Ids of the nodes that run when no condition holds. */
  readonly elseTo?: string | readonly string[]
}

/** RAO's limits on what a node may do; enforced by the proof and at dispatch. */
export interface NodeConstraints {
  readonly max_duration_ms?: number
  /** Its context is redacted. */
  readonly no_credential_access?: boolean
  /** It gets no tools. */
  readonly no_execution_authority?: boolean
  /** It is never dispatched to something remote. */
  readonly no_network_access?: boolean
}

/** Runs the body once for each element of the input `items`; the output is the list of the body's outputs, in order. */
interface MapSettings {
  /** A longer list fails the node. Default 1000. */
  readonly maxItems?: number
  /** Items at one time. Default: `limits.concurrency` of the run. */
  readonly concurrency?: number
  /**
   * When an item fails: fail the node (default), leave the item out of the list, or put
   * `{ status: 'failed', error }` in its place and `{ status: 'completed', value }` in the others'.
   */
  readonly onItemFail?: 'fail' | 'skip' | 'collect'
}

/** Runs the body round by round: the input `state` is the first round's, its output is the next one's; the last is the output. */
interface LoopSettings {
  /** Default 10. */
  readonly maxRounds?: number
  /** Evaluated on the state after each round; the loop ends when it holds. Absent: it runs `maxRounds` rounds. */
  readonly until?: Condition
  /** After `maxRounds` rounds without `until`: fail the node (default where there is an `until`), or take the last state. */
  readonly onMaxRounds?: 'fail' | 'accept'
  /** What every state satisfies, the first and each round's. Absent: worked out from the first state and the body. */
  readonly state?: JsonSchema
}

/** The names under which a body finds what its map or loop gives it, besides the node's other inputs. */
export const givenNames = { map: ['item', 'index'], loop: ['state', 'round'] } as const

export const iterationDefaults = { maxItems: 1000, maxRounds: 10 } as const

export interface DraftNode {
  /** Unique in the draft. Bindings, edges, events and asks name the node by it. */
  readonly id: string
  /** What the node is for; shown, and read by policies. Default: the capability's. */
  readonly kind?: NodeKind
  /** Name for people; policies can ask for approval by it. */
  readonly label?: string
  /** Who does it. Absent for routing nodes, which the engine decides itself. */
  readonly capabilityId?: string
  /** Added by a planner and not written by a person. */
  readonly derived?: boolean
  /** Facets in use; absent means all of the capability's. */
  readonly facets?: { readonly input?: readonly string[]; readonly output?: readonly string[] }
  /** Schemas by hand, instead of or in addition to facets. */
  readonly contracts?: { readonly input?: JsonSchema; readonly output?: JsonSchema }
  /** Where each property of the input comes from; what is absent is bound by name. */
  readonly inputs?: { readonly [property: string]: Binding }
  /** What the capability gets besides its inputs. */
  readonly instructions?: string
  /** Capabilities that a model may call as it goes, instead of the tools of its own: the node is an agent. */
  readonly tools?: readonly (string | ToolUse)[]
  /** Chooses which nodes run next, by conditions on the inputs. */
  readonly routing?: Routing
  /** Runs `body` once for each element of the input `items`, instead of calling a capability. */
  readonly map?: MapSettings
  /** Runs `body` round by round, beginning with the input `state`, instead of calling a capability. */
  readonly loop?: LoopSettings
  /** The plan that `map` and `loop` run. */
  readonly body?: Draft
  /** What must hold of the output besides the contract. */
  readonly postConditions?: readonly Condition[]
  /** Node data; RAO's contract keys are read from here (`contract`, `autoApproveAbove`, …). */
  readonly data?: { readonly [key: string]: Json }
  /** What the node may not do, and how long it may take. */
  readonly constraints?: NodeConstraints
  /** Further attempts after one failed. */
  readonly retry?: Retry
  /** Other capabilities to try, in order, when this one has failed for good. */
  readonly alternates?: readonly string[]
  /** After everything failed: fail (default), or ask a person. A `fail` edge goes before either. */
  readonly onFail?: 'fail' | 'ask'
  /** Answers that one attempt may ask a model for; retries and alternates have as many again. Default 4. */
  readonly callBudget?: number
  /** Tokens and dollars that all its attempts together may take. Default: what the run has. */
  readonly tokenBudget?: number
  readonly costBudgetUsd?: number
  /** Time limit of one attempt. */
  readonly timeoutMs?: number
  /** Why the node is there, for people. */
  readonly rationale?: string
  /** Your own data about the node; it is stored and has no effect. */
  readonly metadata?: { readonly [key: string]: Json }
}

/** Whether a node runs a body: it is a map or a loop. */
export function isIterated({ map, loop }: Pick<DraftNode, 'map' | 'loop'>): boolean {
  return map !== undefined || loop !== undefined
}

/** A control edge: `to` waits for `from`, and may run once an edge to it is followed. */
export interface Edge {
  /** Id of the source node. */
  readonly from: string
  /** Id of the node that waits. */
  readonly to: string
  /** Followed when the source completed (`pass`, default), failed (`fail`, default to a `fallback` node), or both. */
  readonly when?: 'pass' | 'fail' | 'always'
}

/** Control edges activate their target; data edges only make it wait until their source is settled. */
export interface PlanEdge extends Required<Edge> {
  readonly kind: 'control' | 'data'
}

/** An input that a node cannot run without, and the nodes of which at least one must have completed to supply it. */
export interface Need {
  readonly input: string
  readonly from: readonly string[]
}

export interface Limits {
  /** Tokens of all model calls, in and out. */
  readonly maxTokens?: number
  /** Calls of models and agents. */
  readonly maxCalls?: number
  /** Models without a known price are not called under it. */
  readonly maxCostUsd?: number
  /** From the start of the run to its end, waiting for people included. */
  readonly deadlineMs?: number
  /** Attempts of this run at one time. Default 16. */
  readonly concurrency?: number
  /** Asks in one run. Default 3. */
  readonly maxAsks?: number
  /** New plan versions in one run. Default 2. */
  readonly maxReplans?: number
}

export interface Draft {
  /** The work. Nodes run as soon as their inputs are there. */
  readonly nodes: readonly DraftNode[]
  /** Order and conditions beyond what bindings imply. */
  readonly edges?: readonly Edge[]
  /** Where the answer comes from: one value for all of it, or one per property; what is absent is bound by name. */
  readonly output?: Binding | { readonly properties: { readonly [property: string]: Binding } }
  readonly limits?: Limits
  /** Your own data about the plan; it is stored and has no effect. */
  readonly metadata?: { readonly [key: string]: Json }
}

/** A node with everything decided: schemas compiled from facets, every input bound. */
export interface PlanNode extends Omit<DraftNode, 'body'> {
  readonly body?: BodyPlan
  /** In an item or a round, the id that the node has in the body. */
  readonly bodyId?: string
  readonly kind: NodeKind
  /** Version of a capability of kind `mcp`: its server may change what it means, and the plan was proven with this one. */
  readonly capabilityVersion?: string
  readonly contracts: { readonly input: JsonSchema; readonly output: JsonSchema }
  readonly inputs: { readonly [property: string]: readonly Source[] }
  /** By capability, the contracts of alternates where they differ from the node's. */
  readonly alternateContracts?: { readonly [capabilityId: string]: AlternateContract }
  /** Required inputs that only nodes supply: without one of these nodes completed, the node is skipped. */
  readonly needs: readonly Need[]
  /** Inputs that the contract does not name and that need a value: without one, the node fails before any call. */
  readonly requires?: readonly string[]
  /** All of what must hold of its output: the capability's and its own. */
  readonly postConditions: readonly Condition[]
  /** The caller's constraints that this node is the run-time guard of (prover rule 5). */
  readonly guards: readonly Constraint[]
  readonly provides: readonly string[]
  readonly enforces: readonly string[]
  readonly facetProvenance: FacetProvenance
  /** RAO contracts of policies and capabilities that apply here, besides the node's own in `data`. */
  readonly rao?: readonly AppliedContract[]
}

/** What an alternate is held to besides the node's contracts; absent where it is the same. */
interface AlternateContract {
  /** Validated before the alternate is called. */
  readonly input?: JsonSchema
  /** The node's output contract and its own together: what its answers must satisfy. */
  readonly output?: JsonSchema
  readonly postConditions?: readonly Condition[]
}

/** The schema that an answer of the capability must satisfy at the node, whether as its own capability or an alternate. */
export function outputContractFor(node: PlanNode, capabilityId: string | undefined): JsonSchema {
  const own = capabilityId === undefined ? undefined : node.alternateContracts?.[capabilityId]
  return own?.output ?? node.contracts.output
}

/** The proven body of a map or a loop. Node ids are its own; instances prefix them (`node[3].id`, `node#2.id`). */
export interface BodyPlan {
  readonly nodes: readonly PlanNode[]
  readonly edges: Plan['edges']
  readonly output: Plan['output']
}

/** Which facet each property of a contract comes from. */
export interface FacetProvenance {
  readonly input: readonly { readonly facet: string; readonly pointer: Pointer }[]
  readonly output: readonly { readonly facet: string; readonly pointer: Pointer }[]
}

declare const proven: unique symbol

export interface Plan {
  readonly [proven]: true
  readonly version: number
  readonly nodes: readonly PlanNode[]
  readonly edges: readonly PlanEdge[]
  readonly output:
    | readonly Source[]
    | { readonly properties: { readonly [property: string]: readonly Source[] } }
  /**
   * Values that constraints read although the answer does not contain them: constraints are evaluated on the answer
   * with these added.
   */
  readonly aside?: { readonly [property: string]: readonly Source[] }
  readonly limits: Limits
  readonly diagnostics: DiagnosticBundle
  readonly metadata: { readonly [key: string]: Json }
}

// An issue with the facet it refers to, for the planner, agent or person that fixes it.

export interface FacetIssue<Code extends string = string> extends Issue<Code> {
  /** Absent for what no facet speaks about. Several that share the property are named together. */
  readonly facet?: string
  readonly pointer: Pointer
  readonly keyword: string
}

/** Says of each issue which facet of this side of a node it belongs to; what belongs to none stays as it is. */
export function withFacets(
  issues: readonly Issue[],
  provenance: FacetProvenance['input'],
): readonly (Issue | FacetIssue)[] {
  if (provenance.length === 0) return issues
  return issues.map((issue) => {
    if (!('pointer' in issue.at) || !issue.code.startsWith('schema/')) return issue
    const { pointer } = issue.at
    const [key] = tokens(pointer)
    const facets = provenance.filter((each) => tokens(each.pointer)[0] === key).map(({ facet }) => facet)
    if (facets.length === 0) return issue
    return { ...issue, facet: facets.join(', '), pointer, keyword: issue.code.replace('schema/', '') }
  })
}
