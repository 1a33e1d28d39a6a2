/** Reads a whole text once and lists every value in it, with where it stands and what had to be edited. */
import type { Allowance } from './allowance.ts'
import { Decoder } from './decoder.ts'
import { THOUGHT_END, THOUGHT_START } from './ends.ts'
import { MORE } from './lookahead.ts'
import { type DecoderOptions, KEY, LIST, OBJECT, VALUE } from './machine.ts'
import { type Block, Prose, type Surroundings } from './prose.ts'
import { type Nodes, Region } from './region.ts'
import { rules } from './rules.ts'
import { type Node, type Sink, type TextEdit, TreeSink } from './tree.ts'
import { ValueSink } from './value-sink.ts'

export interface ScanOptions extends DecoderOptions {
  /** Every reading is charged here. */
  readonly allowance: Allowance
}

export interface Scan {
  readonly regions: readonly Region[]
  readonly blocks: readonly Block[]
  /** Some value was nested deeper than the limit. */
  readonly tooDeep: boolean
}

/** How many doubtful regions are read the other way too: each such reading may run to the end of the text. */
const MOST_DOUBTS = 8

export function scan(text: string, options: ScanOptions, from = 0): Scan {
  const sink = new ValueSink()
  const decoder = decoderOf(sink, text, options)
  const prose = new Prose()
  const regions: Region[] = []
  const overruns = new Overruns(text)
  const nodes = sharedNodes(options)
  let i = options.allowance.spend(text.length - from, from) ? from : text.length
  // What was no escaped body once is none from further inside either.
  let plainUntil = 0
  let doubts = 0
  for (;;) {
    decoder.mostLooked = options.allowance.left
    i = prose.next(decoder, i, 0, decoder.mostLooked)
    chargeLooks(decoder, options.allowance, i)
    if (i === MORE || i >= text.length || options.allowance.exhausted) break
    const escaped = i < plainUntil ? undefined : escapedBody(text, i, options)
    if (typeof escaped === 'number') plainUntil = escaped
    decoder.fence = prose.fence?.mark
    decoder.buf = overruns.bounded(i, decoder.fence)
    const region =
      escaped instanceof Region ? escaped : regionAt(decoder, sink, i, { nodes, ...prose.surroundings })
    decoder.buf = text
    // One value beyond the limit fails the whole text: there is no use in looking on.
    if (decoder.tooDeep) return { regions, blocks: prose.blocks, tooDeep: true }
    if (region === undefined) {
      i = Math.max(decoder.i, i + 1)
      continue
    }
    const settled = reconsider(text, region, decoder.fence, {
      ambiguous: decoder.ambiguous && doubts++ < MOST_DOUBTS,
      options,
    })
    if (settled.end < region.end) overruns.count++
    // The common region knows its surroundings already: a copy of each would double what hostile texts cost.
    const placed = settled === region && escaped !== region
    regions.push(placed || settled.reasoning ? settled : settled.with(prose.surroundings))
    i = Math.max(settled.end, i + 1)
  }
  prose.finish(text.length)
  const until = prose.reasonedUntil
  return {
    regions: until === 0 ? regions : regions.map((r) => (r.start < until ? r.with({ reasoning: true }) : r)),
    blocks: prose.blocks,
    tooDeep: false,
  }
}

function decoderOf(sink: Sink, text: string, options: DecoderOptions): Decoder {
  const decoder = new Decoder(sink, options)
  decoder.buf = text
  decoder.final = true
  return decoder
}

/** Runs the decoder from `start`, and charges what it has read. */
function run(decoder: Decoder, start: number, { allowance }: ScanOptions): void {
  decoder.i = start
  decoder.start()
  runCharged(decoder, allowance)
}

/** Reads until the value is done or the allowance is used up, and charges what was read and looked at. */
function runCharged(decoder: Decoder, allowance: Allowance): void {
  const start = decoder.i
  decoder.mostLooked = allowance.left
  decoder.run()
  allowance.spend(decoder.i - start, start)
  chargeLooks(decoder, allowance, decoder.i)
}

function chargeLooks(decoder: Decoder, allowance: Allowance, at: number): void {
  if (decoder.looked > 0) allowance.spend(decoder.looked, at)
  decoder.looked = 0
}

/** Values of the text once more, with nodes. */
function nodesOf(text: string, options: ScanOptions, fence?: string): Nodes {
  return { at: (start) => treeAt(text, start, options, fence).node }
}

interface SharedNodes {
  readonly options: ScanOptions
  /** The nodes of what this decoder reads. */
  of(decoder: Decoder): Nodes
}

/** One `Nodes` for all regions of a kind: hostile texts hold a million of them. */
function sharedNodes(options: ScanOptions): SharedNodes {
  let last: { readonly length: number; readonly fence: string | undefined; readonly nodes: Nodes } | undefined
  return {
    options,
    of({ buf: text, fence }) {
      if (last === undefined || last.fence !== fence || last.length !== text.length)
        last = { length: text.length, fence, nodes: nodesOf(text, options, fence) }
      return last.nodes
    },
  }
}

/** Decodes the value that begins at `start`. */
function regionAt(
  decoder: Decoder,
  sink: ValueSink,
  start: number,
  { nodes, fence, reasoning }: Surroundings & { readonly nodes: SharedNodes },
): Region | undefined {
  run(decoder, start, nodes.options)
  const { value, begun, edits, repeated } = sink.take()
  if (!begun || decoder.tooDeep || nodes.options.allowance.exhausted) return undefined
  const { buf: text, i: end, truncated } = decoder
  const made = repeated ? treeAt(text, start, nodes.options, decoder.fence).edits : edits
  const thought = reasoning || decoder.ended === 'thought'
  return new Region(
    { value, edits: made, start, end, truncated, fence, reasoning: thought },
    nodes.of(decoder),
  )
}

/** A text that is strict JSON, parsed already. */
export function strictRegion(text: string, value: unknown, options: ScanOptions): Region {
  const start = text.search(/[{[]/)
  return new Region({ value, edits: [], start, end: text.trimEnd().length }, nodesOf(text, options))
}

/** The same value once more, with nodes. */
function treeAt(
  text: string,
  start: number,
  options: ScanOptions,
  fence: string | undefined,
): { node: Node; edits: TextEdit[] } {
  const sink = new TreeSink()
  const decoder = decoderOf(sink, text, options)
  decoder.fence = fence
  decoder.i = start
  decoder.start()
  // It was read once within the allowance: this reading looks at as much, and must come to its end.
  decoder.run()
  options.allowance.spend(decoder.i - start + decoder.looked, start)
  return sink.take() as { node: Node; edits: TextEdit[] }
}

interface Doubt {
  readonly ambiguous: boolean
  readonly options: ScanOptions
}

/** A value that ran past its fence is read again up to there; one with a doubtful bracket is read the other way too. */
function reconsider(text: string, region: Region, fence: string | undefined, doubt: Doubt): Region {
  if (region.edits.length > 0) doubt.options.allowance.spend(region.end - region.start, region.start)
  const thought = closedThought(text, region)
  if (thought !== undefined)
    return one(text.slice(0, thought), region.start, doubt.options)?.with({ reasoning: true }) ?? region
  const crossed = region.edits.find((edit) => edit.rule === 'fence' && edit.start > region.start)
  if (fence !== undefined && (region.truncated || crossed !== undefined)) {
    const close = text.indexOf(`\n${fence}`, region.start)
    const fenced = close < 0 ? undefined : one(text.slice(0, close), region.start, doubt.options)
    if (fenced !== undefined && (!fenced.truncated || crossed !== undefined)) return closedByFence(fenced)
  }
  if (!doubt.ambiguous) return region
  const other = one(text, region.start, { ...doubt.options, dropClosers: true })
  return other !== undefined && price(text, other) < price(text, region) ? other : region
}

/**
 * Readings that ran past the fence or the reasoning around them and were cut back. After a few of them, values are read only
 * up to where their surroundings end: a text that repeats such a shape would be read to its end again and again.
 */
class Overruns {
  count = 0
  readonly #text: string
  readonly #fences = new Map<string, number>()
  #thought = -1

  constructor(text: string) {
    this.#text = text
  }

  /** The text in which a value at `from` is read. */
  bounded(from: number, fence: string | undefined): string {
    if (this.count < MOST_DOUBTS) return this.#text
    const end = Math.min(
      this.#thoughtEnd(from),
      fence === undefined ? this.#text.length : this.#fenceEnd(from, fence),
    )
    return this.#text.slice(0, end)
  }

  #thoughtEnd(from: number): number {
    if (this.#thought < from) {
      THOUGHT_END.lastIndex = from
      this.#thought = THOUGHT_END.exec(this.#text)?.index ?? this.#text.length
    }
    return this.#thought
  }

  #fenceEnd(from: number, mark: string): number {
    const known = this.#fences.get(mark) ?? -1
    if (known >= from) return known
    const found = this.#text.indexOf(`\n${mark}`, from)
    const end = found < 0 ? this.#text.length : found
    this.#fences.set(mark, end)
    return end
  }
}

/** Where the reasoning ends that a broken region has run out of. */
function closedThought(text: string, region: Region): number | undefined {
  if (region.edits.length === 0) return undefined
  const inside = text.slice(region.start, region.end)
  THOUGHT_END.lastIndex = 0
  const close = THOUGHT_END.exec(inside)?.index ?? -1
  // Opened inside the region it belongs to the value.
  return close < 0 || THOUGHT_START.test(inside.slice(0, close)) ? undefined : region.start + close
}

/** The fence was closed, so nothing was cut off: only brackets are missing. */
function closedByFence(region: Region): Region {
  const edits = region.edits.map(
    (edit): TextEdit => (edit.rule === 'truncated' ? { ...edit, rule: 'missing-closer' } : edit),
  )
  return region.with({ truncated: false, edits })
}

const NOWHERE: Surroundings = { fence: undefined, reasoning: false }

function one(text: string, start: number, options: ScanOptions): Region | undefined {
  const sink = new ValueSink()
  return regionAt(decoderOf(sink, text, options), sink, start, { nodes: sharedNodes(options), ...NOWHERE })
}

/** What the reading costs, brackets left behind included. */
function price(text: string, region: Region): number {
  let cost = region.truncated ? 4 : 0
  for (const edit of region.edits) cost += rules[edit.rule].cost
  const end = Math.min(text.length, region.end + 64)
  for (let i = region.end; i < end && /[\s,}\]]/.test(text[i] as string); i++) {
    if (text[i] === '}' || text[i] === ']') cost += 3
    else if (text[i] === ',') cost += 1
  }
  return cost
}

const ESCAPED_START = /[{[](?:\s|\\[nrt])*(?:[{[](?:\s|\\[nrt])*)*\\"/y

/** `{\"a\": 1}`: the inside of a JSON string without its quotes. Unescaped as a whole if it is well-formed as such; else where it was given up. */
function escapedBody(text: string, start: number, options: ScanOptions): Region | number | undefined {
  ESCAPED_START.lastIndex = start
  if (!ESCAPED_START.test(text)) return undefined
  let end = start
  while (end < text.length && text[end] !== '"' && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1
  const limit = end
  while (end > start && text[end - 1] !== '}' && text[end - 1] !== ']') end--
  const inner = end <= start ? undefined : unescapedText(text.slice(start, end))
  if (inner === undefined) return limit
  const [region] = scan(inner, options).regions
  if (region === undefined || region.start !== 0 || region.end !== inner.length) return limit
  const edits: TextEdit[] = [{ rule: 'escaped-quotes', start, end, after: { value: region.value } }]
  return region.with({ edits, start, end, source: inner })
}

function unescapedText(body: string): string | undefined {
  try {
    return JSON.parse(`"${body}"`) as string
  } catch {
    return undefined
  }
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
  const decoder = decoderOf(sink, end === text.length ? text : text.slice(0, end), options)
  decoder.i = start
  decoder.start()
  const head = text.slice(start, Math.min(end, start + 240))
  const members = /^\s*(?:(?:"(?:[^"\\\n]|\\.){0,100}"|'[^'\n]{0,100}')\s*:|[A-Za-z_]\w*=(?!=))/.test(head)
  sink.open(members ? 'object' : 'array', start)
  sink.edit('missing-opener', start, start, members ? '{' : '[')
  decoder.stack.push({
    kind: members ? OBJECT : LIST,
    state: members ? KEY : VALUE,
    count: 0,
    implicit: true,
    set: false,
    spare: 0,
    start,
    openEdit: 0,
    round: false,
  })
  runCharged(decoder, options.allowance)
  const { node, edits } = sink.take()
  if (node === undefined || decoder.tooDeep || options.allowance.exhausted || node.items?.length === 0)
    return undefined
  return bareRegion(node, edits, { start, end, truncated: decoder.truncated })
}

/** One item alone needs no list around it. */
function bareRegion(
  node: Node,
  edits: TextEdit[],
  place: { start: number; end: number; truncated: boolean },
): Region {
  const item = node.items?.[0]
  if (node.kind !== 'array' || node.items?.length !== 1 || item === undefined) {
    return new Region({ value: node.value, edits, ...place }, { at: () => node })
  }
  const inner = edits.filter((e) => e.start >= item.start && e.end <= item.end && !isBracket(e))
  const { value, start, end, bare } = item
  return new Region({ value, edits: inner, start, end, truncated: place.truncated, bare }, { at: () => item })
}

function isBracket(edit: TextEdit): boolean {
  return edit.start === edit.end && (edit.after === '[' || edit.after === ']')
}
