/** Collects the plain values and the edits, which is all that most texts need; `LiveSink` does so for streams. */
import { setOwn } from '../../../base/json.ts'
import { escapeToken, type Pointer } from '../../../base/pointer.ts'
import { hasFastPaths } from '../../fast-paths.ts'
import type { RuleName } from '../../rules.ts'
import { EditLog, LoggedEdits, NO_EDITS } from './edit-log.ts'
import type { Marked, NodeKind, Sink } from './tree.ts'

type Container = unknown[] | Record<string, unknown>

export class ValueSink implements Sink {
  value: unknown
  begun = false
  /** The edits of all values read so far, and where those of the current value begin. */
  readonly #log = new EditLog()
  #logged = 0
  /** A key occurred twice. */
  repeated = false
  /** A repeated key replaced a container, or a string that may hold one. */
  replacedJson = false
  /** Some value is inexact: a bare word, `NaN`, digits kept as text. */
  special = false
  protected readonly containers: Container[] = []
  /** The next key of each open object. */
  protected readonly keys: string[] = []
  /** The innermost open container. */
  #top: Container | undefined
  /** The value last put or closed. */
  protected last: unknown
  /** The members of all open objects, consecutively: keys and their start offsets. */
  readonly #names: string[] = []
  readonly #starts: number[] = []
  #members = 0
  /** The number of members when each container was opened. */
  readonly #before: number[] = []
  /** A key was emitted without a value so far. */
  #keyed = false
  /** Index of each key in objects with repeated keys; absent until the first repetition. */
  #indexes: Map<Container, Map<string, number>> | undefined

  /** The edits of the current value. */
  get edits(): LoggedEdits {
    const from = this.#logged
    const to = this.#log.length
    return from === to ? NO_EDITS : new LoggedEdits(this.#log, from, to)
  }

  reset(): void {
    this.value = undefined
    this.begun = false
    this.#logged = this.#log.length
    this.repeated = false
    this.replacedJson = false
    this.special = false
    this.#top = undefined
    this.#members = 0
    this.#keyed = false
    this.#indexes = undefined
    // Usually empty already, and setting a length is slow.
    if (this.containers.length === 0) return
    this.containers.length = 0
    this.keys.length = 0
    this.#before.length = 0
  }

  open(kind: 'object' | 'array', _start?: number): void {
    const container: Container = kind === 'object' ? {} : []
    this.put(container)
    this.containers.push(container)
    this.keys.push('')
    this.#before.push(this.#members)
    this.#top = container
  }

  key(text: string, start: number): void {
    this.keys[this.keys.length - 1] = text
    this.#names[this.#members] = text
    this.#starts[this.#members++] = start
    this.#keyed = true
  }

  /** The key of the next value. */
  protected get nextKey(): string {
    return this.keys.length === 0 ? '' : (this.keys[this.keys.length - 1] as string)
  }

  scalar(kind: NodeKind, value: unknown, _start?: number, _end?: number): void {
    if (hasFastPaths && kind === 'constant') this.special = true
    this.put(kind === 'constant' ? null : value)
  }

  marked(value: string, { start, end }: Marked): void {
    if (hasFastPaths) this.special = true
    this.scalar('string', value, start, end)
  }

  progress(_text: string): void {}

  close(_end?: number): void {
    this.#leave()
  }

  #leave(): void {
    const { containers } = this
    this.last = containers.pop()
    this.keys.pop()
    this.#members = this.#before.pop() as number
    this.#top = containers.length === 0 ? undefined : containers[containers.length - 1]
  }

  reopen(kind: 'object' | 'array', start?: number): void {
    this.#leave()
    this.takeOut()
    this.open(kind, start)
  }

  collapse(): void {
    const list = this.last
    this.takeOut()
    this.put(Array.isArray(list) ? list[0] : list)
  }

  undo(): void {
    if (this.#keyed) this.#members--
    this.#keyed = false
  }

  edit(rule: RuleName, start: number, end: number, after: string): void {
    this.#log.addText(rule, start, end, after)
  }

  rewrite(rule: RuleName, start: number, end: number, value: unknown): void {
    this.#log.addValue(rule, start, end, value)
  }

  rewriteLast(rule: RuleName, start: number, end: number): void {
    this.rewrite(rule, start, end, this.last)
  }

  reedit(index: number, after: string): void {
    this.#log.replaceText(index, after)
  }

  mark(): number {
    return this.#log.length
  }

  rollback(mark: number): void {
    this.#log.cut(mark)
  }

  /** Puts a value at the next position. */
  protected put(value: unknown): void {
    this.last = value
    this.#keyed = false
    const top = this.#top
    if (top === undefined) {
      this.value = value
      this.begun = true
    } else if (Array.isArray(top)) {
      top.push(value)
    } else {
      const key = this.keys[this.keys.length - 1] as string
      if (Object.hasOwn(top, key)) this.#dropEarlier(top, key)
      if (key === '__proto__') setOwn(top, key, value)
      else top[key] = value
      if (this.#indexes !== undefined) this.#indexes.get(top)?.set(key, this.#members - 1)
    }
  }

  /** Last one wins: an edit removes the earlier member. */
  #dropEarlier(top: Container, key: string): void {
    this.repeated = true
    this.replacedJson ||= hasFastPaths && mayHoldJson(top[key as keyof Container])
    this.#indexes ??= new Map()
    let indexes = this.#indexes.get(top)
    if (indexes === undefined) {
      indexes = new Map()
      const from = this.#before[this.#before.length - 1] as number
      for (let at = from; at < this.#members - 1; at++) indexes.set(this.#names[at] as string, at)
      this.#indexes.set(top, indexes)
    }
    const earlier = indexes.get(key)
    if (earlier === undefined) return
    this.edit('duplicate-key', this.#starts[earlier] as number, this.#starts[earlier + 1] as number, '')
  }

  /** Removes the value last put. */
  protected takeOut(): void {
    const top = this.containers[this.containers.length - 1]
    if (Array.isArray(top)) top.pop()
    else if (top !== undefined) delete top[this.keys[this.keys.length - 1] as string]
  }
}

const OPENER = /[{[｛［]/

/** Whether a value is a container, or a string with an opening bracket. */
export function mayHoldJson(value: unknown): boolean {
  return typeof value === 'string' ? OPENER.test(value) : typeof value === 'object' && value !== null
}

/** The growing value of a stream: plain objects and lists that fill up as the text arrives, and the finished paths. */
export class LiveSink extends ValueSink {
  finished: Pointer[] = []
  readonly #pointers: Pointer[] = []
  /** Depth from which no path is reported, inside a member that replaces an earlier one. */
  #silent = Number.POSITIVE_INFINITY
  /** A string that is still arriving occupies the position of the next value. */
  #held = false

  override reset(): void {
    super.reset()
    this.finished = []
    this.#pointers.length = 0
    this.#held = false
    this.#silent = Number.POSITIVE_INFINITY
  }

  override open(kind: 'object' | 'array'): void {
    super.open(kind)
    this.#pointers.push(this.#here(this.containers.length - 2))
    if (this.repeated) this.#silent = Math.min(this.#silent, this.containers.length)
    this.repeated = false
  }

  override scalar(kind: NodeKind, value: unknown): void {
    super.scalar(kind, value)
    if (!this.repeated) this.#announce(this.#here(this.containers.length - 1))
    this.repeated = false
  }

  /** Reports a finished path, unless it replaces an earlier member, which was already reported. */
  #announce(pointer: Pointer): void {
    if (this.containers.length < this.#silent) this.finished.push(pointer)
  }

  override progress(text: string): void {
    this.put(text)
    this.#held = true
  }

  override close(): void {
    super.close()
    const pointer = this.#pointers.pop() as Pointer
    this.#announce(pointer)
    if (this.containers.length < this.#silent) this.#silent = Number.POSITIVE_INFINITY
  }

  override reopen(kind: 'object' | 'array'): void {
    this.#pointers.pop()
    super.reopen(kind)
  }

  override undo(): void {
    if (this.#held) this.takeOut()
    this.#held = false
  }

  /** Ignores edits: only the final reading records them. */
  override edit(): void {}
  override rewrite(): void {}
  override reedit(): void {}
  override rollback(): void {}

  protected override put(value: unknown): void {
    if (this.#held) this.takeOut()
    this.#held = false
    super.put(value)
  }

  /** Pointer of the last value put into the container at this depth. */
  #here(depth: number): Pointer {
    const container: Container | undefined = this.containers[depth]
    if (container === undefined) return ''
    const token = Array.isArray(container) ? container.length - 1 : escapeToken(this.keys[depth] as string)
    return `${this.#pointers[depth]}/${token}`
  }
}
