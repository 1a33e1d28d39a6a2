/**
 * Conversion toward the schema: walks a decoded node and the schema's shape together and changes what must be changed,
 * by allowed and unambiguous conversions only, recording each. Whether the outcome is valid is asked of Ajv afterwards.
 */
import type { Issue } from '../base/issue.ts'
import { type JsonType, jsonType, setOwn } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'
import type { Shape, Where } from '../schema/shape.ts'
import type { Coercing, Coercion, Guide, ValueChange } from './coercing.ts'
import { convertScalar } from './convert.ts'
import { decodeInner } from './inner.ts'
import { matchOne } from './names.ts'
import { type RuleName, rules } from './rules.ts'
import type { Node } from './tree.ts'

const ANYWHERE: Where = []

/** Converts a node to what the schema says at `where` (default: its root). */
export function coerce(guide: Guide, node: Node, text: string, where: Where = ['']): Coercion {
  const run = new Run(guide, text)
  const value = run.at(node, where, '')
  return { value, changes: run.changes, cost: run.cost, branches: run.branches, issues: run.issues }
}

class Run implements Coercing {
  changes: ValueChange[] = []
  cost = 0
  branches: Record<Pointer, number> = {}
  issues: Issue[] = []
  readonly guide: Guide
  text: string
  unfolded = 0

  constructor(guide: Guide, text: string) {
    this.guide = guide
    this.text = text
  }

  at(node: Node, where: Where, pointer: Pointer): unknown {
    if (where.length === 0 || !this.guide.spend(1)) return node.value
    const shape = this.guide.shapes.at(where)
    return shape.unions.length === 0 ? this.byShape(node, shape, pointer) : this.byUnion(node, shape, pointer)
  }

  byShape(node: Node, shape: Shape, pointer: Pointer): unknown {
    const { settings } = this.guide
    if (pointer !== '' && settings.isClosed(pointer)) return node.value
    switch (node.kind) {
      case 'object':
        if (wants(shape, 'object')) return this.object(node, shape, pointer)
        break
      case 'array':
        if (wants(shape, 'array')) return this.array(node, shape, pointer)
        break
      default:
        if (fits(node, shape)) return node.value
    }
    return convertScalar(this, node, shape, pointer)
  }

  /** Records a change. */
  change(rule: RuleName, pointer: Pointer, before: unknown, after: unknown): void {
    this.changes.push({ rule, pointer, before, after })
    this.cost += rules[rule].cost
  }

  issue(code: string, pointer: Pointer, message: string, more: Partial<Issue> = {}): void {
    this.issues.push({ code, at: { pointer }, message, ...more })
  }

  /** Reads the JSON inside a string, if there is some and the depth allows it. */
  unfold(
    node: Node,
    rule: RuleName,
    pointer: Pointer,
    then: (inner: Node) => unknown,
  ): { value: unknown } | undefined {
    const { settings } = this.guide
    if (this.unfolded >= settings.unescapeDepth) return undefined
    const inner = decodeInner(String(node.value), settings)
    if (inner === undefined) return undefined
    const outer = this.text
    this.change(rule, pointer, node.value, inner.value)
    this.text = String(node.value)
    this.unfolded++
    const value = then(inner)
    this.unfolded--
    this.text = outer
    return { value }
  }

  private byUnion(node: Node, shape: Shape, pointer: Pointer): unknown {
    const { compiled, shapes } = this.guide
    const union = shape.unions[0] as Shape['unions'][number]
    const accepted = (index: number, value: unknown): boolean =>
      compiled.acceptsAt(`${union.pointer}/${index}`, value)
    // What stands is kept (C61), if the rest of the schema does not mind either.
    for (let index = 0; index < union.branches; index++) {
      if (!accepted(index, node.value)) continue
      this.branches[pointer] = index
      if (shape.where.every((place) => compiled.acceptsAt(place, node.value))) return node.value
      return this.byShape(
        node,
        shapes.at([...shape.where, `${union.pointer}/${index}`], settledBy(shape)),
        pointer,
      )
    }
    return this.firstBranch(node, shape, pointer, accepted)
  }

  /** Branches in order; the first that fully validates, unless a later one throws less away. */
  private firstBranch(
    node: Node,
    shape: Shape,
    pointer: Pointer,
    accepted: (i: number, v: unknown) => boolean,
  ): unknown {
    const { shapes } = this.guide
    const union = shape.unions[0] as Shape['unions'][number]
    const start = this.save()
    let best: { index: number; value: unknown; lost: number; state: ReturnType<Run['save']> } | undefined
    for (let index = 0; index < union.branches && this.guide.spend(1); index++) {
      this.restore(start)
      const branch = shapes.at([...shape.where, `${union.pointer}/${index}`], settledBy(shape))
      const value =
        branch.unions.length === 0 ? this.byShape(node, branch, pointer) : this.byUnion(node, branch, pointer)
      if (this.issues.length > start.issues || !accepted(index, value)) continue
      const lost = this.changes.slice(start.changes).filter((c) => c.after === undefined).length
      if (best === undefined || lost < best.lost) best = { index, value, lost, state: this.keep() }
      if (lost === 0) break
    }
    this.restore(start)
    if (best === undefined) return node.value
    this.resume(best.state)
    this.branches[pointer] = best.index
    return best.value
  }

  private save() {
    return {
      changes: this.changes.length,
      cost: this.cost,
      issues: this.issues.length,
      branches: { ...this.branches },
      log: [] as ValueChange[],
    }
  }

  private keep() {
    return { ...this.save(), log: [...this.changes] }
  }

  private restore(state: ReturnType<Run['save']>): void {
    this.changes.length = Math.min(this.changes.length, state.changes)
    this.issues.length = Math.min(this.issues.length, state.issues)
    this.cost = state.cost
    this.branches = { ...state.branches }
  }

  private resume(state: ReturnType<Run['save']>): void {
    this.changes = [...state.log]
    this.cost = state.cost
    this.branches = { ...state.branches }
  }

  private object(node: Node, shape: Shape, pointer: Pointer): unknown {
    const { settings } = this.guide
    const full = settings.aop === 'full'
    const source = node.value as Record<string, unknown>
    const members = lastMembers(node)
    const names = full ? this.rename(members, shape, pointer) : undefined
    let copy: Record<string, unknown> | undefined
    let done = 0
    for (const [key, item] of members) {
      const name = names?.get(key) ?? key
      const here = child(pointer, name)
      let keep = true
      let value: unknown = item.value
      if (full && shape.forbids(name)) {
        this.change('drop-key', here, item.value, undefined)
        keep = false
      } else if (full && item.kind === 'null' && this.meansAbsent(name, shape)) {
        this.change('null-absent', here, null, undefined)
        keep = false
      } else {
        value = this.at(item, shape.member(name), here)
      }
      if (copy === undefined && (!keep || name !== key || value !== item.value))
        copy = firstMembers(members, done)
      if (copy !== undefined && keep) setOwn(copy, name, value)
      done++
    }
    const value = copy ?? source
    return settings.defaults ? this.fillDefaults(value, shape, pointer) : value
  }

  /** Keys that are spelled differently: one declared key can be meant, and it is absent. */
  private rename(
    members: ReadonlyMap<string, Node>,
    shape: Shape,
    pointer: Pointer,
  ): Map<string, string> | undefined {
    if (shape.names.length === 0) return undefined
    let names: Map<string, string> | undefined
    for (const key of members.keys()) {
      if (shape.declares(key)) continue
      const absent = shape.names.filter((name) => !members.has(name))
      if (absent.length === 0) break
      const match = matchOne(key, absent, (name) => name)
      if (match?.kind !== 'one') continue
      names ??= new Map()
      if ([...names.values()].includes(match.value)) {
        const message = `several keys can mean "${match.value}"`
        this.issue('key/ambiguous', child(pointer, match.value), message, {
          hint: 'Write the key exactly as declared',
        })
        continue
      }
      names.set(key, match.value)
      this.change('key', child(pointer, key), key, match.value)
    }
    return names
  }

  /** null where a property is optional and null is not allowed: providers write absence so (C48). */
  private meansAbsent(name: string, shape: Shape): boolean {
    if (shape.required.has(name)) return false
    const where = shape.member(name)
    return where.length > 0 && !where.every((place) => this.guide.compiled.acceptsAt(place, null))
  }

  private fillDefaults(
    value: Record<string, unknown>,
    shape: Shape,
    pointer: Pointer,
  ): Record<string, unknown> {
    let filled = value
    for (const name of shape.names) {
      const fallback = Object.hasOwn(filled, name) ? undefined : shape.defaultOf(name)
      if (fallback === undefined) continue
      filled = { ...filled }
      setOwn(filled, name, fallback.value)
      this.change('default', child(pointer, name), undefined, fallback.value)
    }
    return filled
  }

  private array(node: Node, shape: Shape, pointer: Pointer): unknown {
    const { settings, compiled } = this.guide
    const items = node.items as readonly Node[]
    const source = node.value as readonly unknown[]
    let copy: unknown[] | undefined
    let dropped = 0
    for (let index = 0; index < items.length; index++) {
      const item = items[index] as Node
      const where = shape.describesItems ? shape.item(index) : ANYWHERE
      const here = child(pointer, index - dropped)
      const value = where.length === 0 ? item.value : this.at(item, where, here)
      if (settings.salvage && !where.every((place) => compiled.acceptsAt(place, value))) {
        copy ??= source.slice(0, index)
        this.change('drop-item', here, value, undefined)
        dropped++
        continue
      }
      if (copy === undefined && value !== item.value) copy = source.slice(0, index)
      if (copy !== undefined) copy.push(value)
    }
    return copy ?? source
  }
}

function settledBy(shape: Shape): string[] {
  return [(shape.unions[0] as Shape['unions'][number]).pointer]
}

export function wants(shape: Shape, type: JsonType): boolean {
  if (shape.types.length === 0) return true
  return shape.types.includes(type) || (type === 'integer' && shape.types.includes('number'))
}

/** A scalar that is already of a wanted type and a listed value. */
export function fits(node: Node, shape: Shape): boolean {
  if (node.kind === 'constant')
    return shape.types.length > 0 ? shape.types.includes('null') : shape.values === undefined
  if (node.big && (shape.types.includes('integer') || shape.types.includes('number')))
    return wants(shape, 'string') && shape.types.length > 0 && shape.types.includes('string')
  const type = jsonType(node.value)
  if (type === undefined || !wants(shape, type)) return false
  return shape.values === undefined || shape.values.includes(node.value)
}

/** Members with the last of repeated keys, in the order of the plain object. */
function lastMembers(node: Node): Map<string, Node> {
  const members = new Map<string, Node>()
  const keys = node.keys as readonly string[]
  const items = node.items as readonly Node[]
  for (let index = 0; index < items.length; index++) members.set(keys[index] as string, items[index] as Node)
  return members
}

function firstMembers(members: ReadonlyMap<string, Node>, count: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  let left = count
  for (const [key, item] of members) {
    if (left-- === 0) break
    setOwn(copy, key, item.value)
  }
  return copy
}
