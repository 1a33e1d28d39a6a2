/** A YAML document as a tree whose every node knows where it stands in the text. Aliases lead to the node they name. */
import type { Span } from '../base/issue.ts'
import { type Json, setOwn } from '../base/json.ts'
import { child, type Pointer, tokens } from '../base/pointer.ts'

export type YamlNode = YamlScalar | YamlList | YamlMap

interface Placed {
  /** From the first character of the value to its last; anchors and tags stand before it. */
  readonly span: Span
  /** Where the alias stands, for a node that is reached through one; `span` is where its anchor is. */
  readonly alias?: Span
  /** The name of its anchor. */
  readonly anchor?: string
}

export interface YamlScalar extends Placed {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  readonly style: 'plain' | 'single' | 'double' | 'literal' | 'folded'
}

export interface YamlList extends Placed {
  readonly kind: 'list'
  readonly items: readonly YamlNode[]
  readonly flow: boolean
}

export interface YamlMap extends Placed {
  readonly kind: 'map'
  readonly entries: readonly YamlEntry[]
  readonly flow: boolean
}

export interface YamlEntry {
  readonly key: string
  readonly keySpan: Span
  readonly value: YamlNode
  /** It came from another map by `<<`; its spans are over there. */
  readonly merged?: true
}

/** The entry of a key; nothing for other nodes than maps. */
export function entryOf(node: YamlNode | undefined, key: string): YamlEntry | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key) : undefined
}

export function plainValue(node: YamlNode): Json {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(plainValue)
  const value = {}
  for (const entry of node.entries) setOwn(value, entry.key, plainValue(entry.value))
  return value
}

/** The node at a pointer, or the innermost one around it that is there, with the entry it is the value of. */
export function nodeAt(
  root: YamlNode,
  pointer: Pointer,
): { readonly node: YamlNode; readonly entry?: YamlEntry; readonly pointer: Pointer } {
  let found: { node: YamlNode; entry?: YamlEntry; pointer: Pointer } = { node: root, pointer: '' }
  for (const token of tokens(pointer)) {
    const { node } = found
    const entry = entryOf(node, token)
    const inside = entry?.value ?? (node.kind === 'list' ? node.items[Number(token)] : undefined)
    if (inside === undefined) break
    found = { node: inside, ...(entry && { entry }), pointer: child(found.pointer, token) }
  }
  return found
}
