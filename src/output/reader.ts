/** Reading while the model still writes: typed partials after every chunk, and at the end exactly what `parse` says. */
import { isObject } from '../base/json.ts'
import { Decoder } from './decoder.ts'
import { LiveSink } from './live.ts'
import { MORE } from './lookahead.ts'
import { parse } from './parse.ts'
import { Prose } from './prose.ts'
import { settingsOf } from './settings.ts'
import { type Target, targetOf } from './target.ts'
import type { AnySchema, Infer, ParseOptions, ParseResult, Partial_, Pushed, Reader } from './types.ts'

/** How much of a string behind a doubtful quote is held back, because the quote may still turn out to open a key. */
const DOUBT = 256

/**
 * The partial is a live view: read it before the next push, do not change it, and do not trust it. Only `end` validates.
 *
 * @example
 * const reader = createReader({ type: 'object' })
 * reader.push('{"name": "A').partial // { name: 'A' }
 * reader.push('da"}').finished // ['/name'], and '' once it is certain that nothing follows
 * reader.end() // the same as parse('{"name": "Ada"}', …)
 */
export function createReader<S extends AnySchema = AnySchema>(
  schema?: S,
  options: ParseOptions = {},
): Reader<Infer<S>> {
  return new StreamReader<Infer<S>>(schema, options)
}

class StreamReader<T> implements Reader<T> {
  readonly #schema: AnySchema | undefined
  readonly #options: ParseOptions
  readonly #chunks: string[] = []
  readonly #sink = new LiveSink()
  readonly #decoder: Decoder
  readonly #prose = new Prose()
  readonly #target: Target
  readonly #wanted: ReadonlySet<string>
  #inValue = false
  /** The value shown stands; later ones are passed over. */
  #settled = false
  /** The value shown comes from a reasoning block. */
  #doubtful = false
  #length = 0
  readonly #limit: number

  constructor(schema: AnySchema | undefined, options: ParseOptions) {
    const settings = settingsOf(options)
    this.#schema = schema
    this.#options = options
    this.#limit = settings.limits.bytes
    const { depth } = settings.limits
    this.#decoder = new Decoder(this.#sink, { depth, acceptTruncated: true })
    this.#target = targetOf(schema, options)
    this.#wanted = new Set(this.#target.guided?.root.types ?? [])
  }

  push(chunk: string): Pushed<T> {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    const sink = this.#sink
    sink.finished = []
    let replaced = false
    if (!this.#settled && this.#length <= this.#limit) replaced = this.#advance(chunk)
    // The view is what has arrived, typed as what is promised, with everything optional.
    return {
      partial: sink.begun ? (sink.value as Partial_<T>) : undefined,
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
    d.buf = keep >= d.buf.length ? chunk : d.buf.slice(keep) + chunk
    let replaced = false
    for (;;) {
      if (this.#inValue) {
        d.run()
        if (!d.done) break
        this.#inValue = false
        if (!this.#doubtful && this.#fits()) this.#settled = true
        if (this.#settled) break
      } else {
        const at = this.#prose.next(d, d.i, d.base)
        if (at === MORE) {
          d.i = this.#prose.resume
          break
        }
        d.i = at
        if (at >= d.buf.length) break
        if (!this.#worthShowing(at)) {
          d.i++
          continue
        }
        if (this.#sink.begun) replaced = true
        this.#sink.reset()
        this.#doubtful = this.#prose.reasoning > 0
        d.fence = this.#prose.fence?.mark
        d.start()
        this.#inValue = true
      }
    }
    this.#show()
    return replaced
  }

  /** A value of a kind that the schema does not want at its root is not shown while another may come. */
  #worthShowing(at: number): boolean {
    if (this.#wanted.size === 0) return true
    return this.#wanted.has(this.#decoder.buf[at] === '[' ? 'array' : 'object')
  }

  /** Whether the complete value can be the answer: it is valid, or it has every member that is required. */
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

  /** Shows what is certain of a string that is still arriving. */
  #show(): void {
    const s = this.#decoder.string
    if (s === undefined || s.role === 'key') return
    const pending = s.rejects > 0 && this.#decoder.base + this.#decoder.i - s.rejectAt < DOUBT
    this.#sink.progress(pending ? (s.rejectText ?? s.acc) : s.acc)
  }

  /** What of the buffer is still needed. */
  #keepFrom(): number {
    const d = this.#decoder
    const s = d.string
    if (!this.#inValue || s === undefined) return d.i
    const rejected = s.rejects > 0 ? s.rejectAt - d.base - 64 : d.i
    return Math.max(0, Math.min(d.i, d.i - rejected < DOUBT ? rejected : d.i))
  }
}

/** A value too deep for the validator's recursion is not valid; `end` reports why. */
function isValid(target: Target, value: unknown): boolean {
  try {
    return target.check(value).ok
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
