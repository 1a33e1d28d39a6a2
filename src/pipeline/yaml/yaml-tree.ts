/**
 * A YAML document as a tree; every node has its range in the text. Converts the parser's nodes to it: keys become texts,
 * `<<` is expanded, an alias is resolved to the node it names and counted, and only JSON values remain.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { TextRange } from '../../base/errors/issue.ts'
import { type Json, setOwn } from '../../base/json.ts'
import { child, type Pointer, tokens } from '../../base/pointer.ts'
import type { Finding } from '../text/source.ts'
import { yamlLimits } from './scan-yaml.ts'

export type YamlNode = YamlScalar | YamlList | YamlMap

interface Located {
  /** From the first character of the value to its last; anchors and tags come before it. */
  readonly range: TextRange
  /** Range of the alias, for a node reached through one; `range` is the range at its anchor. */
  readonly alias?: TextRange
  /** The name of its anchor. */
  readonly anchor?: string
}

export interface YamlScalar extends Located {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  readonly style: 'plain' | 'single' | 'double' | 'literal' | 'folded'
}

export interface YamlList extends Located {
  readonly kind: 'list'
  readonly items: readonly YamlNode[]
  readonly flow: boolean
}

export interface YamlMap extends Located {
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
function findEntry(node: YamlNode | undefined, key: string): YamlEntry | undefined {
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
    const entry = findEntry(node, token)
    const inside = entry?.value ?? (node.kind === 'list' ? node.items[Number(token)] : undefined)
    if (inside === undefined) break
    found = { node: inside, ...(entry && { entry }), pointer: child(found.pointer, token) }
  }
  return found
}

const styles: Readonly<Record<string, YamlScalar['style']>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
}

interface Tree {
  readonly root: YamlNode
  readonly findings: readonly Finding[]
}

/** `contents` of a document that was parsed without errors. */
export function makeTree(contents: unknown): Tree {
  const building: Building = { findings: [], anchors: new Map(), sizes: new Map(), count: 0 }
  return { root: makeNode(building, contents, 0), findings: building.findings }
}

/** State of one conversion. */
interface Building {
  readonly findings: Finding[]
  /** The value of each anchor seen so far; `open` while that value is being converted. */
  readonly anchors: Map<string, YamlNode | 'open'>
  /** Number of values below each list, map and alias, itself included. */
  readonly sizes: Map<YamlNode, number>
  /** Number of values so far, counting each alias with everything it expands to. */
  count: number
}

function makeNode(building: Building, node: unknown, at: number): YamlNode {
  if (isAlias(node)) return resolveAlias(building, node)
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return makeNull(at)
  const { anchor } = node
  if (anchor !== undefined) building.anchors.set(anchor, 'open')
  const bare = isScalar(node)
    ? makeScalar(building, node)
    : isMap(node)
      ? makeMap(building, node)
      : makeList(building, node)
  if (anchor === undefined) return bare
  const made = { ...bare, anchor }
  building.sizes.set(made, getSize(building, bare))
  building.anchors.set(anchor, made)
  return made
}

function makeNull(at: number): YamlNode {
  return { kind: 'scalar', value: null, style: 'plain', range: [at, at] }
}

function makeScalar({ findings }: Building, node: Scalar): YamlNode {
  const range = getRange(node)
  const style = styles[node.type ?? 'PLAIN'] ?? 'plain'
  const { value } = node
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || isPlainNumber(value))
    return { kind: 'scalar', value, style, range }
  findings.push({
    code: 'pipeline/value',
    range,
    message: `${node.source ?? 'this'} is not a value that JSON can hold exactly`,
    hint: 'Put it in quotes if it is a text',
  })
  return { kind: 'scalar', value: null, style, range }
}

function makeList(building: Building, node: YAMLSeq): YamlNode {
  const range = getRange(node)
  const items = node.items.map((item) => {
    // `[a: 1]` is a list of maps with one key.
    if (isPair(item))
      return recordSize(
        building,
        { kind: 'map', entries: makeEntries(building, [item], range[0]), flow: true, range },
        [],
      )
    return makeNode(building, item, range[0])
  })
  building.count++
  return recordSize(building, { kind: 'list', items, flow: node.flow === true, range }, items)
}

function makeMap(building: Building, node: YAMLMap): YamlNode {
  const range = getRange(node)
  const entries = makeEntries(building, node.items, range[0])
  building.count++
  return recordSize(
    building,
    { kind: 'map', entries, flow: node.flow === true, range },
    entries.map(({ value }) => value),
  )
}

function recordSize(building: Building, node: YamlNode, children: readonly YamlNode[]): YamlNode {
  building.sizes.set(
    node,
    children.reduce((sum, child) => sum + getSize(building, child), 1),
  )
  return node
}

function getSize({ sizes }: Building, node: YamlNode): number {
  return sizes.get(node) ?? 1
}

/** Replaces an alias by the value of its anchor. The count bounds what aliases of aliases expand to. */
function resolveAlias(building: Building, node: Alias): YamlNode {
  const { anchors, findings, sizes } = building
  const range = getRange(node)
  const target = anchors.get(node.source)
  if (target === undefined || target === 'open') {
    findings.push({
      code: 'pipeline/alias',
      range,
      message:
        target === undefined
          ? `the alias *${node.source} names no anchor above it`
          : `the alias *${node.source} is inside the value that it names`,
      hint: `Write &${node.source} before the value that is meant`,
    })
    return makeNull(range[0])
  }
  building.count += getSize(building, target)
  if (building.count > yamlLimits.nodes) {
    if (!findings.some(({ code }) => code === 'pipeline/limit'))
      findings.push({
        code: 'pipeline/limit',
        range,
        message: `aliases expand this file to more than ${yamlLimits.nodes} values`,
        hint: 'Use fewer aliases of aliases',
      })
    return makeNull(range[0])
  }
  const made = { ...target, alias: range }
  sizes.set(made, getSize(building, target))
  return made
}

function makeEntries(building: Building, pairs: readonly Pair[], at: number): YamlEntry[] {
  const own = new Map<string, YamlEntry>()
  const merged: YamlEntry[] = []
  for (const pair of pairs) {
    const key = readKey(building, pair.key, at)
    if (key === undefined) continue
    const value = makeNode(building, pair.value, key.range[1])
    if (key.text === '<<' && key.plain) {
      merged.push(...mergedEntries(building, value, key.range))
      continue
    }
    const first = own.get(key.text)
    if (first) building.findings.push(repeated(key.text, key.range, first.keyRange))
    else own.set(key.text, { key: key.text, keyRange: key.range, value })
  }
  // Own keys win over merged ones, earlier maps over later ones.
  for (const entry of merged) if (!own.has(entry.key)) own.set(entry.key, entry)
  return [...own.values()]
}

/** The entries that `<<` adds. */
function mergedEntries({ findings }: Building, value: YamlNode, keyRange: TextRange): YamlEntry[] {
  const maps = value.kind === 'list' ? value.items : [value]
  if (maps.every((item): item is YamlMap => item.kind === 'map'))
    return maps.flatMap(({ entries }) => entries.map((entry) => ({ ...entry, merged: true as const })))
  findings.push({
    code: 'pipeline/value',
    range: keyRange,
    message: '<< takes a map, or a list of maps',
    hint: 'Write the alias of a map: <<: *name',
  })
  return []
}

function readKey(
  building: Building,
  key: unknown,
  at: number,
): { text: string; range: TextRange; plain: boolean } | undefined {
  const target = isAlias(key) ? resolveAlias(building, key) : undefined
  if (target?.kind === 'scalar') return { text: String(target.value), range: getRange(key), plain: false }
  if (isScalar(key)) {
    // Keys such as 1, on or null are taken as written.
    const text = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
    return { text, range: getRange(key), plain: key.type === 'PLAIN' || key.type === undefined }
  }
  building.findings.push({
    code: 'pipeline/key',
    range: isMap(key) || isSeq(key) || isAlias(key) ? getRange(key) : [at, at + 1],
    message: 'a key must be a text, not a list or a map',
    hint: 'Put the key in quotes',
  })
  return undefined
}

function repeated(key: string, range: TextRange, first: TextRange): Finding {
  return {
    code: 'pipeline/duplicate-key',
    range,
    message: `the key ${key} is given twice in one map`,
    hint: 'Remove one of the two, or rename it',
    // Range of the first key; `withFirst` turns it into a line.
    actual: { first },
  }
}

function isPair(item: unknown): item is Pair {
  return typeof item === 'object' && item !== null && 'key' in item && 'value' in item && !isScalar(item)
}

function isPlainNumber(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isFinite(value) &&
    (!Number.isInteger(value) || Number.isSafeInteger(value))
  )
}

function getRange(node: unknown): TextRange {
  const { range } = node as { range?: readonly [number, number, number] | null }
  return range ? [range[0], Math.max(range[0], range[1])] : [0, 0]
}
