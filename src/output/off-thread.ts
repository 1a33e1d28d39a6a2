/**
 * Reading off the main thread, for servers: texts and schemas of strangers cannot block the process for longer
 * than a deadline, nor use more memory than a limit. A door of its own, because it needs Node.
 */
import { ProvisoError } from '../base/error.ts'
import type { Issue } from '../base/issue.ts'
import type { JsonSchema } from '../schema/compile.ts'
import { checkSize } from '../schema/limits.ts'
import { isForeignSchema } from '../schema/standard.ts'
import type { Answer, PortableOptions, Refusal } from './off-thread-messages.ts'
import { namedSchema } from './shorthand.ts'
import type { AnySchema, ParseOptions, ParseResult } from './types.ts'
import { createPool, type Outcome } from './worker-pool.ts'

export interface OffThreadOptions {
  /** Threads that are kept warm. Default 1. */
  readonly workers?: number
  /** How long one text may take, from the moment a thread begins with it. Default 500. */
  readonly deadlineMs?: number
  /** Heap of one thread. Default 128. */
  readonly memoryMb?: number
  /** How many requests may wait for a thread before more are refused. Default 1,000. */
  readonly waiting?: number
  /** A thread that had nothing to do for so long is ended and started again when needed. Default 0: kept. */
  readonly idleMs?: number
  /** Where the code of the threads is. Default: beside this file, which is right unless a bundler moved it. */
  readonly workerUrl?: URL
}

export interface OffThreadCall {
  readonly signal?: AbortSignal
}

export type OffThreadCompiled =
  | { readonly ok: true; readonly hash: string }
  | { readonly ok: false; readonly issues: readonly Issue[] }

export interface OffThreadReader {
  /**
   * As `parse`, in another thread, with `untrusted: true` unless the options say otherwise. Running into the deadline
   * or out of memory is an issue of the result (`limit/deadline`, `limit/memory`).
   * Rejects as `parse` throws, and with `aborted`, `pool/full`, `pool/closed` or `pool/broken`.
   */
  parse(text: string, schema?: AnySchema, options?: ParseOptions, call?: OffThreadCall): Promise<ParseResult>
  /** Whether a stranger's schema can be used at all, and its hash; what is wrong with it otherwise. */
  compile(schema: JsonSchema, call?: OffThreadCall): Promise<OffThreadCompiled>
  /** Ends the threads; what was not answered yet is rejected. */
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
  const url = options.workerUrl ?? new URL('./off-thread-worker.js', import.meta.url)
  const pool = createPool({ url, workers, deadlineMs, memoryMb, waiting, idleMs })

  /** A limit that was hit, in words. */
  function limitIssue(outcome: Outcome, at: Issue['at']): Issue | undefined {
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
      const outcome = await pool.run({ kind: 'parse', text, schema: plain, options: portable }, call.signal)
      const issue = limitIssue(outcome, { span: [0, text.length] })
      if (issue !== undefined) return failure(text, issue)
      if (outcome.kind === 'parsed') return { ...outcome.result, raw: text }
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
  // Before it is copied: a schema beyond the limits must not cost the main thread anything.
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

function failure(text: string, issue: Issue): ParseResult {
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

function refusalIssue({ code, message, hint, at }: ProvisoError): Issue {
  return { code, message, at: at ?? { pointer: '' }, ...(hint !== undefined && { hint }) }
}
