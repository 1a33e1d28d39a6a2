/** Executes model nodes: resolves settings, builds the prompt from the bundle, and generates a value under contract. */
import { isObject, type Json } from '../../base/json.ts'
import type { RetrySource } from '../../base/time/retry.ts'
import {
  checkProcessing,
  defaultProcessing,
  type GivenProcessing,
  mergeProcessing,
  type Processing,
} from '../../domain/draft/processing.ts'
import { isAgent } from '../../domain/loop/agent-settings.ts'
import { loopUsage } from '../../domain/loop/loop-state.ts'
import { type AttemptResult, addUsage, type Usage } from '../../domain/output.ts'
import type { AgentLoop } from '../../domain/ports/agent-loop.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import { type ParseText, parseHere } from '../../domain/ports/parse-text.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { createRedactor, type Redactor } from '../../domain/redaction/redact.ts'
import { redactResult } from '../../domain/redaction/redact-result.ts'
import type { CustomStage } from '../../output/index.ts'
import { runAgent } from '../models/agent/run-agent.ts'
import { findProvider, noProvider } from '../models/find-provider.ts'
import { askedFor } from '../models/generate/fallback-steps.ts'
import { generate } from '../models/generate/generation.ts'
import { createCaller, mostOutputTokens, type OnEvent } from '../models/generate/model-caller.ts'
import { precheck, withoutContextInputs } from '../models/generate/precheck.ts'
import { taskWords } from '../models/generate/prompts.ts'
import type { PartialValue } from '../models/generate/stream-watch.ts'
import { takeFiles } from '../models/generate/take-files.ts'
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
  readonly findListener?: ((runId: string) => ((partial: NodePartial) => void) | undefined) | undefined
}

export function modelDispatcher(options: ModelDispatcherOptions): Dispatcher {
  const { providers, defaultModel, prices = [], parseText = parseHere } = options
  const redactor = options.redactor ?? createRedactor({ secrets: listProviderSecrets(providers) })
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
        mergeProcessing(defaultProcessing, ...blocks),
        options.stages ?? [],
        call.linearPatterns,
      )
      if ('unknownStage' in processing) return noStage(processing.unknownStage)
      const onEvent: OnEvent = (event, payload) =>
        call.onEvent(event, payload && (redactor.value(payload) as typeof payload))
      const taken = await withoutFiles(call, { model, provider })
      if ('refused' in taken) return taken.refused
      const { files, bundle: task } = taken
      const { agentLoop } = call
      if (isAgent(call.capability) && !agentLoop) return noLoop(call)
      const onUsage = usageReporter(call)
      const { signal, idempotencyKey, calls, trace } = call
      const { tokens, costUsd } = agentLoop ? withinLimits(call, agentLoop) : call
      let ofTools: Usage = { calls: 0 }
      const caller = createCaller({
        budget: sharedBudget({ calls, tokens, costUsd }, () => ofTools),
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
      const watcher = findWatcher(call, options, { redactor, onEvent })
      if (agentLoop) {
        const result = await runAgent({
          call: agentCall({ ...call, bundle: task }, { tokens, costUsd }),
          files,
          ...{ agentLoop, model, provider, caller },
          findModel: (capability) => resolveModel({ capability }, { providers, defaultModel }),
          bundleFor: (capability) => withInstructions({ bundle: task, capability }),
          ...{ processing, redactor, parseText, onEvent },
          onPartial: toTurnWatcher(call, watcher),
          onToolUsage: (usage) => {
            if (agentLoop.isLimited) ofTools = usage
            onUsage(caller.spent(), usage)
          },
        })
        reportUsage(onEvent, model, result)
        return redactResult(result, { redactor })
      }
      const bundle = withoutContextInputs(withInstructions({ ...call, bundle: task }), processing.precheck)
      const guidance = await precheck({
        settings: processing.precheck,
        inputs: task.inputs,
        ...{ bundle, redactor, caller, onEvent, model, defaultModel, parseText },
        findProvider: (id) => findProvider(providers, id),
      })
      const result = await generate({
        words: taskWords({
          bundle: { ...bundle, returns: askedFor(processing, bundle.returns) },
          rao,
          redactor,
          ...(guidance && { guidance }),
        }),
        schema: bundle.returns,
        constrained: call.constrained ?? false,
        ...{ rao, processing, caller, signal, onEvent, parseText },
        target: {
          model,
          provider,
          schemaName: call.nodeId,
          maxOutputTokens: mostOutputTokens(call.modelSettings, processing),
          settings: call.modelSettings,
          files,
          stream: toStream(call, processing.streaming, watcher),
        },
      })
      reportUsage(onEvent, model, result)
      return redactResult(result, { redactor })
    },
  }
}

/** The task without the files of its inputs, and the files. What a model passes to a tool is data, no file of the caller. */
async function withoutFiles({ isTool, bundle }: Dispatch, target: Parameters<typeof takeFiles>[1]) {
  if (isTool) return { bundle, files: [] }
  const taken = await takeFiles(bundle.inputs, target)
  return 'refused' in taken ? taken : { bundle: { ...bundle, inputs: taken.inputs }, files: taken.files }
}

export function listProviderSecrets(providers: readonly Provider[]): readonly string[] {
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

/** In a run with limits, tools use what is reserved for the attempt, too. */
function sharedBudget(
  {
    calls,
    tokens,
    costUsd,
  }: { [Name in 'calls']: number } & { [Name in 'tokens' | 'costUsd']: number | undefined },
  ofTools: () => Usage,
) {
  return {
    get calls() {
      return calls - ofTools().calls
    },
    get tokens() {
      const { inputTokens = 0, outputTokens = 0 } = ofTools()
      return tokens && tokens - inputTokens - outputTokens
    },
    get costUsd() {
      return costUsd && costUsd - (ofTools().costUsd ?? 0)
    },
  }
}

/** What an agent may use: what is left of its own limits, over all attempts, and of the node's. */
function withinLimits(
  { tokens, costUsd }: Pick<Dispatch, 'tokens' | 'costUsd'>,
  { limits, state }: AgentLoop,
): Pick<Dispatch, 'tokens' | 'costUsd'> {
  const used = loopUsage(state ?? { turns: [] })
  const left = {
    tokens: limits.tokens && limits.tokens - (used.inputTokens ?? 0) - (used.outputTokens ?? 0),
    costUsd: limits.costUsd && limits.costUsd - (used.costUsd ?? 0),
  }
  const least = (...given: readonly (number | undefined)[]) =>
    given.reduce((a, b) => (a === undefined ? b : b === undefined ? a : Math.min(a, b)), undefined)
  const [mostTokens, mostCost] = [least(tokens, left.tokens), least(costUsd, left.costUsd)]
  return {
    ...(mostTokens !== undefined && { tokens: mostTokens }),
    ...(mostCost !== undefined && { costUsd: mostCost }),
  }
}

/** Reports the usage of models together with the latest usage of tools. */
function usageReporter({ onUsage }: Dispatch): (models: Usage, tools?: Usage) => void {
  let ofTools: Usage = { calls: 0 }
  return (models, tools = ofTools) => {
    ofTools = tools
    onUsage?.(addUsage(models, ofTools))
  }
}

function noLoop({ capability }: Dispatch): AttemptResult {
  const message = `"${capability.capabilityId}" has tools, and can be called by the engine of a run only`
  const issues = [{ code: 'model/no-tools', at: { pointer: '' }, message }]
  return { outcome: 'provider_error', issues, usage: { calls: 0 }, notApplied: true, final: true }
}

function noStage(name: string): AttemptResult {
  const message = `Stage "${name}" not found`
  const hint = 'Pass it to createApp as stages, or export it from a module of --use'
  const issues = [{ code: 'model/no-stage', at: { pointer: '' }, message, hint }]
  return { outcome: 'provider_error', issues, usage: { calls: 0 }, notApplied: true, final: true }
}

/** Puts the capability's instructions before those of the node. */
function withInstructions({
  bundle,
  capability,
}: Pick<Dispatch, 'bundle' | 'capability'>): Dispatch['bundle'] {
  const always = capability.settings?.['instructions']
  if (typeof always !== 'string' || always === '') return bundle
  return { ...bundle, instructions: [always, bundle.instructions].filter((part) => part !== '').join('\n\n') }
}

/** The call of an agent: with its instructions, within what is left of its limits. */
function agentCall(
  call: Dispatch,
  { tokens, costUsd }: { readonly [Name in 'tokens' | 'costUsd']: number | undefined },
): Dispatch {
  return {
    ...call,
    bundle: withInstructions(call),
    ...(tokens !== undefined && { tokens }),
    ...(costUsd !== undefined && { costUsd }),
  }
}

/** The model of a capability, and its provider. */
function resolveModel(
  call: Pick<Dispatch, 'capability'>,
  { providers, defaultModel }: Pick<ModelDispatcherOptions, 'providers' | 'defaultModel'>,
) {
  const model = findModel(call, providers) ?? defaultModel
  const provider = findProvider(providers, model)
  return provider && { model, provider }
}

/** Returns the first preferred model that has a provider here. */
function findModel(
  { capability }: Pick<Dispatch, 'capability'>,
  providers: readonly Provider[],
): string | undefined {
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

/** Receives the partial values of a call, if something reads them. What a tool writes is not the value of the node. */
function findWatcher(
  { isTool, runId }: Dispatch,
  options: Pick<ModelDispatcherOptions, 'onPartial' | 'findListener'>,
  context: Parameters<typeof createWatcher>[1],
): ((partial: NodePartial) => void) | undefined {
  const onPartial = isTool ? undefined : (options.onPartial ?? options.findListener?.(runId))
  return onPartial && createWatcher(onPartial, context)
}

/** Receives the turns of an agent; a RAO envelope is not streamed. */
function toTurnWatcher(
  { runId, nodeId, attempt, rao }: Dispatch,
  onPartial: ModelDispatcherOptions['onPartial'],
): ((partial: PartialValue) => void) | undefined {
  if (!onPartial || rao) return undefined
  return (partial) => onPartial({ ...partial, runId, nodeId, attempt })
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
      const { value, turn } = partial
      onPartial({ ...partial, value: redactor.known(value), ...(turn && { turn: redactor.known(turn) }) })
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
