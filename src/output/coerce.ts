/**
 * Conversion toward the schema: walks a value and the schema's shape together and changes what must be changed, by
 * allowed and unambiguous conversions only, recording each. Whether the outcome is valid is asked of Ajv afterwards.
 * The walk is over plain values; nodes (with their source text) are fetched only where a conversion needs them.
 */
import type { Issue } from '../base/issue.ts'
import { setOwn } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'
import type { Shape, Where } from '../schema/shape.ts'
import { VISIT } from './allowance.ts'
import type { Coercing, Coercion, Guide, Held } from './coercing.ts'
import { convert } from './convert.ts'
import { fits, wants } from './fits.ts'
import { Spellings } from './names.ts'
import { ConversionRecord } from './record.ts'
import type { RuleName } from './rules.ts'
import { makeNode, type Node, type NodeKind } from './tree.ts'
import { Unions } from './unions.ts'

/** What is converted: a plain value, and on demand the node that it was read from. */
export interface Source {
  readonly value: unknown
  readonly text: string
  node(): Node
  /** Some values are not what they seem (`NaN` read as null, digits kept as text): only nodes tell. */
  readonly needsNodes: boolean
  /** How often strings were unfolded to get to the value. */
  readonly unfolded: number
}

/** Converts a value to what the schema says at its root. */
export function coerce(guide: Guide, source: Source): Coercion {
  const run = new Run(guide, source)
  const value = run.at({ value: source.value, node: source.needsNodes ? source.node() : undefined }, [''])
  return { value, ...run.record.read() }
}

class Run implements Coercing {
  readonly record = new ConversionRecord()
  cuts = 0
  text: string
  unfolded: number
  readonly guide: Guide
  readonly #source: Source
  /** Where the value at hand will stand, and where it stood. */
  readonly #tokens: (string | number)[] = []
  readonly #pointers: Pointer[] = []
  readonly #path: (string | number)[] = []
  /** Values that are being put into lists, and where: the same again would never end. */
  readonly #wrapping: { readonly value: unknown; readonly where: string }[] = []
  readonly #unions = new Unions(this)

  constructor(guide: Guide, source: Source) {
    this.guide = guide
    this.#source = source
    this.text = source.text
    this.unfolded = source.unfolded
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
        if (wants(shape, 'array')) return this.#array(value, node, shape)
      } else if (wants(shape, 'object')) return this.#object(value as Record<string, unknown>, node, shape)
    } else if (fits(value, node, shape)) return value
    return convert(this, node ?? this.#nodeOf(value), shape)
  }

  #spend(): boolean {
    const { allowance } = this.guide
    if (allowance.spend(VISIT)) return true
    allowance.place ??= { pointer: this.pointer() }
    return false
  }

  asItem(held: Held, where: Where): { readonly value: unknown } | undefined {
    const key = where.join('\n')
    if (this.#wrapping.some((outer) => outer.value === held.value && outer.where === key)) {
      this.cuts++
      return undefined
    }
    this.#wrapping.push({ value: held.value, where: key })
    this.#tokens.push(0)
    const value = this.at(held, where)
    this.#leave()
    this.#wrapping.pop()
    return { value }
  }

  change(rule: RuleName, before: unknown, after: unknown, below?: string): void {
    this.record.change({ rule, pointer: this.pointer(below), before, after })
  }

  issue(code: string, message: string, more: Partial<Issue> = {}, below?: string): void {
    this.record.issue({ code, at: { pointer: this.pointer(below) }, message, ...more })
  }

  unfold(text: string, work: () => unknown): unknown {
    const outer = this.text
    this.text = text
    this.unfolded++
    const value = work()
    this.unfolded--
    this.text = outer
    return value
  }

  readonly pointer = (below?: string): Pointer => {
    // Each level is put together once, not at every question.
    const pointers = this.#pointers
    for (let depth = pointers.length; depth < this.#tokens.length; depth++)
      pointers.push(child(pointers[depth - 1] ?? '', this.#tokens[depth] as string | number))
    const pointer = pointers.at(-1) ?? ''
    return below === undefined ? pointer : child(pointer, below)
  }

  sourceOf(node: Node): string {
    const { start, end } = node.start < 0 ? this.#fetch() : node
    return this.text.slice(start, end)
  }

  /** A scalar can stand for its node until somebody asks for its source. */
  #nodeOf(value: unknown): Node {
    const kind = value === null ? 'null' : (typeof value as NodeKind | 'object')
    return kind === 'object' ? this.#fetch() : makeNode(kind, value, -1, -1)
  }

  /** The node of the value at hand, found by the way that was taken to it. */
  #fetch(): Node {
    let node = this.#source.node()
    for (const step of this.#path) {
      node = (typeof step === 'number' ? node.items?.[step] : memberOf(node, step)) as Node
    }
    return node
  }

  #object(source: Record<string, unknown>, node: Node | undefined, shape: Shape): unknown {
    const { settings, allowance } = this.guide
    const full = settings.aop === 'full'
    allowance.spend(Object.keys(source).length)
    const names = full ? this.#rename(source, shape) : undefined
    let copy: Record<string, unknown> | undefined
    for (const key of Object.keys(source)) {
      const before = source[key]
      const name = names?.get(key) ?? key
      const item = node === undefined ? undefined : memberOf(node, key)
      const drop = full ? this.#droppedBy(name, before, item, shape) : undefined
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
    this.#tokens.push(token)
    this.#path.push(step)
    const value = this.at(held, where)
    this.#path.pop()
    this.#leave()
    return value
  }

  #leave(): void {
    this.#tokens.pop()
    if (this.#pointers.length > this.#tokens.length) this.#pointers.pop()
  }

  #droppedBy(name: string, value: unknown, node: Node | undefined, shape: Shape): RuleName | undefined {
    if (value === null && node?.kind !== 'constant' && this.#meansAbsent(name, shape)) return 'null-absent'
    if (!shape.forbids(name)) return undefined
    const { settings } = this.guide
    return settings.hasClosed && settings.isClosed(this.pointer(name)) ? undefined : 'drop-key'
  }

  /** Keys that are spelled differently: one declared key can be meant, and it is absent. */
  #rename(source: Record<string, unknown>, shape: Shape): Map<string, string> | undefined {
    if (shape.names.length === 0) return undefined
    let names: Map<string, string> | undefined
    let absent: Spellings<string> | undefined
    for (const key of Object.keys(source)) {
      if (shape.declares(key)) continue
      absent ??= new Spellings(
        shape.names.filter((name) => !Object.hasOwn(source, name)),
        (name) => name,
      )
      if (absent.size === 0) break
      const match = absent.match(key)
      if (match?.kind !== 'one') continue
      names ??= new Map()
      if ([...names.values()].includes(match.value)) {
        const hint = 'Write the key exactly as declared'
        this.issue('key/ambiguous', `several keys can mean "${match.value}"`, { hint }, match.value)
        continue
      }
      names.set(key, match.value)
      this.change('key', key, match.value, key)
    }
    return names
  }

  /** null where a property is optional and null is not allowed: providers write absence so (C48). */
  #meansAbsent(name: string, shape: Shape): boolean {
    if (shape.required.has(name)) return false
    const where = shape.member(name)
    return where.length > 0 && !where.every((place) => this.guide.accepts(place, null))
  }

  #fillDefaults(value: Record<string, unknown>, shape: Shape): Record<string, unknown> {
    let filled = value
    for (const name of shape.names) {
      const fallback = Object.hasOwn(filled, name) ? undefined : shape.defaultOf(name)
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
      if (settings.salvage && !where.every((place) => this.guide.accepts(place, value))) {
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

/** Where the keys of large objects stand, the last of those that are repeated. */
const places = new WeakMap<readonly string[], Map<string, number>>()
const LARGE = 32

function memberOf(node: Node, key: string): Node | undefined {
  const { keys } = node
  if (keys === undefined) return undefined
  if (keys.length <= LARGE) return node.items?.[keys.lastIndexOf(key)]
  let known = places.get(keys)
  if (known === undefined) {
    known = new Map(keys.map((name, index) => [name, index]))
    places.set(keys, known)
  }
  return node.items?.[known.get(key) ?? -1]
}

function membersBefore(source: Record<string, unknown>, end: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(source)) {
    if (key === end) break
    setOwn(copy, key, source[key])
  }
  return copy
}
