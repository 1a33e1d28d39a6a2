/** Refusals of OpenAI's wire formats, which the packages leave in the raw body: chat, Responses, and both as streams. */
import { isObject, own } from '../../../base/json.ts'

/** The words of the refusal in one body or one raw chunk; `undefined` when there is none. */
export function refusalIn(raw: unknown): string | undefined {
  if (!isObject(raw)) return undefined
  return inChoices(own(raw, 'choices')) ?? inOutput(own(raw, 'output')) ?? inEvent(raw)
}

function inChoices(choices: unknown): string | undefined {
  const [first] = Array.isArray(choices) ? choices : []
  if (!isObject(first)) return undefined
  for (const part of [own(first, 'message'), own(first, 'delta')]) {
    const refusal = isObject(part) ? own(part, 'refusal') : undefined
    if (typeof refusal === 'string' && refusal !== '') return refusal
  }
  return undefined
}

function inOutput(output: unknown): string | undefined {
  if (!Array.isArray(output)) return undefined
  for (const item of output) {
    const content = isObject(item) ? own(item, 'content') : undefined
    for (const part of Array.isArray(content) ? content : []) {
      const refusal = isObject(part) && own(part, 'type') === 'refusal' ? own(part, 'refusal') : undefined
      if (typeof refusal === 'string') return refusal
    }
  }
  return undefined
}

function inEvent(raw: Record<string, unknown>): string | undefined {
  const delta = own(raw, 'type') === 'response.refusal.delta' ? own(raw, 'delta') : undefined
  return typeof delta === 'string' ? delta : undefined
}
