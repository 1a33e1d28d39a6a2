/** Reads a whole text once and lists every value in it, with where it stands and what had to be edited. */
import { Decoder } from './decoder.ts'
import { MORE } from './lookahead.ts'
import { LIST, OBJECT } from './machine.ts'
import { type Block, Prose } from './prose.ts'
import { rules } from './rules.ts'
import { type Node, type TextEdit, TreeSink } from './tree.ts'

/** A value found in the text. */
export interface Region {
  readonly node: Node
  readonly edits: readonly TextEdit[]
  readonly start: number
  readonly end: number
  readonly truncated: boolean
  readonly fence: string | undefined
  readonly reasoning: boolean
  /** The text that the node's spans refer to, where it is not the whole text. */
  readonly source?: string
}

export interface ScanOptions {
  readonly depth: number
  readonly acceptTruncated: boolean
  readonly dropClosers?: boolean
}

export interface Scan {
  readonly regions: readonly Region[]
  readonly blocks: readonly Block[]
  /** Some value was nested deeper than the limit and was passed over. */
  readonly tooDeep: boolean
}

export function scan(text: string, options: ScanOptions, from = 0): Scan {
  const sink = new TreeSink()
  const decoder = new Decoder(sink, options)
  decoder.buf = text
  decoder.final = true
  const prose = new Prose()
  const regions: Region[] = []
  let tooDeep = false
  let i = from
  for (;;) {
    i = prose.next(decoder, i, 0)
    if (i === MORE || i >= text.length) break
    const escaped = escapedBody(text, i, options)
    if (escaped !== undefined) {
      regions.push({ ...escaped, ...prose.surroundings })
      i = escaped.end
      continue
    }
    decoder.i = i
    decoder.start()
    decoder.run()
    const { node, edits } = sink.take()
    let end = Math.max(decoder.i, i + 1)
    if (decoder.tooDeep) tooDeep = true
    else if (node !== undefined) {
      const region = { node, edits, start: i, end, truncated: decoder.truncated, ...prose.surroundings }
      if (region.truncated && prose.fence !== undefined) {
        const fenced = withinFence(text, region, prose.fence.mark, options)
        if (fenced !== undefined) {
          regions.push(fenced)
          i = fenced.end
          continue
        }
      }
      const settled = decoder.ambiguous && !options.dropClosers ? otherReading(text, region, options) : region
      regions.push(settled)
      end = settled.end
    }
    i = end
  }
  prose.finish(text.length)
  const until = prose.reasonedUntil
  return {
    regions: until === 0 ? regions : regions.map((r) => (r.start < until ? { ...r, reasoning: true } : r)),
    blocks: prose.blocks,
    tooDeep,
  }
}

const ESCAPED_START = /[{[](?:\s|\\[nrt])*(?:[{[](?:\s|\\[nrt])*)*\\"/y

/** `{\"a\": 1}`: the inside of a JSON string without its quotes. Unescaped as a whole if it is well-formed as such. */
function escapedBody(text: string, start: number, options: ScanOptions): Region | undefined {
  ESCAPED_START.lastIndex = start
  if (!ESCAPED_START.test(text)) return undefined
  let end = start
  while (end < text.length && text[end] !== '"' && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1
  end = Math.max(text.lastIndexOf('}', end - 1), text.lastIndexOf(']', end - 1)) + 1
  if (end <= start) return undefined
  let inner: string
  try {
    inner = JSON.parse(`"${text.slice(start, end)}"`) as string
  } catch {
    return undefined
  }
  const [region] = scan(inner, options).regions
  if (region === undefined || region.start !== 0 || region.end !== inner.length) return undefined
  const { node, truncated } = region
  const edits: TextEdit[] = [{ rule: 'escaped-quotes', start, end, after: node }]
  return { node, edits, start, end, truncated, fence: undefined, reasoning: false, source: inner }
}

/** A closing bracket was in doubt: the reading that needs less repair, and leaves no brackets behind, is right. */
function otherReading(text: string, region: Region, options: ScanOptions): Region {
  const other = scanOne(text, region, { ...options, dropClosers: true })
  return other !== undefined && price(text, other) < price(text, region) ? other : region
}

/** A value that ran past the end of its fence: read again up to there. */
function withinFence(text: string, region: Region, mark: string, options: ScanOptions): Region | undefined {
  const close = text.indexOf(`\n${mark}`, region.start)
  if (close < 0) return undefined
  const other = scanOne(text.slice(0, close), region, options)
  return other !== undefined && !other.truncated ? other : undefined
}

function scanOne(text: string, like: Region, options: ScanOptions): Region | undefined {
  const sink = new TreeSink()
  const decoder = new Decoder(sink, options)
  decoder.buf = text
  decoder.final = true
  decoder.i = like.start
  decoder.start()
  decoder.run()
  const { node, edits } = sink.take()
  return node === undefined || decoder.tooDeep
    ? undefined
    : { ...like, node, edits, end: decoder.i, truncated: decoder.truncated }
}

function price(text: string, region: Region): number {
  let cost = region.truncated ? 4 : 0
  for (const edit of region.edits) cost += rules[edit.rule].cost
  for (let i = region.end; i < text.length && /[\s,}\]]/.test(text[i] as string); i++) {
    if (text[i] === '}' || text[i] === ']') cost += 3
    else if (text[i] === ',') cost += 1
  }
  return cost
}

/**
 * Reads `text[start, end)` as a value although no bracket introduces it: scalars, values separated by commas or lines,
 * or members without their braces. Undefined when nothing is there.
 */
export function decodeBare(
  text: string,
  start: number,
  end: number,
  options: ScanOptions,
): Region | undefined {
  const sink = new TreeSink()
  const decoder = new Decoder(sink, options)
  decoder.buf = end === text.length ? text : text.slice(0, end)
  decoder.final = true
  decoder.i = start
  decoder.start()
  const members = /^\s*(?:"(?:[^"\\\n]|\\.){0,100}"|'[^'\n]{0,100}')\s*:/.test(
    text.slice(start, Math.min(end, start + 240)),
  )
  sink.open(members ? 'object' : 'array', start)
  sink.edit('missing-opener', start, start, members ? '{' : '[')
  decoder.stack.push({
    kind: members ? OBJECT : LIST,
    state: members ? 0 : 2,
    count: 0,
    implicit: true,
    set: false,
    spare: 0,
    start,
    openEdit: 0,
    round: false,
  })
  decoder.run()
  const { node, edits } = sink.take()
  if (node === undefined || decoder.tooDeep || node.items?.length === 0) return undefined
  return bareRegion(node, edits, { start, end, truncated: decoder.truncated })
}

/** One item alone needs no list around it. */
function bareRegion(
  node: Node,
  edits: TextEdit[],
  place: { start: number; end: number; truncated: boolean },
): Region {
  const common = { ...place, fence: undefined, reasoning: false }
  const item = node.items?.[0]
  if (node.kind !== 'array' || node.items?.length !== 1 || item === undefined)
    return { node, edits, ...common }
  const inner = edits.filter((e) => e.start >= item.start && e.end <= item.end && !isBracket(e))
  return { node: item, edits: inner, ...common, start: item.start, end: item.end }
}

function isBracket(edit: TextEdit): boolean {
  return edit.start === edit.end && (edit.after === '[' || edit.after === ']')
}
