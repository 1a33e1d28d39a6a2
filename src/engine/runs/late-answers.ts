/** Answers that arrive after their attempt has ended: of interrupted calls, and of agents that call back. */
import type { AttemptRef, DoubtfulCall } from '../../domain/attempt/call-key.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { RunState } from '../../domain/run.ts'
import type { Engine } from '../engine-options.ts'
import { openQuestionAbout, recordLateResult, settlesDoubt } from '../input/late-result.ts'
import type { Outside } from '../input/replies.ts'
import { loadState } from '../journal/journal.ts'
import { lookForAnswer } from '../perform/perform.ts'
import type { EngineSettings } from './engine-settings.ts'

export interface LateAnswers extends Pick<Engine, 'takeLateAnswer' | 'logLateResult'> {
  /** Records the result of an interrupted call. */
  readonly record: (runId: string, ref: AttemptRef, result: AttemptResult) => void
  /** Checks for answers to the calls that these events ask a person about. */
  readonly check: (runId: string, events: readonly NewEvent[]) => void
}

export function createLateAnswers(
  settings: EngineSettings,
  outside: Outside,
  wakeRun: (runId: string, state: RunState) => void,
): LateAnswers {
  const { store, catalogFor, dispatchers, clock, redactor, random, storeRaw } = settings
  /** Closes the ask about a call whose answer is in the store by now. */
  const takeAnswer = async (runId: string, isMeant: (call: DoubtfulCall, nodeId: string) => boolean) => {
    const state = await loadState(store, runId, settings.compileOptions)
    const question = openQuestionAbout(state, isMeant)
    if (question === undefined) return
    const { call, nodeId } = question
    const shared = { catalog: catalogFor(state.tenant), dispatchers, clock, redactor, random, storeRaw }
    const result = await lookForAnswer({ ...shared, state, nodeId, call })
    // The attempt may have ended with this same answer, which adds no information to the ask.
    if (result === undefined || result.outcome === call.outcome) return
    const note = `"${call.capabilityId}" called back: its answer counts`
    wakeRun(runId, await recordLateResult(outside, runId, { ref: call, result, note, settles: true }))
  }
  return {
    takeLateAnswer: (runId, idempotencyKey) =>
      takeAnswer(runId, (call) => call.idempotencyKey === idempotencyKey),
    async logLateResult(runId, ref, outcome) {
      const result = { outcome, issues: [], usage: { calls: 0 } }
      await recordLateResult(outside, runId, { ref, result, settles: false, note: '' })
    },
    record(runId, ref, result) {
      const note = 'A late result of the interrupted call answered it'
      // If the store is unavailable, the late result is dropped and the ask stays open.
      void recordLateResult(outside, runId, { ref, result, note, settles: settlesDoubt(result) })
        .then((state) => wakeRun(runId, state))
        .catch(() => {})
    },
    check(runId, events) {
      for (const event of events)
        if (event.type === 'hitl_request' && event.payload.kind === 'unknown_outcome')
          // The answer may have arrived while no process had the run.
          void takeAnswer(runId, (_, nodeId) => nodeId === event.nodeId).catch(() => {})
    },
  }
}
