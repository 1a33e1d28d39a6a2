/** Unwraps values from wrappers that the schema does not declare, and adds the one wrapper that the schema requires. */
import { isObject, type JsonType } from '../../base/json.ts'
import { coerce } from '../coerce/coerce.ts'
import type { ValueChange } from '../coerce/record.ts'
import { countChildren, firstItems, isContainer, makeNode, type Node } from '../decode/tree/tree.ts'
import { hasFastPaths } from '../fast-paths.ts'
import { rules } from '../rules.ts'
import { decodeInner, mayHold, peelString } from '../scan/nested-json.ts'
import type { Region } from '../scan/region.ts'
import type { Guided } from '../schema/target.ts'
import { type Attempt, attempt, type Before, type Trial } from './attempt.ts'
import { explainsMore } from './text-coverage.ts'
import { findCallNode } from './tool-calls.ts'

/** Maximum depth of a value in undeclared wrappers, and maximum number of locations inspected. */
const DEEPEST = 6
const MOST = 200

interface Inside {
  readonly node: Node
  readonly text: string
  readonly depth: number
  readonly key: string | undefined
  /** Siblings dropped on the way. */
  readonly left: number
  /** How many levels of strings were decoded on the way. */
  readonly unfolded: number
  /** The nearest valid reading of an enclosing value. */
  readonly around: Attempt | undefined
}

/** All readings of a region whose value is inside a wrapper; returns the cheapest valid ones. */
export function lifted(trial: Trial, region: Region, declared: ReadonlySet<string>): Attempt[] {
  const scalars = !isContainerExpected(trial)
  const found: Attempt[] = []
  const queue = [outermost(trial, region)]
  let looked = 0
  for (const outer of queue) {
    if (outer.depth >= DEEPEST) continue
    const tries: { tried: Attempt; key: string | undefined }[] = []
    for (const inner of inside(trial, outer, declared)) {
      if (++looked > MOST) return found
      const tried = scalars || isContainer(inner.node) ? tryInside(trial, region, inner) : undefined
      queue.push(tried?.valid ? { ...inner, around: tried } : inner)
      if (!tried?.valid || (inner.around && explainsMore(inner.around, tried, declared))) continue
      tries.push({ tried, key: inner.key })
    }
    found.push(...oneOf(tries, outer.node, { scalars, listWanted: isListExpected(trial) }))
  }
  return found
}

/** Whether `lifted` tries the value that another region holds: it is inside this one, and both end together. */
export function coversRegion(
  trial: Trial,
  region: Region,
  other: Region,
  declared: ReadonlySet<string>,
): boolean {
  if (trial.settings.aop !== 'full') return false
  let outer: Inside | undefined = outermost(trial, region)
  while (outer !== undefined && outer.depth < DEEPEST) {
    const { text }: Inside = outer
    outer = [...inside(trial, outer, declared)].find(
      ({ node, text: from }) => from === text && node.start <= other.start && node.end === other.end,
    )
    if (outer?.node.start === other.start) return isContainer(outer.node)
  }
  return false
}

/** Tries the inner value, unchanged or as tool calls in another notation. */
function tryInside(trial: Trial, region: Region, inner: Inside): Attempt {
  const tried = attempt(trial, region, inner.node, toLift(region, inner), inner.text)
  const call = tried.valid ? undefined : findCallNode(trial, inner.text, inner.node)
  if (call === undefined) return tried
  const before = toLift(region, { ...inner, node: call })
  return attempt(trial, region, call, { ...before, cost: before.cost + rules['named-call'].cost }, inner.text)
}

/** Start of the search: the region, or the value it encodes as a string, decoded as often as allowed. */
function outermost(trial: Trial, region: Region): Inside {
  const outer: Inside = {
    node: region.node,
    text: region.source ?? trial.text,
    depth: 0,
    key: undefined,
    left: 0,
    unfolded: 0,
    around: undefined,
  }
  let text: unknown = region.node.kind === 'string' ? region.node.value : undefined
  for (let unfolded = 1; typeof text === 'string' && unfolded <= trial.settings.unescapeDepth; unfolded++) {
    const node = decodeInner(text, trial)
    if (node !== undefined) return { ...outer, node, text, unfolded }
    text = peelString(text)
  }
  return outer
}

/** Maximum number of strings of one region read as embedded texts. */
const MOST_STRINGS = 20

/** Strings at the root or in wrappers that contain JSON among other text, or another such string. */
export function* stringsInside(
  trial: Trial,
  region: Region,
  declared: ReadonlySet<string>,
): Generator<Inside> {
  const outer = outermost(trial, region)
  // A decoded string is read once more as a full embedded text.
  const queue = [region.node.kind === 'string' ? { ...outer, node: region.node, unfolded: 0 } : outer]
  let looked = 0
  let strings = 0
  for (const outer of queue) {
    if (outer.node.kind === 'string' && outer.unfolded < trial.settings.unescapeDepth) {
      if (!holdsAmongText(outer.node.value as string)) continue
      if (++strings > MOST_STRINGS) return
      yield outer
      continue
    }
    if (outer.depth >= DEEPEST) continue
    for (const inner of inside(trial, outer, declared)) {
      if (++looked > MOST) return
      queue.push(inner)
    }
  }
}

/** Cheap test: JSON that a schema could expect has at least a bracket and a quote. */
function holdsAmongText(text: string): boolean {
  return /[{[｛［]/.test(text) && /["'“]/.test(text)
}

const RESULT = /^(?:answer|result|output|value|response|data|verdict|final|content|text|label)/i

/**
 * Resolves several fits at one location: among list items none is chosen, among scalars only one with an answer-like
 * key.
 */
function oneOf(
  tries: readonly { tried: Attempt; key: string | undefined }[],
  outer: Node,
  { scalars, listWanted }: { scalars: boolean; listWanted: boolean },
): Attempt[] {
  const all = tries.map(({ tried }) => tried)
  if (all.length < 2 || (!scalars && outer.kind === 'object' && !listWanted)) return all
  const named = tries.filter(({ key }) => key !== undefined && RESULT.test(key))
  return scalars && named.length === 1 ? named.map(({ tried }) => tried) : []
}

export function isContainerExpected(trial: Trial): boolean {
  const types = trial.target.guided?.root.types ?? []
  return types.length === 0 || types.includes('object') || types.includes('array')
}

function isListExpected(trial: Trial): boolean {
  return trial.target.guided?.root.types.includes('array') ?? false
}

function toLift(region: Region, inner: Inside): Before {
  const change: ValueChange = {
    rule: 'lift',
    pointer: '',
    before: region.value,
    after: inner.node.value,
  }
  const cost = rules.lift.cost * inner.depth + rules.unescape.cost * inner.unfolded + inner.left
  return { changes: [change], cost, unfolded: inner.unfolded }
}

/** The direct children: members under undeclared keys, items, JSON in strings. */
function* inside(trial: Trial, outer: Inside, declared: ReadonlySet<string>): Generator<Inside> {
  const { node, text, depth } = outer
  if (!isContainer(node)) return
  const size = countChildren(node)
  // Where a list is expected, a list is that list, valid or not; only a list around it may be removed.
  if (node.kind === 'array' && isListExpected(trial) && !(size === 1 && node.items?.[0]?.kind === 'array')) {
    yield* itemsInside(trial, outer)
    return
  }
  for (const [index, item] of firstItems(node, 50).entries()) {
    const key = node.keys?.[index]
    // A declared key is not a wrapper, unless it is the only key and holds an object with declared keys that are not its
    // own.
    if (key !== undefined && declared.has(key)) {
      const { root, shapes } = trial.target.guided as Guided
      const own = size === 1 && depth === 0 ? shapes.namesOf(shapes.at(root.member(key))) : declared
      if (!item.keys?.some((name) => declared.has(name) && !own.has(name))) continue
    }
    const left = outer.left + size - 1
    yield* opened(trial, { ...outer, node: item, text, depth: depth + 1, key, left })
  }
}

/** `[{"type": "function", "function": {…}}, …]`, `[["f", {…}], …]`: every item of the list has the same wrapper. */
function* itemsInside(trial: Trial, outer: Inside): Generator<Inside> {
  const { node, depth, left } = outer
  const items = node.items ?? []
  const width = Math.min(items[0]?.items?.length ?? 0, 8)
  for (let index = 0; index < width; index++) {
    const key = items[0]?.keys?.[index]
    const inner = items.map((item) => objectIn(trial, outer, itemAt(item, index, key)))
    if (!inner.every((item) => item !== undefined)) continue
    const values = inner.map((item) => item.value)
    const list: Node = { ...makeNode('array', values, node.start, node.end), items: inner }
    yield { ...outer, node: list, depth: depth + 1, key, left: left + width - 1 }
  }
}

/** The member with that key, the only member under another key, or the item at that index of a list. */
function itemAt(item: Node, index: number, key: string | undefined): Node | undefined {
  if (key === undefined) return item.kind === 'array' ? item.items?.[index] : undefined
  if (item.items?.length === 1 && item.keys !== undefined) return item.items[0]
  return item.items?.[item.keys?.lastIndexOf(key) ?? -1]
}

/** An object, or the object encoded in a string. */
function objectIn(trial: Trial, outer: Inside, node: Node | undefined): Node | undefined {
  const text = node?.kind === 'string' ? String(node.value) : ''
  const inner =
    outer.unfolded < trial.settings.unescapeDepth && mayHold(text) ? decodeInner(text, trial) : node
  return inner?.kind === 'object' ? inner : undefined
}

function* opened(trial: Trial, inner: Inside): Generator<Inside> {
  const text = inner.node.kind === 'string' ? String(inner.node.value) : ''
  if (inner.unfolded < trial.settings.unescapeDepth && mayHold(text)) {
    const node = decodeInner(text, trial)
    if (node !== undefined) yield { ...inner, node, text, unfolded: inner.unfolded + 1 }
  }
  yield inner
}

/** Whether the member's schema accepts this kind of value directly, so that it is not turned into text. */
function holds(trial: Trial, guided: Guided, name: string, node: Node): boolean {
  const { types } = guided.shapes.at(guided.root.member(name))
  if (node.kind === 'number') return types.includes('integer') || types.includes('number')
  return types.includes(node.kind as JsonType) && trial.settings.aop === 'full'
}

/** An object with one member. Its location is that of the member, found on demand. */
function makeWrapper(name: string, node: Node): Node {
  return {
    ...makeNode('object', { [name]: node.value }, 0, 0),
    keys: [name],
    items: [node],
    ...(hasFastPaths && { plain: node.plain ?? false }),
    get start() {
      return node.start
    },
    get end() {
      return node.end
    },
  }
}

/** Of longer lists, the first item is tried alone before all of them are converted in vain. */
const LONG_LIST = 100

/** Whether the first item of a list stays invalid after every conversion: then the member `name` cannot hold the list. */
function refusesFirst(
  { text, guide, settings }: Trial,
  region: Region,
  wrapper: Node,
  name: string,
): boolean {
  if (guide === undefined || region.summary.hides || settings.salvage) return false
  const root = guide.shapes.at([''])
  const list = guide.shapes.at(root.member(name))
  if (root.unions.length + list.unions.length > 0) return false
  const { value } = coerce(guide, {
    value: { [name]: [(region.value as unknown[])[0]] },
    text: region.source ?? text,
    node: () => wrapper,
    needsNodes: false,
    unfolded: 0,
  })
  const made = isObject(value) ? value[name] : undefined
  return Array.isArray(made) && !list.item(0).every((pointer) => guide.accepts(pointer, made[0]))
}

/** `[…]` where `{"items": […]}` is expected: only if the schema allows exactly one name. */
export function enclosed(trial: Trial, region: Region): Attempt | undefined {
  const { guided } = trial.target
  if (guided === undefined || guided.root.types.join() !== 'object' || region.implicit) return undefined
  const { required, names } = guided.root
  const name =
    required.size === 1 ? [...required][0] : required.size === 0 && names.length === 1 ? names[0] : undefined
  if (name === undefined || region.node.kind === 'string' || region.node.kind === 'null') return undefined
  if (isObject(region.value) && Object.hasOwn(region.value, name)) return undefined
  if (!holds(trial, guided, name, region.node)) return undefined
  const { node } = region
  const wrapper = makeWrapper(name, node)
  const isLong = hasFastPaths && node.kind === 'array' && countChildren(node) > LONG_LIST
  if (isLong && refusesFirst(trial, region, wrapper, name)) return undefined
  const change: ValueChange = { rule: 'enclose', pointer: '', before: node.value, after: wrapper.value }
  const tried = attempt(trial, region, wrapper, { changes: [change], cost: rules.enclose.cost })
  return tried.valid ? tried : undefined
}
