/** Parses a text into the result of an attempt, with the reader that model answers use. */
import type { Json } from '../../base/json.ts'
import type { AttemptResult, Usage } from '../../domain/output.ts'
import type { Dispatch } from '../../domain/ports/dispatcher.ts'
import { readText } from '../models/generate/read-output.ts'

/** What reading an answer needs of the call. */
export type AnsweredCall = Pick<Dispatch, 'bundle' | 'rao' | 'linearPatterns' | 'onEvent'>

export function readAnswer(text: string, call: AnsweredCall, usage: Usage): AttemptResult {
  const read = readText(text, {
    schema: call.bundle.returns,
    rao: call.rao,
    processing: {
      aop: 'full',
      shadow: false,
      reader: { linearPatterns: call.linearPatterns ?? false },
      enforceGrammar: false,
      enforcement: 'validate',
      structuredOutput: 'off',
    },
    onEvent: ({ type, ...payload }) => call.onEvent(type, payload as { [key: string]: Json }),
  })
  if (!read.ok && read.declined) return { outcome: 'refused', issues: read.issues, usage }
  if (!read.ok)
    return { outcome: read.truncated ? 'truncated' : 'invalid', raw: text, issues: read.issues, usage }
  return {
    outcome: read.truncated ? 'truncated' : 'ok',
    output: { value: read.value, raw: text, ...(read.repairs.length > 0 && { repairs: read.repairs }) },
    issues: [],
    usage,
  }
}
