/** Scans a whole text once and lists every value in it, with its surroundings and the edits it needs. */

import { keepAlive } from '../../base/keep-alive.ts'
import { isOpener, LBRACE, RBRACE, RBRACKET } from '../decode/chars.ts'
import { Decoder } from '../decode/decoder.ts'
import { fenceLine, findThoughtEnd, mayEndThought, THOUGHT_END } from '../decode/ends.ts'
import { MORE, QUESTION } from '../decode/lookahead.ts'
import { createFrame, type DecoderOptions, LIST, OBJECT } from '../decode/machine.ts'
import { parseQuietly } from '../decode/quick-strict.ts'
import type { LoggedEdits } from '../decode/tree/edit-log.ts'
import { countChildren, type Node, type Sink, type TextEdit } from '../decode/tree/tree.ts'
import { TreeSink } from '../decode/tree/tree-sink.ts'
import { ValueSink } from '../decode/tree/value-sink.ts'
import { hasFastPaths } from '../fast-paths.ts'
import { Allowance } from '../step-budget.ts'
import { type Block, MOST_BLOCKS, Prose, type Surroundings } from './prose.ts'
import { type Nodes, Region, toRegion } from './region.ts'

export interface ScanOptions extends DecoderOptions {
  /** The step budget charged for every reading. */
  readonly allowance: Allowance
  /** Stop after the first value. */
  readonly firstOnly?: boolean
  /** Of a text without brackets, read a single value or nothing. */
  readonly onlyOne?: boolean
  /** Of a text without brackets, read members or nothing. */
  readonly onlyMembers?: boolean
  /** Whether a value is worth keeping behind very many others; every value is, if absent. */
  readonly keeps?: ((value: unknown) => boolean) | undefined
}

export interface Scan {
  readonly regions: readonly Region[]
  readonly blocks: readonly Block[]
  /** Some value was nested deeper than the limit. */
  readonly tooDeep: boolean
}

/** Maximum number of ambiguous regions read both ways: each reading may run to the end of the text. */
const MOST_DOUBTS = 8
/** After this many values that ran past their surroundings, values are read only up to the end of the surroundings. */
const MOST_OVERRUNS = 2
/** The ends of so many different tags are looked for: each search may read the whole text. */
const MOST_TAGS = 100

/** So many regions are kept in any case. Greater than the number of regions that are searched inside. */
const MOST_KEPT = 4_000

/**
 * Keeps, behind very many regions, only regions that can still matter: hostile texts hold a million, and to keep them takes
 * several times as long as to read them.
 */
class Filter {
  readonly #list: readonly Region[]
  readonly #keeps: ScanOptions['keeps']
  #broken = false

  /** `list`: the regions found so far. `keeps`: whether a value is an answer; without it every region is kept. */
  constructor(list: readonly Region[], keeps: ScanOptions['keeps']) {
    this.#list = list
    this.#keeps = keeps
  }

  /** Whether a region with this value is left out. The first broken one always matters. */
  leavesOut(value: unknown, isBroken: boolean): boolean {
    if (this.#list.length < MOST_KEPT || (isBroken && !this.#broken)) return false
    return this.#keeps?.(value) === false
  }

  get isFull(): boolean {
    return this.#list.length >= MOST_KEPT
  }

  /** Whether to keep a region. In a listed block, or cut off, it always matters. */
  takes(region: Region, isInBlock: boolean): boolean {
    const isBroken = region.editCount > 0
    if (!isInBlock && !region.truncated && this.leavesOut(region.value, isBroken)) return false
    this.#broken ||= isBroken
    return true
  }
}

export function scan(text: string, options: ScanOptions, from = 0): Scan {
  const sink = new ValueSink()
  const decoder = createDecoder(sink, text, options)
  const prose = new Prose()
  const hasEscapes = text.includes('\\')
  const regions: Region[] = []
  // Lines of encoded text are looked for outside of all regions.
  const filter = hasFastPaths ? new Filter(regions, hasEscapes ? undefined : options.keeps) : undefined
  const overruns = new Overruns(text, options.allowance)
  // Asked once, not for every value.
  const mayThink = mayEndThought(text)
  // One object for all regions: hostile texts hold a million of them.
  const around = { nodes: sharedNodes(options), fence: prose.fence?.label, reasoning: false }
  let i = options.allowance.spend(text.length - from, from) ? from : text.length
  // Text rejected as an escaped body is not retried from a later offset inside it.
  let plainUntil = 0
  let doubts = 0
  for (;;) {
    decoder.mostLooked = options.allowance.left
    i = prose.next(decoder, i, 0, decoder.mostLooked)
    chargeLooks(decoder, options.allowance, i)
    if (i === MORE || i >= text.length || options.allowance.exhausted) break
    const escaped = !hasEscapes || i < plainUntil ? undefined : escapedBody(text, i, options)
    if (typeof escaped === 'number') plainUntil = escaped
    if (
      hasFastPaths &&
      !mayThink &&
      filter?.isFull &&
      isLeftOutPair(filter, text, i) &&
      prose.fence === undefined &&
      !listsBlock(prose)
    ) {
      options.allowance.spend(QUESTION, i)
      i += 2
      continue
    }
    decoder.fence = prose.fence?.mark
    around.fence = prose.fence?.label
    around.reasoning = prose.reasoning > 0
    decoder.buf = overruns.bounded(i, decoder.fence, prose.tagEnd)
    const mark = sink.mark()
    if (!(escaped instanceof Region)) run(decoder, i, options)
    if (
      hasFastPaths &&
      !mayThink &&
      isWhole(decoder, sink) &&
      !listsBlock(prose) &&
      filter?.leavesOut(sink.value, sink.mark() > mark)
    ) {
      sink.rollback(mark)
      sink.reset()
      decoder.buf = text
      i = decoder.i
      continue
    }
    const region = escaped instanceof Region ? escaped : takeRegion(decoder, sink, i, around)
    decoder.buf = text
    // One value beyond the depth limit fails the whole text, so stop here.
    if (decoder.tooDeep) return { regions, blocks: prose.blocks, tooDeep: true }
    if (region === undefined) {
      i = Math.max(decoder.i, i + 1)
      continue
    }
    const settled =
      region.editCount === 0 && !decoder.ambiguous
        ? region
        : reconsider(text, region, decoder.fence, {
            tagEnd: region.truncated ? overruns.find(i, prose.tagEnd) : text.length,
            ambiguous: decoder.ambiguous && doubts++ < MOST_DOUBTS,
            options,
            mayEndThought: mayThink,
          })
    if (settled.end < region.end) overruns.count++
    // A common region already has its surroundings: copying each would double the cost of hostile texts.
    const placed = settled === region && escaped !== region
    const kept = placed || settled.reasoning ? settled : settled.with(prose.surroundings)
    if (!hasFastPaths || filter?.takes(kept, listsBlock(prose))) regions.push(kept)
    i = options.firstOnly ? text.length : Math.max(settled.end, i + 1)
  }
  prose.finish(text.length)
  if (hasFastPaths && text.length > LONG) keepAlive('scan', makeObjects)
  const until = prose.reasonedUntil
  return {
    regions: until === 0 ? regions : regions.map((r) => (r.start < until ? r.with({ reasoning: true }) : r)),
    blocks: prose.blocks,
    tooDeep: false,
  }
}

/** Whether the current offset is inside a block that will be listed. */
function listsBlock({ blocks, fence, tagEnd }: Prose): boolean {
  return blocks.length < MOST_BLOCKS && (fence !== undefined || tagEnd !== undefined)
}

/**
 * Whether an opening bracket and a closing one of any kind, with another opening one behind them, are left out: an empty value
 * in any surroundings. A text of nothing else holds a value in every few characters.
 */
function isLeftOutPair(filter: Filter, text: string, at: number): boolean {
  if (at + 2 >= text.length) return false
  const open = text.charCodeAt(at)
  const close = text.charCodeAt(at + 1)
  if (!isEnd(close) || !isOpener(open) || !isOpener(text.charCodeAt(at + 2))) return false
  return filter.leavesOut(open === LBRACE ? {} : [], (open === LBRACE) !== (close === RBRACE))
}

/** Whether this is a curly or square bracket that closes a value. */
function isEnd(c: number): boolean {
  return c === RBRACE || c === RBRACKET
}

/** Texts of this length are read by optimised code. */
const LONG = 4_096

/** One object of every class that reading uses. */
function makeObjects(): unknown {
  const options = { depth: 1, acceptTruncated: false, allowance: new Allowance(0) }
  return [new ValueSink(), new TreeSink()].map((sink) => {
    const decoder = createDecoder(sink, '', options)
    decoder.stack.push(createFrame(LIST, 0, 0))
    sink.edit('comment', 0, 0, '')
    const region = new Region({ value: [], edits: sink.edits, start: 0, end: 0 }, getNodes('', options))
    return [
      decoder,
      region,
      region.node,
      new Prose(),
      new Overruns('', options.allowance),
      new Filter([], undefined),
    ]
  })
}

function createDecoder(sink: Sink, text: string, options: DecoderOptions): Decoder {
  const decoder = new Decoder(sink, options)
  decoder.buf = text
  decoder.final = true
  return decoder
}

/** Runs the decoder from `start` and charges the text it read. */
function run(decoder: Decoder, start: number, { allowance }: ScanOptions): void {
  decoder.i = start
  decoder.start()
  runCharged(decoder, allowance)
}

/** Reads until the value is complete or the budget is used up, and charges text read and look-ahead. */
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

/** Reads values of the text again, with nodes. */
function getNodes(text: string, options: ScanOptions, fence?: string): Nodes {
  return { at: (start) => treeAt(text, start, options, fence) }
}

interface SharedNodes {
  readonly options: ScanOptions
  /** The nodes of the text this decoder reads. */
  of(decoder: Decoder): Nodes
}

/** Shares one `Nodes` between regions of a kind: hostile texts hold a million regions. */
function sharedNodes(options: ScanOptions): SharedNodes {
  let last: { readonly length: number; readonly fence: string | undefined; readonly nodes: Nodes } | undefined
  return {
    options,
    of({ buf: text, fence }) {
      if (!hasFastPaths) return getNodes(text, options, fence)
      if (last === undefined || last.fence !== fence || last.length !== text.length)
        last = { length: text.length, fence, nodes: getNodes(text, options, fence) }
      return last.nodes
    },
  }
}

/** Whether the value just read is closed, outside of fences and unambiguous: there is no reason to read it again. */
function isWhole({ truncated, ambiguous, tooDeep, fence }: Decoder, { begun }: ValueSink): boolean {
  return begun && !truncated && !ambiguous && !tooDeep && fence === undefined
}

/** The region of the value just read, which begins at `start`. */
function takeRegion(
  decoder: Decoder,
  sink: ValueSink,
  start: number,
  { nodes, fence, reasoning }: Surroundings & { readonly nodes: SharedNodes },
): Region | undefined {
  const { value, begun, edits, special } = sink
  const exact = hasFastPaths && !special && !sink.repeated
  const keepsJson = hasFastPaths && !sink.replacedJson
  sink.reset()
  if (!begun || decoder.tooDeep || nodes.options.allowance.exhausted) return undefined
  const { i: end, truncated } = decoder
  const thought = reasoning || decoder.ended === 'thought'
  return new Region(
    { value, edits, start, end, truncated, fence, reasoning: thought, special, exact, keepsJson },
    nodes.of(decoder),
  )
}

/** The region of a text already parsed as strict JSON. */
export function strictRegion(text: string, value: unknown, options: ScanOptions): Region {
  const start = text.search(/[{[]/)
  return new Region(
    { value, edits: [], start, end: text.trimEnd().length, special: false },
    getNodes(text, options),
  )
}

/** Reads the value again, with nodes. */
function treeAt(text: string, start: number, options: ScanOptions, fence: string | undefined): Node {
  const sink = new TreeSink()
  const decoder = createDecoder(sink, text, options)
  decoder.fence = fence
  decoder.i = start
  decoder.start()
  // The first reading stayed within the budget; this one inspects as much and must run to its end.
  decoder.run()
  // The light reader reads nodes where the plain value would do, and uses no steps for it, so that limits mean the same.
  if (hasFastPaths) options.allowance.spend(decoder.i - start + decoder.looked, start)
  return sink.takeNode().node as Node
}

interface Doubt {
  /** Where the tag around a value cut off is closed; the length of the text if it is not. */
  readonly tagEnd: number
  readonly ambiguous: boolean
  readonly options: ScanOptions
  readonly mayEndThought: boolean
}

/**
 * Reads a value again up to the end of its fence or tag if it ran past it; reads one with an ambiguous bracket both
 * ways.
 */
function reconsider(text: string, region: Region, fence: string | undefined, doubt: Doubt): Region {
  if (region.editCount > 0) doubt.options.allowance.spend(region.end - region.start, region.start)
  const thought = doubt.mayEndThought ? closedThought(text, region) : undefined
  if (thought !== undefined)
    return one(text.slice(0, thought), region.start, doubt.options)?.with({ reasoning: true }) ?? region
  const close = region.editCount === 0 ? undefined : blockEnd(text, region, fence, doubt.tagEnd)
  if (close !== undefined) {
    const fenced = one(text.slice(0, close).trimEnd(), region.start, doubt.options)
    if (fenced !== undefined) return fenced.edits.some(isCut) ? fenced : closedByFence(fenced)
  }
  if (!doubt.ambiguous) return region
  const other = one(text, region.start, { ...doubt.options, dropClosers: true })
  return other !== undefined && price(text, other) < price(text, region) ? other : region
}

/**
 * Counts readings that ran past the fence, tag or reasoning around them and were cut back. After a few of them, values
 * are read only up to the end of their surroundings: a text that repeats such a shape would otherwise be read to its
 * end each time (quadratic).
 */
class Overruns {
  count = 0
  readonly #text: string
  readonly #allowance: Allowance
  readonly #ends = new Map<string, number>()
  #thought = -1

  constructor(text: string, allowance: Allowance) {
    this.#text = text
    this.#allowance = allowance
  }

  /** The text to which the reading of a value at `from` is limited. */
  bounded(from: number, fence: string | undefined, tagEnd: string | undefined): string {
    if (this.count < MOST_OVERRUNS) return this.#text
    // A fence closes even if it was never opened: values are cut back to it too.
    const fenceEnd = this.find(from, `\n${fence ?? '```'}`)
    return this.#text.slice(0, Math.min(this.#thoughtEnd(from), fenceEnd, this.find(from, tagEnd)))
  }

  #thoughtEnd(from: number): number {
    if (this.#thought < from) {
      THOUGHT_END.lastIndex = from
      this.#thought = THOUGHT_END.exec(this.#text)?.index ?? this.#text.length
    }
    return this.#thought
  }

  /**
   * Offset of the first such mark from `from` on, which may not decrease; the length of the text if there is none. Each
   * mark is looked for once in the text; of very many different tags, only the first.
   */
  find(from: number, mark: string | undefined): number {
    const { length } = this.#text
    if (mark === undefined) return length
    const known = this.#ends.get(mark) ?? (this.#ends.size > MOST_TAGS && mark[0] === '<' ? length : -1)
    if (known >= from) return known
    const found = this.#text.indexOf(mark, from)
    const end = found < 0 ? length : found
    // The engine searches many characters in the time of one step.
    this.#allowance.spend((end - from) >> 4, from)
    this.#ends.set(mark, end)
    return end
  }
}

/** End of the fence or tag around a broken region; a tag ends only values that were never closed. */
function blockEnd(text: string, region: Region, fence: string | undefined, tag: number): number | undefined {
  const close = fenceEnd(text, region, fence)
  return tag === text.length || (close !== undefined && close < tag) ? close : tag
}

/**
 * End of the fence around a broken region, if it is inside the region: a value opened in a fence ends with it.
 * Exception: the only faults are line breaks in strings and the fence closes behind the region; then a string contains
 * fences.
 */
function fenceEnd(text: string, region: Region, fence: string | undefined): number | undefined {
  const mark = fence ?? (region.truncated ? '```' : undefined)
  if (mark === undefined) return undefined
  const close = firstClose(text, region, mark)
  if (close === undefined) return undefined
  const sound = !region.truncated && region.usesOnly('raw-control')
  return sound && isClosedBehind(text, region.end, mark) ? undefined : close
}

/** The line break before the first line in the region that closes a fence which was not opened there. */
function firstClose(text: string, region: Region, mark: string): number | undefined {
  const window = { buf: text, final: true }
  let open = 0
  let line = region.start
  for (let at = text.indexOf(mark, line); at >= 0 && at < region.end; at = text.indexOf(mark, at)) {
    // Not searched beyond the previous mark: a text of one line with many marks would be read for each.
    let before = at - 1
    while (before > line && text[before] !== '\n' && (text[before] as string).trim() === '') before--
    const isFirst = before >= line && text[before] === '\n'
    const kind = isFirst ? fenceLine(window, at, mark) : 'inline'
    if (kind === 'close' && open === 0) return before
    if (kind === 'open') open++
    else if (kind === 'inline') open += open > 0 ? -1 : 1
    else if (open > 0) open--
    line = at
    while (text[at] === mark[0]) at++
  }
  return undefined
}

function isClosedBehind(text: string, end: number, mark: string): boolean {
  return text
    .slice(end, end + 200)
    .trimStart()
    .startsWith(mark)
}

/** Whether the text cut this string off, kept or not. */
function isCut({ rule, after }: TextEdit): boolean {
  return rule === 'cut-string' || (rule === 'truncated' && typeof after !== 'string')
}

/** End of the reasoning block that a broken region ran past. */
function closedThought(text: string, region: Region): number | undefined {
  if (region.editCount === 0) return undefined
  // A block opened inside the region belongs to the value.
  const end = findThoughtEnd(text.slice(region.start, region.end))
  return end === undefined ? undefined : region.start + end
}

/** The fence is closed, so nothing was cut off: only brackets are missing. */
function closedByFence(region: Region): Region {
  const edits = region.edits.map(
    (edit): TextEdit => (edit.rule === 'truncated' ? { ...edit, rule: 'missing-closer' } : edit),
  )
  return region.with({ truncated: false, edits })
}

const NOWHERE: Surroundings = { fence: undefined, reasoning: false }

function one(text: string, start: number, options: ScanOptions): Region | undefined {
  const sink = new ValueSink()
  const decoder = createDecoder(sink, text, options)
  run(decoder, start, options)
  return takeRegion(decoder, sink, start, { nodes: sharedNodes(options), ...NOWHERE })
}

/** Cost of the reading, including brackets left over. */
function price(text: string, region: Region): number {
  let cost = (region.truncated ? 4 : 0) + region.summary.cost
  const end = Math.min(text.length, region.end + 64)
  for (let i = region.end; i < end && /[\s,}\]]/.test(text[i] as string); i++) {
    if (text[i] === '}' || text[i] === ']') cost += 3
    else if (text[i] === ',') cost += 1
  }
  return cost
}

const ESCAPED_START = /[{[](?:\s|\\[nrt])*(?:[{[](?:\s|\\[nrt])*)*\\"/y

/**
 * `{\"a\": 1}`: the content of a JSON string without its quotes. Returns it unescaped if it is well-formed, otherwise
 * the offset at which the attempt stopped.
 */
function escapedBody(text: string, start: number, options: ScanOptions): Region | number | undefined {
  ESCAPED_START.lastIndex = start
  if (!ESCAPED_START.test(text)) return undefined
  let end = start
  while (end < text.length && text[end] !== '"' && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1
  const limit = end
  while (end > start && text[end - 1] !== '}' && text[end - 1] !== ']') end--
  // The cast is safe: what is in quotes is a string.
  const inner = end <= start ? undefined : (parseQuietly(`"${text.slice(start, end)}"`)?.value as string)
  if (inner === undefined) return limit
  const [region] = scan(inner, { ...options, firstOnly: true }).regions
  if (region === undefined || region.start !== 0 || region.end !== inner.length) return limit
  const edits: TextEdit[] = [{ rule: 'escaped-quotes', start, end, after: { value: region.value } }]
  return region.with({ edits, start, end, source: inner })
}

/**
 * Reads `text[start, end)` as a value without an opening bracket: scalars, values separated by commas or lines, or
 * members without braces. Undefined if the range holds no value.
 */
export function decodeBare(
  text: string,
  start: number,
  end: number,
  options: ScanOptions,
): Region | undefined {
  const head = text.slice(start, Math.min(end, start + 240))
  const members = /^\s*(?:(?:"(?:[^"\\\n]|\\.){0,100}"|'[^'\n]{0,100}')\s*:|[A-Za-z_]\w*=(?!=))/.test(head)
  if (hasFastPaths && options.onlyMembers && !members) return undefined
  const sink = new TreeSink()
  const decoder = createDecoder(sink, end === text.length ? text : text.slice(0, end), options)
  decoder.i = start
  decoder.start()
  sink.open(members ? 'object' : 'array', start)
  sink.edit('missing-opener', start, start, members ? '{' : '[')
  decoder.stack.push(createFrame(members ? OBJECT : LIST, start, 0, true))
  decoder.onlyOne = options.onlyOne ?? false
  runCharged(decoder, options.allowance)
  if (decoder.onlyOne && decoder.holdsSeveral) return undefined
  const { node, edits } = sink.takeNode()
  if (node === undefined || decoder.tooDeep || options.allowance.exhausted || countChildren(node) === 0)
    return undefined
  return bareRegion(node, edits, { start, end, truncated: decoder.truncated })
}

/** A single item needs no list around it. */
function bareRegion(
  node: Node,
  edits: LoggedEdits,
  extent: { start: number; end: number; truncated: boolean },
): Region {
  const item = countChildren(node) === 1 ? node.items?.[0] : undefined
  if (node.kind !== 'array' || item === undefined)
    return toRegion('missing-opener', node, { edits, ...extent })
  const inner = edits.toList().filter((e) => e.start >= item.start && e.end <= item.end && !isBracket(e))
  return toRegion('missing-opener', item, { edits: inner, truncated: extent.truncated, bare: item.bare })
}

function isBracket(edit: TextEdit): boolean {
  return edit.start === edit.end && (edit.after === '[' || edit.after === ']')
}
