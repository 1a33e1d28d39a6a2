/** What the decoder builds from a whole text: nodes with spans beside their plain values, and the edits that led there. */
import { setOwn } from '../base/json.ts'
import type { RuleName } from './rules.ts'

export type NodeKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'constant'

/** One value of the text: where it stands, what it reads as. A single shape for every kind keeps it fast. */
export interface Node {
  readonly kind: NodeKind
  readonly start: number
  end: number
  /** The plain value; containers hold the plain values of their children. */
  value: unknown
  /** Keys of an object, in text order, repeated ones included. */
  keys: string[] | undefined
  /** Values of an object or items of a list. */
  items: Node[] | undefined
  /** Offsets at which the members of an object begin. */
  starts: number[] | undefined
  /** A string that stood without quotes. */
  readonly bare: boolean
  /** A number that JavaScript cannot hold exactly, kept as its text. */
  readonly big: boolean
}

/** A change of the text: the range is replaced by `after`; a value stands for its JSON text, made only when read. */
export interface TextEdit {
  readonly rule: RuleName
  readonly start: number
  readonly end: number
  readonly after: string | { readonly value: unknown }
}

export interface Marked {
  readonly start: number
  readonly end: number
  /** It stood without quotes. */
  readonly bare: boolean
  /** It is a number that JavaScript cannot hold exactly. */
  readonly big: boolean
}

/** What the decoder tells as it goes. `TreeSink` keeps everything, `LiveSink` (stream) only the growing value. */
export interface Sink {
  open(kind: 'object' | 'array', start: number): void
  /** The member with this key begins; its value follows. */
  key(text: string, start: number): void
  scalar(kind: NodeKind, value: unknown, start: number, end: number): void
  /** A string with something to remember about it. */
  marked(value: string, place: Marked): void
  /** A string is arriving: what of it is certain so far. */
  progress(text: string): void
  close(end: number): void
  /** The list that was just opened turns out to be an object, or an object a list (Python sets, bare members). */
  reopen(kind: 'object' | 'array'): void
  /** The member or item that has begun has no value after all. */
  undo(): void
  edit(rule: RuleName, start: number, end: number, after: string | 'self'): void
  /** Rewrites an edit made earlier. */
  reedit(index: number, after: string): void
  /** The list just closed is replaced by its only item. */
  collapse(): void
  mark(): number
  rollback(mark: number): void
}

/** A short list without the room that the engine keeps for more (17 places from the first item on): there may be a million. */
export function trimmed<T>(list: T[]): T[] {
  return list.length > 0 && list.length < 8 ? list.slice() : list
}

export function makeNode(kind: NodeKind, value: unknown, start: number, end: number): Node {
  return {
    kind,
    start,
    end,
    value,
    keys: undefined,
    items: undefined,
    starts: undefined,
    bare: false,
    big: false,
  }
}

export class TreeSink implements Sink {
  root: Node | undefined
  edits: TextEdit[] = []
  readonly #stack: Node[] = []
  #last: Node | undefined
  /** Where each key stands in the objects that repeat one; absent until the first repetition. */
  #places: Map<Node, Map<string, number>> | undefined

  /** Hands over the finished value and starts afresh. */
  take(): { node: Node | undefined; edits: TextEdit[] } {
    const taken = { node: this.root, edits: this.edits }
    this.root = undefined
    this.edits = []
    this.#stack.length = 0
    this.#last = undefined
    this.#places = undefined
    return taken
  }

  open(kind: 'object' | 'array', start: number): void {
    const isObject = kind === 'object'
    const node: Node = {
      kind,
      start,
      end: start,
      value: isObject ? {} : [],
      keys: isObject ? [] : undefined,
      items: [],
      starts: isObject ? [] : undefined,
      bare: false,
      big: false,
    }
    this.#add(node)
    this.#stack.push(node)
  }

  key(text: string, start: number): void {
    const parent = this.#stack[this.#stack.length - 1] as Node
    ;(parent.keys as string[]).push(text)
    ;(parent.starts as number[]).push(start)
  }

  scalar(kind: NodeKind, value: unknown, start: number, end: number): void {
    this.#add(makeNode(kind, kind === 'constant' ? null : value, start, end))
  }

  marked(value: string, { start, end, bare, big }: Marked): void {
    this.#add({ ...makeNode('string', value, start, end), bare, big })
  }

  progress(): void {}

  close(end: number): void {
    const node = this.#stack.pop() as Node
    node.end = end
    node.items = trimmed(node.items as Node[])
    node.keys &&= trimmed(node.keys)
    node.starts &&= trimmed(node.starts)
    this.#last = node
  }

  reopen(kind: 'object' | 'array'): void {
    const old = this.#stack.pop() as Node
    const parent = this.#stack[this.#stack.length - 1]
    if (parent === undefined) this.root = undefined
    else {
      parent.items?.pop()
      if (parent.kind === 'array') (parent.value as unknown[]).pop()
      else delete (parent.value as Record<string, unknown>)[parent.keys?.[parent.keys.length - 1] as string]
    }
    this.open(kind, old.start)
  }

  undo(): void {
    const parent = this.#stack[this.#stack.length - 1]
    if (parent?.keys !== undefined && parent.keys.length > (parent.items as Node[]).length) {
      parent.keys.pop()
      parent.starts?.pop()
    }
  }

  edit(rule: RuleName, start: number, end: number, after: string | 'self'): void {
    this.edits.push({ rule, start, end, after: after === 'self' ? (this.#last as Node) : after })
  }

  reedit(index: number, after: string): void {
    const old = this.edits[index] as TextEdit
    this.edits[index] = { ...old, after }
  }

  collapse(): void {
    const list = this.#last as Node
    const item = (list.items as Node[])[0] as Node
    const parent = this.#stack[this.#stack.length - 1]
    this.#last = item
    if (parent === undefined) {
      this.root = item
      return
    }
    const items = parent.items as Node[]
    items[items.length - 1] = item
    if (parent.keys === undefined) (parent.value as unknown[])[items.length - 1] = item.value
    else setOwn(parent.value as object, parent.keys[items.length - 1] as string, item.value)
  }

  mark(): number {
    return this.edits.length
  }

  rollback(mark: number): void {
    this.edits.length = mark
  }

  #add(node: Node): void {
    this.#last = node
    const parent = this.#stack.length === 0 ? undefined : this.#stack[this.#stack.length - 1]
    if (parent === undefined) {
      this.root = node
      return
    }
    const items = parent.items as Node[]
    items.push(node)
    if (parent.keys === undefined) {
      ;(parent.value as unknown[]).push(node.value)
      return
    }
    const key = parent.keys[items.length - 1] as string
    const target = parent.value as Record<string, unknown>
    if (key === '__proto__' || Object.hasOwn(target, key)) this.#repeated(parent, key, node)
    else target[key] = node.value
    this.#places?.get(parent)?.set(key, items.length - 1)
  }

  /** Last wins: the earlier member is edited away. Also the careful road for a key called `__proto__`. */
  #repeated(parent: Node, key: string, node: Node): void {
    const target = parent.value as Record<string, unknown>
    if (Object.hasOwn(target, key)) {
      const starts = parent.starts as number[]
      const earlier = this.#placesOf(parent).get(key) as number
      const from = starts[earlier] as number
      this.edits.push({ rule: 'duplicate-key', start: from, end: starts[earlier + 1] as number, after: '' })
    }
    setOwn(target, key, node.value)
  }

  #placesOf(parent: Node): Map<string, number> {
    this.#places ??= new Map()
    let places = this.#places.get(parent)
    if (places === undefined) {
      const keys = parent.keys as string[]
      places = new Map(keys.slice(0, -1).map((key, index) => [key, index]))
      this.#places.set(parent, places)
    }
    return places
  }
}
