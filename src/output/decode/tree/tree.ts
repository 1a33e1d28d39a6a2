/** Nodes (the values of a text with their locations), and the `Sink` interface to which the decoder emits them. */
import { hasFastPaths } from '../../fast-paths.ts'
import type { RuleName } from '../../rules.ts'

export type NodeKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'constant'

/** One value of the text: its location and its plain value. */
export interface Node {
  readonly kind: NodeKind
  readonly start: number
  readonly end: number
  /** The plain value; containers hold the plain values of their children. */
  readonly value: unknown
  /** Keys of an object, in text order, repeated ones included. */
  readonly keys: readonly string[] | undefined
  /** Values of an object or items of a list. */
  readonly items: readonly Node[] | undefined
  /** A string written without quotes. */
  readonly bare: boolean
  /** A number that JavaScript cannot hold exactly, kept as its text. */
  readonly big: boolean
  /** The first items only, without building the others. */
  first?(most: number): readonly Node[]
  /** The plain value shows all keys and values in text order; only locations need the text. */
  readonly plain?: boolean
  /** The plain value is inexact: it contains a bare word, `NaN`, or digits kept as text. */
  readonly special?: boolean
}

/** A change of the text: `after` replaces the range. A `{ value }` is rendered as JSON text only when read. */
export interface TextEdit {
  readonly rule: RuleName
  readonly start: number
  readonly end: number
  readonly after: string | { readonly value: unknown }
}

export interface Marked {
  readonly start: number
  readonly end: number
  /** Written without quotes. */
  readonly bare: boolean
  /** A number that JavaScript cannot hold exactly. */
  readonly big: boolean
}

/**
 * Receives what the decoder reads (visitor). `TreeSink` keeps everything, `ValueSink` the plain value, `LiveSink`
 * (stream) only the growing value.
 */
export interface Sink {
  open(kind: 'object' | 'array', start: number): void
  /** Begins the member with this key; its value follows. */
  key(text: string, start: number): void
  scalar(kind: NodeKind, value: unknown, start: number, end: number): void
  /** A string with flags (`Marked`). */
  marked(value: string, location: Marked): void
  /** The certain part of a string that is still arriving. */
  progress(text: string): void
  close(end: number): void
  /** Converts the list just opened to an object, or an object to a list (Python sets, bare members). */
  reopen(kind: 'object' | 'array'): void
  /** Withdraws the member or item that has begun: it has no value. */
  undo(): void
  /** Replaces a range of the text by JSON punctuation, */
  edit(rule: RuleName, start: number, end: number, after: string): void
  /** by the JSON text of a value, */
  rewrite(rule: RuleName, start: number, end: number, value: unknown): void
  /** or by that of the last emitted value. */
  rewriteLast(rule: RuleName, start: number, end: number): void
  /** Rewrites an earlier edit. */
  reedit(index: number, after: string): void
  /** Replaces the list just closed by its only item. */
  collapse(): void
  mark(): number
  rollback(mark: number): void
}

export function makeNode(kind: NodeKind, value: unknown, start: number, end: number): Node {
  return { kind, start, end, value, keys: undefined, items: undefined, bare: false, big: false }
}

export function isContainer({ kind }: Node): boolean {
  return kind === 'object' || kind === 'array'
}

/** The first items of an object or list, at most `most`; does not build the other nodes. */
export function firstItems(node: Node, most: number): readonly Node[] {
  return (hasFastPaths ? node.first?.(most) : undefined) ?? node.items?.slice(0, most) ?? []
}

/** Number of members or items. */
export function countChildren(node: Node): number {
  if (node.kind === 'array') return (node.value as unknown[]).length
  return node.keys?.length ?? 0
}

/** Whether the plain value of a node omits details of its text. */
export function isSpecial(node: Node): boolean {
  return (
    node.special ?? (node.bare || node.big || node.kind === 'constant' || (node.items ?? []).some(isSpecial))
  )
}

/** Whether the engine lists this key before the others, whatever its position in the text. */
const isIndex = (key: string): boolean => key.charCodeAt(0) >= 48 && key.charCodeAt(0) <= 57

function getKind(value: unknown): NodeKind {
  if (Array.isArray(value)) return 'array'
  return value === null ? 'null' : (typeof value as NodeKind)
}

/** The node of a value whose plain value is known; the text is read again only on demand. */
export class LazyNode implements Node {
  declare readonly kind: NodeKind
  declare readonly value: unknown
  readonly bare = false
  readonly big = false
  /** As in `Node`. Its children are plain too. */
  declare readonly plain: boolean
  readonly #read: () => Node
  readonly #special: boolean | undefined
  #whole: Node | undefined
  #keys: readonly string[] | undefined

  /** `exact`: the text had no repeated keys and no value that the plain one only approximates. */
  constructor(value: unknown, read: () => Node, special?: boolean, exact = false) {
    this.kind = getKind(value)
    this.value = value
    this.plain = exact && !(this.kind === 'object' && Object.keys(value as object).some(isIndex))
    this.#read = read
    this.#special = special
  }

  get #node(): Node {
    this.#whole ??= this.#read()
    return this.#whole
  }

  get special(): boolean {
    return this.#special ?? isSpecial(this.#node)
  }

  get start(): number {
    return this.#node.start
  }

  get end(): number {
    return this.#node.end
  }

  get keys(): readonly string[] | undefined {
    if (!this.plain) return this.#node.keys
    // One list per node: callers index its members by the list.
    if (this.kind === 'object') this.#keys ??= Object.keys(this.value as object)
    return this.#keys
  }

  get items(): readonly Node[] | undefined {
    return this.#node.items
  }

  first(most: number): readonly Node[] {
    if (!this.plain) return firstItems(this.#node, most)
    const values = Array.isArray(this.value) ? this.value : Object.values(this.value as object)
    return values
      .slice(0, most)
      .map((inner, index) => new LazyNode(inner, () => this.items?.[index] as Node, false, true))
  }
}
