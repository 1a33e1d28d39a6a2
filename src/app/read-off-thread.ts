/**
 * Reads long texts of models and agents on other threads, so that no text delays the process: its requests, timers and
 * the renewal of leases. Short texts are read here, because a thread would cost more than the reading.
 */
import { availableParallelism } from 'node:os'
import type { ReadingOptions } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import type { ParseText } from '../domain/ports/parse-text.ts'
import { type ParseOptions, type ParseResult, parse, type ReaderEvent } from '../output/index.ts'
import { createOffThreadReader, type OffThreadReader } from '../output/thread/off-thread.ts'
import type { JsonSchema } from '../schema/json-schema.ts'

export interface TextReading {
  readonly parseText: ParseText
  close(): Promise<void>
}

/** An attempt stores no more repairs, and receiving thousands from a thread takes tens of milliseconds. */
const mostRepairs = 100

const defaults = { longestHere: 16_384, deadlineMs: 10_000, memoryMb: 256, idleMs: 60_000 }

/** Threads start with the first long text, and end when there was none for a while. */
export function createTextReading(options: ReadingOptions = {}): TextReading {
  const { longestHere = defaults.longestHere, deadlineMs, memoryMb } = { ...defaults, ...options }
  const workers = options.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1))
  let reader: OffThreadReader | undefined
  // Sources have no built script beside them that a thread could run.
  let isBroken = options.workerUrl === undefined && import.meta.url.endsWith('.ts')

  const readOnThread: ParseText = async (text, schema, given, signal) => {
    reader ??= createOffThreadReader({
      workers,
      deadlineMs,
      memoryMb,
      idleMs: defaults.idleMs,
      // The attempts in flight are limited, and each waits for its own text only.
      waiting: Number.POSITIVE_INFINITY,
      ...(options.workerUrl && { workerUrl: options.workerUrl }),
    })
    const { stages = [], onEvent, ...portable } = given
    const events: ReaderEvent[] = []
    const result = await reader.parse(
      text,
      schema,
      { untrusted: false, ...portable, limits: { repairs: mostRepairs, ...portable.limits } },
      { ...(signal && { signal }), onEvent: (event) => events.push(event) },
    )
    if (stages.length > 0 && !isOverLimit(result)) return runStages({ text, schema, options: given }, result)
    for (const event of events) onEvent?.(event)
    return result
  }

  return {
    async parseText(text, schema, given, signal) {
      if (isBroken || text.length <= longestHere) return parse(text, schema, given)
      try {
        return await readOnThread(text, schema, given, signal)
      } catch (cause) {
        if (!(cause instanceof ProvisoError) || cause.code !== 'pool/broken') throw cause
        isBroken = true
        warnOnce(cause)
        return parse(text, schema, given)
      }
    },
    close: async () => reader?.close(),
  }
}

function isOverLimit({ issues }: ParseResult): boolean {
  return issues.some(({ code }) => code === 'limit/deadline' || code === 'limit/memory')
}

interface Read {
  readonly text: string
  readonly schema: JsonSchema
  readonly options: ParseOptions
}

/** Custom stages are functions, which cannot cross to a thread: they run here, on the value that came back. */
function runStages({ text, schema, options }: Read, before: ParseResult): ParseResult {
  const held = before.ok ? before.value : before.candidate
  if (held === undefined) return before
  const stages = (options.stages ?? []).map((stage) => ({
    name: stage.name,
    run: (value: unknown, context: { readonly schema: JsonSchema | undefined }) =>
      stage.run(value, { ...context, text }),
  }))
  const after = parse(JSON.stringify(held), schema, { ...options, aop: 'minimal', stages })
  const { branches, truncated } = before
  const repairs = [...before.repairs, ...after.repairs]
  const repairCount = before.repairCount + after.repairCount
  return { ...after, repairs, repairCount, branches, truncated, raw: text }
}

function warnOnce(cause: ProvisoError): void {
  process.emitWarning(`Long texts are read on the main thread: ${cause.message}`, {
    type: 'ProvisoWarning',
    code: 'pool/broken',
    detail: 'If a bundler moved the files of proviso, set `reading.workerUrl` to off-thread-worker.js',
  })
}
