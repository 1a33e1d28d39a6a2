/**
 * The input of `prove`, and what it resolves before checking anything: contracts, edges, bindings. The prover trusts its
 * input, so input that was passed without parsing is detected here: an envelope without defaults or a capability still
 * wrapped by `defineCapability` would only show as a failing check.
 */

import { isObject } from '../../base/json.ts'
import type { Capability, NodeKind } from '../../domain/capability.ts'
import type { Condition } from '../../domain/contract.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { Facet } from '../../domain/facet.ts'
import type { Draft, DraftNode, FacetProvenance, Limits, Need, PlanNode, Source } from '../../domain/plan.ts'
import type { CompileOptions } from '../../schema/compile/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { createDiagnostic } from '../diagnostics.ts'
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
  /** Finds tools of agents that plans cannot use by themselves. Default: among the capabilities. */
  readonly findTool?: (capabilityId: string) => Capability | undefined
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

interface UnparsedInput {
  /** The requirement that is violated. */
  readonly wanted: string
  readonly hint: string
}

/** Detects a draft that is not an object with nodes, such as the text that a planner returned. */
export function findUnparsedDraft({ draft }: Pick<ProveRequest, 'draft'>): UnparsedInput | undefined {
  if (isObject(draft) && Array.isArray(draft.nodes)) return undefined
  const got =
    draft === null
      ? 'null'
      : Array.isArray(draft)
        ? 'a list'
        : isObject(draft)
          ? 'an object without `nodes`'
          : `a ${typeof draft}`
  return {
    wanted: `the draft is an object with a list of nodes, not ${got}`,
    hint: 'Return { nodes: [{ id, capabilityId }] } from the planner, or pass such a draft',
  }
}

/** Returns the first part of a request that was not parsed. */
export function findUnparsedInput(
  request: Pick<ProveRequest, 'envelope' | 'facets' | 'capabilities'>,
): UnparsedInput | undefined {
  return rows.find(({ isParsed }) => !isParsed(request ?? {}))
}

const rows: readonly (UnparsedInput & {
  readonly isParsed: (request: Parameters<typeof findUnparsedInput>[0]) => boolean
})[] = [
  {
    wanted: 'the envelope was parsed, with its defaults filled in',
    hint: 'Pass the `value` of parseEnvelope(envelope); createApp parses it by itself',
    isParsed: ({ envelope }) =>
      isObject(envelope) &&
      isObject(envelope.inputs) &&
      isObject(envelope.constraints) &&
      Array.isArray(envelope.specialInstructions) &&
      isObject(envelope.policies?.planner) &&
      Array.isArray(envelope.policies.runtime) &&
      Array.isArray(envelope.outputContract?.constraints),
  },
  {
    wanted: 'facets is a list',
    hint: 'Pass [], or the facets of a preset such as proviso/presets/marketing',
    isParsed: ({ facets }) => Array.isArray(facets),
  },
  {
    wanted: 'capabilities is a list of parsed capabilities',
    hint: 'For the result of defineCapability pass its `capability`, for external data the `value` of parseCapability',
    isParsed: ({ capabilities }) =>
      Array.isArray(capabilities) &&
      capabilities.every(
        (each) => isObject(each) && typeof each.capabilityId === 'string' && 'nodeKind' in each,
      ),
  },
]

// Upper bounds on the size of a plan, which bound the work of everything after it.

export const planLimits = {
  nodes: 1_000,
  edges: 10_000,
  constraints: 1_000,
  /** Routes, bindings and alternates of one node, each. */
  perNode: 1_000,
  /** Nesting depth of maps and loops. */
  depth: 5,
} as const

/** Counting one level beyond the limit is enough to detect too deep nesting. */
const deepest = planLimits.depth + 1

function withBodies({ nodes }: Draft, depth: number): readonly DraftNode[] {
  if (depth > deepest) return []
  return nodes.flatMap((node) => [node, ...(node.body ? withBodies(node.body, depth + 1) : [])])
}

function edgesIn({ nodes, edges = [] }: Draft, depth: number): number {
  if (depth > deepest) return 0
  return nodes.reduce((sum, { body }) => sum + (body ? edgesIn(body, depth + 1) : 0), edges.length)
}

function measureDepth(draft: Draft, above = 0): number {
  const bodies = above > deepest ? [] : draft.nodes.flatMap(({ body }) => body ?? [])
  return bodies.reduce((most, body) => Math.max(most, measureDepth(body, above + 1)), above)
}

/** Runs before everything else: a draft over a limit is not checked any further. */
export function size({ draft, envelope }: ProveRequest): readonly Diagnostic[] {
  const nodes = withBodies(draft, 0)
  const widest = Math.max(
    0,
    ...nodes
      .slice(0, planLimits.nodes)
      .map((node) =>
        Math.max(
          node.routing?.routes.length ?? 0,
          Object.keys(node.inputs ?? {}).length,
          node.alternates?.length ?? 0,
          node.postConditions?.length ?? 0,
        ),
      ),
  )
  const counts: Readonly<Record<keyof typeof planLimits, number>> = {
    nodes: nodes.length,
    edges: edgesIn(draft, 0),
    depth: measureDepth(draft),
    constraints: envelope.outputContract.constraints.length,
    perNode: widest,
  }
  return (Object.keys(planLimits) as (keyof typeof planLimits)[])
    .filter((what) => counts[what] > planLimits[what])
    .map((what) =>
      createDiagnostic('plan/limit', {
        constraint: `${what} <= ${planLimits[what]}`,
        suggestion: 'Split the work into several runs',
        details: { limit: planLimits[what], actual: counts[what] },
      }),
    )
}
