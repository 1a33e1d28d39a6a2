/** What `prove` is given, and what it works out before it checks anything: contracts, edges, bindings. */
import type { Capability, NodeKind } from '../domain/capability.ts'
import type { Condition } from '../domain/contract.ts'
import type { Diagnostic } from '../domain/diagnostic.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { Facet } from '../domain/facet.ts'
import type { Draft, DraftNode, FacetProvenance, Limits, Need, Source } from '../domain/plan.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Graph } from './graph.ts'
import type { Scenarios } from './scenarios.ts'

/** What a map or a loop gives its body: known by its schema only, for the body is proved once for all items or rounds. */
export interface Given {
  readonly schema: JsonSchema
  /** Properties whose schema was generalised from known values: a counter-example to it need not be one of them. */
  readonly inexact: ReadonlySet<string>
}

/** Tokens and dollars; cost is absent where a price is unknown. */
export interface DraftEstimate {
  readonly tokens: { readonly least: number; readonly most: number }
  readonly costUsd?: { readonly least: number; readonly most: number }
  /** Models without a known price: under a limit of cost they are not called. */
  readonly unknownPrices?: readonly string[]
}

export interface ProveRequest {
  readonly envelope: Envelope
  readonly draft: Draft
  readonly facets: readonly Facet[]
  /** Those that are alive; a draft that names another is rejected. */
  readonly capabilities: readonly Capability[]
  /** Known capabilities that cannot be carried out, with the reason: said where a draft lacks or names one. */
  readonly inactive?: ReadonlyMap<string, string>
  /** What carrying out the draft takes at least and at most: compared with the limits of the run. */
  readonly estimate?: (draft: Draft) => DraftEstimate
  /** The version that the plan will have. */
  readonly version: number
  /** The operator's limits of a run; of several limits the smallest counts. */
  readonly limits?: Limits
  /** Schemas come from strangers: limits are checked and regexes run on a linear engine. Default false. */
  readonly untrusted?: boolean
  /** Set while a body is proved. */
  readonly given?: Given
}

/** A node with its contracts; `inputs` are bound as far as anything was found. */
export interface ResolvedNode {
  readonly id: string
  readonly draft: DraftNode
  readonly kind: NodeKind
  readonly capability: Capability | undefined
  readonly input: JsonSchema
  readonly output: JsonSchema
  readonly provenance: FacetProvenance
  readonly postConditions: readonly Condition[]
  readonly inputs: { readonly [property: string]: readonly Source[] }
  readonly needs: readonly Need[]
  /** The body of a map or a loop. */
  readonly body?: Resolved
  /** What every state of a loop satisfies. */
  readonly state?: JsonSchema
}

/** For each property the nodes whose output names it, in the order of the draft. */
export type Supply = ReadonlyMap<string, readonly string[]>

/** A part of what the constraints look at, and where it comes from: the whole answer (no prefix) or one property. */
export interface Slot {
  readonly prefix: readonly string[]
  readonly sources: readonly Source[]
  /** Part of the answer, and so under the caller's schema; else only looked at by constraints. */
  readonly inAnswer: boolean
}

export interface Resolved {
  readonly request: ProveRequest
  readonly nodes: readonly ResolvedNode[]
  readonly byId: ReadonlyMap<string, ResolvedNode>
  readonly graph: Graph
  readonly scenarios: Scenarios
  readonly supply: Supply
  readonly slots: readonly Slot[]
  /** The caller's schema, or `true` if it cannot be used. */
  readonly callerSchema: JsonSchema
  /** What was found wrong on the way. */
  readonly diagnostics: readonly Diagnostic[]
}

/** One thing to check about a resolved draft. */
export type Obligation = (resolved: Resolved) => readonly Diagnostic[]
