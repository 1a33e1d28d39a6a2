/** The handle of one run: its result, asks, events and partial values, typed by the schema of the answer. */
import type { NodePartial } from '../adapters/executors/model.ts'
import { checkResultSignal, checkWatchOptions } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { OutputSchema } from '../domain/envelope/envelope-input.ts'
import { failureError } from '../domain/errors/failure-error.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Engine } from '../engine/engine.ts'
import type { WatchOptions } from '../engine/journal/journal.ts'
import { compileSchema } from '../schema/compile/compile.ts'
import { isForeignSchema, validateStandard } from '../schema/standard.ts'
import type { PartialBroker } from './partial-broker.ts'
import { type OpenAsk, type RunResult, runResult, toOpenAsk } from './run-result.ts'

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

/** Makes the handle of a run. `schema` checks the answer when it is read, and converts it if it is of another library. */
export function createRunHandle<Output>(
  { engine, partials }: HandleParts,
  id: string,
  schema?: OutputSchema,
): RunHandle<Output> {
  const validate = schema === undefined ? undefined : toValidate(schema)
  const result = async (signal?: AbortSignal) => {
    checkResultSignal(signal)
    return withValidated<Output>(await runResult(engine, id, signal), validate)
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

type Validate = (answer: Json) => { readonly value: unknown } | { readonly issues: Issue[] }

function toValidate(schema: OutputSchema): Validate {
  if (isForeignSchema(schema)) return (answer) => validateStandard(schema, answer)
  const compiled = compileSchema(schema)
  return (answer) => {
    const issues = compiled.validate(answer)
    return issues.length > 0 ? { issues } : { value: answer }
  }
}

/**
 * Passes the answer through the schema, which may convert it. A run that completes in the program that started it was
 * checked by it before. One that completed in another process, or that is read with another schema, was not: then
 * a refused answer is a failure for this reader, although the run has completed.
 */
function withValidated<Output>(result: RunResult, validate: Validate | undefined): RunResult<Output> {
  // Without a schema, the engine has checked the answer against the JSON Schema that its type comes from.
  if (result.status !== 'completed' || validate === undefined) return result as RunResult<Output>
  const { output, status, ...rest } = result
  const validated = validate(output)
  if ('value' in validated) return { ...rest, status, output: validated.value as Output }
  const failure = {
    code: 'contract/unmet',
    message: 'The run has completed, but the schema of this program refuses its answer',
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

function toError(result: Exclude<RunResult<unknown>, { status: 'completed' }>) {
  const { runId, status, issues } = result
  const message = `Run "${runId}" has no answer: ${describeEnd(result)}`
  return new ProvisoError(`run/${status}`, message, { issues })
}

function describeEnd(result: Exclude<RunResult<unknown>, { status: 'completed' }>): string {
  if (result.status !== 'waiting') {
    const reason = result.error ? `: ${result.error.message}` : ''
    return result.status === 'failed' ? `it failed${reason}` : `it was cancelled${reason}`
  }
  const [ask] = result.asks
  return `it waits for a person: ${result.paused?.reason ?? ask?.question ?? 'no reason given'}`
}
