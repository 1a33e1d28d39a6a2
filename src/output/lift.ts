/** Values inside wrappers that the schema does not know, and the reverse: the one wrapper that the schema wants. */
import { isObject, type JsonType } from '../base/json.ts'
import { type Attempt, attempt, type Before, type Trial } from './attempt.ts'
import { decodeInner, mayHold, peelString } from './inner.ts'
import type { ValueChange } from './record.ts'
import type { Region } from './region.ts'
import { rules } from './rules.ts'
import type { Guided } from './target.ts'
import { makeNode, type Node } from './tree.ts'

/** How deep a value may sit in foreign wrappers, and how many places are looked at. */
const DEEPEST = 6
const MOST = 200

interface Inside {
  readonly node: Node
  readonly text: string
  readonly depth: number
  readonly key: string | undefined
  /** Siblings that are left behind on the way. */
  readonly left: number
  /** How often strings were unfolded on the way. */
  readonly unfolded: number
}

/** Every reading of a region whose value sits inside something else; the cheapest valid ones. */
export function lifted(trial: Trial, region: Region, declared: ReadonlySet<string>): Attempt[] {
  const scalars = !wantsContainer(trial)
  const found: Attempt[] = []
  const queue = [outermost(trial, region)]
  let looked = 0
  for (const outer of queue) {
    if (outer.depth >= DEEPEST) continue
    const tries: { tried: Attempt; key: string | undefined }[] = []
    for (const inner of inside(trial, outer, declared)) {
      if (++looked > MOST) return found
      queue.push(inner)
      if (!scalars && inner.node.items === undefined) continue
      const tried = attempt(trial, region, inner.node, liftOf(region, inner), inner.text)
      if (tried.valid) tries.push({ tried, key: inner.key })
    }
    found.push(...oneOf(tries, outer.node, { scalars, listWanted: wantsList(trial) }))
  }
  return found
}

/** Where looking inside begins: the region, or the value that it encodes as a string, unfolded as often as is allowed. */
function outermost(trial: Trial, region: Region): Inside {
  const outer: Inside = {
    node: region.node,
    text: region.source ?? trial.text,
    depth: 0,
    key: undefined,
    left: 0,
    unfolded: 0,
  }
  let text: unknown = region.node.kind === 'string' ? region.node.value : undefined
  for (let unfolded = 1; typeof text === 'string' && unfolded <= trial.settings.unescapeDepth; unfolded++) {
    const node = decodeInner(text, trial)
    if (node !== undefined) return { ...outer, node, text, unfolded }
    text = peelString(text)
  }
  return outer
}

const RESULT = /^(?:answer|result|output|value|response|data|verdict|final|content|text|label)/i

/** Several fit in one place: among the items of a list none is the one, among scalars only one that is called the answer. */
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

function wantsContainer(trial: Trial): boolean {
  const types = trial.target.guided?.root.types ?? []
  return types.length === 0 || types.includes('object') || types.includes('array')
}

function wantsList(trial: Trial): boolean {
  return trial.target.guided?.root.types.includes('array') ?? false
}

function liftOf(region: Region, inner: Inside): Before {
  const change: ValueChange = {
    rule: 'lift',
    pointer: '',
    before: region.value,
    after: inner.node.value,
  }
  const cost = rules.lift.cost * inner.depth + rules.unescape.cost * inner.unfolded + inner.left
  return { changes: [change], cost, unfolded: inner.unfolded }
}

/** What stands directly inside: members under foreign keys, items, JSON in strings. */
function* inside(trial: Trial, outer: Inside, declared: ReadonlySet<string>): Generator<Inside> {
  const { node, text, depth } = outer
  const items = node.items ?? []
  // A list where a list is wanted is that list, good or bad; only a list around it may be taken off.
  if (node.kind === 'array' && wantsList(trial) && !(items.length === 1 && items[0]?.kind === 'array')) {
    yield* itemsInside(outer)
    return
  }
  for (let index = 0; index < items.length && index < 50; index++) {
    const item = items[index] as Node
    const key = node.keys?.[index]
    // A declared key is no wrapper, unless it is all there is and holds an object itself.
    if (
      key !== undefined &&
      declared.has(key) &&
      !(items.length === 1 && depth === 0 && item.kind === 'object')
    )
      continue
    const left = outer.left + items.length - 1
    yield* opened(trial, { node: item, text, depth: depth + 1, key, left, unfolded: outer.unfolded })
  }
}

/** `[{"type": "function", "function": {…}}, …]`: every item of the list sits in the same wrapper. */
function* itemsInside(outer: Inside): Generator<Inside> {
  const { node, depth, left } = outer
  const items = node.items ?? []
  for (const key of items[0]?.keys?.slice(0, 8) ?? []) {
    const inner = items.map((item) => item.items?.[item.keys?.lastIndexOf(key) ?? -1])
    if (!inner.every((item) => item?.kind === 'object')) continue
    const lifted = inner as Node[]
    const values = lifted.map((item) => item.value)
    const list: Node = { ...makeNode('array', values, node.start, node.end), items: lifted }
    const behind = (items[0]?.keys?.length ?? 1) - 1
    yield { ...outer, node: list, depth: depth + 1, key, left: left + behind }
  }
}

function* opened(trial: Trial, inner: Inside): Generator<Inside> {
  const text = inner.node.kind === 'string' ? String(inner.node.value) : ''
  if (inner.unfolded < trial.settings.unescapeDepth && mayHold(text)) {
    const node = decodeInner(text, trial)
    if (node !== undefined) yield { ...inner, node, text, unfolded: inner.unfolded + 1 }
  }
  yield inner
}

/** Whether the member wants this very kind of value: text is not to be made of it. */
function holds(trial: Trial, guided: Guided, name: string, node: Node): boolean {
  const { types } = guided.shapes.at(guided.root.member(name))
  if (node.kind === 'number') return types.includes('integer') || types.includes('number')
  return types.includes(node.kind as JsonType) && trial.settings.aop === 'full'
}

/** `[…]` where `{"items": […]}` is wanted: only if the schema leaves no choice of the name. */
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
  const wrapper: Node = {
    ...makeNode('object', { [name]: node.value }, node.start, node.end),
    keys: [name],
    items: [node],
    starts: [node.start],
  }
  const change: ValueChange = { rule: 'enclose', pointer: '', before: node.value, after: wrapper.value }
  const tried = attempt(trial, region, wrapper, { changes: [change], cost: rules.enclose.cost })
  return tried.valid ? tried : undefined
}
