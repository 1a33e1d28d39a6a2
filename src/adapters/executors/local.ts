/** Runs capabilities in this process: calls their functions, or plays their script. */
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, joined } from '../../base/json.ts'
import { withSignal } from '../../base/stop.ts'
import type { Clock } from '../../base/time/clock.ts'
import { pause } from '../../base/time/retry.ts'
import type { DefinedCapability, LocalContext } from '../../domain/capability/define-capability.ts'
import { ask, reject, toQuestion } from '../../domain/capability/end-call.ts'
import type { AttemptResult, Outcome } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import { type ParseText, parseHere } from '../../domain/ports/parse-text.ts'
import { type StandardSchemaV1, validateStandard } from '../../schema/standard.ts'
import { readAnswer } from './read-answer.ts'

/** A function with the validators of its capability. */
export type ValidatedFunction = Required<Pick<DefinedCapability, 'run'>> &
  Pick<DefinedCapability, 'validators'>

/** Calls functions of this process. They may return values that are not plain JSON: the engine copies the result. */
export function localDispatcher(functions: ReadonlyMap<string, ValidatedFunction>): Dispatcher {
  return {
    kind: 'local',
    remote: false,
    retries: true,
    async dispatch(call): Promise<AttemptResult> {
      const { capability, bundle, runId, nodeId, attempt, idempotencyKey } = call
      const defined = functions.get(capability.capabilityId)
      if (!defined) throw new Error(`"${capability.capabilityId}" has no function in this process`)
      const { inputs, feedback = [], ...rest } = bundle
      let value: Json
      try {
        const given = joined(rest, { feedback, runId, nodeId, attempt, idempotencyKey, reject, ask })
        value = await callFunction(defined, inputs, withSignal(given, call))
      } catch (cause) {
        if (ProvisoError.is(cause) && cause.code === 'capability/refused') return refused(cause)
        if (ProvisoError.is(cause) && cause.code === 'capability/unclear')
          return { outcome: 'unclear', question: toQuestion(cause), issues: [], usage: { calls: 0 } }
        throw cause
      }
      return checkValue(value, call.rao ? undefined : defined.validators?.output)
    },
  }
}

/** Calls the function with what its validator makes of the inputs; inputs that it refuses never succeed. */
async function callFunction(
  { run, validators }: ValidatedFunction,
  inputs: Json,
  context: LocalContext,
): Promise<Json> {
  if (!validators?.input) return run(inputs, context)
  const checked = validateStandard(validators.input, inputs)
  if ('value' in checked) return run(checked.value as Json, context)
  const [first] = checked.issues
  return reject(`The inputs are invalid: ${first?.message ?? ''}`, first && { at: first.at })
}

/**
 * Checks a value by rules that JSON Schema cannot express. It stays as the function returned it: the contract, which plans
 * are proven with, describes what the validator takes in. An envelope of a RAO contract is checked by the engine.
 */
function checkValue(value: Json, validator: StandardSchemaV1 | undefined): AttemptResult {
  const usage = { calls: 0 }
  const checked = validator && validateStandard(validator, value)
  if (checked && 'issues' in checked)
    return { outcome: 'invalid', output: { value }, issues: checked.issues, usage }
  return { outcome: 'ok', output: { value }, issues: [], usage }
}

function refused({ code, message, hint, at = { pointer: '' } }: ProvisoError): AttemptResult {
  return { outcome: 'refused', issues: [{ code, at, message, hint }], usage: { calls: 0 }, final: true }
}

/** One attempt: a value as it is, a text to be read like a model's, or an end without either. */
interface ScriptEntry {
  readonly value?: Json
  readonly text?: string
  readonly outcome?: Exclude<Outcome, 'ok' | 'invalid'>
  readonly message?: string
  /** How long it takes. Default 0. */
  readonly delayMs?: number
}

/**
 * Runs capabilities from a script: for trying out a draft, for examples and for tests. The script is data of the capability
 * (`settings.script`), one entry per attempt; the last entry is repeated.
 */
export function scriptedDispatcher(clock: Clock, parseText: ParseText = parseHere): Dispatcher {
  return {
    kind: 'scripted',
    remote: false,
    plain: true,
    async dispatch(call) {
      const script = getScript(call)
      const entry = script[Math.min(call.attempt, script.length) - 1] ?? {}
      if (entry.delayMs) await pause(clock, entry.delayMs, call.signal)
      return play(entry, { ...call, parseText })
    },
  }
}

function getScript({ capability }: Dispatch): readonly ScriptEntry[] {
  const script = capability.settings?.script
  const entries = Array.isArray(script) ? script : [script]
  return entries.filter(isObject) as readonly ScriptEntry[]
}

function play(
  entry: ScriptEntry,
  call: Dispatch & { readonly parseText: ParseText },
): AttemptResult | Promise<AttemptResult> {
  const usage = { calls: 1 }
  if (entry.outcome !== undefined) {
    const message = entry.message ?? `The script says ${entry.outcome}`
    return {
      outcome: entry.outcome,
      issues: [{ code: `attempt/${entry.outcome}`, at: { pointer: '' }, message }],
      usage,
      ...(entry.outcome === 'unclear' && { question: { text: message }, notApplied: true }),
    }
  }
  if (entry.text !== undefined) return readAnswer(entry.text, call, usage)
  return { outcome: 'ok', output: { value: structuredClone(entry.value ?? null) }, issues: [], usage }
}
