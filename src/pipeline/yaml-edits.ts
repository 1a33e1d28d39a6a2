/** Edits that add to a YAML text: an entry to a map, an item to a list, another value to an entry, in the layout that is there. */
import type { Edit } from '../base/issue.ts'
import { isObject, type Json } from '../base/json.ts'
import { snake } from './snake-keys.ts'
import { positionOf, type Source } from './source.ts'
import { plainValue, type YamlEntry, type YamlList, type YamlMap, type YamlNode } from './yaml-node.ts'

/** An entry to be written; a text is YAML that fits on one line. */
export interface NewEntry {
  readonly key: string
  readonly value: string | readonly NewEntry[]
}

/** Puts entries into a map: behind one of the keys named first if it is there, else behind the last that ends its line. */
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
  const quoted = text[map.entries[0]?.keySpan[0] ?? -1] === '"'
  const put = flowEntries(entries, quoted)
  if (before) return insertion(endOf(before.value), `, ${put}`)
  const isEmpty = /^\s*$/.test(text.slice(map.span[0] + 1, map.span[1] - 1))
  return insertion(map.span[0] + 1, isEmpty ? put : `${put}, `)
}

function addInBlock(source: Source, map: YamlMap, { entries, before }: Adding): Edit {
  const indent = before ? keyColumn(source, before) : columnOf(source, map.span[0])
  const eol = lineBreak(source)
  const lines = blockLines(entries).map((line) => ' '.repeat(indent) + line)
  if (before)
    return insertion(lineEnd(source.text, endOf(before.value)), lines.map((line) => eol + line).join(''))
  return insertion(map.span[0], lines.join(eol).trimStart() + eol + ' '.repeat(indent))
}

/** Puts a map of entries into a list, behind an item with the comments that belong to it. */
export function addItem(
  source: Source,
  list: YamlList,
  { after, entries }: { after: YamlNode; entries: readonly NewEntry[] },
): Edit {
  const end = endOf(after)
  if (list.flow) {
    const quoted = after.kind === 'map' && source.text[after.entries[0]?.keySpan[0] ?? -1] === '"'
    return insertion(end, `, {${flowEntries(entries, quoted)}}`)
  }
  const indent = columnOf(source, list.span[0])
  const eol = lineBreak(source)
  const lines = blockLines(entries).map(
    (line, index) => ' '.repeat(indent) + (index === 0 ? '- ' : '  ') + line,
  )
  const at = behindComments(
    source.text,
    source.text[end - 1] === '\n' ? end : lineEnd(source.text, end),
    indent,
  )
  // Texts over several lines reach to the beginning of the next line, everything else to the end of its own.
  if (at === 0 || source.text[at - 1] === '\n') return insertion(at, lines.map((line) => line + eol).join(''))
  return insertion(at, lines.map((line) => eol + line).join(''))
}

/** Gives an entry another value, and only it: not the anchor that others share, nor the map it was merged from. */
export function setEntry(source: Source, map: YamlMap, { key, value }: { key: string; value: string }): Edit {
  const entry = map.entries.find((each) => each.key === key || snake(each.key) === key)
  if (!entry || entry.merged) return addEntries(source, map, { entries: [{ key, value }] })
  const span = entry.value.alias ?? entry.value.span
  // Texts over several lines end with their last line break, which stays.
  const end = source.text[span[1] - 1] === '\n' ? lineBreak(source) : ''
  return { span, text: (span[0] === span[1] ? ` ${value}` : value) + end }
}

/** A value to be written out: short ones on one line, long ones with a line for each key. */
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

/** In a file that is written as JSON, new words are quoted too. */
function inFlow(value: string, quoted: boolean): string {
  return quoted && /^[a-z_]\w*$/i.test(value) && !/^(true|false|null)$/.test(value)
    ? JSON.stringify(value)
    : value
}

function endsItsLine(value: YamlNode): boolean {
  if (value.alias) return true
  return value.kind === 'scalar' ? value.style !== 'literal' && value.style !== 'folded' : value.flow
}

function endOf(node: YamlNode): number {
  return (node.alias ?? node.span)[1]
}

function insertion(at: number, text: string): Edit {
  return { span: [at, at], text }
}

function columnOf(source: Source, offset: number): number {
  return positionOf(source, offset).column - 1
}

/** Where the line of a key begins that may be written with a question mark: `? name`. */
function keyColumn(source: Source, { keySpan: [start] }: YamlEntry): number {
  const [mark = ''] = /\?[ \t]+$/.exec(source.text.slice(start - columnOf(source, start), start)) ?? []
  return columnOf(source, start) - mark.length
}

function lineEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

/** Comments below an item that are indented deeper than its dash belong to it. */
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
