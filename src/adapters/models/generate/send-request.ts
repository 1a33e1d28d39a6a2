/** Sends one request to a provider, optionally streamed; a stream that can no longer satisfy the schema is aborted. */
import type { Issue } from '../../../base/errors/issue.ts'
import type { ModelAnswer, ModelRequest, Provider, StructuredIntent } from '../../../domain/ports/provider.ts'
import type { Trace } from '../../../domain/ports/trace.ts'
import type { ModelSettings } from '../../../domain/settings/model-settings.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { parseModelId } from '../../providers/model-id.ts'
import type { Words } from './prompts.ts'
import { type PartialValue, watchStream } from './stream-watch.ts'

export interface CallOptions extends Words {
  /** `provider/model`, and who provides it. */
  readonly model: string
  readonly provider: Provider
  readonly schema?: JsonSchema
  readonly primary?: JsonSchema
  readonly structured?: StructuredIntent
  readonly schemaName?: string
  /** See `schemaWords` of a request to a provider. */
  readonly spareWords?: string
  readonly files?: ModelRequest['files']
  /** A conversation with tools; `prompt` is only its size then. */
  readonly messages?: ModelRequest['messages']
  readonly tools?: ModelRequest['tools']
  readonly toolChoice?: ModelRequest['toolChoice']
  /** Idempotency key. Default: derived from that of the attempt. */
  readonly key?: string
  readonly maxOutputTokens?: number | undefined
  readonly settings?: ModelSettings | undefined
  /** Of a conversation: called for every sending, returns what receives the pieces of the turn. */
  readonly watchTurn?: (() => NonNullable<ModelRequest['onDelta']>) | undefined
  readonly stream?:
    | {
        readonly earlyAbort: boolean
        readonly linearPatterns?: boolean
        readonly onPartial?: ((partial: PartialValue) => void) | undefined
      }
    | undefined
}

export async function sendRequest(
  given: CallOptions,
  {
    key,
    most,
    trace,
    signal,
  }: {
    readonly key: string
    readonly most: number | undefined
    readonly trace: Trace | undefined
    readonly signal: AbortSignal
  },
): Promise<{ answer: ModelAnswer; doomed?: readonly Issue[] }> {
  const { provider, model, system, prompt, schema, primary, structured, schemaName, stream } = given
  const common: Omit<ModelRequest, 'signal'> = {
    model: parseModelId(model).model,
    system,
    prompt,
    idempotencyKey: given.key ?? key,
    ...(given.files && given.files.length > 0 && { files: given.files }),
    ...(given.messages && { messages: given.messages }),
    ...(given.tools && { tools: given.tools }),
    ...(given.toolChoice && { toolChoice: given.toolChoice }),
    ...(schema !== undefined && { schema }),
    ...(primary !== undefined && { primary }),
    ...(structured !== undefined && { structured }),
    ...(schemaName !== undefined && { schemaName }),
    ...(given.spareWords !== undefined && { schemaWords: given.spareWords }),
    ...(most !== undefined && { maxOutputTokens: most }),
    ...(given.settings && { settings: given.settings }),
    ...(trace && { trace }),
  }
  const onDelta = given.watchTurn?.()
  if (onDelta) return { answer: await provider.generate({ ...common, signal, onDelta }) }
  if (!stream || schema === undefined) return { answer: await provider.generate({ ...common, signal }) }
  const plan = structured && stream.earlyAbort ? await provider.structured?.({ ...common }) : undefined
  const watch = watchStream({
    schema,
    onPartial: stream.onPartial,
    linearPatterns: stream.linearPatterns,
    // Behind a wrapper the pointers are others; such a stream is read to its end.
    final: plan?.kind === 'applied' && plan.wrapped === undefined,
  })
  const cut = new AbortController()
  let text = ''
  let doomed: readonly Issue[] = []
  let mistake: { readonly cause: unknown } | undefined
  const onText = (chunk: string) => {
    if (doomed.length > 0 || mistake) return
    text += chunk
    try {
      doomed = watch.push(chunk)
    } catch (cause) {
      mistake = { cause }
    }
    if (doomed.length > 0) cut.abort(new Error('The answer cannot satisfy its schema any more'))
    if (mistake) cut.abort(new Error('The stream watcher has failed'))
  }
  const answer = await provider.generate({ ...common, signal: AbortSignal.any([signal, cut.signal]), onText })
  // An exception of the listener is rethrown as such: it must not look like a broken stream.
  if (mistake) throw mistake.cause
  if (doomed.length === 0 || signal.aborted) return { answer }
  return {
    answer: { kind: 'text', text, finish: 'stop', usage: {}, ...(plan && { structured: plan }) },
    doomed,
  }
}
