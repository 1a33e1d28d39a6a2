/** Begins a run: what was given is read, and its trace begins with it. */
import type { Tracing } from '../adapters/telemetry/tracing.ts'
import { checkRunOptions, type RunOptions } from '../app-options.ts'
import { ProvisoError } from '../base/error.ts'
import type { Engine } from '../engine/engine.ts'
import { readDraft, readEnvelope } from './read-given.ts'

export interface StartOptions {
  readonly engine: Pick<Engine, 'start'>
  readonly tracing: Pick<Tracing, 'runs'> | undefined
  readonly newId: () => string
}

/** Returns the id of the run, which goes on whether or not anybody waits. */
export async function startRun(
  { engine, tracing, newId }: StartOptions,
  given: unknown,
  options: RunOptions = {},
): Promise<string> {
  checkRunOptions(options)
  const { draft, signal, ...rest } = options
  // Whoever has given up before it begins does not want it to begin.
  signal?.throwIfAborted()
  const { value: envelope, warnings } = readEnvelope(given)
  const work = { ...rest, warnings, ...(draft !== undefined && { draft: readDraft(draft) }) }
  if (!tracing) return engine.start(envelope, work)
  const runId = rest.runId ?? newId()
  const { trace, abandon } = tracing.runs.begin(runId, rest.traceparent)
  return engine
    .start(envelope, { ...work, runId, ...(trace && { traceparent: trace.traceparent }) })
    .catch((cause: unknown) => {
      abandon(cause instanceof ProvisoError ? cause.code : 'internal')
      throw cause
    })
}
