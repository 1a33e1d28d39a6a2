/** A value found in the text: the plain value is built eagerly, its nodes only when a conversion needs them. */

import { LazyNode, type Node, type TextEdit } from '../decode/tree/tree.ts'
import { type RuleName, rules } from '../rules.ts'

interface Fields {
  readonly value: unknown
  readonly edits: readonly TextEdit[]
  readonly start: number
  readonly end: number
  /** The text ended before the value was complete. */
  readonly truncated: boolean
  /** Label of the enclosing fence. */
  readonly fence: string | undefined
  readonly reasoning: boolean
  /** A string written without quotes. */
  readonly bare: boolean
  /** The text that the node's ranges refer to, if it is not the whole text. */
  readonly source: string | undefined
  /** Whether the plain value omits details of its text; undefined if only its nodes can show that. */
  readonly special: boolean | undefined
}

/** Source of the nodes, shared by all regions of a scan: hostile texts hold a million regions. */
export interface Nodes {
  /** The node of the region that was found at `start`. */
  at(start: number): Node
}

/** Summary of a region's edits. Cached: many readings of one region use it, and a region may have a million edits. */
export interface EditSummary {
  readonly cost: number
  /** A value without a key or position. */
  readonly stray: TextEdit | undefined
  /** The plain value omits details of the text. */
  readonly hides: boolean
  /** The highest tolerance level that any edit requires. */
  readonly level: number
}

const HIDING: ReadonlySet<RuleName> = new Set(['not-a-number', 'big-number'])

function summarise(edits: readonly TextEdit[]): EditSummary {
  let cost = 0
  let level = 0
  let hides = false
  let stray: TextEdit | undefined
  for (const edit of edits) {
    const rule = rules[edit.rule]
    cost += rule.cost
    if (rule.level > level) level = rule.level
    if (edit.rule === 'stray-value') stray ??= edit
    else if (!hides) hides = HIDING.has(edit.rule)
  }
  return { cost, stray, hides, level }
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
  readonly special: boolean | undefined
  readonly #nodes: Nodes
  #node: Node | undefined
  #summary: EditSummary | undefined

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
    this.special = fields.special
    this.#nodes = nodes
  }

  get node(): Node {
    this.#node ??=
      typeof this.value === 'object' && this.value !== null
        ? new LazyNode(this.value, () => this.#nodes.at(this.start), this.special)
        : this.#nodes.at(this.start)
    return this.#node
  }

  get summary(): EditSummary {
    this.#summary ??= summarise(this.edits)
    return this.#summary
  }

  /** Whether the reader, not the text, opened its brackets. */
  get implicit(): boolean {
    return this.edits.some((edit) => edit.rule === 'missing-opener' && edit.start === this.start)
  }

  /** A copy of the region with changed fields. */
  with(changes: Partial<Fields>): Region {
    return new Region({ ...(this as Fields), ...changes }, { at: () => this.node })
  }
}
