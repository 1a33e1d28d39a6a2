/** Parses strict JSON into a tree of ranges: the location of each member, key and item. Expects text that `JSON.parse` accepts. */
import { isObject, own } from '../../base/json.ts'
import { type Pointer, tokens } from '../../base/pointer.ts'

/** One value with its half-open range of UTF-16 offsets. Members and items are replaced in place when the value changes. */
export interface TreeNode {
  readonly start: number
  readonly end: number
  /** The value of a string, number, boolean or null; containers have children instead. */
  readonly scalar?: unknown
  readonly members?: Map<string, Member>
  readonly items?: TreeNode[]
}

interface Member {
  readonly keyStart: number
  readonly keyEnd: number
  readonly node: TreeNode
}

interface OpenNode {
  readonly node: TreeNode & { end: number }
  key?: { readonly name: string; readonly start: number; readonly end: number }
}

/** Iterative, so that deep nesting cannot overflow the stack. For duplicate keys the last member wins, as in `JSON.parse`. */
export function readTree(text: string): TreeNode {
  const open: OpenNode[] = []
  let root: TreeNode = { start: 0, end: 0 }
  const add = (node: TreeNode) => {
    const parent = open.at(-1)
    if (parent === undefined) root = node
    else if (parent.node.items) parent.node.items.push(node)
    else if (parent.key) {
      const { name, start, end } = parent.key
      parent.node.members?.set(name, { keyStart: start, keyEnd: end, node })
      delete parent.key
    }
  }
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string
    if (char === '{' || char === '[') {
      const children = char === '{' ? { members: new Map<string, Member>() } : { items: [] }
      const node = { start: at, end: at, ...children }
      add(node)
      open.push({ node })
      at++
    } else if (char === '}' || char === ']') {
      at++
      const closed = open.pop()
      if (closed) closed.node.end = at
    } else if (/[\s,:\ufeff]/.test(char)) at++
    else {
      const start = at
      at = char === '"' ? endOfString(text, start) : endOfWord(text, start)
      const scalar: unknown = JSON.parse(text.slice(start, at))
      const parent = open.at(-1)
      if (parent?.node.members && !parent.key) parent.key = { name: String(scalar), start, end: at }
      else add({ start, end: at, scalar })
    }
  }
  return root
}

/** Finds the node at a pointer; if it does not exist, the innermost existing node around it and `isThere: false`. */
export function findNode(root: TreeNode, pointer: Pointer): { node: TreeNode; isThere: boolean } {
  let node = root
  for (const token of tokens(pointer)) {
    const inside = findChild(node, token)
    if (inside === undefined) return { node, isThere: false }
    node = inside
  }
  return { node, isThere: true }
}

export function findChild(node: TreeNode, token: string): TreeNode | undefined {
  return node.items ? node.items[Number(token)] : node.members?.get(token)?.node
}

/** Returns whether a node represents this value. */
export function isSame(node: TreeNode, value: unknown): boolean {
  if (node.items) {
    return (
      Array.isArray(value) &&
      value.length === node.items.length &&
      node.items.every((item, index) => isSame(item, value[index]))
    )
  }
  if (node.members) {
    if (!isObject(value) || Object.keys(value).length !== node.members.size) return false
    return [...node.members].every(
      ([name, member]) => Object.hasOwn(value, name) && isSame(member.node, own(value, name)),
    )
  }
  return node.scalar === value
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfWord(text: string, start: number): number {
  const word = /[^\s,\]}]+/y
  word.lastIndex = start
  return word.test(text) ? word.lastIndex : start + 1
}
