/** Streaming parser: returns typed partial values after every chunk, and at the end exactly the result of `parse`. */
import { isObject } from '../base/json.ts'
import { Decoder } from './decode/decoder.ts'
import { fenceLine, LONGEST_TAG, THOUGHT_END } from './decode/ends.ts'
import { MORE } from './decode/lookahead.ts'
import type { Machine, StringState } from './decode/machine.ts'
import { LiveSink } from './decode/tree/value-sink.ts'
import type { Infer, InferPartial } from './infer.ts'
import { parse } from './parse.ts'
import { Prose } from './scan/prose.ts'
import { resolveTarget, type Target } from './schema/target.ts'
import { resolveSettings } from './settings.ts'
import type { AnySchema, ParseOptions, ParseResult, Pushed, Reader } from './types.ts'

/** Characters of a string held back behind an ambiguous quote, because the quote may still turn out to open a key. */
const DOUBT = 256

/**
 * The partial is a live, unvalidated view: read it before the next push and do not modify it. Only `end` validates.
 *
 * @example
 * const reader = createReader({ type: 'object' })
 * reader.push('{"name": "A').partial // { name: 'A' }
 * reader.push('da"}').finished // ['/name'], and '' once it is certain that nothing follows
 * reader.end() // the same as parse('{"name": "Ada"}', …)
 */
export function createReader<const S extends AnySchema = AnySchema>(
  schema?: S,
  options: ParseOptions = {},
): Reader<Infer<S>, InferPartial<S>> {
  return new StreamReader<Infer<S>, InferPartial<S>>(schema, options)
}

class StreamReader<T, P> implements Reader<T, P> {
  readonly #schema: AnySchema | undefined
  readonly #options: ParseOptions
  readonly #chunks: string[] = []
  readonly #sink = new LiveSink()
  readonly #decoder: Decoder
  readonly #prose = new Prose()
  readonly #target: Target
  readonly #wanted: ReadonlySet<string>
  #inValue = false
  /** The shown value is final; later candidates are ignored. */
  #settled = false
  /** End of the last chunk, which may contain the start of a reasoning block's closing tag. */
  #tail = ''
  /** End of the last chunk, which may be the start of the tag that closes the block around the value. */
  #held = ''
  #length = 0
  readonly #limit: number

  constructor(schema: AnySchema | undefined, options: ParseOptions) {
    const settings = resolveSettings(options)
    this.#schema = schema
    this.#options = options
    this.#limit = settings.limits.bytes
    const { depth } = settings.limits
    this.#decoder = new Decoder(this.#sink, { depth, acceptTruncated: true, awaitsFence })
    this.#target = resolveTarget(schema, options)
    this.#wanted = new Set(this.#target.guided?.root.types ?? [])
  }

  push(chunk: string): Pushed<P> {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    const sink = this.#sink
    sink.finished = []
    let replaced = false
    if (this.#length <= this.#limit) {
      const isTakenBack = this.#settled
      const rest = isTakenBack ? this.#afterThought(chunk) : chunk
      if (rest !== undefined) replaced = this.#advance(rest) || isTakenBack
    }
    // The view is what has arrived so far; type `P` makes no promise about scalars.
    return {
      partial: sink.begun ? (sink.value as P) : undefined,
      finished: sink.finished,
      replaced,
    }
  }

  end(): ParseResult<T> {
    // `parse` infers the same type from the same schema.
    return parse(this.#chunks.join(''), this.#schema, this.#options) as ParseResult<T>
  }

  #advance(chunk: string): boolean {
    const d = this.#decoder
    const keep = this.#keepFrom()
    if (d.string !== undefined) d.string.seg -= keep
    d.base += keep
    d.i -= keep
    const arrived = this.#held + chunk
    d.buf = keep >= d.buf.length ? arrived : d.buf.slice(keep) + arrived
    this.#held = ''
    let replaced = false
    for (;;) {
      if (this.#inValue) {
        const rest = this.#holdBack()
        d.run()
        if (d.done) d.buf += rest
        else this.#held = rest
        if (d.crossed) this.#settled = true
        if (!d.done) break
        this.#inValue = false
        if (this.#fits()) this.#settled = true
        if (this.#settled) {
          const rest = this.#afterThought(d.buf.slice(d.i))
          if (rest === undefined) break
          d.buf = rest
          replaced = true
        }
      } else {
        const at = this.#prose.next(d, d.i, d.base)
        if (at === MORE) {
          d.i = this.#prose.resume
          break
        }
        d.i = at
        if (at >= d.buf.length) break
        if (this.#prose.reasoning > 0 || !this.#worthShowing(at)) {
          d.i++
          continue
        }
        if (this.#sink.begun) replaced = true
        this.#sink.reset()
        d.fence = this.#prose.fence?.mark
        d.start()
        this.#inValue = true
      }
    }
    this.#show()
    return replaced
  }

  /**
   * Removes text from the buffer that begins with the closing tag around the value, or may do so once more has arrived,
   * because a stream must not show text behind that tag. Only the whole text shows whether the value ends there.
   */
  #holdBack(): string {
    const d = this.#decoder
    const end = this.#prose.tagEnd
    if (end === undefined) return ''
    let at = d.buf.indexOf(end)
    d.crossed ||= at >= 0
    if (at < 0) {
      at = Math.max(0, d.buf.length - end.length + 1)
      while (!end.startsWith(d.buf.slice(at))) at++
    }
    const rest = d.buf.slice(at)
    d.buf = d.buf.slice(0, at)
    return rest
  }

  /**
   * Handles the end of a reasoning block after the value. If the block's opening tag was never seen, the value shown
   * was a draft: withdraws it and continues with the text that follows. Returns undefined if no block ends.
   */
  #afterThought(chunk: string): string | undefined {
    const text = this.#tail + chunk
    this.#tail = text.slice(-LONGEST_TAG)
    THOUGHT_END.lastIndex = 0
    if (this.#decoder.crossed || !THOUGHT_END.test(text)) return undefined
    // Clear the tail: the rest is read again from the tag on, and a copy here would match forever.
    this.#tail = ''
    const d = this.#decoder
    const end = this.#length - text.length + THOUGHT_END.lastIndex
    this.#sink.reset()
    d.start()
    this.#inValue = false
    this.#settled = false
    // Restart: treat what follows as the beginning of the text.
    d.base = end
    d.buf = ''
    d.i = 0
    return text.slice(THOUGHT_END.lastIndex)
  }

  /** Hides a root value of a type that the schema does not allow while another value may still arrive. */
  #worthShowing(at: number): boolean {
    if (this.#wanted.size === 0) return true
    return this.#wanted.has(this.#decoder.buf[at] === '[' ? 'array' : 'object')
  }

  /** Whether the complete value can be the answer: it is valid, or it has every required member. */
  #fits(): boolean {
    const { guided } = this.#target
    const { value } = this.#sink
    if (guided === undefined || isValid(this.#target, value) || !isObject(value)) return true
    const { required, names } = guided.root
    return (
      [...required].every((name) => Object.hasOwn(value, name)) &&
      names.some((name) => Object.hasOwn(value, name))
    )
  }

  /** Shows the certain part of a string that is still arriving. */
  #show(): void {
    const s = this.#decoder.string
    if (s === undefined || s.role === 'key') return
    const pending = s.rejects > 0 && this.#decoder.base + this.#decoder.i - s.rejectAt < DOUBT
    this.#sink.progress(pending ? (s.rejectText ?? s.acc) : s.acc)
  }

  /** Index from which the buffer is still needed. */
  #keepFrom(): number {
    const d = this.#decoder
    const s = d.string
    if (!this.#inValue || s === undefined) return d.i
    const rejected = s.rejects > 0 ? s.rejectAt - d.base - 64 : d.i
    return Math.max(0, Math.min(d.i, d.i - rejected < DOUBT ? rejected : d.i))
  }
}

/**
 * Whether the line after the break at `i` closes the fence around the value, or may do so once more has arrived: a
 * stream must not show text behind that fence. Fences opened inside the content belong to the content.
 */
function awaitsFence(d: Machine, s: StringState, i: number): boolean {
  if (d.fence === undefined) return false
  const line = fenceLine(d, i + 1, d.fence)
  if (line === MORE || (line === 'close' && s.fences === 0)) {
    d.crossed = line === 'close'
    return true
  }
  if (line === 'open') s.fences++
  else if (line === 'close') s.fences--
  return false
}

/** Validates; a value too deep for the validator's recursion counts as invalid, and `end` reports why. */
function isValid(target: Target, value: unknown): boolean {
  try {
    return target.check(value).ok
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
