/** The input of `prove`, and what it resolves before checking anything: contracts, edges, bindings. */
import type { Capability, NodeKind } from '../../domain/capability.ts'
import type { Condition } from '../../domain/contract.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { Facet } from '../../domain/facet.ts'
import type { Draft, DraftNode, FacetProvenance, Limits, Need, PlanNode, Source } from '../../domain/plan.ts'
import type { CompileOptions } from '../../schema/compile/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Graph } from './graph.ts'
import type { Scenarios } from './scenarios/scenarios.ts'

/**
 * What a map or a loop passes to its body: known by its schema only, since the body is proved once for all items or
 * rounds.
 */
export interface Given {
  readonly schema: JsonSchema
  /** Properties whose schema was generalised from known values: a counter-example to it may not be one of these values. */
  readonly inexact: ReadonlySet<string>
}

/** Tokens and dollars; cost is undefined if a price is unknown. */
export interface DraftEstimate {
  readonly tokens: { readonly least: number; readonly most: number }
  readonly costUsd?: { readonly least: number; readonly most: number }
  /** Models without a known price: they are not called in a run with a cost limit. */
  readonly unknownPrices?: readonly string[]
}

export interface ProveRequest {
  readonly envelope: Envelope
  readonly draft: Draft
  /**
   * Author of the draft: diagnostics about a planner's draft are worded for the caller, who cannot change it. Default
   * `caller`.
   */
  readonly draftBy?: 'caller' | 'planner'
  readonly facets: readonly Facet[]
  /** Active capabilities; a draft that names another is rejected. */
  readonly capabilities: readonly Capability[]
  /** Known capabilities that cannot run, with the reason, which diagnostics about missing capabilities include. */
  readonly inactive?: ReadonlyMap<string, string>
  /** Estimates the minimum and maximum usage of the draft, which is compared with the limits of the run. */
  readonly estimate?: (draft: Draft) => DraftEstimate
  /** Version number of the resulting plan. */
  readonly version: number
  /** The operator's limits of a run; of several limits the smallest wins. */
  readonly limits?: Limits
  /** The schemas are untrusted: limits are checked and regexes run on a linear-time engine. Default false. */
  readonly untrusted?: boolean
  /** The regexes of trusted schemas run on the linear-time engine, too, where it can express them. Default false. */
  readonly linearPatterns?: boolean
  /** Set while a body is proved. */
  readonly given?: Given
}

/** A node with its contracts; `inputs` has the bindings that were found. */
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
  /** Inputs that need a value although the input contract does not name them. */
  readonly requires: readonly string[]
  /** Contracts of alternates that differ from the node's. */
  readonly alternateContracts?: NonNullable<PlanNode['alternateContracts']>
  /** The body of a map or a loop. */
  readonly body?: Resolved
  /** Loop invariant: the schema that every state satisfies. */
  readonly state?: JsonSchema
}

/** For each property the nodes whose output names it, in the order of the draft. */
export type Supply = ReadonlyMap<string, readonly string[]>

/** A part of what the constraints read, and its sources: the whole answer (no prefix) or one property. */
export interface Slot {
  readonly prefix: readonly string[]
  readonly sources: readonly Source[]
  /** Part of the answer, and so subject to the caller's schema; otherwise only read by constraints. */
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
  /** Diagnostics of the resolution. */
  readonly diagnostics: readonly Diagnostic[]
}

/** One check of a resolved draft. */
export type Obligation = (resolved: Resolved) => readonly Diagnostic[]

/** Returns how the schemas of a request are compiled. */
export function toCompileOptions({
  untrusted = false,
  linearPatterns = false,
}: ProveRequest): CompileOptions {
  return { untrusted, linearPatterns }
}
