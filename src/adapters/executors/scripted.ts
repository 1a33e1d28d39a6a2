/**
 * Runs capabilities from a script: for trying out a draft, for examples and for tests. The script is data of the capability
 * (`settings.script`), one entry per attempt; the last entry is repeated.
 */

import { isObject, type Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AttemptResult, Outcome } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import { readAnswer } from './read-answer.ts'

/** One attempt: a value as it is, a text to be read like a model's, or an end without either. */
export interface ScriptEntry {
  readonly value?: Json
  readonly text?: string
  readonly outcome?: Exclude<Outcome, 'ok' | 'invalid'>
  readonly message?: string
  /** How long it takes. Default 0. */
  readonly delayMs?: number
}

export function scriptedDispatcher(clock: Clock): Dispatcher {
  return {
    kind: 'scripted',
    remote: false,
    plain: true,
    async dispatch(call) {
      const script = scriptOf(call)
      const entry = script[Math.min(call.attempt, script.length) - 1] ?? {}
      if (entry.delayMs) await pause(clock, entry.delayMs, call.signal)
      return play(entry, call)
    },
  }
}

function scriptOf({ capability }: Dispatch): readonly ScriptEntry[] {
  const script = capability.settings?.script
  const entries = Array.isArray(script) ? script : [script]
  return entries.filter(isObject) as readonly ScriptEntry[]
}

function play(entry: ScriptEntry, call: Dispatch): AttemptResult {
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

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const takeBack = clock.timer(clock.now() + ms, resolve)
    signal.addEventListener(
      'abort',
      () => {
        takeBack()
        resolve()
      },
      { once: true },
    )
  })
}
