/**
 * From a task to a value under contract: the first call, then rung by rung within one budget of calls (DECISIONS 22).
 * The reader looks at every text; every rung is an event with its stage and cost; and what is accepted comes from one
 * answer alone. Used by the model dispatcher for nodes, and by `generateValue` without an engine.
 */
import type { Issue } from '../../base/issue.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { failedTry } from '../../domain/model-answer.ts'
import type { AttemptResult, Output, RepairNote } from '../../domain/output.ts'
import type { ModelAnswer } from '../../domain/ports/provider.ts'
import { raoEnvelopeSchema } from '../../domain/rao-envelope.ts'
import { schemaHash } from '../../schema/hash.ts'
import { cutOff, ended, issueOf } from './attempt-end.ts'
import { type Reading, readText } from './reading.ts'
import { type Climb, insteadOf, type Rung, rungsFor, type Try } from './rungs.ts'

/** Never throws for what a model does; a rejection is a bug. */
export async function climb(task: Climb): Promise<AttemptResult> {
  let last: Try | undefined
  for (const planned of rungsFor(task)) {
    if (task.signal.aborted)
      return ended(task, { answer: { kind: 'cancelled', message: 'The call was cancelled' } })
    const rung = last && !planned.follows(last, task) ? insteadOf(planned, last) : planned
    if (rung === undefined) continue
    const tried = await take(rung, task, last)
    if (tried === undefined) continue
    if (tried.output) return accepted(task, tried, rung)
    // What the budget does not allow is no news about the answer that is there.
    if (tried.refused && last) return ended(task, { ...last, issues: [...last.issues, ...tried.issues] })
    last = tried.fallen ? { ...tried, text: tried.text ?? last?.text } : tried
    if (isFinal(tried, task)) break
  }
  return ended(task, last)
}

/** One rung: its call, the reader, and the events around it. */
async function take(rung: Rung, task: Climb, last: Try | undefined): Promise<Try | undefined> {
  const before = task.caller.spent()
  if (rung.name !== 'first')
    tell(task, rung, 'started', { ...(last?.answer.kind === 'error' && { provider_error: true }) })
  if (rung.name === 'degrade') return degraded(rung, task, last)
  const asked = rung.ask?.(task, last)
  if (asked === undefined) return undefined
  const called = await task.caller.call({ ...task.target, ...asked })
  if (called.kind === 'refused')
    return { answer: { kind: 'error', message: called.issue.message }, issues: [called.issue], refused: true }
  const { answer, doomed } = called
  const text = 'text' in answer ? answer.text : undefined
  const reading = doomed
    ? ({ ok: false, issues: doomed, truncated: false } as const)
    : read(task, answer, asked.restore)
  if (doomed)
    task.onEvent('stream.aborted', { issue: doomed[0]?.message ?? '', characters: text?.length ?? 0 })
  const tried = tryOf(
    answer,
    gaveUp(rung, reading) ? { ok: false, issues: [notRepaired], truncated: false } : reading,
    text,
  )
  if (rung.name !== 'first') {
    const spent = task.caller.spent()
    tell(task, rung, tried.output ? 'success' : 'failed', {
      input_tokens: (spent.inputTokens ?? 0) - (before.inputTokens ?? 0),
      output_tokens: (spent.outputTokens ?? 0) - (before.outputTokens ?? 0),
      ...(spent.costUsd !== undefined && { cost_usd: spent.costUsd - (before.costUsd ?? 0) }),
    })
  }
  return tried
}

/** Reads what came, if anything did; the reader's own repair of it is the deterministic stage. */
function read(
  task: Climb,
  answer: ModelAnswer,
  restore?: (value: Json) => Json | undefined,
): Reading | undefined {
  const text = answer.kind === 'text' ? answer.text : answer.kind === 'error' ? answer.text : undefined
  if (text === undefined) return undefined
  let changed = false
  const schema_hash = schemaHash(task.rao ? raoEnvelopeSchema : task.schema)
  const started = (event: string, payload: { readonly [key: string]: Json }) => {
    // What would be done is told, and is no repair.
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
  }
  const reading = restore ? readRestored(text, context, restore) : readText(text, context, answer.structured)
  if (changed)
    task.onEvent(`aros.repair.${reading.ok ? 'success' : 'failed'}`, { stage: 'deterministic', schema_hash })
  return reading
}

/** An answer in another shape than the author's: read as any value, put back, then read toward the schema. */
function readRestored(
  text: string,
  context: Parameters<typeof readText>[1],
  restore: (value: Json) => Json | undefined,
): Reading {
  const loose = readText(text, { ...context, schema: { type: 'object' } })
  if (!loose.ok) return loose
  const value = restore(loose.value)
  if (value === undefined) return { ok: false, issues: [nothing], truncated: false }
  return readText(JSON.stringify(value), { ...context, processing: { ...context.processing, aop: 'full' } })
}

function tryOf(answer: ModelAnswer, reading: Reading | undefined, text: string | undefined): Try {
  const cut = answer.kind === 'text' && answer.finish !== 'stop'
  if (reading === undefined) return { answer, issues: [issueOf(answer)], fallen: true }
  if (!reading.ok && reading.declined) {
    const [issue] = reading.issues
    const refused: ModelAnswer = { kind: 'refused', message: issue?.message ?? '', usage: {} }
    return { answer: refused, issues: reading.issues, text, fallen: true }
  }
  if (!reading.ok) {
    const issues = cut ? [...reading.issues, cutOff(answer)] : reading.issues
    return { answer, issues, text, truncated: cut || reading.truncated, fallen: true }
  }
  // Cut off is cut off, however whole it looks: what is missing cannot be seen.
  if (cut || reading.truncated)
    return { answer, issues: [cutOff(answer)], text, truncated: true, fallen: true }
  const reasoning = answer.kind === 'text' ? answer.reasoning : undefined
  const output: Output = {
    value: reading.value,
    ...(text !== undefined && { raw: text }),
    ...(reasoning !== undefined && { reasoning }),
    ...(reading.repairs.length > 0 && { repairs: reading.repairs }),
  }
  return { answer, issues: [], text, output }
}

/** The last rung: the model's own text where a text will do (FSD-16); it costs nothing, and is marked. */
function degraded(rung: Rung, task: Climb, last: Try | undefined): Try | undefined {
  const value = last?.text === undefined ? undefined : rung.stand?.(task, last.text)
  tell(task, rung, value === undefined ? 'failed' : 'success', {})
  if (value === undefined || !last) return undefined
  return {
    answer: last.answer,
    issues: [],
    text: last.text,
    output: { value, raw: last.text ?? '', degraded: true },
  }
}

function tell(
  task: Climb,
  rung: Rung,
  what: 'started' | 'success' | 'failed',
  more: { readonly [key: string]: Json },
): void {
  const schema_hash = schemaHash(task.schema)
  if (rung.family === 'repair')
    task.onEvent(`aros.repair.${what}`, { stage: rung.stage, schema_hash, ...more })
  else task.onEvent('aros.fallback.stage', { stage: rung.stage, result: what, schema_hash, ...more })
}

/** Whether climbing on makes no sense: nobody wants it, nothing is left, or the same would happen again. */
function isFinal({ answer, refused }: Try, { processing }: Climb): boolean {
  if (refused || answer.kind === 'cancelled' || answer.kind === 'timed_out') return true
  if (failedTry(answer) !== undefined) return true
  if (answer.kind === 'refused') return true
  return answer.kind === 'error' && (answer.fatal === true || !processing.degradeOnUnexpected)
}

function accepted(task: Climb, { output }: Try, rung: Rung): AttemptResult {
  // Who really wrote it is part of where it comes from.
  const note: RepairNote[] = rung.note ? [{ stage: rung.stage, rule: rung.note }] : []
  const repairs = [...note, ...(output?.repairs ?? [])]
  return {
    outcome: 'ok',
    ...(output && { output: { ...output, ...(repairs.length > 0 && { repairs }) } }),
    issues: [],
    usage: task.caller.spent(),
    model: task.target.model,
  }
}

/** A model that repairs may say that it cannot. */
function gaveUp(rung: Rung, reading: Reading | undefined): boolean {
  return (
    rung.name === 'repair' &&
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
