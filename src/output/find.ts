/** Finds the value in the text: lists the candidates, tries each against the schema, and lets `rank` choose. */
import { isObject } from '../base/json.ts'
import { type Attempt, attempt, type Trial } from './attempt.ts'
import { ANSWER, ECHO, isCorrection, tierOf } from './cues.ts'
import { decodeInner } from './inner.ts'
import { bulletLines, keyLines } from './key-lines.ts'
import { declaredNames, enclosed, lifted } from './lift.ts'
import { best, type Ranked } from './rank.ts'
import { Region } from './region.ts'
import { quotedWhole, scalarAttempts, textRegion } from './scalars.ts'
import { decodeBare, type Scan, scan, strictRegion } from './scan.ts'
import { deeperThan } from './strict.ts'
import { makeNode, type Node, type TextEdit } from './tree.ts'

export interface Found {
  readonly attempt: Attempt | undefined
  readonly tooDeep: boolean
}

/** How often a region that swallowed the rest of the text is read again from inside. */
const RESCANS = 4

export function find(trial: Trial): Found {
  const options = { depth: trial.settings.limits.depth, acceptTruncated: trial.settings.acceptTruncated }
  const seen = scanOf(trial, options)
  const chosen =
    trial.target.guided === undefined ? withoutShape(trial, seen) : withShape(trial, seen, options)
  return { attempt: chosen, tooDeep: seen.tooDeep }
}

type ScanOptions = Parameters<typeof scan>[1]

const NO_NAMES: ReadonlySet<string> = new Set()

/** Strict JSON has been read already: then there is one region, the text. */
function scanOf(trial: Trial, options: ScanOptions): Scan {
  const { text, strict } = trial
  if (typeof strict?.value !== 'object' || strict.value === null)
    return introduced(trial, scan(text, options), options)
  if (deeperThan(strict.value, options.depth)) return { regions: [], blocks: [], tooDeep: true }
  return { regions: [strictRegion(text, strict.value, options)], blocks: [], tooDeep: false }
}

/** A fence, tag or text that is one quoted string or one pair of round brackets: that is the value, not what is in it. */
function introduced(trial: Trial, seen: Scan, options: ScanOptions): Scan {
  const { text } = trial
  const whole = { start: 0, end: text.length, reasoning: false, kind: 'text', name: '' }
  const found: Region[] = []
  for (const block of [
    whole,
    ...seen.blocks.filter((b) => b.kind === 'fence' || b.end - b.start < 100_000),
  ]) {
    const first = /^[\s\ufeff\u200b]*(["(])/.exec(
      text.slice(block.start, Math.min(block.end, block.start + 80)),
    )
    if (first === null) continue
    const region = decodeBare(text, block.start, block.end, options)
    const complete =
      region !== undefined &&
      !region.truncated &&
      /^[\s\u200b\ufeff;]*$/.test(text.slice(region.end, block.end))
    if (
      !complete ||
      !(first[1] === '('
        ? Array.isArray(region.value) && !isImplicit(region)
        : typeof region.value === 'string' && !region.bare)
    )
      continue
    found.push(
      region.with({ reasoning: block.reasoning, fence: block.kind === 'fence' ? block.name : undefined }),
    )
  }
  if (found.length === 0) return seen
  const outside = seen.regions.filter((r) => !found.some((f) => f.start <= r.start && r.end <= f.end))
  return { ...seen, regions: [...outside, ...found].sort((a, b) => a.start - b.start) }
}

function withShape(trial: Trial, seen: Scan, options: ScanOptions): Attempt | undefined {
  const guided = trial.target.guided as NonNullable<typeof trial.target.guided>
  const kinds = rootKinds(trial)
  if (!kinds.container) return best(scalarsFirst(trial, seen), trial.settings)
  const declared = declaredNames(guided)
  const ranked = fromRegions(trial, seen.regions, declared)
  ranked.push(...restarted(trial, seen, options, declared))
  let chosen = best(ranked, trial.settings)
  if (chosen?.valid) return chosen
  ranked.push(...otherwise(trial, seen, options, declared))
  chosen = best(ranked, trial.settings)
  if (chosen?.valid || !kinds.scalar) return chosen
  return best([...ranked, ...plain(scalarAttempts(trial, seen.blocks))], trial.settings)
}

/** The model broke off and began again: what an unfinished value has swallowed is read for itself. */
function restarted(trial: Trial, seen: Scan, options: ScanOptions, declared: ReadonlySet<string>): Ranked[] {
  const broken = seen.regions.find((region) => region.edits.length > 0)
  if (broken === undefined) return []
  for (const index of restarts(trial.text, broken)) {
    const cut = broken.with({ end: proseStart(trial.text, index) })
    const prose = trial.text.slice(Math.max(cut.end, index - 300), index).trimEnd()
    if (!/[:.!]$/.test(prose) || !/\p{L}{2}/u.test(prose) || /["{}[\]]/.test(prose)) continue
    const again = scan(trial.text, options, index).regions.filter((region) => !isSlight(region.value))
    return fromRegions(trial, [cut, ...again], declared).filter((r) => r.attempt.region !== cut)
  }
  return []
}

/** Blank lines inside a region that are followed by the beginning of a value; at most a few. */
function restarts(text: string, within: Region): number[] {
  const found: number[] = []
  let blank = -1
  for (
    let at = text.indexOf('\n', within.start);
    at >= 0 && at < within.end && found.length < 8;
    at = text.indexOf('\n', at + 1)
  ) {
    const line = text.slice(at + 1, at + 80)
    const ink = line.trimStart()
    if (/^\s*\n|^[`~]{3,}/.test(line)) blank = blank < 0 ? at : blank
    else {
      if (blank >= 0 && /^[{[｛［]\s*["'“„‘«＂{[]/.test(ink)) found.push(blank)
      blank = -1
    }
  }
  return found
}

/** Where the paragraph that ends at `index` begins. */
function proseStart(text: string, index: number): number {
  return Math.max(0, text.lastIndexOf('\n\n', index - 1))
}

/** Its brackets are the reader's own. */
function isImplicit(region: Region): boolean {
  return region.edits.some((edit) => edit.rule === 'missing-opener')
}

/** Which kinds of value the root of the schema allows, its unions included. */
function rootKinds(trial: Trial): { container: boolean; scalar: boolean } {
  const guided = trial.target.guided as NonNullable<typeof trial.target.guided>
  const shapes = [guided.root]
  const unions = guided.root.unions
  const branches = unions.flatMap((u) =>
    Array.from({ length: u.branches }, (_, i) => guided.shapes.at([`${u.pointer}/${i}`])),
  )
  const all = guided.root.types.length > 0 || branches.length === 0 ? shapes : branches
  const open = all.some((shape) => shape.types.length === 0)
  const types = new Set(all.flatMap((shape) => shape.types))
  const container = open || types.has('object') || types.has('array')
  return { container, scalar: open || [...types].some((type) => type !== 'object' && type !== 'array') }
}

function plain(attempts: readonly Attempt[]): Ranked[] {
  return attempts.map((tried) => ({ attempt: tried, tier: ANSWER, correction: false, extra: 0 }))
}

/** A scalar is wanted: the text itself first, then values inside objects that hold it. */
function scalarsFirst(trial: Trial, seen: Scan): Ranked[] {
  const direct = plain(scalarAttempts(trial, seen.blocks))
  if (direct.some((r) => r.attempt.valid)) return direct
  const inside = seen.regions.flatMap((region) => [
    attempt(trial, region),
    ...lifted(trial, region, new Set()),
  ])
  return [...direct, ...plain(inside)]
}

function fromRegions(trial: Trial, regions: readonly Region[], declared: ReadonlySet<string>): Ranked[] {
  const { root } = trial.target.guided as NonNullable<typeof trial.target.guided>
  const ranked: Ranked[] = []
  const parts: Region[] = []
  regions.forEach((region, index) => {
    const previous = regions[index - 1]
    const tier = tierOf(trial.text, region, previous, root)
    const correction = isCorrection(trial.text, region, previous)
    for (const tried of tier === ECHO ? [attempt(trial, region)] : readings(trial, region, declared)) {
      ranked.push({ attempt: tried, tier, correction, extra: strangeness(tried.plain, declared) })
    }
    const text = typeof region.value === 'string' && region.fence !== undefined
    if (tier === ANSWER && (isObject(region.value) || text)) parts.push(region)
  })
  if (
    listWanted(trial) &&
    parts.length > 1 &&
    !ranked.some((r) => r.attempt.valid && Array.isArray(r.attempt.region.value))
  ) {
    const all = attempt(trial, together(parts))
    // One of several values alone would be a silent loss.
    const whole = all.valid ? all : gathered(trial, parts, ranked)
    if (whole !== undefined) return [{ attempt: whole, tier: ANSWER, correction: false, extra: 0 }]
  }
  return ranked
}

/** Each part holds an item of the list inside something else: the lists of one that they give are joined. */
function gathered(trial: Trial, parts: readonly Region[], ranked: readonly Ranked[]): Attempt | undefined {
  const lists: unknown[][] = []
  for (const part of parts) {
    const found = ranked.find(
      (r) => r.attempt.region === part && r.attempt.valid && Array.isArray(r.attempt.plain),
    )
    if (found === undefined) return undefined
    lists.push(found.attempt.plain as unknown[])
  }
  const region = together(parts)
  const plain = lists.flat()
  const change = { rule: 'collect' as const, pointer: '', before: region.value, after: plain }
  const checked = trial.target.check(plain)
  if (!checked.ok) return undefined
  return {
    ...attempt(trial, region),
    changes: [change],
    plain,
    value: checked.value,
    valid: true,
    issues: [],
  }
}

/** A region as it stands and, if that does not fit, what it wraps or what should wrap it. */
function readings(trial: Trial, region: Region, declared: ReadonlySet<string>): Attempt[] {
  const direct = attempt(trial, region)
  if (direct.valid && !isForced(direct) && strangeness(direct.plain, declared) === 0) return [direct]
  const inside = lifted(trial, region, declared)
  if (direct.valid || inside.length > 0) return [direct, ...inside]
  const around = enclosed(trial, region)
  return around === undefined ? [direct] : [direct, around]
}

/** Valid only because something was thrown away or made into text: another reading may be the right one. */
function isForced(tried: Attempt): boolean {
  return tried.changes.some(({ rule }) => rule === 'json->str' || rule === 'wrap' || rule === 'drop-key')
}

/** An object that has none of the declared members, or nothing at all, is an unlikely answer. */
function strangeness(value: unknown, declared: ReadonlySet<string>): number {
  if (Array.isArray(value)) return value.length === 0 ? 15 : 0
  if (!isObject(value)) return 0
  const keys = Object.keys(value)
  if (keys.length === 0) return 15
  return declared.size > 0 && !keys.some((key) => declared.has(key)) ? 20 : 0
}

/** Separate values as one list. */
function together(parts: readonly Region[]): Region {
  const first = parts[0] as Region
  const last = parts[parts.length - 1] as Region
  const edits: TextEdit[] = [{ rule: 'collect', start: first.start, end: first.start, after: '[' }]
  parts.forEach((part, index) => {
    edits.push(...part.edits)
    const next = parts[index + 1]
    if (next !== undefined) edits.push({ rule: 'collect', start: part.end, end: next.start, after: ',' })
  })
  edits.push({ rule: 'collect', start: last.end, end: last.end, after: ']' })
  const value = parts.map((part) => part.value)
  const truncated = parts.some((part) => part.truncated)
  const nodes = (): Node => ({
    ...makeNode('array', value, first.start, last.end),
    items: parts.map((part) => part.node),
  })
  return new Region({ value, edits, start: first.start, end: last.end, truncated }, nodes)
}

/** Last resorts: members without braces, regions that began too early, lines of key and value. */
function otherwise(trial: Trial, seen: Scan, options: ScanOptions, declared: ReadonlySet<string>): Ranked[] {
  const guided = trial.target.guided as NonNullable<typeof trial.target.guided>
  const regions: Region[] = []
  for (const [start, end] of bareSpans(trial.text, seen)) {
    const region = decodeBare(trial.text, start, end, options)
    if (region !== undefined && (!listWanted(trial) || isData(region))) regions.push(region)
  }
  const ink = trial.text.length - trial.text.trimStart().length
  let swallowed = seen.regions.find(
    (region) => region.start > ink && region.fence === undefined && beganTooEarly(region),
  )
  for (let i = 0; swallowed !== undefined && i < RESCANS; i++) {
    const again = scan(trial.text, options, swallowed.start + 1).regions
    regions.push(...again)
    swallowed = again.find(beganTooEarly)
  }
  const ranked = fromRegions(trial, regions, declared).map((r) => ({ ...r, extra: r.extra + 30 }))
  const lines = listWanted(trial) ? bulletLines(trial.text) : keyLines(trial.text, guided)
  if (lines !== undefined)
    ranked.push({ attempt: attempt(trial, lines), tier: ANSWER, correction: false, extra: 40 })
  return ranked
}

function listWanted(trial: Trial): boolean {
  const types = trial.target.guided?.root.types ?? []
  return types.includes('array') && !types.includes('object')
}

/** A region that runs to the end of the text and holds what is no JSON: its bracket belonged to the prose. */
function beganTooEarly(region: Region): boolean {
  return region.truncated && region.start > 0 && region.edits.some((edit) => PROSE_RULES.has(edit.rule))
}

const PROSE_RULES: ReadonlySet<string> = new Set([
  'stray-text',
  'bare-value',
  'inner-quote',
  'missing-colon',
  'missing-quote',
  'bare-key',
])

/** Where a value may stand without brackets of its own: the whole text, or a fence or tag in it. */
function bareSpans(text: string, seen: Scan): [number, number][] {
  const spans: [number, number][] = []
  const start = text.length - text.trimStart().length
  const first = seen.regions[0]
  if (first === undefined || first.start > start) spans.push([start, text.length])
  for (const block of seen.blocks) {
    if (!seen.regions.some((region) => region.start >= block.start && region.end <= block.end))
      spans.push([block.start, block.end])
  }
  return spans.slice(0, 20)
}

/** No schema: the first substantial value; else the values of the bare text; else the text. */
function withoutShape(trial: Trial, seen: Scan): Attempt | undefined {
  const { text } = trial
  const options = { depth: trial.settings.limits.depth, acceptTruncated: trial.settings.acceptTruncated }
  const quoted = quotedWhole(trial)
  if (quoted !== undefined) return attempt(trial, quoted)
  const members = membersWithoutBraces(text, options)
  if (members !== undefined) return attempt(trial, members)
  const lines = sequence(text, seen.regions)
  if (lines !== undefined) return attempt(trial, lines)
  const lossy = seen.regions.find((region) => region.edits.some((edit) => edit.rule === 'stray-value'))
  if (lossy !== undefined) return attempt(trial, lossy)
  if (seen.regions.length > 0) return best(bySubstance(trial, seen.regions), trial.settings)
  if (seen.tooDeep || !/[\p{L}\p{N}]/u.test(text)) return undefined
  for (const [start, end] of [
    ...seen.blocks.map((b) => [b.start, b.end] as const),
    [0, text.length] as const,
  ]) {
    const region = decodeBare(text, start, end, options)
    if (region !== undefined && isData(region)) return attempt(trial, region)
  }
  return attempt(trial, textRegion(trial, text.length - text.trimStart().length, text.trimEnd().length))
}

/** `"a": 1, "b": 2` without the braces. */
function membersWithoutBraces(text: string, options: ScanOptions): Region | undefined {
  if (!/^\s*"[^"\n]{1,100}"\s*:/.test(text.slice(0, 200))) return undefined
  const region = decodeBare(text, 0, text.length, options)
  return isObject(region?.value) ? region : undefined
}

/** Values on lines of their own or separated by commas, and nothing else in the text. */
function sequence(text: string, regions: readonly Region[]): Region | undefined {
  if (regions.length < 2 || regions.some((region) => region.fence !== undefined || region.reasoning))
    return undefined
  let at = 0
  for (const region of regions) {
    const between = text.slice(at, region.start).replace(/\/\*[^*]*\*\//g, '')
    if (!/^[\s,]*$/.test(between) || (at > 0 && !/[\n,]/.test(between))) return undefined
    at = region.end
  }
  if (!/^[\s,;]*$/.test(text.slice(at))) return undefined
  const full = regions.filter((region) => strangeness(region.value, NO_NAMES) === 0)
  return full.length === 1 ? full[0] : together(regions)
}

/** Without a schema, objects and lists of values count before citations and placeholders in prose. */
function bySubstance(trial: Trial, regions: readonly Region[]): Ranked[] {
  return regions.map((region, index) => {
    const previous = regions[index - 1]
    const inner = typeof region.value === 'string' ? decodeInner(region.value, trial.settings) : undefined
    const slight = region.fence === undefined && regions.length > 1 && isSlight(region.value)
    return {
      attempt: inner === undefined ? attempt(trial, region) : unescaped(trial, region, inner),
      tier: tierOf(trial.text, region, previous, undefined) + (slight ? 0.5 : 0),
      correction: isCorrection(trial.text, region, previous),
      extra: strangeness(region.value, NO_NAMES),
    }
  })
}

/** A string in prose that holds JSON. */
function unescaped(trial: Trial, region: Region, inner: Node): Attempt {
  const change = { rule: 'unescape' as const, pointer: '', before: region.value, after: inner.value }
  return attempt(trial, region, inner, { changes: [change], cost: 2 }, String(region.value))
}

/** `[1]`, `[x]`: what prose puts into brackets. */
function isSlight(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= 1 &&
    !value.some((item) => typeof item === 'object' && item !== null)
  )
}

/** Something other than words. */
function isData(region: Region): boolean {
  const { node } = region
  if (node.items === undefined) return !(node.kind === 'string' && node.bare)
  if (node.kind === 'object') return true
  return node.items.every(
    (item) => item.kind !== 'string' || !item.bare || /^[^\s<>`]+$/.test(String(item.value)),
  )
}
