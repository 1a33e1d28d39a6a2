/** Stores the location of every value in columns; nodes are built from them on demand. */
import type { LoggedEdits } from './edit-log.ts'
import type { Marked, Node, NodeKind } from './tree.ts'
import { ValueSink } from './value-sink.ts'

const KINDS: readonly NodeKind[] = ['object', 'array', 'string', 'number', 'boolean', 'null', 'constant']
const BARE = 8
const BIG = 16
/** A list in round brackets that is replaced by its only item, the next row. */
const ALIAS = 32

/** The columns of each row: kind and flags, start, end, and the row behind its last descendant. */
const WIDTH = 4

/**
 * The values of a text in the order in which they begin, as a columnar table: garbage collection of a million small
 * objects would cost more than reading the text.
 */
class Rows {
  readonly ranges: number[] = []
  readonly values: unknown[] = []
  /** The key of each value that is a member of an object. */
  readonly keys: string[] = []
  special = false

  add(kind: number, value: unknown, key: string, start: number, end: number): number {
    const row = this.values.length
    this.values.push(value)
    this.keys.push(key)
    this.ranges.push(kind, start, end, row + 1)
    return row
  }

  /** Removes a row and all rows behind it. */
  cut(row: number): void {
    this.ranges.length = row * WIDTH
    this.values.length = row
    this.keys.length = row
  }

  getKind(row: number): number {
    return this.ranges[row * WIDTH] as number
  }

  next(row: number): number {
    return this.ranges[row * WIDTH + 3] as number
  }
}

class RowNode implements Node {
  declare readonly kind: NodeKind
  declare readonly start: number
  declare readonly end: number
  declare readonly value: unknown
  declare readonly bare: boolean
  declare readonly big: boolean
  readonly #rows: Rows
  readonly #row: number
  #items: readonly Node[] | undefined
  #keys: readonly string[] | undefined

  constructor(rows: Rows, at: number) {
    let row = at
    while (rows.getKind(row) & ALIAS) row++
    const kind = rows.getKind(row)
    this.kind = KINDS[kind & 7] as NodeKind
    this.start = rows.ranges[row * WIDTH + 1] as number
    this.end = rows.ranges[row * WIDTH + 2] as number
    this.value = rows.values[row]
    this.bare = (kind & BARE) !== 0
    this.big = (kind & BIG) !== 0
    this.#rows = rows
    this.#row = row
  }

  get special(): boolean {
    return this.#rows.special
  }

  get keys(): readonly string[] | undefined {
    if (this.kind !== 'object') return undefined
    this.#keys ??= this.#children(Number.POSITIVE_INFINITY, (row) => this.#rows.keys[row] as string)
    return this.#keys
  }

  get items(): readonly Node[] | undefined {
    if (this.kind !== 'object' && this.kind !== 'array') return undefined
    this.#items ??= this.#make(Number.POSITIVE_INFINITY)
    return this.#items
  }

  first(most: number): readonly Node[] {
    return this.#items?.slice(0, most) ?? this.#make(most)
  }

  #make(most: number): Node[] {
    return this.#children(most, (row) => new RowNode(this.#rows, row))
  }

  #children<T>(most: number, make: (row: number) => T): T[] {
    const rows = this.#rows
    const made: T[] = []
    const end = rows.next(this.#row)
    for (let row = this.#row + 1; row < end && made.length < most; row = rows.next(row)) made.push(make(row))
    return made
  }
}

export class TreeSink extends ValueSink {
  #rows = new Rows()
  /** The rows of the open containers. */
  #open: number[] = []
  #closed = 0

  /** Returns the finished value and resets the sink. */
  takeNode(): { node: Node | undefined; edits: LoggedEdits } {
    const rows = this.#rows
    const { begun, edits } = this
    this.reset()
    this.#rows = new Rows()
    this.#open = []
    return { node: begun ? new RowNode(rows, 0) : undefined, edits }
  }

  override open(kind: 'object' | 'array', start: number): void {
    const key = this.nextKey
    super.open(kind)
    this.#open.push(this.#rows.add(kind === 'object' ? 0 : 1, this.last, key, start, start))
  }

  override scalar(kind: NodeKind, value: unknown, start: number, end: number): void {
    this.#scalar(KINDS.indexOf(kind), value, start, end)
    if (kind === 'constant') this.#rows.special = true
  }

  override marked(value: string, { start, end, bare, big }: Marked): void {
    this.#scalar(2 + (bare ? BARE : 0) + (big ? BIG : 0), value, start, end)
    this.#rows.special = true
  }

  #scalar(kind: number, value: unknown, start: number, end: number): void {
    const plain = KINDS[kind] === 'constant' ? null : value
    this.#rows.add(kind, plain, this.nextKey, start, end)
    this.put(plain)
  }

  override close(end: number): void {
    super.close(end)
    const row = this.#open.pop() as number
    this.#rows.ranges[row * WIDTH + 2] = end
    this.#rows.ranges[row * WIDTH + 3] = this.#rows.values.length
    this.#closed = row
  }

  override reopen(kind: 'object' | 'array'): void {
    const row = this.#open.pop() as number
    const start = this.#rows.ranges[row * WIDTH + 1] as number
    this.#rows.cut(row)
    super.reopen(kind, start)
  }

  override collapse(): void {
    super.collapse()
    this.#rows.ranges[this.#closed * WIDTH] = 1 + ALIAS
  }
}
