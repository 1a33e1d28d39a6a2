/** Calls models: a prompt from the bundle, one call through the provider, and the reader on whatever comes back. */
import type { AttemptResult } from '../../domain/output.ts'
import type { Bundle, Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { ModelAnswer, Provider } from '../../domain/ports/provider.ts'
import { raoEnvelopeSchema } from '../../domain/rao-envelope.ts'
import { readAnswer } from './read-answer.ts'

export interface ModelDispatcherOptions {
  readonly providers: readonly Provider[]
  /** For capabilities that prefer no model: `provider/model`. */
  readonly defaultModel: string
}

export function modelDispatcher({ providers, defaultModel }: ModelDispatcherOptions): Dispatcher {
  return {
    kind: 'model',
    remote: true,
    async dispatch(call) {
      const wanted = call.capability.preferredModels?.[0] ?? defaultModel
      const slash = wanted.indexOf('/')
      const provider = providers.find(({ name }) => name === (slash < 0 ? 'openai' : wanted.slice(0, slash)))
      if (!provider) throw new Error(`No provider for the model "${wanted}" is registered`)
      const answer = await provider.generate({
        model: wanted.slice(slash + 1),
        system: systemText(call),
        prompt: promptText(call.bundle),
        schema: call.rao ? raoEnvelopeSchema : call.bundle.returns,
        idempotencyKey: call.idempotencyKey,
        signal: call.signal,
      })
      return { ...resultOf(answer, call), model: wanted }
    },
  }
}

function resultOf(answer: ModelAnswer, call: Dispatch): AttemptResult {
  const ended = (
    outcome: AttemptResult['outcome'],
    message: string,
    more: Partial<AttemptResult> = {},
  ): AttemptResult => ({
    outcome,
    issues: [{ code: `attempt/${outcome}`, at: { pointer: '' }, message }],
    usage: { calls: 1 },
    ...more,
  })
  switch (answer.kind) {
    case 'text': {
      const read = readAnswer(answer.text, call, { calls: 1, ...answer.usage })
      return answer.finish === 'length' ? { ...read, outcome: 'truncated' } : read
    }
    case 'refused':
      return ended('refused', answer.message, { usage: { calls: 1, ...answer.usage } })
    case 'throttled':
      return ended('throttled', answer.message, {
        usage: { calls: 0 },
        notApplied: true,
        ...(answer.retryAfterMs !== undefined && { retryAfterMs: answer.retryAfterMs }),
      })
    case 'error': {
      // A provider that would not accept its own model's text as JSON has still sent the text (FSD-01).
      const read = answer.text === undefined ? undefined : readAnswer(answer.text, call, { calls: 1 })
      return read?.outcome === 'ok' ? read : ended('provider_error', answer.message)
    }
  }
}

function systemText({ bundle, rao }: Dispatch): string {
  const schema = JSON.stringify(rao ? raoEnvelopeSchema : bundle.returns)
  const parts = [
    bundle.instructions,
    ...bundle.specialInstructions,
    `Answer with JSON only, satisfying this JSON Schema:\n${schema}`,
  ]
  if (rao)
    parts.push(`"primary_output" is text that satisfies this JSON Schema:\n${JSON.stringify(bundle.returns)}`)
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Data goes in as JSON, never as part of a sentence. */
function promptText({ objective, inputs, clarifications, feedback }: Bundle): string {
  const parts = [`Objective: ${JSON.stringify(objective)}`, `Inputs: ${JSON.stringify(inputs)}`]
  if (clarifications.length > 0) parts.push(`Clarifications: ${JSON.stringify(clarifications)}`)
  if (feedback !== undefined) parts.push(`The last answer was not accepted: ${JSON.stringify(feedback)}`)
  return parts.join('\n')
}
