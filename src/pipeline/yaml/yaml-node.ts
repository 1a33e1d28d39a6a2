/** A YAML document as a tree; every node has its range in the text. An alias resolves to the node it names. */
import type { TextRange } from '../../base/errors/issue.ts'
import { type Json, setOwn } from '../../base/json.ts'
import { child, type Pointer, tokens } from '../../base/pointer.ts'

export type YamlNode = YamlScalar | YamlList | YamlMap

interface Placed {
  /** From the first character of the value to its last; anchors and tags come before it. */
  readonly range: TextRange
  /** Range of the alias, for a node reached through one; `range` is the range at its anchor. */
  readonly alias?: TextRange
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
  readonly keyRange: TextRange
  readonly value: YamlNode
  /** It comes from another map by `<<`; its ranges are in that map. */
  readonly merged?: true
}

/** The entry of a key; `undefined` for nodes that are not maps. */
function entryOf(node: YamlNode | undefined, key: string): YamlEntry | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key) : undefined
}

export function plainValue(node: YamlNode): Json {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(plainValue)
  const value = {}
  for (const entry of node.entries) setOwn(value, entry.key, plainValue(entry.value))
  return value
}

/** The node at a pointer, or its innermost existing ancestor, with the entry that holds it. */
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
