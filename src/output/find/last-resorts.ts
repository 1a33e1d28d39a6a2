/** Fallbacks when no region fits: members without braces, regions that began too early, lines of key and value. */
import { normalForm } from '../coerce/match-names.ts'
import { parseQuietly } from '../decode/quick-strict.ts'
import { makeNode, type Node } from '../decode/tree/tree.ts'
import { hasFastPaths } from '../fast-paths.ts'
import { ANSWER } from '../scan/cues.ts'
import { type Region, toRegion } from '../scan/region.ts'
import { decodeBare, type Scan, scan } from '../scan/scan.ts'
import type { Guided } from '../schema/target.ts'
import { attempt, type Trial } from './attempt.ts'
import { BULLETS, LONGEST, listItems } from './list-lines.ts'
import type { Ranked } from './rank.ts'
import { fromRegions, listWanted } from './readings.ts'
import { isData, LONGEST_BARE, toScanOptions } from './survey.ts'
import { coversRegion } from './unwrap.ts'

/** Where an object is expected, a longer text without brackets is prose, not a list that lacks its wrapper. */
const LONGEST_BARE_LIST = 100_000

/** How often a region that consumed the rest of the text is rescanned from inside. */
const RESCANS = 4

export function lastResorts(trial: Trial, seen: Scan, declared: ReadonlySet<string>): Ranked[] {
  if (trial.text.length > LONGEST_BARE) return []
  const options = toScanOptions(trial)
  const guided = trial.target.guided as Guided
  const regions: Region[] = []
  const isListWanted = listWanted(trial)
  const mayBeList = [guided.root, ...guided.shapes.branchesOf(guided.root)].some(({ types }) =>
    types.includes('array'),
  )
  const lines =
    (isListWanted ? undefined : keyLines(trial.text, guided)) ??
    (mayBeList ? bulletLines(trial.text) : undefined)
  for (const [start, end] of bareRanges(trial, seen)) {
    const onlyMembers = hasFastPaths && end - start > LONGEST_BARE_LIST && !isListWanted
    const region = decodeBare(trial.text, start, end, onlyMembers ? { ...options, onlyMembers } : options)
    if (region === undefined) continue
    if (isAnswer(trial, region, mayBeList && lines !== undefined)) regions.push(region)
  }
  const ink = trial.text.length - trial.text.trimStart().length
  let swallowed = seen.regions.find(
    (region) => region.start > ink && region.fence === undefined && beganTooEarly(region),
  )
  for (let i = 0; swallowed !== undefined && i < RESCANS; i++) {
    const again = scan(trial.text, options, swallowed.start + 1).regions
    const outer = swallowed
    regions.push(...again.filter((region) => !coversRegion(trial, outer, region, declared)))
    swallowed = again.find(beganTooEarly)
  }
  const ranked = fromRegions(trial, regions, declared).map((r) => ({ ...r, extra: r.extra + 30 }))
  if (lines !== undefined)
    ranked.push({ attempt: attempt(trial, lines), tier: ANSWER, correction: false, extra: 40 })
  return ranked
}

/**
 * Whether text without brackets is an answer: not prose, unless it is made of words that the schema lists, and not the
 * lines of a list, whose bullets and numbers are no items.
 */
function isAnswer(trial: Trial, region: Region, hasLines: boolean): boolean {
  const { root, shapes } = trial.target.guided as Guided
  const isListed = shapes.at(root.item(0)).values !== undefined && attempt(trial, region).valid
  if (!isListed && !isData(region, trial.text)) return false
  if (typeof region.value === 'string' && PLAIN_FENCE.test(trial.text.slice(region.start, region.start + 20)))
    return false
  return !hasLines || !Array.isArray(region.value) || region.value.some((item) => typeof item === 'object')
}

/** The beginning of a fence that holds text rather than code: its lines are the answer, not the fence as a whole. */
const PLAIN_FENCE = /^[`~]{3,}(?:te?xt|plain\w*|json\w*|yaml|csv|md|markdown)?\s*\n/i

/** Whether a region runs to the end of the text and contains non-JSON: its opening bracket belonged to the prose. */
function beganTooEarly(region: Region): boolean {
  return region.truncated && region.start > 0 && region.usesAny(PROSE_RULES)
}

const PROSE_RULES: ReadonlySet<string> = new Set([
  'stray-text',
  'bare-value',
  'inner-quote',
  'missing-colon',
  'missing-quote',
  'bare-key',
])

/** Ranges that may hold a value without brackets: the whole text, or a fence or tag in it. */
function bareRanges({ text, allowance }: Trial, seen: Scan): [number, number][] {
  const ranges: [number, number][] = []
  const start = text.length - text.trimStart().length
  const first = seen.regions[0]
  if (first === undefined || first.start > start) ranges.push([start, text.length])
  for (const block of seen.blocks) {
    if (!allowance.spend(seen.regions.length, block.start)) break
    if (!seen.regions.some((region) => region.start >= block.start && region.end <= block.end))
      ranges.push([block.start, block.end])
  }
  return ranges.slice(0, 20)
}

// Reads lines of `key: value` where an object is expected: answers that resemble YAML, a form or a bulleted list.

const LINE = new RegExp(
  String.raw`^\s*(?:${BULLETS}\s*)?(?:\*\*|__|["'\x60])?([\p{L}_$][\p{L}\p{M}\p{N}_$ .-]{0,60}?)(?:\*\*|__|["'\x60])?\s*(?:[:：=]|[:：]\*\*|[:：]__)\s*(?:\*\*|__)?[^\S\n]*(.*)$`,
  'u',
)

/**
 * Builds an object from lines whose keys the schema declares; undefined if a required key is missing or the text
 * contains JSON.
 */
function keyLines(text: string, guided: Guided): Region | undefined {
  if (
    text.length > 100_000 ||
    guided.root.names.length === 0 ||
    /^[^\S\n]*(?:[{[]|"[^"\n]*"\s*:)/m.test(text)
  )
    return undefined
  const known = new Map(guided.root.names.map((name) => [normalForm(name), name]))
  const members = new Map<string, Node>()
  const lines = text.split(/\r?\n/).map((line) => (line.length > LONGEST ? '' : line))
  for (let at = 0; at < lines.length; at++) {
    const match = LINE.exec(lines[at] as string)
    if (match === null) continue
    const name = known.get(normalForm(match[1] as string))
    if (name === undefined || members.has(name)) continue
    const value = (match[2] as string).trim().replace(/,$/, '')
    const node =
      value === '' ? bullets(lines, at + 1) : /^[|>][+-]?$/.test(value) ? block(lines, at + 1) : word(value)
    const next = lines[at + 1] ?? ''
    // A nested object by indentation, and words that may continue in the next line, are not supported; give up instead of
    // dropping them silently.
    const isWords = node?.bare && /\p{L}/u.test(value)
    if (
      node === undefined ? /^\s+\S/.test(next) : isWords && /^\s*[\p{L}\p{N}]/u.test(next) && !LINE.test(next)
    )
      return undefined
    if (node !== undefined) members.set(name, node)
  }
  if (members.size === 0 || [...guided.root.required].some((name) => !members.has(name))) return undefined
  return region(text, [...members])
}

/** The bulleted lines that follow, as a list. */
function bullets(lines: readonly string[], from: number): Node | undefined {
  const items = listItems(lines.slice(from), true)
  return items && listNode(items.map(word))
}

/** The indented lines that follow, as one text. */
function block(lines: readonly string[], from: number): Node {
  const indent = /^\s+/.exec(lines[from] ?? '')?.[0] ?? ' '
  const taken: string[] = []
  for (
    let at = from;
    at < lines.length && ((lines[at] as string).startsWith(indent) || lines[at] === '');
    at++
  ) {
    taken.push((lines[at] as string).slice(indent.length))
  }
  return makeNode('string', taken.join('\n').trimEnd(), 0, 0)
}

/** A list with one bulleted or numbered line per item, if nothing else in the text looks like an answer. */
function bulletLines(text: string): Region | undefined {
  if (text.length > 100_000) return undefined
  const items = listItems(text.split(/\r?\n/))
  if (items === undefined) return undefined
  return toRegion('key-lines', { ...listNode(items.map(word)), end: text.length })
}

function word(text: string): Node {
  const quoted = /^(["'`])(.*)\1$/.exec(text)
  if (quoted === null) return { ...makeNode('string', text, 0, 0), bare: true }
  // A text in double quotes that is no JSON keeps its escapes.
  const decoded = quoted[1] === '"' ? parseQuietly(text)?.value : undefined
  return makeNode('string', decoded ?? quoted[2], 0, 0)
}

function listNode(items: Node[]): Node {
  return {
    ...makeNode(
      'array',
      items.map((item) => item.value),
      0,
      0,
    ),
    items,
  }
}

function region(text: string, entries: readonly (readonly [string, Node])[]): Region {
  const node: Node = {
    ...makeNode(
      'object',
      Object.fromEntries(entries.map(([key, item]) => [key, item.value])),
      0,
      text.length,
    ),
    keys: entries.map(([key]) => key),
    items: entries.map(([, item]) => item),
  }
  return toRegion('key-lines', node)
}
