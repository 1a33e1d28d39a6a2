/**
 * Finds the range in the text and the pointer into the value for every repair and issue of a result. Applying the text
 * edits yields strict JSON, whose tree has a range for every value. Value changes are then applied to that tree one by
 * one, so that each pointer is resolved in the value as it was when the change was made.
 */
import type { Issue, TextRange } from '../../base/errors/issue.ts'
import { isObject } from '../../base/json.ts'
import { child, type Pointer, tokens } from '../../base/pointer.ts'
import type { ParseResult, Repair } from '../../output/index.ts'
import { findChild, findNode, isSame, readTree, type TreeNode } from './json-tree.ts'

/** A location in the text and in the value. */
export interface Located {
  readonly range: TextRange
  readonly pointer: Pointer
}

interface LocatedResult {
  /** One for each repair, in order. */
  readonly repairs: readonly Located[]
  /** One for each issue, in order. */
  readonly issues: readonly Located[]
}

/** Upper bound of values compared in the search for a lifted value in its wrapper. */
const mostCompared = 1_000

export function locateResult({ raw, repairs, issues }: ParseResult<unknown>): LocatedResult {
  const edited = editText(raw, repairs)
  const tree = edited && toTree(edited, repairs)
  if (edited === undefined || tree === undefined) {
    const locate = ({ at }: Repair | Issue): Located =>
      'span' in at ? { range: at.span, pointer: '' } : { range: [0, raw.length], pointer: at.pointer }
    return { repairs: repairs.map(locate), issues: issues.map(locate) }
  }
  const toOriginal = ([start, end]: TextRange) => edited.toOriginal(start, end)
  const walk = { root: tree }
  const changed = new Map<Repair, Located>()
  for (const repair of repairs) {
    if (!('pointer' in repair.at)) continue
    const { pointer } = repair.at
    changed.set(repair, { range: toOriginal(rangeOfChange(walk.root, repair, pointer)), pointer })
    walk.root = applyChange(walk.root, repair, pointer)
  }
  const find = createFinder(walk.root)
  const ranges = new Map(edited.edits.map(({ repair, range }) => [repair, range]))
  return {
    repairs: repairs.map((repair) => {
      const range = ranges.get(repair)
      return 'span' in repair.at
        ? { range: repair.at.span, pointer: range ? find(range) : '' }
        : (changed.get(repair) as Located)
    }),
    issues: issues.map(({ at }) =>
      'span' in at
        ? { range: at.span, pointer: '' }
        : { range: toOriginal(rangeAt(walk.root, at.pointer)), pointer: at.pointer },
    ),
  }
}

/** Returns the tree of the edited text; `undefined` if edits are missing from the list or no value was found. */
function toTree({ text }: EditedText, repairs: readonly Repair[]): TreeNode | undefined {
  const whole = repairs.find(({ rule }) => rule === 'text-is-value')
  if (whole) return { start: 0, end: text.length, scalar: whole.after }
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  return readTree(text)
}

/** Returns the range of a value; for an absent value, the opening bracket of its container. */
function rangeAt(root: TreeNode, pointer: Pointer): TextRange {
  const { node, isThere } = findNode(root, pointer)
  const isBracket = !isThere && (node.members !== undefined || node.items !== undefined)
  return [node.start, isBracket ? Math.min(node.start + 1, node.end) : node.end]
}

/** Returns the key alone for a renamed key, the key with its value for a dropped member. */
function rangeOfChange(root: TreeNode, { rule, after }: Repair, pointer: Pointer): TextRange {
  const { parent, last } = findParent(root, pointer)
  const member = last === undefined ? undefined : parent.members?.get(last)
  if (member && rule === 'key') return [member.keyStart, member.keyEnd]
  if (member && (after === undefined || rule === 'drop-key')) return [member.keyStart, member.node.end]
  return rangeAt(root, pointer)
}

function findParent(root: TreeNode, pointer: Pointer): { parent: TreeNode; last: string | undefined } {
  const path = tokens(pointer)
  const last = path.pop()
  return { parent: findNode(root, path.reduce<string>(child, '')).node, last }
}

/** Applies a value change to the tree, as `replay` applies it to the value; returns the root. */
function applyChange(root: TreeNode, { rule, after }: Repair, pointer: Pointer): TreeNode {
  const removes = after === undefined || rule === 'drop-key'
  const { parent, last } = findParent(root, pointer)
  if (last === undefined) return removes ? root : graft(after, root)
  if (parent.items) {
    const index = Number(last)
    parent.items.splice(index, 1, ...(removes ? [] : [graft(after, parent.items[index] ?? opener(parent))]))
  } else if (parent.members) {
    const member = parent.members.get(last)
    if (removes || rule === 'key') parent.members.delete(last)
    if (rule === 'key' && member) parent.members.set(String(after), member)
    else if (!removes) {
      const before = member ?? { keyStart: parent.start, keyEnd: parent.start, node: opener(parent) }
      parent.members.set(last, { ...before, node: graft(after, before.node) })
    }
  }
  return root
}

/** Location of something absent from the text: the opening bracket of its container. */
function opener({ start, end }: TreeNode): TreeNode {
  return { start, end: Math.min(start + 1, end) }
}

/** Builds the tree of a new value: parts found in the old value keep their ranges, the others get the range of the old value. */
function graft(value: unknown, old: TreeNode): TreeNode {
  return findSame(value, old) ?? rebuild(value, old)
}

/** Breadth-first search, including the old value itself: finds an unwrapped or lifted value in its wrapper. */
function findSame(value: unknown, old: TreeNode): TreeNode | undefined {
  const queue = [old]
  for (let next = 0; next < queue.length && next < mostCompared; next++) {
    const node = queue[next] as TreeNode
    if (isSame(node, value)) return node
    for (const inside of getChildren(node)) if (queue.length < mostCompared) queue.push(inside.node)
  }
  return undefined
}

function rebuild(value: unknown, old: TreeNode): TreeNode {
  const { start, end } = old
  const inside = (part: unknown, token: string): TreeNode => {
    const before = findChild(old, token)
    if (before) return isSame(before, part) ? before : rebuild(part, before)
    return isSame(old, part) ? old : rebuild(part, { start, end })
  }
  if (Array.isArray(value)) return { start, end, items: value.map((item, i) => inside(item, String(i))) }
  if (!isObject(value)) return { start, end, scalar: value }
  const members = Object.entries(value).map(([name, part]) => {
    const { keyStart = start, keyEnd = start } = old.members?.get(name) ?? {}
    return [name, { keyStart, keyEnd, node: inside(part, name) }] as const
  })
  return { start, end, members: new Map(members) }
}

interface Child {
  readonly token: string
  readonly node: TreeNode
  /** Start of the member: its key. */
  readonly from: number
}

function getChildren(node: TreeNode): Child[] {
  if (node.items) return node.items.map((item, i) => ({ token: String(i), node: item, from: item.start }))
  return [...(node.members ?? [])].map(([token, member]) => ({
    token,
    node: member.node,
    from: Math.min(member.keyStart, member.node.start),
  }))
}

/** Finds the innermost member or item around an edit. Children are sorted once, then found by binary search. */
function createFinder(root: TreeNode): (range: TextRange) => Pointer {
  const sorted = new Map<TreeNode, Child[]>()
  const sortedChildren = (node: TreeNode): Child[] => {
    const known = sorted.get(node) ?? getChildren(node).sort((a, b) => a.from - b.from)
    sorted.set(node, known)
    return known
  }
  return ([start, end]) => {
    let pointer: Pointer = ''
    for (let node: TreeNode | undefined = root; node !== undefined; ) {
      const inside: Child | undefined = lastFrom(sortedChildren(node), start)
      if (inside === undefined || !isWithin([start, end], [inside.from, inside.node.end])) break
      // A value with the range of its own part, such as a parsed string, contains no narrower location.
      if (inside.from === node.start && inside.node.end === node.end) break
      pointer = child(pointer, inside.token)
      node = inside.node
    }
    return pointer
  }
}

function lastFrom(children: readonly Child[], offset: number): Child | undefined {
  let [low, high] = [-1, children.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((children[middle] as Child).from <= offset) low = middle
    else high = middle - 1
  }
  return children[low]
}

/** An empty range on the border of a value is outside: text removed between two values belongs to neither. */
function isWithin([start, end]: TextRange, [from, to]: TextRange): boolean {
  return start === end ? from < start && start < to : from <= start && end <= to
}

// Applies the recorded edits to a text, and maps ranges of the edited text back to ranges of the original (a source map).

interface EditedText {
  readonly text: string
  /** The range that each edit produced in the edited text, in text order; empty for a removal. */
  readonly edits: readonly { readonly repair: Repair; readonly range: TextRange }[]
  /** Maps a range of the edited text to the original. Text that an edit produced maps to everything that the edit replaced. */
  readonly toOriginal: (start: number, end: number) => TextRange
}

/** A sequence of characters: copied one by one, or produced as a whole by an edit. */
interface Segment {
  readonly start: number
  readonly end: number
  readonly from: TextRange
  readonly isCopy: boolean
}

/** Returns `undefined` when the edits overlap, because then they do not form one change. */
function editText(raw: string, repairs: readonly Repair[]): EditedText | undefined {
  const segments: Segment[] = []
  const edits: { repair: Repair; range: TextRange }[] = []
  let [length, done] = [0, 0]
  const add = (size: number, from: TextRange, isCopy: boolean) => {
    if (size > 0) segments.push({ start: length, end: length + size, from, isCopy })
    length += size
  }
  const parts: string[] = []
  for (const { repair, span } of inOrder(repairs)) {
    const [start, end] = span
    if (start < done) return undefined
    add(start - done, [done, start], true)
    const text = repair.after === undefined ? '' : String(repair.after)
    edits.push({ repair, range: [length, length + text.length] })
    add(text.length, span, false)
    parts.push(raw.slice(done, start), text)
    done = end
  }
  add(raw.length - done, [done, raw.length], true)
  parts.push(raw.slice(done))
  return { text: parts.join(''), edits, toOriginal: (start, end) => originalRange(segments, start, end) }
}

/** Sorts edits by position. Insertions at one offset keep their order and come before a replacement that starts there. */
function inOrder(repairs: readonly Repair[]) {
  return repairs
    .flatMap((repair) => ('span' in repair.at ? [{ repair, span: repair.at.span }] : []))
    .sort((a, b) => a.span[0] - b.span[0] || a.span[1] - b.span[1])
}

function originalRange(segments: readonly Segment[], start: number, end: number): TextRange {
  const first = segments[segmentAt(segments, start)]
  const last = segments[segmentAt(segments, Math.max(start, end - 1))]
  if (first === undefined || last === undefined) return [0, 0]
  const from = first.from[0] + (first.isCopy ? start - first.start : 0)
  const to = last.isCopy ? last.from[0] + end - last.start : last.from[1]
  return [from, Math.max(from, to)]
}

/** Binary search for the segment that holds the character at an offset. */
function segmentAt(segments: readonly Segment[], offset: number): number {
  let [low, high] = [0, segments.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((segments[middle]?.start ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}
