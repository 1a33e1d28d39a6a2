/** The growing value of a stream: plain objects and lists that fill up as the text arrives, and the paths that are finished. */
import { setOwn } from '../base/json.ts'
import { escapeToken, type Pointer } from '../base/pointer.ts'
import type { NodeKind, Sink } from './tree.ts'

interface Open {
  readonly value: unknown[] | Record<string, unknown>
  readonly pointer: Pointer
  /** Where the next value goes. */
  key: string
  /** A string that is still arriving occupies the place. */
  held: boolean
}

export class LiveSink implements Sink {
  value: unknown
  begun = false
  finished: Pointer[] = []
  readonly #stack: Open[] = []

  reset(): void {
    this.value = undefined
    this.begun = false
    this.finished = []
    this.#stack.length = 0
  }

  open(kind: 'object' | 'array'): void {
    const value: unknown[] | Record<string, unknown> = kind === 'object' ? {} : []
    const pointer = this.#put(value)
    this.#stack.push({ value, pointer, key: '', held: false })
  }

  key(text: string): void {
    const top = this.#stack[this.#stack.length - 1]
    if (top !== undefined) top.key = text
  }

  scalar(kind: NodeKind, value: unknown): void {
    this.finished.push(this.#put(kind === 'constant' ? null : value))
  }

  progress(text: string): void {
    const top = this.#stack[this.#stack.length - 1]
    this.#put(text)
    if (top !== undefined) top.held = true
  }

  close(): void {
    const closed = this.#stack.pop()
    if (closed !== undefined) this.finished.push(closed.pointer)
  }

  reopen(kind: 'object' | 'array'): void {
    const old = this.#stack.pop()
    const parent = this.#stack[this.#stack.length - 1]
    if (old !== undefined && parent !== undefined) parent.held = true
    this.open(kind)
  }

  collapse(): void {
    const parent = this.#stack[this.#stack.length - 1]
    const list = parent === undefined ? this.value : lastOf(parent)
    if (parent !== undefined) parent.held = true
    this.#put(Array.isArray(list) ? list[0] : list)
  }

  undo(): void {
    const top = this.#stack[this.#stack.length - 1]
    if (top === undefined || !top.held) return
    top.held = false
    if (Array.isArray(top.value)) top.value.pop()
    else delete top.value[top.key]
  }

  edit(): void {}
  reedit(): void {}
  mark(): number {
    return 0
  }
  rollback(): void {}

  /** Puts a value in its place and says where that is. */
  #put(value: unknown): Pointer {
    const top = this.#stack[this.#stack.length - 1]
    if (top === undefined) {
      this.value = value
      this.begun = true
      return ''
    }
    if (Array.isArray(top.value)) {
      if (top.held) top.value[top.value.length - 1] = value
      else top.value.push(value)
      top.held = false
      return `${top.pointer}/${top.value.length - 1}`
    }
    setOwn(top.value, top.key, value)
    top.held = false
    return `${top.pointer}/${escapeToken(top.key)}`
  }
}

function lastOf(open: Open): unknown {
  return Array.isArray(open.value) ? open.value[open.value.length - 1] : open.value[open.key]
}
