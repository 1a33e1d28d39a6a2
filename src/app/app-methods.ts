/** The methods of an app: input is checked here, at the edge, and trusted from here on. */
import { estimateDraft, generateValue } from '../adapters/models/index.ts'
import {
  type AppOptions,
  checkEstimateOptions,
  checkResultSignal,
  checkWatchOptions,
} from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import { pick } from '../base/json.ts'
import type { Store } from '../domain/ports/store.ts'
import { taskResults } from '../domain/run/task-result.ts'
import type { Summarise } from '../domain/thread/thread-context.ts'
import type { Engine } from '../engine/engine.ts'
import { eraseRuns, previewErasure } from '../engine/erase.ts'
import { boundReads } from '../engine/journal/bound-reads.ts'
import { loadEvents } from '../engine/journal/journal.ts'
import { getAnswerMs } from '../engine/runs/engine-settings.ts'
import { readThreadContext, type ThreadKey } from '../engine/threads/read-thread.ts'
import { healthReport } from '../health/report.ts'
import { surveyHealth } from '../health/survey.ts'
import type { AppParts } from './app-parts.ts'
import type { App, GenerateRequest } from './app-type.ts'
import { readChanges, readDraft, readTypedEnvelope, refuseUnknown } from './parse-given.ts'
import { createRunHandle } from './run-handle.ts'
import { runResult } from './run-result.ts'
import { keepPartials, prepareRun, type StartParts, startQueued, startTyped } from './start-run.ts'
import type { MessageQueue, QueuedRun } from './threads/message-queue.ts'

type RunMethods = Pick<
  App,
  | 'prepare'
  | 'start'
  | 'attach'
  | 'result'
  | 'run'
  | 'watch'
  | 'reply'
  | 'changeTask'
  | 'resume'
  | 'cancel'
  | 'trigger'
  | 'claim'
  | 'state'
  | 'missingCapabilities'
  | 'taskResults'
  | 'replay'
  | 'reportHealth'
  | 'subscribeToPartials'
  | 'keepPartials'
  | 'subscribeToLifecycle'
  | 'erase'
  | 'previewErasure'
>

export function createRunMethods(
  engine: Engine,
  parts: Pick<AppParts, 'store' | 'tracing' | 'newId' | 'clock' | 'redactor' | 'partials' | 'validators'> & {
    /** The rows with sealed secrets. */
    readonly shown: Store
    /** Budget of the conversation that a run of a thread begins with. */
    readonly contextTokens: number
    /** Writes summaries of threads. Absent: they are cut. */
    readonly summarise: Summarise | undefined
    readonly queue: MessageQueue
    readonly addToThread: StartParts['addToThread']
  },
): RunMethods & { readonly startQueued: (run: QueuedRun) => Promise<string> } {
  const { tracing, newId, clock, redactor, partials, validators } = parts
  const store = boundReads(parts.store, { clock, ms: getAnswerMs(engine.leaseMs) })
  const readThread = (key: ThreadKey, runId: string | undefined) =>
    readThreadContext(parts.shown, key, {
      tokens: parts.contextTokens,
      summarise: parts.summarise,
      ...(runId !== undefined && { except: runId }),
    })
  const starting = {
    ...{ readThread, engine, tracing, newId, store, redactor, partials, validators },
    ...pick(parts, ['addToThread']),
  }
  const cancel: App['cancel'] = (runId, given) =>
    engine.cancel(runId, given).catch(async (cause: unknown) => {
      const isMissing = ProvisoError.is(cause) && cause.code === 'run/missing'
      // One that waits for its turn is not started.
      const queued = isMissing ? await parts.queue.find(runId) : undefined
      if (!queued || !(await parts.queue.remove(queued))) throw cause
    })
  const handled = { engine: { ...engine, cancel }, partials }
  const prepare: App['prepare'] = (given, options) => prepareRun(starting, given, options)
  const start: App['start'] = async (given, options) => {
    const { runId, validator } = await startTyped(starting, given, options)
    return createRunHandle(handled, runId, validator)
  }
  const result: App['result'] = async (runId, signal) => {
    checkResultSignal(signal)
    return runResult(engine, runId, signal)
  }
  return {
    startQueued: (run) => startQueued(starting, run),
    prepare,
    start,
    result,
    async run(envelope, given) {
      const handle = await start(envelope, given)
      return handle.result(given?.signal)
    },
    async attach(runId, given = {}) {
      if ((await store.head(runId)) === undefined)
        throw new ProvisoError('run/missing', `Run "${runId}" not found`)
      return createRunHandle(handled, runId, given.output)
    },
    watch(runId, given = {}) {
      checkWatchOptions(given)
      return engine.watch(runId, given)
    },
    reply: engine.reply,
    changeTask: engine.changeTask,
    resume: engine.resume,
    cancel,
    trigger: engine.trigger,
    claim: engine.claim,
    state: engine.state,
    missingCapabilities: engine.missing,
    taskResults: async (runId) => taskResults(await engine.state(runId)),
    async replay(runId, given = {}) {
      const changes = readChanges(given)
      if (changes.nodeData || changes.policies) refuseUnknown(changes, await loadEvents(store, runId))
      return engine.replay(runId, changes)
    },
    reportHealth: async (query) => healthReport(await surveyHealth(store, { ...query, now: clock.now() })),
    subscribeToPartials: partials.subscribe,
    keepPartials: (runId, begin) => keepPartials({ engine, partials }, runId, begin),
    subscribeToLifecycle: engine.subscribeToLifecycle,
    erase: (request) => eraseRuns(store, request),
    previewErasure: (request) => previewErasure(store, request),
  }
}

/** Most time that a run waits for the summary of its thread. */
const summaryMs = 20_000

/** Writes summaries of threads with a model: one call, within a time. */
export function createSummarise(model: string, generate: App['generate']): Summarise {
  return async ({ previous, lines, tokens }) => {
    const { outcome, output, usage, issues } = await generate({
      model,
      objective: `Summarise the conversation in at most ${Math.floor(tokens / 2)} words: what was asked, decided and answered, with names and figures`,
      inputs: { ...(previous !== undefined && { summary: previous }), messages: [...lines] },
      schema: { type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] },
      calls: 1,
      maxOutputTokens: tokens * 2,
      signal: AbortSignal.timeout(summaryMs),
    })
    if (outcome !== 'ok') throw new Error(`${model}: ${issues[0]?.message ?? outcome}`)
    return { text: output.value.summary, model, usage }
  }
}

export function createModelMethods(
  options: Pick<AppOptions, 'processing' | 'secrets' | 'random'>,
  { clock, defaultModel, providers, prices, estimating, reading }: AppParts,
): Pick<App, 'estimate' | 'generate'> {
  return {
    estimate(given, wanted) {
      const { value } = readTypedEnvelope(given)
      checkEstimateOptions(wanted)
      return estimateDraft(value, readDraft(wanted.draft), estimating)
    },
    async generate(given) {
      // A missing request is refused like any other request without an objective.
      const { maxOutputTokens, model = defaultModel, ...request } = given ?? ({} as GenerateRequest)
      const { processing, secrets = [] } = options
      return generateValue({
        clock,
        ...pick(options, ['random']),
        ...request,
        model,
        providers,
        prices,
        secrets,
        parseText: reading.parseText,
        processing: {
          ...processing,
          ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
        },
      })
    },
  }
}
