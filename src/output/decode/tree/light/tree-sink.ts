/** Replaces `tree-sink.ts` in the light reader: nodes are built as the values are read, which takes less code than columns. */
import type { LoggedEdits } from '../edit-log.ts'
import type { Marked, Node, NodeKind } from '../tree.ts'
import { ValueSink } from '../value-sink.ts'

class TreeNode implements Node {
  declare readonly kind: NodeKind
  declare readonly start: number
  declare end: number
  declare readonly value: unknown
  declare readonly keys: string[] | undefined
  declare readonly items: TreeNode[] | undefined
  declare readonly bare: boolean
  declare readonly big: boolean
  readonly #tree: { readonly special: boolean }

  constructor(fields: Omit<TreeNode, 'special'>, tree: { readonly special: boolean }) {
    Object.assign(this, fields)
    this.#tree = tree
  }

  /** Some value of the tree is inexact. */
  get special(): boolean {
    return this.#tree.special
  }
}

export class TreeSink extends ValueSink {
  #root: TreeNode | undefined
  #tree = { special: false }
  #open: TreeNode[] = []

  /** Returns the finished value and resets the sink. */
  takeNode(): { node: Node | undefined; edits: LoggedEdits } {
    const taken = { node: this.#root, edits: this.edits }
    this.reset()
    this.#root = undefined
    this.#tree = { special: false }
    this.#open = []
    return taken
  }

  override open(kind: 'object' | 'array', start: number): void {
    const key = this.nextKey
    super.open(kind)
    const keys = kind === 'object' ? [] : undefined
    this.#open.push(this.#add(key, { kind, start, end: start, value: this.last, keys, items: [] }))
  }

  override scalar(kind: NodeKind, value: unknown, start: number, end: number): void {
    this.#scalar(kind, value, { start, end, bare: false, big: false })
  }

  override marked(value: string, location: Marked): void {
    this.#tree.special = true
    this.#scalar('string', value, location)
  }

  #scalar(kind: NodeKind, given: unknown, location: Marked): void {
    const value = kind === 'constant' ? null : given
    this.#tree.special ||= kind === 'constant'
    this.#add(this.nextKey, { kind, value, keys: undefined, items: undefined, ...location })
    this.put(value)
  }

  #add(key: string, fields: Omit<TreeNode, 'special' | 'bare' | 'big'> & Partial<Marked>): TreeNode {
    const node = new TreeNode({ bare: false, big: false, ...fields }, this.#tree)
    const parent = this.#open.at(-1)
    if (parent === undefined) this.#root = node
    parent?.keys?.push(key)
    parent?.items?.push(node)
    return node
  }

  override close(end: number): void {
    super.close(end)
    const node = this.#open.pop() as TreeNode
    node.end = end
  }

  override reopen(kind: 'object' | 'array'): void {
    const { start } = this.#open.pop() as TreeNode
    const parent = this.#open.at(-1)
    parent?.keys?.pop()
    parent?.items?.pop()
    super.reopen(kind, start)
  }

  override collapse(): void {
    super.collapse()
    const siblings = this.#open.at(-1)?.items
    const list = siblings === undefined ? this.#root : siblings.pop()
    const only = list?.items?.[0] as TreeNode
    if (siblings === undefined) this.#root = only
    else siblings.push(only)
  }
}
