/** The growing value of a stream: plain objects and lists that fill up as the text arrives, and the finished paths. */
import { escapeToken, type Pointer } from '../../../base/pointer.ts'
import type { NodeKind } from './tree.ts'
import { type Container, ValueSink } from './value-sink.ts'

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
