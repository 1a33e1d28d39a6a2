/** The plain values that the decoder reads, and the edits it makes: all that most texts need. Base of the stream's sink. */
import { setOwn } from '../base/json.ts'
import type { RuleName } from './rules.ts'
import { type Marked, type NodeKind, type Sink, type TextEdit, trimmed } from './tree.ts'

export type Container = unknown[] | Record<string, unknown>

export class ValueSink implements Sink {
  value: unknown
  begun = false
  edits: TextEdit[] = []
  /** A key came twice: how to edit that only the tree knows. */
  repeated = false
  protected readonly containers: Container[] = []
  /** The key that is next in each open object. */
  protected readonly keys: string[] = []
  #last: unknown

  /** Hands over what was read and starts afresh. */
  take(): { value: unknown; begun: boolean; edits: TextEdit[]; repeated: boolean } {
    const { value, begun, repeated } = this
    const edits = trimmed(this.edits)
    this.reset()
    return { value, begun, edits, repeated }
  }

  reset(): void {
    this.value = undefined
    this.begun = false
    this.edits = []
    this.repeated = false
    // Mostly empty already, and to set a length is slow.
    if (this.containers.length === 0) return
    this.containers.length = 0
    this.keys.length = 0
  }

  open(kind: 'object' | 'array', _start?: number): void {
    const container: Container = kind === 'object' ? {} : []
    this.put(container)
    this.containers.push(container)
    this.keys.push('')
  }

  key(text: string, _start?: number): void {
    this.keys[this.keys.length - 1] = text
  }

  scalar(kind: NodeKind, value: unknown, _start?: number, _end?: number): void {
    this.put(kind === 'constant' ? null : value)
  }

  marked(value: string, { start, end }: Marked): void {
    this.scalar('string', value, start, end)
  }

  progress(_text: string): void {}

  close(_end?: number): void {
    this.#last = this.containers.pop()
    this.keys.pop()
  }

  reopen(kind: 'object' | 'array'): void {
    this.containers.pop()
    this.keys.pop()
    this.takeOut()
    this.open(kind)
  }

  collapse(): void {
    const list = this.#last
    this.takeOut()
    this.put(Array.isArray(list) ? list[0] : list)
  }

  undo(): void {}

  edit(rule: RuleName, start: number, end: number, after: string | 'self'): void {
    this.edits.push({ rule, start, end, after: after === 'self' ? { value: this.#last } : after })
  }

  reedit(index: number, after: string): void {
    this.edits[index] = { ...(this.edits[index] as TextEdit), after }
  }

  mark(): number {
    return this.edits.length
  }

  rollback(mark: number): void {
    this.edits.length = mark
  }

  /** Puts a value in the place where the next one belongs. */
  protected put(value: unknown): void {
    this.#last = value
    // An index of -1 would be looked up as a name.
    const top = this.containers.length === 0 ? undefined : this.containers[this.containers.length - 1]
    if (top === undefined) {
      this.value = value
      this.begun = true
    } else if (Array.isArray(top)) {
      top.push(value)
    } else {
      const key = this.keys[this.keys.length - 1] as string
      if (key !== '__proto__' && top[key] === undefined) top[key] = value
      else {
        this.repeated ||= Object.hasOwn(top, key)
        setOwn(top, key, value)
      }
    }
  }

  /** Removes the value that was put last. */
  protected takeOut(): void {
    const top = this.containers[this.containers.length - 1]
    if (Array.isArray(top)) top.pop()
    else if (top !== undefined) delete top[this.keys[this.keys.length - 1] as string]
  }
}
