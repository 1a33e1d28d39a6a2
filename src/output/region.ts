/** A value found in the text: its plain value at once, its nodes only when a conversion asks for them. */
import type { Node, TextEdit } from './tree.ts'

interface Fields {
  readonly value: unknown
  readonly edits: readonly TextEdit[]
  readonly start: number
  readonly end: number
  /** The text ended before the value did. */
  readonly truncated: boolean
  /** Label of the fence around it. */
  readonly fence: string | undefined
  readonly reasoning: boolean
  /** A string that stood without quotes. */
  readonly bare: boolean
  /** The text that the node's spans refer to, where it is not the whole text. */
  readonly source: string | undefined
}

/** Where the nodes of regions come from. One for all regions of a scan: hostile texts hold a million of them. */
export interface Nodes {
  /** The node of the region that was found at `start`. */
  at(start: number): Node
}

export class Region implements Fields {
  readonly value: unknown
  readonly edits: readonly TextEdit[]
  readonly start: number
  readonly end: number
  readonly truncated: boolean
  readonly fence: string | undefined
  readonly reasoning: boolean
  readonly bare: boolean
  readonly source: string | undefined
  readonly #nodes: Nodes
  #node: Node | undefined

  constructor(fields: Pick<Fields, 'value' | 'edits' | 'start' | 'end'> & Partial<Fields>, nodes: Nodes) {
    this.value = fields.value
    this.edits = fields.edits
    this.start = fields.start
    this.end = fields.end
    this.truncated = fields.truncated ?? false
    this.fence = fields.fence
    this.reasoning = fields.reasoning ?? false
    this.bare = fields.bare ?? false
    this.source = fields.source
    this.#nodes = nodes
  }

  get node(): Node {
    this.#node ??= this.#nodes.at(this.start)
    return this.#node
  }

  /** Its brackets are the reader's own. */
  get implicit(): boolean {
    return this.edits.some((edit) => edit.rule === 'missing-opener' && edit.start === this.start)
  }

  /** The same region, seen otherwise. */
  with(changes: Partial<Fields>): Region {
    return new Region({ ...(this as Fields), ...changes }, { at: () => this.node })
  }
}
