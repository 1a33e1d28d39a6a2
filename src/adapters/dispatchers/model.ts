/** Calls models for nodes: settings from the node, a prompt from its bundle, and up the ladder to a value under contract. */
import { isObject, type Json } from '../../base/json.ts'
import type { RetrySource } from '../../base/retry.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import {
  checkProcessing,
  defaultProcessing,
  type GivenProcessing,
  type Processing,
  processingOf,
} from '../../domain/processing.ts'
import { createRedactor, type Redactor } from '../../domain/redact.ts'
import { redactResult } from '../../domain/redact-result.ts'
import type { CustomStage } from '../../output/index.ts'
import { createCaller, type OnEvent } from '../models/caller.ts'
import { findProvider } from '../models/find-provider.ts'
import { climb } from '../models/ladder.ts'
import { noProvider } from '../models/no-provider.ts'
import { precheck, withoutContextInputs } from '../models/precheck.ts'
import type { Price } from '../models/prices.ts'
import { taskWords } from '../models/prompts.ts'
import { askedFor } from '../models/rungs.ts'
import type { PartialValue } from '../models/stream-watch.ts'
import { isTextContract } from '../providers/structured-plan.ts'

/** A value of a node that is still arriving; shown to whoever watches, never stored (DECISIONS 27). */
export interface NodePartial extends PartialValue {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
}

export interface ModelDispatcherOptions extends RetrySource {
  readonly providers: readonly Provider[]
  /** For capabilities that prefer no model: `provider/model`. */
  readonly defaultModel: string
  /** For nodes and capabilities that say nothing of their own. */
  readonly processing?: GivenProcessing
  /** Stages of your own that `processing.stages` names. */
  readonly stages?: readonly CustomStage[]
  /** Before the list prices. */
  readonly prices?: readonly Price[]
  /** For prompts and events. Default: by the names of keys, and the providers' own keys. */
  readonly redactor?: Redactor
  /** Given: nodes stream, and every partial goes here. */
  readonly onPartial?: ((partial: NodePartial) => void) | undefined
}

export function modelDispatcher(options: ModelDispatcherOptions): Dispatcher {
  const { providers, defaultModel, prices = [] } = options
  const redactor = options.redactor ?? createRedactor({ secrets: secretsOf(providers) })
  return {
    kind: 'model',
    remote: true,
    plain: true,
    retries: true,
    async dispatch(call) {
      const model = modelOf(call, providers) ?? defaultModel
      const provider = findProvider(providers, model)
      if (provider === undefined) return noProvider(model)
      const blocks = [options.processing, blockIn(call.capability.settings), blockIn(call.data)]
      const wrong = firstIssue(blocks)
      if (wrong) return wrong
      const processing = withStages(processingOf(defaultProcessing, ...blocks), options.stages ?? [])
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
      const watcher = options.onPartial && watcherOf(options.onPartial, { redactor, onEvent })
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
      })
      const result = await climb({
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
          stream: streamOf(call, processing.streaming, watcher),
        },
        caller,
        signal,
        onEvent,
      })
      tellUsage(onEvent, model, result)
      return redactResult(result, { redactor })
    },
  }
}

export function secretsOf(providers: readonly Provider[]): readonly string[] {
  return providers.flatMap((provider) => provider.secrets?.() ?? [])
}

/** Names of stages become the stages themselves. */
function withStages(
  processing: Processing,
  known: readonly CustomStage[],
): Processing | { readonly unknownStage: string } {
  const stages: CustomStage[] = []
  for (const name of processing.stages) {
    const stage = known.find((each) => each.name === name)
    if (stage === undefined) return { unknownStage: name }
    stages.push(stage)
  }
  return stages.length === 0 ? processing : { ...processing, reader: { ...processing.reader, stages } }
}

function noStage(name: string): AttemptResult {
  const message = `There is no stage "${name}" here`
  const hint = 'Pass it to createApp as stages, or export it from a module of --use'
  const issues = [{ code: 'model/no-stage', at: { pointer: '' }, message, hint }]
  return { outcome: 'provider_error', issues, usage: { calls: 0 }, notApplied: true, final: true }
}

/** What the capability is always told comes before what the node says. */
function withInstructions({ bundle, capability }: Dispatch): Dispatch['bundle'] {
  const always = capability.settings?.['instructions']
  if (typeof always !== 'string' || always === '') return bundle
  return { ...bundle, instructions: [always, bundle.instructions].filter((part) => part !== '').join('\n\n') }
}

/** The first preferred model that somebody here provides. */
function modelOf({ capability }: Dispatch, providers: readonly Provider[]): string | undefined {
  const preferred = capability.preferredModels ?? []
  return preferred.find((model) => findProvider(providers, model) !== undefined) ?? preferred[0]
}

function streamOf(
  { runId, nodeId, attempt, rao, bundle }: Dispatch,
  { enabled, earlyAbort, aggregateStructured }: Processing['streaming'],
  onPartial: ModelDispatcherOptions['onPartial'],
) {
  if (!enabled && onPartial === undefined) return undefined
  // The parts of an envelope are no parts of the value.
  if (rao || !(aggregateStructured || isTextContract(bundle.returns))) return undefined
  return {
    earlyAbort,
    onPartial: onPartial && ((partial: PartialValue) => onPartial({ ...partial, runId, nodeId, attempt })),
  }
}

/** Whoever watches sees no secrets, and a mistake of theirs does not reach the run: it is told once, and they see no more. */
function watcherOf(
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

/** Drafts are checked when they are read; a capability's settings and a plan from elsewhere are checked here. */
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

/** FSD-35; an unknown cost is said to be unknown. */
function tellUsage(onEvent: OnEvent, model: string, { usage, outcome }: AttemptResult): void {
  onEvent('agent.usage', {
    model,
    outcome,
    calls: usage.calls,
    input_tokens: usage.inputTokens ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    cost_usd: usage.costUsd ?? 'unknown',
  })
}
