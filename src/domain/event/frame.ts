/**
 * Public form of an event: the one format of streams and of `proviso run --json` (FLEX-56), with errors in the public
 * format (C50).
 */
import { failureError, nodeError, rejectionError, validationErrors } from '../errors/failure-error.ts'
import type { EventType, JournalEvent } from '../event.ts'
import type { TurnEnd, TurnPartial, TurnStart } from '../loop-facts.ts'
import { type AttemptResult, withoutRanges } from '../output.ts'
import { markInternal } from '../plan/visible-nodes.ts'
import type { FacetProvenance, Plan } from '../plan.ts'
import type { Redactor } from '../redaction/redact.ts'

export interface Frame {
  readonly type: EventType
  /** The sequence number, used as a cursor to resume after this event. */
  readonly id: number
  /** ISO 8601. */
  readonly timestamp: string
  readonly payload: unknown
  /** What happened in one sentence, for people: of failures, rejections and asks. */
  readonly message?: string
  readonly runId: string
  readonly nodeId?: string
  readonly planVersion: number
  readonly correlationId: string
  readonly facetProvenance?: FacetProvenance
}

/** A value while a model or an agent writes it: unvalidated, redacted, never stored, and without a sequence number. */
export interface PartialFrame {
  readonly type: 'partial'
  readonly payload: {
    readonly attempt: number
    /** Null before an agent writes its answer. */
    readonly value: unknown
    readonly turn?: TurnPartial
  }
  readonly runId: string
  readonly nodeId: string
  readonly correlationId: string
}

/** Redacted; in the answer, secrets that the contract asks for by name are kept. */
export function toFrame(event: JournalEvent, correlationId: string, redactor: Redactor): Frame {
  const { type, seq, at, runId, nodeId, planVersion } = event
  const message = event.message ?? describeEvent(event)
  const payload = toPayload(event)
  const provenance = 'facetProvenance' in event.payload ? event.payload.facetProvenance : undefined
  // Member by member, in the order in which clients read them: this runs for every event of every stream.
  const frame: Record<string, unknown> = {
    type,
    id: seq,
    timestamp: toTimestamp(at),
    payload: redactPayload(type, payload, redactor),
  }
  if (message !== undefined) frame['message'] = redactor.value(message)
  frame['runId'] = runId
  if (nodeId !== undefined) frame['nodeId'] = nodeId
  frame['planVersion'] = planVersion
  frame['correlationId'] = correlationId
  if (provenance) frame['facetProvenance'] = provenance
  return frame as unknown as Frame
}

/** The last time that was formatted: all events of one append have the same. */
let latest = { at: 0, text: new Date(0).toISOString() }

function toTimestamp(at: number): string {
  if (latest.at !== at) latest = { at, text: new Date(at).toISOString() }
  return latest.text
}

/** Payloads of plans without secrets, by redactor: runs with the same draft share them. */
const plainPlans = new WeakMap<Redactor, WeakSet<object>>()

function redactPayload(type: EventType, payload: object, redactor: Redactor): unknown {
  if (type === 'complete') return ended(payload, redactor)
  if (type !== 'plan_generated') return redactor.value(payload)
  const plain = plainPlans.get(redactor) ?? new WeakSet()
  plainPlans.set(redactor, plain)
  if (plain.has(payload)) return payload
  const redacted = redactor.value(payload)
  if (redacted === payload) plain.add(payload)
  return redacted
}

/** What leaves otherwise than it is kept; everything else leaves as it is. */
const leaving: { readonly [T in EventType]?: (event: JournalEvent<T>) => object } = {
  start: ({ runId, payload }) => ({ runId, ...payload }),
  plan_generated: ({ payload }) => {
    const { plan } = payload
    // Only plans of pipelines have nodes that a compiler inserted.
    if (!plan?.metadata?.['pipeline']) return payload
    return { ...payload, plan: { ...plan, nodes: markInternal(plan.nodes) } }
  },
  plan_rejected: ({ payload }) => ({ ...payload, error: rejectionError(payload) }),
  // From the second turn on, the words may quote an answer.
  turn_start: ({ payload }) => (payload.rao && payload.turn > 1 ? withholdWords(payload) : payload),
  turn_end: ({ payload }) => (payload.rao ? withholdTexts(payload) : payload),
  attempt_end: ({ payload }) => withholdUndecided(payload),
  attempt_settled: ({ payload }) => withholdUndecided(payload),
  node_error: ({ payload }) => ({ ...payload, error: nodeError(payload) }),
  validation_error: ({ payload }) => ({ ...payload, errors: validationErrors(payload) }),
  complete: ({ payload }) => ({ ...payload, ...(payload.error && { error: failureError(payload.error) }) }),
}

/**
 * Removes the value of an output that reports a confidence: a RAO contract may still suppress it, and a suppressed answer
 * must not reach a client (RAO-08). An accepted value follows in `node_complete`, a value to review in `hitl_request`. The
 * journal keeps it as evidence.
 */
function withholdUndecided<R extends AttemptResult>(result: R): object {
  if (result.output?.confidence === undefined) return result
  const { value: _value, raw: _raw, repairs, ...rest } = result.output
  // Later prompts quote the answer, and so do the changes of repairs.
  const prompts = result.prompts?.slice(0, 1)
  return {
    ...result,
    ...(prompts && { prompts }),
    output: { ...rest, ...(repairs && { repairs: withoutRanges(repairs) }), withheld: true },
  }
}

/** The same for the turns of an agent; the calls of tools are shown. */
function withholdTexts({ parts, ...rest }: TurnEnd): object {
  return { ...rest, parts: parts.filter(({ type }) => type === 'tool-call'), withheld: true }
}

function withholdWords({ user, ...rest }: TurnStart): object {
  return user === undefined ? rest : { ...rest, withheld: true }
}

/** One sentence for each type that reports a failure, a rejection or an ask. */
const descriptions: { readonly [T in EventType]?: (event: JournalEvent<T>) => string | undefined } = {
  plan_rejected: ({ payload }) => rejectionError(payload).message,
  node_error: ({ payload }) => payload.error.message,
  validation_error: ({ payload }) => payload.errors[0]?.message,
  hitl_request: ({ payload }) => payload.question,
  complete: ({ payload }) => payload.error?.message,
}

function describeEvent(event: JournalEvent): string | undefined {
  // The table pairs each type with its own event, which the index access cannot express.
  const describe = descriptions[event.type] as ((event: JournalEvent) => string | undefined) | undefined
  return describe?.(event)
}

function toPayload(event: JournalEvent): object {
  // The table pairs each type with its own event, which the index access cannot express.
  const leave = leaving[event.type] as ((event: JournalEvent) => object) | undefined
  return leave === undefined ? event.payload : leave(event)
}

function ended(payload: { readonly output?: unknown }, redactor: Redactor): unknown {
  const { output, ...rest } = payload
  return {
    ...(redactor.value(rest) as object),
    ...(output !== undefined && { output: redactor.answer(output) }),
  }
}

// Provenance: the facets that a frame refers to (FLEX-56), those of its node, or of the whole plan for planner, policy and
// final frames.

/** Frames that carry provenance although their payload does not; frames of nodes bring their own. */
const types: ReadonlySet<EventType> = new Set([
  'plan_requested',
  'plan_rejected',
  'plan_generated',
  'plan_updated',
  'policy_triggered',
  'hitl_request',
  'hitl_resolved',
  'validation_error',
  'complete',
])

/** The part of a plan that is read. */
export interface ProvenancePlan {
  readonly nodes: readonly Pick<Plan['nodes'][number], 'id' | 'facetProvenance'>[]
}

export function hasProvenance({ type, planVersion }: Pick<JournalEvent, 'type' | 'planVersion'>): boolean {
  return planVersion > 0 && types.has(type)
}

/** The frame with the provenance of the plan that was in force; before there is a plan, as it is. */
export function withProvenance(frame: Frame, plan: ProvenancePlan | undefined): Frame {
  if (plan === undefined || frame.facetProvenance !== undefined || !hasProvenance(frame)) return frame
  const node = plan.nodes.find(({ id }) => id === frame.nodeId)
  return { ...frame, facetProvenance: node?.facetProvenance ?? wholeProvenance(plan) }
}

/** All facets of a plan, each place once. */
function wholeProvenance({ nodes }: ProvenancePlan): FacetProvenance {
  const side = (name: keyof FacetProvenance) => {
    const all = nodes.flatMap(({ facetProvenance }) => facetProvenance?.[name] ?? [])
    return [...new Map(all.map((each) => [`${each.facet} ${each.pointer}`, each])).values()]
  }
  return { input: side('input'), output: side('output') }
}
