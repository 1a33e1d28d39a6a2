/**
 * Generates a value under contract: the first call, then fallback steps within one budget of calls (DECISIONS 22). The
 * reader parses every text; every step is an event with its stage and cost; and the accepted value comes from one answer
 * only. Used by the model dispatcher for nodes, and by `generateValue` without an engine.
 */
import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../../base/json.ts'
import { toReferences } from '../../../domain/content/file-value.ts'
import type { AttemptResult, Output, RepairNote, SentPrompt } from '../../../domain/output.ts'
import { type ModelAnswer, toRetryableFailure } from '../../../domain/ports/provider.ts'
import { raoEnvelopeSchema } from '../../../domain/rao/rao-envelope.ts'
import { schemaHash } from '../../../schema/hash.ts'
import {
  type AttemptOutcome,
  type FallbackStep,
  findReplacement,
  type Generation,
  planSteps,
} from './fallback-steps.ts'
import { type Reading, readText } from './read-output.ts'

/** Never throws for model errors; a rejection is a bug. */
export async function generate(task: Generation): Promise<AttemptResult> {
  const prompts: SentPrompt[] = []
  const result = await takeSteps(task, prompts)
  return prompts.length > 0 ? { ...result, prompts } : result
}

async function takeSteps(task: Generation, prompts: SentPrompt[]): Promise<AttemptResult> {
  let last: AttemptOutcome | undefined
  for (const planned of planSteps(task)) {
    if (task.signal.aborted)
      return ended(task, { answer: { kind: 'cancelled', message: 'The call was cancelled' } })
    const step = last && !planned.follows(last, task) ? findReplacement(planned, last) : planned
    if (step === undefined) continue
    const tried = await take(step, { task, prompts }, last)
    if (tried === undefined) continue
    if (tried.output) return accepted(task, tried, step)
    // A call that the budget refused says nothing about the answer we have.
    if (tried.refused && last) return ended(task, { ...last, issues: [...last.issues, ...tried.issues] })
    last = tried.fallen ? { ...tried, text: tried.text ?? last?.text } : tried
    if (isFinal(tried, task)) break
  }
  return ended(task, last)
}

/** Runs one step: its call, the reader, and the events around it. */
async function take(
  step: FallbackStep,
  { task, prompts }: { readonly task: Generation; readonly prompts: SentPrompt[] },
  last: AttemptOutcome | undefined,
): Promise<AttemptOutcome | undefined> {
  const before = task.caller.spent()
  if (step.name !== 'first')
    report(task, step, 'started', { ...(last?.answer.kind === 'error' && { provider_error: true }) })
  if (step.name === 'degrade') return degraded(step, task, last)
  const asked = step.ask?.(task, last)
  if (asked === undefined) return undefined
  // Repairing and extracting need the text alone.
  const files = step.family === 'repair' || step.name === 'extractor' ? [] : (task.target.files ?? [])
  const called = await task.caller.call({ ...task.target, ...asked, files })
  if (called.kind === 'refused')
    return { answer: { kind: 'error', message: called.issue.message }, issues: [called.issue], refused: true }
  prompts.push({
    step: step.name,
    system: called.system,
    prompt: asked.prompt,
    ...(files.length > 0 && { files: toReferences(files) }),
  })
  const { answer, doomed } = called
  const text = 'text' in answer ? answer.text : undefined
  const reading = doomed
    ? ({ ok: false, issues: doomed, truncated: false } as const)
    : await read(task, answer, asked.restore)
  if (doomed)
    task.onEvent('stream.aborted', { issue: doomed[0]?.message ?? '', characters: text?.length ?? 0 })
  const tried = toAttemptOutcome(
    answer,
    gaveUp(step, reading) ? { ok: false, issues: [notRepaired], truncated: false } : reading,
    text,
  )
  if (step.name !== 'first') {
    const spent = task.caller.spent()
    report(task, step, tried.output ? 'success' : 'failed', {
      input_tokens: (spent.inputTokens ?? 0) - (before.inputTokens ?? 0),
      output_tokens: (spent.outputTokens ?? 0) - (before.outputTokens ?? 0),
      ...(spent.costUsd !== undefined && { cost_usd: spent.costUsd - (before.costUsd ?? 0) }),
    })
  }
  return tried
}

/** Parses the answer, if there is one; a repair by the reader counts as the deterministic stage. */
async function read(
  task: Generation,
  answer: ModelAnswer,
  restore?: (value: Json) => Json | undefined,
): Promise<Reading | undefined> {
  const text = answer.kind === 'text' ? answer.text : answer.kind === 'error' ? answer.text : undefined
  if (text === undefined) return undefined
  let changed = false
  const schema_hash = schemaHash(task.rao ? raoEnvelopeSchema : task.schema)
  const started = (event: string, payload: { readonly [key: string]: Json }) => {
    // Shadow mode only reports changes: this is not a repair.
    if (payload['shadow'] === true) return task.onEvent(event, payload)
    if (!changed) task.onEvent('aros.repair.started', { stage: 'deterministic', schema_hash })
    changed = true
    task.onEvent(event, payload)
  }
  const context = {
    schema: task.schema,
    rao: task.rao,
    processing: task.processing,
    onEvent: ({ type, ...payload }: { readonly type: string }) =>
      started(type, payload as { [key: string]: Json }),
    parseText: task.parseText,
    signal: task.signal,
  }
  const reading = refused(
    task,
    await (restore ? readRestored(text, context, restore) : readText(text, context, answer.structured)),
  )
  if (changed)
    task.onEvent(`aros.repair.${reading.ok ? 'success' : 'failed'}`, { stage: 'deterministic', schema_hash })
  return reading
}

/** Refuses a value that the caller's own validator refuses: its issues go into the next request. */
function refused({ refuse }: Generation, reading: Reading): Reading {
  const issues = reading.ok && refuse ? refuse(reading.value) : []
  return issues.length > 0 ? { ok: false, issues, truncated: reading.truncated } : reading
}

/** Reads an answer in a simplified shape: parses any value, restores the shape, then parses it against the schema. */
async function readRestored(
  text: string,
  context: Parameters<typeof readText>[1],
  restore: (value: Json) => Json | undefined,
): Promise<Reading> {
  const loose = await readText(text, { ...context, schema: { type: 'object' } })
  if (!loose.ok) return loose
  const value = restore(loose.value)
  if (value === undefined) return { ok: false, issues: [nothing], truncated: false }
  return readText(JSON.stringify(value), {
    ...context,
    raw: text,
    processing: { ...context.processing, aop: 'full' },
  })
}

function toAttemptOutcome(
  answer: ModelAnswer,
  reading: Reading | undefined,
  text: string | undefined,
): AttemptOutcome {
  const cut = answer.kind === 'text' && answer.finish !== 'stop'
  if (reading === undefined) return { answer, issues: [toIssue(answer)], fallen: true }
  if (!reading.ok && reading.declined) {
    const [issue] = reading.issues
    const refused: ModelAnswer = { kind: 'refused', message: issue?.message ?? '', usage: {} }
    return { answer: refused, issues: reading.issues, text, fallen: true }
  }
  if (!reading.ok) {
    const issues = cut ? [...reading.issues, cutOff(answer)] : reading.issues
    return { answer, issues, text, truncated: cut || reading.truncated, fallen: true }
  }
  // A truncated answer is never accepted, even if it looks complete: the missing part is unknown.
  if (cut || reading.truncated)
    return { answer, issues: [cutOff(answer)], text, truncated: true, fallen: true }
  const reasoning = (answer.kind === 'text' ? answer.reasoning : undefined) ?? reading.reasoning
  const output: Output = {
    value: reading.value,
    ...(text !== undefined && { raw: text }),
    ...(reasoning !== undefined && { reasoning }),
    ...(reading.repairs.length > 0 && { repairs: reading.repairs }),
  }
  return { answer, issues: [], text, output }
}

/** The last step: returns the model's own text where the contract allows text (FSD-16); it makes no call, and is marked. */
function degraded(
  step: FallbackStep,
  task: Generation,
  last: AttemptOutcome | undefined,
): AttemptOutcome | undefined {
  const value = last?.text === undefined ? undefined : step.degrade?.(task, last.text)
  report(task, step, value === undefined ? 'failed' : 'success', {})
  if (value === undefined || !last) return undefined
  return {
    answer: last.answer,
    issues: [],
    text: last.text,
    output: { value, raw: last.text ?? '', degraded: true },
  }
}

function report(
  task: Generation,
  step: FallbackStep,
  what: 'started' | 'success' | 'failed',
  more: { readonly [key: string]: Json },
): void {
  const schema_hash = schemaHash(task.schema)
  if (step.family === 'repair')
    task.onEvent(`aros.repair.${what}`, { stage: step.stage, schema_hash, ...more })
  else task.onEvent('aros.fallback.stage', { stage: step.stage, result: what, schema_hash, ...more })
}

/** Whether further steps are pointless: cancelled, out of budget, or non-retryable. */
function isFinal({ answer, refused }: AttemptOutcome, { processing }: Generation): boolean {
  if (refused || answer.kind === 'cancelled' || answer.kind === 'timed_out') return true
  if (toRetryableFailure(answer) !== undefined) return true
  if (answer.kind === 'refused') return true
  return answer.kind === 'error' && (answer.fatal === true || !processing.degradeOnUnexpected)
}

function accepted(task: Generation, { output }: AttemptOutcome, step: FallbackStep): AttemptResult {
  // Provenance records which step produced the value.
  const note: RepairNote[] = step.note ? [{ stage: step.stage, rule: step.note }] : []
  const repairs = [...note, ...(output?.repairs ?? [])]
  return {
    outcome: 'ok',
    ...(output && { output: { ...output, ...(repairs.length > 0 && { repairs }) } }),
    issues: [],
    usage: task.caller.spent(),
    model: task.target.model,
  }
}

/** A repairing model may report that it cannot repair. */
function gaveUp(step: FallbackStep, reading: Reading | undefined): boolean {
  return (
    step.name === 'repair' &&
    reading?.ok === true &&
    isObject(reading.value) &&
    own(reading.value, 'repair_error') === true
  )
}

const notRepaired: Issue = {
  code: 'attempt/invalid',
  at: { pointer: '' },
  message: 'The model could not repair its answer',
}

const nothing: Issue = {
  code: 'attempt/invalid',
  at: { pointer: '' },
  message: 'The flat answer holds nothing',
}

// Converts the last call of an attempt without a value to an outcome and an issue.

/** Returns the result of an attempt that ended without a value. */
function ended(
  task: Generation,
  last: (Pick<AttemptOutcome, 'answer'> & Partial<AttemptOutcome>) | undefined,
): AttemptResult {
  const answer: ModelAnswer = last?.answer ?? { kind: 'error', message: 'No call was made' }
  return {
    ...toFailure(answer, { usage: task.caller.spent(), model: task.target.model }),
    ...(last?.issues && { issues: last.issues }),
    outcome: toOutcome(answer, last?.truncated ?? false),
    ...(answer.kind === 'text' && last?.text !== undefined && { raw: last.text }),
  }
}

/** Converts an answer without a value to the result of an attempt. */
export function toFailure(
  answer: ModelAnswer,
  { usage, model }: Required<Pick<AttemptResult, 'usage' | 'model'>>,
): AttemptResult {
  return {
    outcome: toOutcome(answer, false),
    issues: [toIssue(answer)],
    usage,
    model,
    ...(usage.calls === 0 && isUnsent(answer) && { notApplied: true }),
    ...(answer.kind === 'error' && answer.fatal && { final: true }),
    ...(answer.kind === 'throttled' &&
      answer.retryAfterMs !== undefined && { retryAfterMs: answer.retryAfterMs }),
  }
}

/** Whether no request reached a model, as far as is known. */
function isUnsent(answer: ModelAnswer): boolean {
  return answer.kind === 'unavailable' ? answer.notSent === true : answer.kind !== 'cancelled'
}

function toOutcome(answer: ModelAnswer, truncated: boolean): AttemptResult['outcome'] {
  if (answer.kind === 'text') return truncated ? 'truncated' : 'invalid'
  return answer.kind === 'error' ? 'provider_error' : answer.kind
}

function toIssue(answer: ModelAnswer): Issue {
  const outcome = toOutcome(answer, false)
  return {
    code: `attempt/${outcome}`,
    at: { pointer: '' },
    message: 'message' in answer ? answer.message : outcome,
    ...(answer.kind === 'error' && answer.hint !== undefined && { hint: answer.hint }),
  }
}

function cutOff(answer: ModelAnswer): Issue {
  const cut = answer.kind === 'text' && answer.finish === 'cut'
  return {
    code: 'attempt/truncated',
    at: { pointer: '' },
    message: cut
      ? 'The connection broke before the answer was complete'
      : 'The model was cut off before its answer was complete',
    hint: 'Allow more output tokens, or ask for less',
  }
}
