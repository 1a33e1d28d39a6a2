/** The handle of one run: its result, asks, events and partial values, typed by the schema of the answer. */
import type { NodePartial } from '../adapters/executors/model.ts'
import { checkResultSignal, checkWatchOptions } from '../app-options.ts'
import { type ErrorCode, ProvisoError } from '../base/errors/error.ts'
import type { Json } from '../base/json.ts'
import type { Ask, RejectAction, Reply } from '../domain/ask.ts'
import { failureError } from '../domain/errors/failure-error.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { GrantScope } from '../domain/loop-facts.ts'
import type { Engine } from '../engine/engine.ts'
import type { TaskChange } from '../engine/input/change-task.ts'
import type { WatchOptions } from '../engine/journal/journal.ts'
import { type StandardSchemaV1, validateStandard } from '../schema/standard.ts'
import type { PartialBroker } from './partial-broker.ts'
import { type RunResult, runResult } from './run-result.ts'

/** Who decides, and why. */
export interface DecisionInput {
  /** Name of the person who decides; it is recorded. */
  readonly by: string
  readonly note?: string
}

/** An open ask, with the ways to answer it. Each replies to exactly the value that the ask shows. */
export interface OpenAsk extends Ask {
  /** Accepts the value as it is shown. `grant` remembers it for later calls of a tool, where the ask lists `grants`. */
  approve(given: DecisionInput & { readonly grant?: GrantScope }): Promise<void>
  /** Refuses the value. `rejectAction` says what follows, where the ask lists `rejectActions`. */
  reject(given: DecisionInput & { readonly rejectAction?: RejectAction }): Promise<void>
  /** Replaces the value that is shown; the new one must satisfy the ask's `schema`. */
  edit(given: DecisionInput & { readonly value: Json; readonly grant?: GrantScope }): Promise<void>
  /** Answers a question, or delivers the result of a task; it must satisfy the ask's `schema`. */
  answer(given: DecisionInput & { readonly value: Json }): Promise<void>
  /** Holds a task, so that no one else does it. */
  claim(given: DecisionInput): Promise<void>
  /** Gives a claimed task back. */
  release(given: DecisionInput): Promise<void>
  /** Passes a task to the next person. Declined by the last one, it counts as rejected. */
  decline(given: DecisionInput): Promise<void>
}

/** One run. The run continues whether or not its handle is used; `app.attach` makes another handle of it. */
export interface RunHandle<Output = Json> {
  /** Id of the run, for `app.attach`; in another process, too. */
  readonly id: string
  /** Resolves when the run is over or needs a person: check `status`. Does not throw for runs that failed. */
  result(signal?: AbortSignal): Promise<RunResult<Output>>
  /** Resolves to the answer of a completed run. Else throws `run/failed`, `run/cancelled` or `run/waiting` with the issues. */
  output(signal?: AbortSignal): Promise<Output>
  /**
   * Yields every ask that is open now or opens later, once, until the run is over.
   *
   * @example
   * for await (const ask of run.asks()) await ask.approve({ by: 'ann' })
   */
  asks(options?: { readonly signal?: AbortSignal }): AsyncGenerator<OpenAsk, void, void>
  /** Yields every event once and in order, until the run is over. */
  events(options?: WatchOptions): AsyncGenerator<JournalEvent, void, void>
  /**
   * Yields values of nodes while models and agents write them, until the run is over: unvalidated, never stored, and only the
   * newest of each node for a slow reader. Models stream for runs started with `partials: true`, and for calls that begin
   * after this was called.
   */
  partials(options?: { readonly signal?: AbortSignal }): AsyncGenerator<NodePartial, void, void>
  /** Cancels the run. */
  cancel(given: { readonly by: string; readonly reason?: string }): Promise<void>
}

interface HandleParts {
  readonly engine: Pick<Engine, 'settled' | 'watch' | 'state' | 'reply' | 'changeTask' | 'cancel'>
  readonly partials: PartialBroker
}

/** Makes the handle of a run. `validator` converts the answer, if the schema of another library describes it. */
export function createRunHandle<Output>(
  { engine, partials }: HandleParts,
  id: string,
  validator?: StandardSchemaV1,
): RunHandle<Output> {
  const result = async (signal?: AbortSignal) => {
    checkResultSignal(signal)
    return withValidated<Output>(await runResult(engine, id, signal), validator)
  }
  return {
    id,
    result,
    async output(signal) {
      const ended = await result(signal)
      if (ended.status === 'completed') return ended.output
      throw toError(ended)
    },
    asks: (given = {}) => yieldAsks(engine, id, given),
    events(given = {}) {
      checkWatchOptions(given)
      return engine.watch(id, given)
    },
    partials(given = {}) {
      checkWatchOptions(given)
      return partials.read(id, engine.watch(id, given))
    },
    cancel: (given) => engine.cancel(id, given),
  }
}

async function* yieldAsks(
  engine: HandleParts['engine'],
  runId: string,
  given: { readonly signal?: AbortSignal },
): AsyncGenerator<OpenAsk, void, void> {
  checkWatchOptions(given)
  for await (const event of engine.watch(runId, given)) {
    if (event.type !== 'hitl_request') continue
    const { asks, openAsks } = await engine.state(runId)
    const { requestId } = event.payload
    const ask = openAsks.has(requestId) ? asks.get(requestId) : undefined
    if (ask) yield toOpenAsk(engine, runId, ask)
  }
}

function toOpenAsk(engine: Pick<Engine, 'reply' | 'changeTask'>, runId: string, ask: Ask): OpenAsk {
  const { requestId, valueHash } = ask
  const reply = (decision: Reply['decision'], given: Omit<Reply, 'requestId' | 'valueHash' | 'decision'>) =>
    engine.reply(runId, { ...given, requestId, valueHash, decision })
  const change = (what: TaskChange['change'], given: DecisionInput) =>
    engine.changeTask(runId, { ...given, requestId, change: what })
  return {
    ...ask,
    approve: (given) => reply('approve', given),
    reject: (given) => reply('reject', given),
    edit: (given) => reply('edit', given),
    answer: (given) => reply('answer', given),
    claim: (given) => change('claim', given),
    release: (given) => change('release', given),
    decline: (given) => change('decline', given),
  }
}

/**
 * Passes the answer through the validator, which may convert it. A run that completes in the program that started it was
 * checked by the validator before. One that completed in another process, or that is read with another schema, was not: then
 * a refused answer is a failure for this reader, although the run has completed.
 */
function withValidated<Output>(
  result: RunResult,
  validator: StandardSchemaV1 | undefined,
): RunResult<Output> {
  // Without a validator, the engine has checked the answer against the JSON Schema that its type comes from.
  if (result.status !== 'completed' || validator === undefined) return result as RunResult<Output>
  const { output, status, ...rest } = result
  const validated = validateStandard(validator, output)
  if ('value' in validated) return { ...rest, status, output: validated.value as Output }
  const failure = {
    code: 'contract/unmet',
    message: 'The run has completed, but the validator of this program refuses its answer',
    issues: validated.issues,
  } as const
  return {
    ...rest,
    status: 'failed',
    issues: failure.issues,
    failure: failure.code,
    error: failureError(failure),
  }
}

const codes = {
  failed: 'run/failed',
  cancelled: 'run/cancelled',
  awaiting_hitl: 'run/waiting',
  awaiting_human: 'run/waiting',
  quarantined: 'run/waiting',
} as const satisfies Record<string, ErrorCode>

function toError({ runId, status, issues, error }: Exclude<RunResult<unknown>, { status: 'completed' }>) {
  const reason = error ? `: ${error.message}` : ''
  return new ProvisoError(codes[status], `Run "${runId}" has no answer: it is ${status}${reason}`, { issues })
}
