/**
 * Coercion toward the schema: traverses a value and the schema's shape together, applies only allowed and unambiguous
 * conversions, and records each. Ajv then validates the result. The traversal works on plain values; nodes (with their
 * source text) are fetched only where a conversion needs them.
 */

import { setOwn } from '../../base/json.ts'
import { keepAlive } from '../../base/keep-alive.ts'
import { memoize } from '../../base/memoize.ts'
import { once } from '../../base/once.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import type { Shape, Where } from '../../schema/shape.ts'
import { LazyNode, makeNode, type Node, type NodeKind } from '../decode/tree/tree.ts'
import { hasFastPaths } from '../fast-paths.ts'
import type { ReaderIssue, ReaderIssueCode } from '../issue-table.ts'
import type { RuleName } from '../rules.ts'
import { decodeInner, mayHold } from '../scan/nested-json.ts'
import { VISIT } from '../step-budget.ts'
import {
  allowsType,
  type Coercing,
  type Coercion,
  fits,
  type Guide,
  type Held,
  Trail,
} from './coerce-context.ts'
import { convert } from './convert.ts'
import { matchNames } from './match-names.ts'
import { ConversionRecord } from './record.ts'
import { Unions } from './unions.ts'

/** Input of the coercion: a plain value and, on demand, its source node. */
export interface Source {
  readonly value: unknown
  readonly text: string
  node(): Node
  /** Some plain values are inexact (`NaN` read as null, digits kept as text); only their nodes have the details. */
  readonly needsNodes: boolean
  /** How many levels of strings were decoded to reach the value. */
  readonly unfolded: number
}

/** Converts a value toward the root of the schema. */
export function coerce(guide: Guide, source: Source): Coercion {
  const run = new Run(guide, source)
  if (hasFastPaths && runs++ % KEEP_EACH === 0) keepAlive('coerce', () => makeObjects(guide))
  const value = run.at({ value: source.value, node: source.needsNodes ? source.node() : undefined }, [''])
  return { value, ...run.record.read() }
}

/** One run in so many renews the kept objects: what the engine knows of a class may change. */
const KEEP_EACH = 100

let runs = 0

/** One object of every class that the traversal uses, without what it refers to. */
function makeObjects(guide: Guide): unknown {
  const node = makeNode('null', null, 0, 0)
  const source: Source = { value: null, text: '', node: () => node, needsNodes: false, unfolded: 0 }
  return new Run({ ...guide, accepts: () => false, unions: new Map() }, source)
}

/** Maximum number of nested lists a value may be wrapped in. */
const MOST_WRAPS = 3
/** The same inside a union that is being tried: a list of the same union would multiply the branches of every level. */
const MOST_WRAPS_TRIED = 1
const NO_WRAPPING: readonly string[] = []

class Run implements Coercing {
  readonly record = new ConversionRecord()
  declare text: string
  declare unfolded: number
  declare readonly guide: Guide
  /** The node that holds the current value, and the number of steps to it: the source, or the content of a string. */
  #root: { readonly node: () => Node; readonly depth: number }
  /** Path of the current value in the result, and in the text as read. */
  readonly #trail = new Trail()
  readonly #origin = new Trail()
  /** Locations at which the current value is being wrapped in lists, innermost last. Prevents endless recursion. */
  #wrapping = NO_WRAPPING
  readonly #decoded = new Map<string, Node | undefined>()
  readonly #unions = new Unions(this)

  constructor(guide: Guide, source: Source) {
    this.guide = guide
    this.#root = { node: () => source.node(), depth: 0 }
    this.text = source.text
    this.unfolded = source.unfolded
  }

  get wraps(): number {
    return this.#wrapping.length
  }

  at(held: Held, where: Where): unknown {
    if (where.length === 0 || !this.#spend()) return held.value
    const shape = this.guide.shapes.at(where)
    return shape.unions.length === 0 ? this.byShape(held, shape) : this.#unions.convert(held, shape)
  }

  byShape(held: Held, shape: Shape): unknown {
    const { value, node } = held
    if (this.guide.settings.hasClosed && this.guide.settings.isClosed(this.pointer())) return value
    if (typeof value === 'object' && value !== null) {
      if (Array.isArray(value)) {
        if (allowsType(shape, 'array')) return this.#array(value, node, shape)
      } else if (allowsType(shape, 'object'))
        return this.#object(value as Record<string, unknown>, node, shape)
    } else if (fits(value, node, shape)) return value
    return convert(this, node ?? this.#nodeOf(value), shape)
  }

  itemByShape(list: Node, shape: Shape): unknown {
    const [value] = list.value as unknown[]
    // A list without details is traversed without nodes; asking for them would mean to read the text again.
    const isLazy = hasFastPaths && list instanceof LazyNode && !list.special
    const node = isLazy ? undefined : list.items?.[0]
    this.#origin.enter(0)
    const item = this.byShape({ value, node }, shape)
    this.#origin.leave()
    return item
  }

  #spend(): boolean {
    const { allowance } = this.guide
    if (allowance.spend(VISIT)) return true
    allowance.location ??= { pointer: this.pointer() }
    return false
  }

  asItem(held: Held, where: Where): { readonly value: unknown } | undefined {
    const outer = this.#wrapping
    const key = where.join('\n')
    const most = this.#unions.isTrying ? MOST_WRAPS_TRIED : MOST_WRAPS
    if (outer.length >= most || outer.includes(key)) return undefined
    this.#wrapping = [...outer, key]
    this.#trail.enter(0)
    const value = this.at(held, where)
    this.#trail.leave()
    this.#wrapping = outer
    return { value }
  }

  change(rule: RuleName, before: unknown, after: unknown, below?: string): void {
    this.record.change({ rule, pointer: this.pointer(below), before, after })
  }

  issue(code: ReaderIssueCode, message: string, more: Partial<ReaderIssue> = {}, below?: string): void {
    this.record.issue(this.pointer(below), { code, message, ...more })
  }

  unfold(text: string, node: Node, work: () => unknown): unknown {
    const [outer, root] = [this.text, this.#root]
    this.text = text
    this.#root = { node: () => node, depth: this.#origin.steps.length }
    this.unfolded++
    const value = work()
    this.unfolded--
    this.#root = root
    this.text = outer
    return value
  }

  readonly pointer = (below?: string): Pointer => {
    const { pointer } = this.#trail
    return below === undefined ? pointer : child(pointer, below)
  }

  origin(): Pointer {
    return this.#origin.pointer
  }

  decode(text: string): Node | undefined {
    if (!mayHold(text)) return undefined
    if (!this.#decoded.has(text)) this.#decoded.set(text, decodeInner(text, this.guide))
    return this.#decoded.get(text)
  }

  getSource(node: Node): string {
    const { start, end } = node.start < 0 ? this.#fetch() : node
    return this.text.slice(start, end)
  }

  /** Creates a node for a value without details; the real node is fetched only when its source is needed. */
  #nodeOf(value: unknown): Node {
    if (typeof value === 'object' && value !== null) {
      const [root, steps] = [this.#root, this.#origin.steps.slice()]
      const find = () => nodeAt(root.node(), steps, root.depth)
      return hasFastPaths ? new LazyNode(value, find, false) : find()
    }
    return makeNode(value === null ? 'null' : (typeof value as NodeKind), value, -1, -1)
  }

  /** The node of the current value, found by its path. */
  #fetch(): Node {
    return nodeAt(this.#root.node(), this.#origin.steps, this.#root.depth)
  }

  #object(source: Record<string, unknown>, node: Node | undefined, shape: Shape): unknown {
    const { settings, allowance } = this.guide
    const full = settings.aop === 'full'
    const keys = Object.keys(source)
    allowance.spend(keys.length)
    const names = full ? this.#rename(source, shape) : undefined
    // Dropping every key of an object that could have declared ones would leave nothing of what was written.
    const drops =
      full && (shape.names.length === 0 || keys.some((key) => !shape.forbids(names?.get(key) ?? key)))
    let copy: Record<string, unknown> | undefined
    for (const key of keys) {
      const before = source[key]
      const name = names?.get(key) ?? key
      const item = node === undefined ? undefined : findMember(node, key)
      const drop = drops ? this.#droppedBy(name, before, item, shape) : undefined
      if (drop !== undefined) {
        this.change(drop, before, undefined, name)
        copy ??= membersBefore(source, key)
        continue
      }
      const after = this.#down(name, key, { value: before, node: item }, shape.member(name))
      if (copy === undefined && (name !== key || after !== before)) copy = membersBefore(source, key)
      if (copy !== undefined) setOwn(copy, name, after)
    }
    const value = copy ?? source
    return settings.defaults ? this.#fillDefaults(value, shape) : value
  }

  #down(token: string | number, step: string | number, held: Held, where: Where): unknown {
    if (where.length === 0) return held.value
    const wrapping = this.#wrapping
    this.#wrapping = NO_WRAPPING
    this.#trail.enter(token)
    this.#origin.enter(step)
    const value = this.at(held, where)
    this.#origin.leave()
    this.#trail.leave()
    this.#wrapping = wrapping
    return value
  }

  #droppedBy(name: string, value: unknown, node: Node | undefined, shape: Shape): RuleName | undefined {
    if (value === null && node?.kind !== 'constant' && this.#meansAbsent(name, shape)) return 'null-absent'
    if (!shape.forbids(name)) return undefined
    const { settings } = this.guide
    return settings.hasClosed && settings.isClosed(this.pointer(name)) ? undefined : 'drop-key'
  }

  /** Matches misspelled keys: renames a key if exactly one declared and absent key matches it. */
  #rename(source: Record<string, unknown>, shape: Shape): Map<string, string> | undefined {
    if (shape.names.length === 0) return undefined
    let names: Map<string, string> | undefined
    const isAbsent = (name: string) => !Object.hasOwn(source, name)
    const isAnyAbsent = once(() => shape.names.some(isAbsent))
    for (const key of Object.keys(source)) {
      if (shape.declares(key)) continue
      if (!isAnyAbsent()) break
      const [match, ...others] = matchNames(key, shape.names, isAbsent)
      if (match === undefined || others.length > 0) continue
      names ??= new Map()
      if ([...names.values()].includes(match)) {
        const hint = 'Write the key exactly as declared'
        this.issue('key/ambiguous', `several keys can mean "${match}"`, { hint }, match)
        continue
      }
      names.set(key, match)
      this.change('key', key, match, key)
    }
    return names
  }

  /**
   * Treats null as absent where a property is optional and null is not allowed: providers write absence this way (C48).
   */
  #meansAbsent(name: string, shape: Shape): boolean {
    if (shape.required.has(name)) return false
    const where = shape.member(name)
    return where.length > 0 && !where.every((pointer) => this.guide.accepts(pointer, null))
  }

  #fillDefaults(value: Record<string, unknown>, shape: Shape): Record<string, unknown> {
    let filled = value
    for (const name of shape.names) {
      const fallback = Object.hasOwn(filled, name) ? undefined : shape.findDefault(name)
      if (fallback === undefined) continue
      filled = { ...filled }
      setOwn(filled, name, fallback.value)
      this.change('default', undefined, fallback.value, name)
    }
    return filled
  }

  #array(source: readonly unknown[], node: Node | undefined, shape: Shape): unknown {
    if (!shape.describesItems) return source
    const { settings } = this.guide
    let copy: unknown[] | undefined
    let dropped = 0
    for (let index = 0; index < source.length; index++) {
      const where = shape.item(index)
      const before = source[index]
      const value = this.#down(index - dropped, index, { value: before, node: node?.items?.[index] }, where)
      if (settings.salvage && !where.every((pointer) => this.guide.accepts(pointer, value))) {
        copy ??= source.slice(0, index)
        this.change('drop-item', value, undefined, String(index - dropped))
        dropped++
        continue
      }
      if (copy === undefined && value !== before) copy = source.slice(0, index)
      if (copy !== undefined) copy.push(value)
    }
    return copy ?? source
  }
}

/** Follows the steps from the root node, skipping the first `from`. */
function nodeAt(root: Node, steps: readonly (string | number)[], from: number): Node {
  let node = root
  for (let at = from; at < steps.length; at++) {
    const step = steps[at] as string | number
    node = (typeof step === 'number' ? node.items?.[step] : findMember(node, step)) as Node
  }
  return node
}

/** Index of each key in large objects; for repeated keys, the last index. */
const indexKeys = memoize((keys: readonly string[]) => new Map(keys.map((name, index) => [name, index])))
const LARGE = 32

export function findMember(node: Node, key: string): Node | undefined {
  const { keys } = node
  if (keys === undefined) return undefined
  if (keys.length <= LARGE) return node.items?.[keys.lastIndexOf(key)]
  return node.items?.[indexKeys(keys).get(key) ?? -1]
}

function membersBefore(source: Record<string, unknown>, end: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(source)) {
    if (key === end) break
    setOwn(copy, key, source[key])
  }
  return copy
}
