/**
 * Edits that add to a YAML text in its existing layout: add an entry to a map, add an item to a list, set the
 * value of an entry.
 */
import type { Edit } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { type Source, toPosition } from '../text/source.ts'
import { snake } from './snake-keys.ts'
import { plainValue, type YamlEntry, type YamlList, type YamlMap, type YamlNode } from './yaml-tree.ts'

/** An entry to write; a string value is YAML that fits on one line. */
export interface NewEntry {
  readonly key: string
  readonly value: string | readonly NewEntry[]
}

/**
 * Adds entries to a map: after the first key of `behind` that is present, else after the last entry that ends
 * its line.
 */
export function addEntries(
  source: Source,
  map: YamlMap,
  { entries, behind = [] }: { entries: readonly NewEntry[]; behind?: readonly string[] },
): Edit {
  const own = map.entries.filter(({ merged }) => merged !== true)
  const fitting = own.filter(({ value }) => endsItsLine(value))
  const before =
    behind.map((key) => fitting.find((entry) => entry.key === key)).find(Boolean) ?? fitting.at(-1)
  return map.flow ? addInFlow(source, map, { entries, before }) : addInBlock(source, map, { entries, before })
}

interface Adding {
  readonly entries: readonly NewEntry[]
  readonly before: YamlEntry | undefined
}

function addInFlow({ text }: Source, map: YamlMap, { entries, before }: Adding): Edit {
  const quoted = text[map.entries[0]?.keyRange[0] ?? -1] === '"'
  const put = flowEntries(entries, quoted)
  if (before) return insertion(findEnd(before.value), `, ${put}`)
  const isEmpty = /^\s*$/.test(text.slice(map.range[0] + 1, map.range[1] - 1))
  return insertion(map.range[0] + 1, isEmpty ? put : `${put}, `)
}

function addInBlock(source: Source, map: YamlMap, { entries, before }: Adding): Edit {
  const indent = before ? keyColumn(source, before) : getColumn(source, map.range[0])
  const eol = lineBreak(source)
  const lines = blockLines(entries).map((line) => ' '.repeat(indent) + line)
  if (before)
    return insertion(lineEnd(source.text, findEnd(before.value)), lines.map((line) => eol + line).join(''))
  return insertion(map.range[0], lines.join(eol).trimStart() + eol + ' '.repeat(indent))
}

/** Adds a map to a list, after an item and the comments that belong to it. */
export function addItem(
  source: Source,
  list: YamlList,
  { after, entries }: { after: YamlNode; entries: readonly NewEntry[] },
): Edit {
  const end = findEnd(after)
  if (list.flow) {
    const quoted = after.kind === 'map' && source.text[after.entries[0]?.keyRange[0] ?? -1] === '"'
    return insertion(end, `, {${flowEntries(entries, quoted)}}`)
  }
  const indent = getColumn(source, list.range[0])
  const eol = lineBreak(source)
  const lines = blockLines(entries).map(
    (line, index) => ' '.repeat(indent) + (index === 0 ? '- ' : '  ') + line,
  )
  const at = behindComments(
    source.text,
    source.text[end - 1] === '\n' ? end : lineEnd(source.text, end),
    indent,
  )
  // Multi-line texts end at the start of the next line, all other values at the end of their own line.
  if (at === 0 || source.text[at - 1] === '\n') return insertion(at, lines.map((line) => line + eol).join(''))
  return insertion(at, lines.map((line) => eol + line).join(''))
}

/** Sets the value of this entry only: a shared anchor or a merged map stays unchanged. */
export function setEntry(source: Source, map: YamlMap, { key, value }: { key: string; value: string }): Edit {
  const entry = map.entries.find((each) => each.key === key || snake(each.key) === key)
  if (!entry || entry.merged) return addEntries(source, map, { entries: [{ key, value }] })
  const range = entry.value.alias ?? entry.value.range
  // Multi-line texts end with a line break, which stays.
  const end = source.text[range[1] - 1] === '\n' ? lineBreak(source) : ''
  return { span: range, text: (range[0] === range[1] ? ` ${value}` : value) + end }
}

/** Renders a value: short ones on one line, long ones with a line for each key. */
export function written(node: YamlNode): NewEntry['value'] {
  return writtenJson(plainValue(node))
}

const longest = 80

function writtenJson(value: Json): NewEntry['value'] {
  const text = JSON.stringify(value)
  if (!isObject(value) || text.length <= longest) return text
  return Object.entries(value).map(([key, inside]) => ({ key: writtenKey(key), value: writtenJson(inside) }))
}

function writtenKey(key: string): string {
  return /^[A-Za-z$][\w$]*$/.test(key) && !/^(true|false|null|y|n|yes|no|on|off)$/i.test(key)
    ? key
    : JSON.stringify(key)
}

function blockLines(entries: readonly NewEntry[]): string[] {
  return entries.flatMap(({ key, value }) =>
    typeof value === 'string'
      ? [`${key}: ${value}`]
      : [`${key}:`, ...blockLines(value).map((line) => `  ${line}`)],
  )
}

export function flowEntries(entries: readonly NewEntry[], quoted = false): string {
  return entries
    .map(({ key, value }) => {
      const name = quoted && !key.startsWith('"') ? JSON.stringify(key) : key
      const said = typeof value === 'string' ? inFlow(value, quoted) : `{${flowEntries(value, quoted)}}`
      return `${name}: ${said}`
    })
    .join(', ')
}

/** In a file written as JSON, new words are quoted too. */
function inFlow(value: string, quoted: boolean): string {
  return quoted && /^[a-z_]\w*$/i.test(value) && !/^(true|false|null)$/.test(value)
    ? JSON.stringify(value)
    : value
}

function endsItsLine(value: YamlNode): boolean {
  if (value.alias) return true
  return value.kind === 'scalar' ? value.style !== 'literal' && value.style !== 'folded' : value.flow
}

function findEnd(node: YamlNode): number {
  return (node.alias ?? node.range)[1]
}

function insertion(at: number, text: string): Edit {
  return { span: [at, at], text }
}

function getColumn(source: Source, offset: number): number {
  return toPosition(source, offset).column - 1
}

/** The column of a key, including a preceding question mark: `? name`. */
function keyColumn(source: Source, { keyRange: [start] }: YamlEntry): number {
  const [mark = ''] = /\?[ \t]+$/.exec(source.text.slice(start - getColumn(source, start), start)) ?? []
  return getColumn(source, start) - mark.length
}

function lineEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

/** Skips comments below an item that are indented deeper than its dash: they belong to it. */
function behindComments(text: string, from: number, indent: number): number {
  let at = from
  const comment = /(?:\r?\n)?( *)#[^\r\n]*/y
  for (;;) {
    comment.lastIndex = at
    const found = comment.exec(text)
    if (!found || (found[1] ?? '').length <= indent) return at
    at = comment.lastIndex
  }
}

function lineBreak({ text }: Source): string {
  return /\r\n|\n|$/.exec(text)?.[0] || '\n'
}
