/**
 * Parses off the main thread, for servers: untrusted text and schemas cannot block the process for longer than a
 * deadline or use more memory than a limit. A separate entry point, because it needs Node.
 */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { ProvisoError } from '../../base/errors/error.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { checkSize } from '../../schema/compile/limits.ts'
import type { RefusedSchemaCode } from '../../schema/issue-table.ts'
import { isForeignSchema } from '../../schema/standard.ts'
import type { ReaderIssue } from '../issue-table.ts'
import { namedSchema } from '../schema/shorthand.ts'
import type { AnySchema, ParseOptions, ParseResult, ReaderEvent } from '../types.ts'
import type { Answer, PortableOptions, Refusal } from './off-thread-messages.ts'
import { createPool, type Outcome } from './worker-pool.ts'

export { getPoolStats, type PoolStats } from './worker-pool.ts'

export interface OffThreadOptions {
  /** Number of warm threads. Default 1. */
  readonly workers?: number
  /** Time limit for one text, from the moment a thread starts it. Default 500. */
  readonly deadlineMs?: number
  /** Heap limit of one thread. Default 128. */
  readonly memoryMb?: number
  /** Maximum number of queued requests; further ones are rejected. Default 1,000. */
  readonly waiting?: number
  /** Idle time after which a thread is terminated; it is started again on demand. Default 0: never terminated. */
  readonly idleMs?: number
  /** URL of the worker script. Default: beside this file, which is correct unless a bundler moved it. */
  readonly workerUrl?: URL
}

export interface OffThreadCall {
  readonly signal?: AbortSignal
  /** Called with the events of the reading once it has ended. */
  readonly onEvent?: (event: ReaderEvent) => void
}

export type OffThreadCompiled =
  | { readonly ok: true; readonly hash: string }
  | { readonly ok: false; readonly issues: readonly ReaderIssue[] }

export interface OffThreadReader {
  /**
   * Runs `parse` in another thread, with `untrusted: true` unless the options override it. Exceeding the deadline or
   * the memory limit is an issue of the result (`limit/deadline`, `limit/memory`). Rejects where `parse` throws, and
   * with `aborted`, `pool/full`, `pool/closed` or `pool/broken`.
   */
  parse(text: string, schema?: AnySchema, options?: ParseOptions, call?: OffThreadCall): Promise<ParseResult>
  /** Checks whether an untrusted schema can be used: returns its hash, or the reason why not. */
  compile(schema: JsonSchema, call?: OffThreadCall): Promise<OffThreadCompiled>
  /** Terminates the threads and rejects pending requests. */
  close(): Promise<void>
}

/**
 * Starts the threads.
 *
 * @example
 * const reader = createOffThreadReader({ deadlineMs: 200 })
 * const result = await reader.parse(text, { type: 'object' })
 * await reader.close()
 */
export function createOffThreadReader(options: OffThreadOptions = {}): OffThreadReader {
  const { workers = 1, deadlineMs = 500, memoryMb = 128, waiting = 1_000, idleMs = 0 } = options
  requirePositive({ workers, deadlineMs, memoryMb })
  const startWorker = startOwnOr(options.workerUrl)
  const pool = createPool({ startWorker, workers, deadlineMs, memoryMb, waiting, idleMs })

  /** The issue of an exceeded limit. */
  function limitIssue(outcome: Outcome, at: ReaderIssue['at']): ReaderIssue | undefined {
    if (outcome.kind === 'deadline') {
      const message = `was not read within ${deadlineMs} ms`
      return {
        code: 'limit/deadline',
        at,
        message,
        hint: 'Simplify the schema, shorten the text, or raise deadlineMs',
      }
    }
    if (outcome.kind === 'memory') {
      const message = `was not read within ${memoryMb} MB of memory`
      return {
        code: 'limit/memory',
        at,
        message,
        hint: 'Simplify the schema, shorten the text, or raise memoryMb',
      }
    }
    return undefined
  }

  return {
    async parse(text, schema, parseOptions = {}, call = {}) {
      const portable = portableOptions(parseOptions)
      const plain = portableSchema(schema, portable.untrusted === true)
      const events = call.onEvent !== undefined
      const request = { kind: 'parse', text, schema: plain, options: portable, events } as const
      const outcome = await pool.run(request, call.signal)
      const issue = limitIssue(outcome, { span: [0, text.length] })
      if (issue !== undefined) return failure(text, issue)
      if (outcome.kind === 'parsed') {
        for (const event of outcome.events) call.onEvent?.(event)
        return { ...outcome.result, raw: text }
      }
      throw unanswered(outcome as Answer)
    },
    async compile(schema, call = {}) {
      try {
        const plain = portableSchema(schema, true) ?? true
        const outcome = await pool.run({ kind: 'compile', schema: plain, untrusted: true }, call.signal)
        const issue = limitIssue(outcome, { pointer: '' })
        if (issue !== undefined) return { ok: false, issues: [issue] }
        if (outcome.kind === 'compiled') return { ok: true, hash: outcome.hash }
        throw unanswered(outcome as Answer)
      } catch (error) {
        const aboutSchema = error instanceof ProvisoError && error.code.startsWith('schema/')
        if (aboutSchema) return { ok: false, issues: [refusalIssue(error)] }
        throw error
      }
    },
    close: () => pool.close(),
  }
}

/**
 * Returns what starts the worker. The path of its script is relative to the shared chunk that the build makes of this file.
 * Written as a literal, bundlers find the script and bundle it. From a variable, Next would trace every file of the package
 * and stop at its type files, so the script of a caller is started in a way that bundlers do not follow.
 */
function startOwnOr(url: URL | undefined): (options: WorkerOptions) => Worker {
  if (url !== undefined) return (options) => Reflect.construct(Worker, [url, options])
  return (options) => new Worker(new URL('./output/thread/off-thread-worker.js', import.meta.url), options)
}

function requirePositive(numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!(value > 0))
      throw new ProvisoError('option/invalid', `${name} must be a number above 0, but is ${value}`)
  }
}

function portableOptions({ stages, onEvent, ...rest }: ParseOptions): PortableOptions {
  for (const [name, value] of Object.entries({ stages, onEvent })) {
    if (value === undefined) continue
    throw new ProvisoError(
      'option/invalid',
      `"${name}" holds functions, which cannot cross to another thread`,
      {
        hint: 'Use parse() from proviso/output for this text, or do that work on the result',
      },
    )
  }
  return portable({ untrusted: true, ...rest }, 'The options')
}

function portableSchema(schema: AnySchema | undefined, untrusted: boolean): JsonSchema | undefined {
  if (isForeignSchema(schema)) {
    throw new ProvisoError(
      'option/invalid',
      'A Standard Schema cannot cross to another thread: its validator is code',
      {
        hint: 'Pass its JSON Schema, and validate the result with it',
      },
    )
  }
  if (typeof schema === 'string') return namedSchema(schema)
  // Check the size before copying: a schema beyond the limits must not cost the main thread anything.
  if (untrusted && schema !== undefined) checkSize(schema)
  return portable(schema, 'The schema')
}

function portable<T>(value: T, what: string): T {
  try {
    return structuredClone(value)
  } catch (cause) {
    throw new ProvisoError(
      'option/invalid',
      `${what} cannot cross to another thread: it must be plain data`,
      { cause },
    )
  }
}

function failure(text: string, issue: ReaderIssue): ParseResult {
  return {
    ok: false,
    issues: [issue],
    repairs: [],
    repairCount: 0,
    truncated: false,
    branches: {},
    raw: text,
  }
}

function unanswered(answer: Answer): ProvisoError {
  if (answer.kind === 'refused') return revived(answer.error)
  const cause = answer.kind === 'failed' ? answer.message : answer.kind
  return new ProvisoError('pool/broken', `A reader thread failed: ${cause}`)
}

function revived({ code, message, hint, at }: Refusal): ProvisoError {
  return new ProvisoError(code, message, { ...(hint !== undefined && { hint }), ...(at && { at }) })
}

/** The issue of a schema that cannot be used; the code was compared by the caller. */
function refusalIssue({ code, message, hint, at }: ProvisoError): ReaderIssue {
  const refused = code as RefusedSchemaCode
  return { code: refused, message, at: at ?? { pointer: '' }, ...(hint !== undefined && { hint }) }
}
