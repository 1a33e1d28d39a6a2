/** One attempt: the call, within its time, and what it brought held against the node's contract. Never throws. */
import type { Clock } from '../base/clock.ts'
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import { canAct } from '../domain/can-act.ts'
import type { Capability } from '../domain/capability.ts'
import { withFacets } from '../domain/facet-issue.ts'
import type { AttemptResult, Output, RepairNote, Usage } from '../domain/output.ts'
import type { PlanNode } from '../domain/plan.ts'
import type { Dispatch, Dispatcher } from '../domain/ports/dispatcher.ts'
import { isRaoError, type RaoContract } from '../domain/rao.ts'
import { readRaoEnvelope } from '../domain/rao-envelope.ts'
import { violationIssue } from '../domain/rao-error.ts'
import { repairNotes } from '../domain/repair-notes.ts'
import { parse } from '../output/index.ts'
import { compileSchema } from '../schema/compile.ts'
import { membersOf } from '../schema/members.ts'
import { isLocal } from './budget.ts'
import { dispatchCall } from './dispatch.ts'
import { takeResult, takeSpent } from './take-result.ts'

export interface AttemptCall {
  readonly node: PlanNode
  /** The contract that the answer is under. */
  readonly rao: RaoContract | undefined
  readonly capability: Capability | undefined
  readonly dispatcher: Dispatcher | undefined
  readonly call: Omit<Dispatch, 'signal' | 'capability'>
  readonly clock: Clock
  /** For the jitter of pauses before the call is tried again. */
  readonly random: (() => number) | undefined
  /** Milliseconds since 1970. */
  readonly deadlineAt: number | undefined
  /** The run, the process or a person wants it to stop. */
  readonly signal: AbortSignal
  /** What the call brings after the signal has ended the attempt. */
  readonly onLateResult: (result: AttemptResult) => void
}

export async function runAttempt(attempt: AttemptCall): Promise<AttemptResult> {
  const { node, rao, capability, dispatcher, call, deadlineAt, signal } = attempt
  const impossible = whyImpossible(attempt)
  if (capability === undefined || dispatcher === undefined || impossible !== undefined)
    return failed('provider_error', impossible ?? 'unreachable', { usage: { calls: 0 }, notApplied: true })
  const deadline = deadlineAt === undefined ? undefined : createDeadline(attempt, deadlineAt)
  const stop = deadline?.signal ?? signal
  // What was spent on the way is paid for, however the attempt ends.
  const countCalls = (usage: Usage): Usage =>
    usage.calls > 0 && isLocal(capability) ? { ...usage, calls: 0 } : usage
  let spent = countCalls({ calls: 1 })
  const onUsage = (usage: Usage) => {
    const taken = takeSpent(usage)
    spent = taken === undefined ? spent : countCalls(taken)
    call.onUsage?.(spent)
  }
  const read = (result: unknown) => readResult(result, { node, rao, dispatcher, spent, countCalls })
  let onStop = () => {}
  try {
    const stopped = new Promise<undefined>((resolve) => {
      onStop = () => resolve(undefined)
      if (stop.aborted) onStop()
      else stop.addEventListener('abort', onStop)
    })
    const onAccepted: Dispatch['onAccepted'] = (accepted) => {
      deadline?.defer(answerGraceMs)
      call.onAccepted?.(accepted)
    }
    const sent = { ...call, capability, signal: stop, onUsage, onAccepted }
    const work = dispatchCall(dispatcher, sent, attempt)
    // A call that ignores its signal is not waited for; what it brings afterwards is a late result.
    work
      .then((brought) => {
        const result = signal.aborted && !deadline?.late ? read(brought) : undefined
        // That the call was stopped is no result of it.
        if (result && result.outcome !== 'cancelled') attempt.onLateResult(result)
      })
      .catch(() => {})
    const result = await Promise.race([work, stopped])
    if (deadline?.late)
      return failed('timed_out', `The attempt did not end within its time`, { usage: spent })
    if (stop.aborted) return failed('cancelled', 'The attempt was cancelled', { usage: spent })
    return read(result)
  } catch (cause) {
    if (deadline?.late)
      return failed('timed_out', `The attempt did not end within its time`, { usage: spent })
    if (signal.aborted) return failed('cancelled', 'The attempt was cancelled', { usage: spent })
    return failed('provider_error', messageOf(cause), { usage: spent })
  } finally {
    stop.removeEventListener('abort', onStop)
    deadline?.takeBack()
  }
}

/** How long after its deadline an answer is still looked for that was taken in time. */
export const answerGraceMs = 2_000

/** What a dispatcher brought, held against the node's contract. */
export function readResult(result: unknown, reading: Reading): AttemptResult {
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

interface Reading extends Pick<AttemptCall, 'node' | 'rao'> {
  readonly dispatcher: Dispatcher
  readonly spent: Usage
  /** Calls of what runs in this process count as none. */
  readonly countCalls: (usage: Usage) => Usage
}

/** The attempt's signal where it has a time of its own: it ends with the run, or late. */
function createDeadline({ signal, clock }: AttemptCall, deadlineAt: number) {
  const stop = new AbortController()
  const onAbort = () => stop.abort(signal.reason)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort)
  const deadline = {
    signal: stop.signal,
    late: false,
    /** An accepted call ends by itself at its deadline; this is for one that does not. */
    defer(ms: number) {
      cancel()
      cancel = clock.timer(deadlineAt + ms, onLate)
    },
    takeBack() {
      cancel()
      signal.removeEventListener('abort', onAbort)
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
  if (call.constraints.no_network_access && dispatcher.remote)
    return `"${node.id}" has no network access, and "${capability.capabilityId}" is remote`
  // A capability may have been registered anew since the proof.
  if (call.constraints.no_execution_authority && canAct(capability))
    return `"${node.id}" has no execution authority, and "${capability.capabilityId}" can do more than answer`
  return undefined
}

/** What came back is only an output if it satisfies the contract, whoever made it. */
function checkOutput({ node, rao }: Reading, result: AttemptResult): AttemptResult {
  if (result.outcome !== 'ok') return result
  if (!result.output) return { ...result, outcome: 'invalid', issues: [issue('The call brought no value')] }
  if (rao === undefined) return validated(node, result, result.output)
  const envelope = readRaoEnvelope(result.output.value, rao)
  if (isRaoError(envelope)) return { ...result, outcome: 'invalid', issues: [violationIssue(envelope)] }
  const read = readPrimary(envelope.primaryOutput, node)
  if ('issues' in read) return { ...result, outcome: 'invalid', issues: read.issues }
  const repairs = [...(result.output.repairs ?? []), ...read.repairs]
  return validated(node, result, {
    ...result.output,
    value: read.value,
    ...(repairs.length > 0 && { repairs }),
    confidence: envelope.confidence,
    confidenceType: envelope.confidenceType,
    escalate: envelope.escalate,
    ...(envelope.reasoning !== undefined && { reasoning: envelope.reasoning }),
  })
}

/** `primary_output` is text; where the node's contract wants something else, it is read like any text of a model. */
function readPrimary(
  text: string,
  node: PlanNode,
): { value: Json; repairs: readonly RepairNote[] } | { issues: readonly Issue[] } {
  const schema = node.contracts.output
  const compiled = compileSchema(schema)
  if (compiled.accepts(text)) return { value: text, repairs: [] }
  const read = parse(text, schema)
  if (read.ok) return { value: read.value as Json, repairs: repairNotes(read.repairs) }
  // Where the contract has one property and it may be a text, plain text is its value.
  const [only, ...others] = membersOf(schema)
  const value = only && others.length === 0 ? { [only.name]: text } : undefined
  return value !== undefined && compiled.accepts(value) ? { value, repairs: [] } : { issues: read.issues }
}

function validated(node: PlanNode, result: AttemptResult, output: Output): AttemptResult {
  const found = compileSchema(node.contracts.output).validate(output.value)
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
