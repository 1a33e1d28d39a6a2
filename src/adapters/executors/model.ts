/** Executes model nodes: resolves settings, builds the prompt from the bundle, and generates a value under contract. */
import { isObject, type Json } from '../../base/json.ts'
import type { RetrySource } from '../../base/time/retry.ts'
import {
  checkProcessing,
  defaultProcessing,
  type GivenProcessing,
  type Processing,
  processingOf,
} from '../../domain/draft/processing.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import { type ParseText, parseHere } from '../../domain/ports/parse-text.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { createRedactor, type Redactor, redactResult } from '../../domain/redaction/redact.ts'
import type { CustomStage } from '../../output/index.ts'
import { findProvider, noProvider } from '../models/find-provider.ts'
import { askedFor } from '../models/generate/fallback-steps.ts'
import { generate } from '../models/generate/generation.ts'
import { createCaller, type OnEvent } from '../models/generate/model-caller.ts'
import { precheck, withoutContextInputs } from '../models/generate/precheck.ts'
import { taskWords } from '../models/generate/prompts.ts'
import type { PartialValue } from '../models/generate/stream-watch.ts'
import type { Price } from '../models/prices.ts'
import { isTextContract } from '../providers/structured-output/structured-plan.ts'

/** A partial value of a node, for live views; never stored (DECISIONS 27). */
export interface NodePartial extends PartialValue {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
}

interface ModelDispatcherOptions extends RetrySource {
  readonly providers: readonly Provider[]
  /** Model of capabilities without a preference: `provider/model`. */
  readonly defaultModel: string
  /** Defaults for nodes and capabilities without their own. */
  readonly processing?: GivenProcessing
  /** Custom stages that `processing.stages` names. */
  readonly stages?: readonly CustomStage[]
  /** Take precedence over the list prices. */
  readonly prices?: readonly Price[]
  /** For prompts and events. Default: redacts by key names, and the providers' own keys. */
  readonly redactor?: Redactor
  /** Reads the answers. Default: on this thread. */
  readonly parseText?: ParseText
  /** If set, nodes stream, and every partial value is passed here. */
  readonly onPartial?: ((partial: NodePartial) => void) | undefined
  /** The same for the nodes of one run; asked at the start of every call. */
  readonly listenerOf?: ((runId: string) => ((partial: NodePartial) => void) | undefined) | undefined
}

export function modelDispatcher(options: ModelDispatcherOptions): Dispatcher {
  const { providers, defaultModel, prices = [], parseText = parseHere } = options
  const redactor = options.redactor ?? createRedactor({ secrets: secretsOf(providers) })
  return {
    kind: 'model',
    remote: true,
    plain: true,
    retries: true,
    async dispatch(call) {
      const model = findModel(call, providers) ?? defaultModel
      const provider = findProvider(providers, model)
      if (provider === undefined) return noProvider(model)
      const blocks = [options.processing, blockIn(call.capability.settings), blockIn(call.data)]
      const wrong = firstIssue(blocks)
      if (wrong) return wrong
      const processing = withReader(
        processingOf(defaultProcessing, ...blocks),
        options.stages ?? [],
        call.linearPatterns,
      )
      if ('unknownStage' in processing) return noStage(processing.unknownStage)
      const onEvent: OnEvent = (event, payload) =>
        call.onEvent(event, payload && (redactor.value(payload) as typeof payload))
      const { signal, idempotencyKey, onUsage, calls, tokens, costUsd, trace } = call
      const budget = {
        calls,
        ...(tokens !== undefined && { tokens }),
        ...(costUsd !== undefined && { costUsd }),
      }
      const caller = createCaller({
        budget,
        redactor,
        prices,
        idempotencyKey,
        trace,
        signal,
        onEvent,
        onUsage,
        retry: { clock: options.clock, random: options.random, deadlineAt: call.deadlineAt },
      })
      const { rao } = call
      const bundle = withoutContextInputs(withInstructions(call), processing.precheck)
      const onPartial = options.onPartial ?? options.listenerOf?.(call.runId)
      const watcher = onPartial && createWatcher(onPartial, { redactor, onEvent })
      const providerOf = (id: string) => findProvider(providers, id)
      const guidance = await precheck({
        settings: processing.precheck,
        bundle,
        inputs: call.bundle.inputs,
        redactor,
        caller,
        onEvent,
        model,
        defaultModel,
        providerOf,
        parseText,
      })
      const result = await generate({
        words: taskWords({
          bundle: { ...bundle, returns: askedFor(processing, bundle.returns) },
          rao,
          redactor,
          ...(guidance && { guidance }),
        }),
        schema: bundle.returns,
        rao,
        constrained: call.constrained ?? false,
        processing,
        target: {
          model,
          provider,
          schemaName: call.nodeId,
          maxOutputTokens: processing.maxOutputTokens,
          stream: toStream(call, processing.streaming, watcher),
        },
        caller,
        signal,
        onEvent,
        parseText,
      })
      reportUsage(onEvent, model, result)
      return redactResult(result, { redactor })
    },
  }
}

export function secretsOf(providers: readonly Provider[]): readonly string[] {
  return providers.flatMap((provider) => provider.secrets?.() ?? [])
}

/** Resolves names of stages. */
/** Adds to the reader's options the custom stages that the processing names, and the pattern engine of the app. */
function withReader(
  processing: Processing,
  known: readonly CustomStage[],
  linearPatterns = false,
): Processing | { readonly unknownStage: string } {
  const stages: CustomStage[] = []
  for (const name of processing.stages) {
    const stage = known.find((each) => each.name === name)
    if (stage === undefined) return { unknownStage: name }
    stages.push(stage)
  }
  if (stages.length === 0 && !linearPatterns) return processing
  const reader = { ...processing.reader, linearPatterns, ...(stages.length > 0 && { stages }) }
  return { ...processing, reader }
}

function noStage(name: string): AttemptResult {
  const message = `Stage "${name}" not found`
  const hint = 'Pass it to createApp as stages, or export it from a module of --use'
  const issues = [{ code: 'model/no-stage', at: { pointer: '' }, message, hint }]
  return { outcome: 'provider_error', issues, usage: { calls: 0 }, notApplied: true, final: true }
}

/** Puts the capability's instructions before those of the node. */
function withInstructions({ bundle, capability }: Dispatch): Dispatch['bundle'] {
  const always = capability.settings?.['instructions']
  if (typeof always !== 'string' || always === '') return bundle
  return { ...bundle, instructions: [always, bundle.instructions].filter((part) => part !== '').join('\n\n') }
}

/** Returns the first preferred model that has a provider here. */
function findModel({ capability }: Dispatch, providers: readonly Provider[]): string | undefined {
  const preferred = capability.preferredModels ?? []
  return preferred.find((model) => findProvider(providers, model) !== undefined) ?? preferred[0]
}

function toStream(
  { runId, nodeId, attempt, rao, bundle, linearPatterns = false }: Dispatch,
  { enabled, earlyAbort, aggregateStructured }: Processing['streaming'],
  onPartial: ModelDispatcherOptions['onPartial'],
) {
  if (!enabled && onPartial === undefined) return undefined
  // A RAO envelope is not streamed as a value.
  if (rao || !(aggregateStructured || isTextContract(bundle.returns))) return undefined
  return {
    earlyAbort,
    linearPatterns,
    onPartial: onPartial && ((partial: PartialValue) => onPartial({ ...partial, runId, nodeId, attempt })),
  }
}

/** Redacts partial values for the listener. An exception of the listener does not affect the run: it is reported once, and the listener is not called again. */
function createWatcher(
  onPartial: (partial: NodePartial) => void,
  { redactor, onEvent }: { readonly redactor: Redactor; readonly onEvent: OnEvent },
): (partial: NodePartial) => void {
  let failed = false
  return (partial) => {
    if (failed) return
    try {
      onPartial({ ...partial, value: redactor.known(partial.value) })
    } catch (cause) {
      failed = true
      onEvent('stream.watch_failed', { message: cause instanceof Error ? cause.message : String(cause) })
    }
  }
}

function blockIn(holder: { readonly [key: string]: Json } | undefined): GivenProcessing | undefined {
  const block = holder?.['processing']
  return isObject(block) ? (block as GivenProcessing) : undefined
}

/** Drafts are validated when they are parsed; settings of a capability and plans from other sources are validated here. */
function firstIssue(blocks: readonly (GivenProcessing | undefined)[]): AttemptResult | undefined {
  for (const block of blocks) {
    const checked = block && checkProcessing(block)
    if (checked && !checked.ok)
      return {
        outcome: 'provider_error',
        issues: checked.issues,
        usage: { calls: 0 },
        notApplied: true,
        final: true,
      }
  }
  return undefined
}

/** Reports usage (FSD-35); an unknown cost is reported as unknown. */
function reportUsage(onEvent: OnEvent, model: string, { usage, outcome }: AttemptResult): void {
  onEvent('agent.usage', {
    model,
    outcome,
    calls: usage.calls,
    input_tokens: usage.inputTokens ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    cost_usd: usage.costUsd ?? 'unknown',
  })
}
