/** Starts a run: parses the input, once, and opens its trace. */
import type { Tracing } from '../adapters/telemetry/tracing.ts'
import { checkRunOptions, type RunOptions } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import type { ParseIssue } from '../domain/parse/issue-table.ts'
import type { Engine } from '../engine/engine.ts'
import { readDraft, readEnvelope } from './parse-given.ts'

interface StartOptions {
  readonly engine: Pick<Engine, 'start'>
  readonly tracing: Pick<Tracing, 'runs'> | undefined
  readonly newId: () => string
}

/** A run whose envelope and draft are parsed. */
export interface PreparedRun {
  /** Deprecations in the envelope, and what to write instead. */
  readonly warnings: readonly ParseIssue[]
  /** Starts it and returns its id. The run continues whether or not the caller waits. */
  start(): Promise<string>
}

/** Parses what a run is started with. Throws one error with every issue if it is invalid. */
export function prepareRun(
  { engine, tracing, newId }: StartOptions,
  given: unknown,
  options: RunOptions = {},
): PreparedRun {
  checkRunOptions(options)
  const { draft, signal, ...rest } = options
  // An aborted caller does not want the run to start.
  signal?.throwIfAborted()
  const { value: envelope, warnings } = readEnvelope(given)
  const work = { warnings, ...rest, ...(draft !== undefined && { draft: readDraft(draft) }) }
  return {
    warnings,
    async start() {
      if (!tracing) return engine.start(envelope, work)
      const runId = rest.runId ?? newId()
      const { trace, abandon } = tracing.runs.begin(runId, rest.traceparent)
      return engine
        .start(envelope, { runId, ...work, ...(trace && { traceparent: trace.traceparent }) })
        .catch((cause: unknown) => {
          abandon(cause instanceof ProvisoError ? cause.code : 'internal')
          throw cause
        })
    },
  }
}
