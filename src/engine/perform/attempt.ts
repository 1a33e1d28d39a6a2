/**
 * Performs one attempt: makes the call within its deadline and validates the result against the node's contract. Never
 * throws.
 */
import { toErrorMessage } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, joined } from '../../base/json.ts'
import { createStop, type Stop, withSignal } from '../../base/stop.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { RetryableFailure, RetrySource } from '../../base/time/retry.ts'
import { createCallRetries } from '../../domain/attempt/call-retries.ts'
import { type Capability, canAct } from '../../domain/capability.ts'
import {
  type AttemptResult,
  type Output,
  type RepairNote,
  repairNotes,
  type Usage,
} from '../../domain/output.ts'
import { type PlanNode, withFacets } from '../../domain/plan.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { ParseText } from '../../domain/ports/parse-text.ts'
import { isRaoError, type RaoContract, violationIssue } from '../../domain/rao/rao-contract.ts'
import { readRaoEnvelope } from '../../domain/rao/rao-envelope.ts'
import { hasSealedText } from '../../domain/redaction/seal-values.ts'
import { listMembers } from '../../schema/build/project.ts'
import { type CompileOptions, compileSchema } from '../../schema/compile/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { isLocal } from '../decide/budget.ts'
import { takeResult, takeSpent } from './take-result.ts'

export interface AttemptCall {
  readonly node: PlanNode
  /** What the answer must satisfy: the node's output contract, and for an alternate also the capability's own. */
  readonly returns: JsonSchema
  /** The confidence contract of the answer. */
  readonly rao: RaoContract | undefined
  readonly compileOptions: CompileOptions | undefined
  readonly parseText: ParseText
  readonly capability: Capability | undefined
  readonly dispatcher: Dispatcher | undefined
  readonly call: Omit<Dispatch, 'signal' | 'capability'>
  readonly clock: Clock
  /** Source of jitter for retry pauses. */
  readonly random: (() => number) | undefined
  /** Milliseconds since 1970. */
  readonly deadlineAt: number | undefined
  /** Aborted when the run, the process or a person stops the attempt. */
  readonly stop: Stop
  /** Called with a result that arrives after the attempt has ended. */
  readonly onLateResult: (result: AttemptResult) => void
}

export async function runAttempt(attempt: AttemptCall): Promise<AttemptResult> {
  const {
    node,
    returns,
    rao,
    compileOptions,
    parseText,
    capability,
    dispatcher,
    call,
    deadlineAt,
    stop: given,
  } = attempt
  const impossible = whyImpossible(attempt)
  if (capability === undefined || dispatcher === undefined || impossible !== undefined)
    return failed('provider_error', impossible ?? 'unreachable', { usage: { calls: 0 }, notApplied: true })
  const deadline = deadlineAt === undefined ? undefined : createDeadline(attempt, deadlineAt)
  const stop = deadline?.stop ?? given
  // Usage is charged regardless of how the attempt ends.
  const countCalls = (usage: Usage): Usage =>
    usage.calls > 0 && isLocal(capability) ? { ...usage, calls: 0 } : usage
  let spent = countCalls({ calls: 1 })
  const onUsage = (usage: Usage) => {
    const taken = takeSpent(usage)
    spent = taken === undefined ? spent : countCalls(taken)
    call.onUsage?.(spent)
  }
  const read = (result: unknown) =>
    readResult(result, { node, returns, rao, compileOptions, parseText, dispatcher, spent, countCalls })
  let leave = () => {}
  const onAccepted: Dispatch['onAccepted'] = (accepted) => {
    deadline?.defer(answerGraceMs)
    call.onAccepted?.(accepted)
  }
  const sent: Dispatch = withSignal(joined(call, { capability, onUsage, onAccepted }), stop)
  const takeLate = async (brought: unknown) => {
    try {
      const result = await read(brought)
      // A cancellation is not a result of the call.
      if (result.outcome !== 'cancelled') attempt.onLateResult(result)
    } catch {
      // The attempt has ended: an unreadable late result is ignored.
    }
  }
  try {
    const result = await new Promise<unknown>((resolve, reject) => {
      leave = stop.listen(() => resolve(undefined))
      dispatchCall(dispatcher, sent, attempt).then((brought) => {
        resolve(brought)
        // A call that ignores its signal is not awaited; its later result is a late result.
        if (given.aborted && !deadline?.late) void takeLate(brought)
      }, reject)
    })
    if (deadline?.late)
      return failed('timed_out', `The attempt did not end within its time`, { usage: spent })
    if (stop.aborted) return failed('cancelled', 'The attempt was cancelled', { usage: spent })
    return await read(result)
  } catch (cause) {
    if (deadline?.late)
      return failed('timed_out', `The attempt did not end within its time`, { usage: spent })
    if (given.aborted) return failed('cancelled', 'The attempt was cancelled', { usage: spent })
    return failed('provider_error', toErrorMessage(cause), { usage: spent })
  } finally {
    leave()
    deadline?.takeBack()
  }
}

/** How long after the deadline to wait for the answer of an accepted call. */
export const answerGraceMs = 2_000

/** Validates the result of a dispatcher against the node's contract. */
export function readResult(result: unknown, reading: Reading): AttemptResult | Promise<AttemptResult> {
  const { dispatcher, spent, countCalls } = reading
  const taken = takeResult(result, dispatcher)
  if ('fault' in taken)
    return failed('provider_error', `The dispatcher of kind "${dispatcher.kind}" ${taken.fault}`, {
      usage: spent,
    })
  if ('issue' in taken) return { outcome: 'invalid', issues: [taken.issue], usage: countCalls(taken.usage) }
  const usage = countCalls(taken.result.usage)
  return checkOutput(reading, usage === taken.result.usage ? taken.result : { ...taken.result, usage })
}

interface Reading extends Pick<AttemptCall, 'node' | 'returns' | 'rao' | 'compileOptions' | 'parseText'> {
  readonly dispatcher: Dispatcher
  readonly spent: Usage
  /** Sets the calls of local capabilities to zero. */
  readonly countCalls: (usage: Usage) => Usage
}

/** Creates the stop of an attempt with a deadline: it is aborted with the run, or when the time is up. */
function createDeadline({ stop: given, clock }: AttemptCall, deadlineAt: number) {
  const stop = createStop()
  const leave = given.listen(() => stop.abort(given.reason))
  const deadline = {
    stop,
    late: false,
    /** Delays the timeout: an accepted call ends by itself at its deadline, and this catches one that does not. */
    defer(ms: number) {
      cancel()
      cancel = clock.timer(deadlineAt + ms, onLate)
    },
    takeBack() {
      cancel()
      leave()
    },
  }
  const onLate = () => {
    deadline.late = true
    stop.abort(new Error('The attempt took too long'))
  }
  let cancel = clock.timer(deadlineAt, onLate)
  return deadline
}

function whyImpossible({ node, capability, dispatcher, call }: AttemptCall): string | undefined {
  if (!capability) return `No capability "${node.capabilityId ?? ''}" is registered in this process`
  if (!dispatcher) return `Nothing here can call capabilities of kind "${capability.kind}"`
  if (hasSealedText(call.bundle.inputs))
    return `The inputs of "${node.id}" have secrets that no key of this process opens; set PROVISO_SECRET_KEY_PREVIOUS to their key`
  if (call.constraints.no_network_access && dispatcher.remote)
    return `"${node.id}" has no network access, and "${capability.capabilityId}" is remote`
  if (node.capabilityId === capability.capabilityId && isChanged(node.capabilityVersion, capability))
    return `The definition of "${capability.capabilityId}" changed after the plan was made; start a new run to plan with it as it is now`
  // A capability may have been registered again since the proof.
  if (call.constraints.no_execution_authority && canAct(capability))
    return `"${node.id}" has no execution authority, and "${capability.capabilityId}" can do more than answer`
  return undefined
}

function isChanged(planned: string | undefined, { version }: Capability): boolean {
  return planned !== undefined && planned !== version
}

/** A result counts as output only if it satisfies the contract, regardless of its producer. */
function checkOutput(reading: Reading, result: AttemptResult): AttemptResult | Promise<AttemptResult> {
  const { rao } = reading
  if (result.outcome !== 'ok') return result
  if (!result.output) return { ...result, outcome: 'invalid', issues: [issue('The call brought no value')] }
  if (rao === undefined) return validated(reading, result, result.output)
  return checkEnvelope(reading, result, { rao, output: result.output })
}

async function checkEnvelope(
  reading: Reading,
  result: AttemptResult,
  { rao, output }: { readonly rao: RaoContract; readonly output: Output },
): Promise<AttemptResult> {
  const envelope = readRaoEnvelope(output.value, rao)
  if (isRaoError(envelope)) return { ...result, outcome: 'invalid', issues: [violationIssue(envelope)] }
  const read = await readPrimary(envelope.primaryOutput, reading)
  if ('issues' in read) return { ...result, outcome: 'invalid', issues: read.issues }
  const repairs = [...(output.repairs ?? []), ...read.repairs]
  return validated(reading, result, {
    ...output,
    value: read.value,
    ...(repairs.length > 0 && { repairs }),
    confidence: envelope.confidence,
    confidenceType: envelope.confidenceType,
    escalate: envelope.escalate,
    ...(envelope.reasoning !== undefined && { reasoning: envelope.reasoning }),
  })
}

/** `primary_output` is text; if the node's contract requires another type, parses it like any model output. */
async function readPrimary(
  text: string,
  { returns: schema, compileOptions, parseText }: Reading,
): Promise<{ value: Json; repairs: readonly RepairNote[] } | { issues: readonly Issue[] }> {
  const compiled = compileSchema(schema, compileOptions)
  if (compiled.accepts(text)) return { value: text, repairs: [] }
  const read = await parseText(text, schema, compileOptions ?? {})
  if (read.ok) return { value: read.value as Json, repairs: repairNotes(read.repairs) }
  // If the contract has a single property that may be a string, plain text is its value.
  const [only, ...others] = listMembers(schema)
  const value = only && others.length === 0 ? { [only.name]: text } : undefined
  return value !== undefined && compiled.accepts(value) ? { value, repairs: [] } : { issues: read.issues }
}

function validated(
  { node, returns, compileOptions }: Reading,
  result: AttemptResult,
  output: Output,
): AttemptResult {
  const found = compileSchema(returns, compileOptions).validate(output.value)
  const issues = withFacets(found, node.facetProvenance.output)
  return issues.length === 0 ? { ...result, output } : { ...result, output, outcome: 'invalid', issues }
}

export function failed(
  outcome: AttemptResult['outcome'],
  message: string,
  more: { readonly usage: Usage; readonly notApplied?: boolean },
): AttemptResult {
  const { usage, notApplied } = more
  return { outcome, issues: [issue(message, outcome)], usage, ...(notApplied && { notApplied }) }
}

function issue(message: string, outcome = 'invalid'): Issue {
  return { code: `attempt/${outcome}`, at: { pointer: '' }, message }
}

// Calls a dispatcher, with retries if the call was throttled or did not arrive.

/** Refused tries do not count as calls. A dispatcher with `retries` is called once. */
async function dispatchCall(
  dispatcher: Dispatcher,
  call: Dispatch,
  source: RetrySource,
): Promise<AttemptResult> {
  const first = await dispatcher.dispatch(call)
  if (dispatcher.retries || failedTry(first) === undefined) return first
  const retries = createCallRetries({
    ...source,
    signal: call.signal,
    deadlineAt: call.deadlineAt,
    onEvent: call.onEvent,
    onRetry: () => call.onUsage?.({ calls: 0 }),
  })
  let tries = 0
  const result = await retries.run(async () => {
    if (tries++ === 0) return first
    call.onUsage?.({ calls: 1 })
    return dispatcher.dispatch(call)
  }, failedTry)
  if (failedTry(result) === undefined || !isObject(result.usage)) return result
  return { ...result, usage: { ...result.usage, calls: 0 } }
}

/** Dispatchers are untrusted: anything that is not a result is handled and reported in `take-result.ts`. */
function failedTry(result: unknown): RetryableFailure | undefined {
  if (!isObject(result)) return undefined
  const { outcome, retryAfterMs, final } = result
  if (final === true || (outcome !== 'throttled' && outcome !== 'unavailable')) return undefined
  const isPause = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs)
  return { outcome, retryAfterMs: isPause ? retryAfterMs : undefined }
}
