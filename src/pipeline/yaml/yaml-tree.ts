/**
 * Converts the parser's nodes to our tree: keys become texts, `<<` is expanded, aliases are resolved and
 * counted, and only JSON values remain.
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
import type { Finding } from '../text/source.ts'
import { yamlLimits } from './scan-yaml.ts'
import type { YamlEntry, YamlMap, YamlNode, YamlScalar } from './yaml-node.ts'

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
  const findings: Finding[] = []
  const anchors = new Map<string, YamlNode | 'open'>()
  const sizes = new Map<YamlNode, number>()
  let count = 0

  const size = (node: YamlNode) => sizes.get(node) ?? 1
  const sized = (node: YamlNode, children: readonly YamlNode[]): YamlNode => {
    sizes.set(
      node,
      children.reduce((sum, child) => sum + size(child), 1),
    )
    return node
  }
  const nothing = (at: number): YamlNode => ({ kind: 'scalar', value: null, style: 'plain', span: [at, at] })

  const make = (node: unknown, at: number): YamlNode => {
    if (isAlias(node)) return follow(node)
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return nothing(at)
    const { anchor } = node
    if (anchor !== undefined) anchors.set(anchor, 'open')
    const bare = isScalar(node) ? scalar(node) : isMap(node) ? map(node) : list(node)
    if (anchor === undefined) return bare
    const made = { ...bare, anchor }
    sizes.set(made, size(bare))
    anchors.set(anchor, made)
    return made
  }

  const follow = (node: Alias): YamlNode => {
    const span = spanOf(node)
    const target = anchors.get(node.source)
    if (target === undefined || target === 'open') {
      const message =
        target === undefined
          ? `the alias *${node.source} names no anchor above it`
          : `the alias *${node.source} stands inside the value that it names`
      findings.push({
        code: 'pipeline/alias',
        span,
        message,
        hint: `Write &${node.source} before the value that is meant`,
      })
      return nothing(span[0])
    }
    count += size(target)
    if (count > yamlLimits.nodes) {
      if (!findings.some(({ code }) => code === 'pipeline/limit'))
        findings.push({
          code: 'pipeline/limit',
          span,
          message: `aliases make more than ${yamlLimits.nodes} values of this file`,
          hint: 'Use fewer aliases of aliases',
        })
      return nothing(span[0])
    }
    const made = { ...target, alias: span }
    sizes.set(made, size(target))
    return made
  }

  const scalar = (node: Scalar): YamlNode => {
    const span = spanOf(node)
    const style = styles[node.type ?? 'PLAIN'] ?? 'plain'
    const { value } = node
    if (value === null || typeof value === 'string' || typeof value === 'boolean' || isPlainNumber(value))
      return { kind: 'scalar', value, style, span }
    findings.push({
      code: 'pipeline/value',
      span,
      message: `${node.source ?? 'this'} is no value that JSON can hold exactly`,
      hint: 'Put it in quotes if it is a text',
    })
    return { kind: 'scalar', value: null, style, span }
  }

  const list = (node: YAMLSeq): YamlNode => {
    const span = spanOf(node)
    const items = node.items.map((item) => {
      // `[a: 1]` is a list of maps with one key.
      if (isPairOf(item))
        return sized({ kind: 'map', entries: entries([item], span[0]), flow: true, span }, [])
      return make(item, span[0])
    })
    count++
    return sized({ kind: 'list', items, flow: node.flow === true, span }, items)
  }

  const map = (node: YAMLMap): YamlNode => {
    const span = spanOf(node)
    const made = entries(node.items, span[0])
    count++
    return sized(
      { kind: 'map', entries: made, flow: node.flow === true, span },
      made.map(({ value }) => value),
    )
  }

  const entries = (pairs: readonly Pair[], at: number): YamlEntry[] => {
    const own = new Map<string, YamlEntry>()
    const merged: YamlEntry[] = []
    for (const pair of pairs) {
      const key = keyOf(pair.key, at)
      if (key === undefined) continue
      const value = make(pair.value, key.span[1])
      if (key.text === '<<' && key.plain) {
        merged.push(...merge(value, key.span))
        continue
      }
      const first = own.get(key.text)
      if (first) findings.push(repeated(key.text, key.span, first.keySpan))
      else own.set(key.text, { key: key.text, keySpan: key.span, value })
    }
    // Own keys win over merged ones, earlier maps over later ones.
    for (const entry of merged) if (!own.has(entry.key)) own.set(entry.key, entry)
    return [...own.values()]
  }

  const merge = (value: YamlNode, keySpan: TextRange): YamlEntry[] => {
    const maps = value.kind === 'list' ? value.items : [value]
    if (maps.every((item): item is YamlMap => item.kind === 'map'))
      return maps.flatMap(({ entries }) => entries.map((entry) => ({ ...entry, merged: true as const })))
    findings.push({
      code: 'pipeline/value',
      span: keySpan,
      message: '<< takes a map, or a list of maps',
      hint: 'Write the alias of a map: <<: *name',
    })
    return []
  }

  const keyOf = (key: unknown, at: number): { text: string; span: TextRange; plain: boolean } | undefined => {
    const target = isAlias(key) ? follow(key) : undefined
    if (target?.kind === 'scalar') return { text: String(target.value), span: spanOf(key), plain: false }
    if (isScalar(key)) {
      // Keys such as 1, on or null are taken as written.
      const text = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
      return { text, span: spanOf(key), plain: key.type === 'PLAIN' || key.type === undefined }
    }
    findings.push({
      code: 'pipeline/key',
      span: isMap(key) || isSeq(key) || isAlias(key) ? spanOf(key) : [at, at + 1],
      message: 'a key must be a text, not a list or a map',
      hint: 'Put the key in quotes',
    })
    return undefined
  }

  const root = make(contents, 0)
  return { root, findings }
}

function repeated(key: string, span: TextRange, first: TextRange): Finding {
  return {
    code: 'pipeline/duplicate-key',
    span,
    message: `the key ${key} is given twice in one map`,
    hint: 'Remove one of the two, or rename it',
    // Range of the first key; `withFirst` turns it into a line.
    actual: { first },
  }
}

function isPairOf(item: unknown): item is Pair {
  return typeof item === 'object' && item !== null && 'key' in item && 'value' in item && !isScalar(item)
}

function isPlainNumber(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isFinite(value) &&
    (!Number.isInteger(value) || Number.isSafeInteger(value))
  )
}

function spanOf(node: unknown): TextRange {
  const { range } = node as { range?: readonly [number, number, number] | null }
  return range ? [range[0], Math.max(range[0], range[1])] : [0, 0]
}
