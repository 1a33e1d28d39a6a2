/** A value found in the text: the plain value is built eagerly, its nodes only when a conversion needs them. */

import { LoggedEdits } from '../decode/tree/edit-log.ts'
import { LazyNode, type Node, type TextEdit } from '../decode/tree/tree.ts'
import { hasFastPaths } from '../fast-paths.ts'
import { type RuleName, rules } from '../rules.ts'

/** Edits in columns, as the decoder logs them, or as a list. */
type Edits = LoggedEdits | readonly TextEdit[]

interface Fields {
  readonly value: unknown
  readonly edits: Edits
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
  /** No repeated keys, no inexact values: the plain value is all that the text says. */
  readonly exact: boolean
  /** No member that a repeated key replaced may hold JSON. Default false: it is not known. */
  readonly keepsJson: boolean
}

/** Source of the nodes, shared by all regions of a scan: hostile texts hold a million regions. */
export interface Nodes {
  /** The node of the region that was found at `start`. */
  at(start: number): Node
}

/** Summary of a region's edits. Cached: many readings of one region use it, and a region may have a million edits. */
interface EditSummary {
  readonly cost: number
  /** A value without a key or position. */
  readonly stray: TextEdit | undefined
  /** The plain value omits details of the text. */
  readonly hides: boolean
  /** The highest tolerance level that any edit requires. */
  readonly level: number
}

const HIDING: ReadonlySet<RuleName> = new Set(['not-a-number', 'big-number'])

const NO_SUMMARY: EditSummary = { cost: 0, stray: undefined, hides: false, level: 0 }

function summarise(edits: LoggedEdits): EditSummary {
  if (edits.length === 0) return NO_SUMMARY
  let cost = 0
  let level = 0
  let hides = false
  let stray: TextEdit | undefined
  for (let index = 0; index < edits.length; index++) {
    const name = edits.ruleAt(index)
    const rule = rules[name]
    cost += rule.cost
    if (rule.level > level) level = rule.level
    if (name === 'stray-value') stray ??= edits.at(index)
    else if (!hides) hides = HIDING.has(name)
  }
  return { cost, stray, hides, level }
}

export class Region {
  // Declared only, and set by the constructor: defined twice, so many fields would turn every region into a slow dictionary.
  declare readonly value: unknown
  declare readonly start: number
  declare readonly end: number
  declare readonly truncated: boolean
  declare readonly fence: string | undefined
  declare readonly reasoning: boolean
  declare readonly bare: boolean
  declare readonly source: string | undefined
  declare readonly special: boolean | undefined
  declare readonly exact: boolean
  declare readonly keepsJson: boolean
  readonly #edits: LoggedEdits
  readonly #nodes: Nodes
  #list: readonly TextEdit[] | undefined
  #node: Node | undefined
  #summary: EditSummary | undefined

  constructor(fields: Pick<Fields, 'value' | 'edits' | 'start' | 'end'> & Partial<Fields>, nodes: Nodes) {
    this.value = fields.value
    this.#edits = fields.edits instanceof LoggedEdits ? fields.edits : LoggedEdits.from(fields.edits)
    this.start = fields.start
    this.end = fields.end
    this.truncated = fields.truncated ?? false
    this.fence = fields.fence
    this.reasoning = fields.reasoning ?? false
    this.bare = fields.bare ?? false
    this.source = fields.source
    this.special = fields.special
    this.exact = fields.exact ?? false
    this.keepsJson = fields.keepsJson ?? false
    this.#nodes = nodes
  }

  get node(): Node {
    this.#node ??=
      hasFastPaths && typeof this.value === 'object' && this.value !== null
        ? new LazyNode(this.value, () => this.#nodes.at(this.start), this.special, this.exact)
        : this.#nodes.at(this.start)
    return this.#node
  }

  get summary(): EditSummary {
    this.#summary ??= summarise(this.#edits)
    return this.#summary
  }

  get editCount(): number {
    return this.#edits.length
  }

  /** All edits as a list. Ask for counts and rules where those are enough: the list may be long. */
  get edits(): readonly TextEdit[] {
    this.#list ??= this.#edits.toList()
    return this.#list
  }

  /** Whether any edit applies this rule. */
  uses(rule: RuleName): boolean {
    return this.#edits.some((name) => name === rule)
  }

  usesAny(listed: ReadonlySet<string>): boolean {
    return this.#edits.some((name) => listed.has(name))
  }

  usesOnly(rule: RuleName): boolean {
    return !this.#edits.some((name) => name !== rule)
  }

  /** Whether the reader, not the text, opened its brackets. */
  get implicit(): boolean {
    return this.#edits.some((name, start) => name === 'missing-opener' && start === this.start)
  }

  /** A copy of the region with changed fields. */
  with(changes: Partial<Fields>): Region {
    return new Region({ ...this, edits: this.#edits, ...changes }, { at: () => this.node })
  }
}

/** The region of a node whose value replaces its range. */
export function toRegion(rule: RuleName, node: Node, fields: Partial<Fields> = {}): Region {
  const { value, start, end } = node
  return new Region(
    { value, edits: [{ rule, start, end, after: node }], start, end, ...fields },
    { at: () => node },
  )
}
