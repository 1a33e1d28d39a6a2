/**
 * Lists the possible readings of the regions under the schema: unchanged, unwrapped, wrapped, or several joined into
 * one list.
 */
import { isObject } from '../../base/json.ts'
import type { ValueChange } from '../coerce/record.ts'
import { makeNode, type Node, type TextEdit } from '../decode/tree/tree.ts'
import { mayHoldJson } from '../decode/tree/value-sink.ts'
import { hasFastPaths } from '../fast-paths.ts'
import { rules } from '../rules.ts'
import { ANSWER, ECHO, EXAMPLE, isCorrection, rankCue } from '../scan/cues.ts'
import { decodeInner, peelString } from '../scan/nested-json.ts'
import { Region } from '../scan/region.ts'
import type { Guided } from '../schema/target.ts'
import { type Attempt, attempt, createTrial, type Trial } from './attempt.ts'
import { best, type Ranked } from './rank.ts'
import { isSlight, survey } from './survey.ts'
import { explainsMore } from './text-coverage.ts'
import { withCalls } from './tool-calls.ts'
import { enclosed, isContainerExpected, lifted, stringsInside } from './unwrap.ts'

/** Maximum number of regions searched inside; the rest are tried only unchanged. */
const MOST_READ = 1_000

/** Cost of inspecting the words before a region. */
const LOOK_AROUND = 50

/** A string that stands for one: `"<name>"`, `"..."`. */
const PLACEHOLDER = /["'“](?:<[^<>"']{1,80}>|\.{3}|…)["'”]/

export function fromRegions(trial: Trial, found: readonly Region[], declared: ReadonlySet<string>): Ranked[] {
  const regions = withCalls(trial, found)
  const { root } = trial.target.guided as Guided
  const ranked: Ranked[] = []
  const parts: Region[] = []
  const mayBeSample = regions.length > 1 && !listWanted(trial) && PLACEHOLDER.test(trial.text)
  regions.forEach((region, index) => {
    if (!trial.allowance.spend(LOOK_AROUND, region.start)) return
    if (index >= MOST_READ && !trial.target.check(region.value).ok) return
    const previous = regions[index - 1]
    const isSample = mayBeSample && PLACEHOLDER.test(trial.text.slice(region.start, region.end))
    const tier = Math.max(rankCue(trial.text, region, previous, root), isSample ? EXAMPLE : ANSWER)
    const correction = isCorrection(trial.text, region, previous)
    // An echoed format is not searched inside; a string may be the whole answer, encoded.
    const direct = (tier === ECHO && typeof region.value !== 'string') || index >= MOST_READ
    for (const tried of direct ? [attempt(trial, region)] : readings(trial, region, declared)) {
      const extra = strangeness(tried.plain, declared)
      const otherKind = isOtherKind(region.value, root)
      const cited = isSlight(region.value) && (otherKind || isCited(trial.text, region))
      // An empty value stays empty when it is wrapped: `[]` in prose, made into `{"ids": []}`.
      const slight = cited || extra > 0 || isEmpty(region.value)
      ranked.push({ attempt: tried, tier, correction, extra, otherKind, slight })
    }
    const text = typeof region.value === 'string' && region.fence !== undefined
    if (tier === ANSWER && (isObject(region.value) || text)) parts.push(region)
  })
  const joined = listWanted(trial) ? joinedLists(trial, ranked) : undefined
  if (joined !== undefined) return [{ attempt: joined, tier: ANSWER, correction: false, extra: 0 }]
  if (
    listWanted(trial) &&
    parts.length > 1 &&
    !ranked.some((r) => r.attempt.valid && r.tier === ANSWER && Array.isArray(r.attempt.region.value))
  ) {
    const all = attempt(trial, together(parts))
    // Choosing one of several values alone would be a silent loss.
    const whole = all.valid
      ? all
      : (gathered(trial, parts, ranked) ?? (isOneList(trial, parts) ? all : undefined))
    if (whole !== undefined) return [{ attempt: whole, tier: ANSWER, correction: false, extra: 0 }]
  }
  return ranked
}

/** `[a]` and `[b]` separated only by space, fences and tags: one list, written in parts. */
function joinedLists(trial: Trial, ranked: readonly Ranked[]): Attempt | undefined {
  const lists = ranked.filter(
    (r) => r.attempt.valid && r.tier === ANSWER && Array.isArray(r.attempt.region.value),
  )
  const regions = [...new Set(lists.map((r) => r.attempt.region))]
  if (regions.length < 2 || regions.length !== lists.length || lists.some((r) => isEmpty(r.attempt.plain)))
    return undefined
  return areAdjacent(trial.text, regions) ? gathered(trial, regions, ranked) : undefined
}

/** Whether only space, commas, fences and tags are between the regions. */
function areAdjacent(text: string, regions: readonly Region[]): boolean {
  return regions.every(({ start }, i) => isBetween(text.slice(regions[i - 1]?.end ?? start, start)))
}

/**
 * Space, commas, fences with their labels, and tags. Matched one at a time: a single expression would backtrack over
 * every way to split a run of fences.
 */
const BETWEEN = /[\s,;]+|[`~]{3,}\w*|<\/?[\w:.-]{1,40}>/y

function isBetween(text: string): boolean {
  if (text.length > 1_000) return false
  for (BETWEEN.lastIndex = 0; BETWEEN.lastIndex < text.length; ) if (!BETWEEN.test(text)) return false
  return true
}

/** Whether the values are items of one list: nothing is between them, or several have keys that the items declare. */
function isOneList({ text, target }: Trial, parts: readonly Region[]): boolean {
  const { root, shapes } = target.guided as Guided
  const names = shapes.namesOf(shapes.at(root.item(0)))
  const items = parts.filter(({ value }) => isObject(value) && strangeness(value, names) === 0)
  return items.length > 1 || (items.length > 0 && areAdjacent(text, parts))
}

/** Joins parts that each hold one item of the list inside a wrapper. */
function gathered(trial: Trial, parts: readonly Region[], ranked: readonly Ranked[]): Attempt | undefined {
  const lists: unknown[][] = []
  const valid = new Map(
    ranked.filter((r) => r.attempt.valid && Array.isArray(r.attempt.plain)).map((r) => [r.attempt.region, r]),
  )
  for (const part of parts) {
    const found = valid.get(part)
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

/** A list of one within a line of words: a citation rather than a value. */
function isCited(text: string, { start, end, fence }: Region): boolean {
  if (fence !== undefined) return false
  const before = text.slice(Math.max(0, start - 80), start)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  return (
    /\p{L}/u.test(line.replace(/<[^<>]*>/g, '')) ||
    /^[^\n]{0,80}?\p{L}/u.test(text.slice(end, end + 80).replace(/<[^<>]*>/g, ''))
  )
}

/** A citation that belongs to its sentence: no colon introduces it, and no sentence ends before it. */
export function isReference(text: string, region: Region): boolean {
  const before = text.slice(Math.max(0, region.start - 20), region.start)
  return isSlight(region.value) && isCited(text, region) && !/[:：]\s*$|[.!?。！？]\s+$/.test(before)
}

function isEmpty(value: unknown): boolean {
  // The keys of a list are not listed: it may have a million.
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

/** Whether the root expects an object and this is a list, or the reverse. */
function isOtherKind(value: unknown, { types }: Guided['root']): boolean {
  const kind = Array.isArray(value) ? 'array' : isObject(value) ? 'object' : undefined
  return kind !== undefined && types.length > 0 && !types.includes(kind)
}

/** Reads a region unchanged and, if that does not fit, unwrapped or wrapped. */
function readings(trial: Trial, region: Region, declared: ReadonlySet<string>): Attempt[] {
  const direct = attempt(trial, region)
  if (direct.valid && !isForced(direct) && strangeness(direct.plain, declared) === 0) return [direct]
  const inner = unescaped(trial, region)
  if (inner?.valid && strangeness(inner.plain, declared) === 0) return [direct, inner]
  if (trial.settings.aop !== 'full') return inner?.valid ? [direct, inner] : [direct]
  const inside =
    hasFastPaths && holdsNothing(trial, region)
      ? []
      : [...lifted(trial, region, declared), ...fromStrings(trial, region, declared)].filter(
          (tried) => !explainsMore(direct, tried, declared),
        )
  if (direct.valid || inside.length > 0) return [direct, ...inside]
  if (isSlight(region.value) && isCited(trial.text, region)) return [direct]
  const around = enclosed(trial, region)
  return around === undefined ? [direct] : [direct, around]
}

/** Whether an object or list, where one is expected, holds no other and no string that may hold one. */
function holdsNothing(trial: Trial, { value, keepsJson }: Region): boolean {
  if (!keepsJson || typeof value !== 'object' || value === null || !isContainerExpected(trial)) return false
  return !Object.values(value).some(mayHoldJson)
}

/** Decodes a string that contains JSON. */
export function unescaped(trial: Trial, region: Region): Attempt | undefined {
  let text = region.value
  const changes: ValueChange[] = []
  const unfold = (before: string, after: unknown) =>
    changes.push({ rule: 'unescape', pointer: '', before, after })
  while (typeof text === 'string' && changes.length < trial.settings.unescapeDepth) {
    const inner = decodeInner(text, trial)
    const peeled = inner === undefined ? peelString(text) : undefined
    if (inner === undefined && peeled === undefined) return undefined
    unfold(text, inner === undefined ? peeled : inner.value)
    if (inner !== undefined) {
      const before = { changes, cost: rules.unescape.cost * changes.length, unfolded: changes.length }
      return attempt(trial, region, inner, before, text)
    }
    text = peeled
  }
  return undefined
}

/**
 * Reads strings, at the root or in wrappers, that hold more than one JSON value: with words, fences, a draft or another
 * string around it. Each is read as an embedded text, one level of strings deeper.
 */
function fromStrings(trial: Trial, region: Region, declared: ReadonlySet<string>): Attempt[] {
  const found: Attempt[] = []
  for (const { node, depth, left, unfolded } of stringsInside(trial, region, declared)) {
    const text = node.value as string
    trial.unfolding.left -= text.length
    if (trial.unfolding.left < 0) break
    const unescapeDepth = trial.settings.unescapeDepth - unfolded - 1
    const settings = { ...trial.settings, unescapeDepth }
    const other = createTrial(text, { ...trial, settings, strict: undefined })
    const ranked = fromRegions(other, survey(other).regions, declared).filter((r) => r.tier < ECHO)
    const inner = best(ranked, settings)
    if (!inner?.valid) continue
    const unfold: ValueChange = { rule: 'unescape', pointer: '', before: text, after: inner.region.value }
    const lift: ValueChange = { rule: 'lift', pointer: '', before: region.value, after: text }
    const changes = [...(depth > 0 ? [lift] : []), unfold, ...inner.changes]
    const cost = rules.lift.cost * depth + rules.unescape.cost * (unfolded + 1) + left + inner.cost
    const { truncated } = inner.region
    found.push({
      ...inner,
      region: truncated ? region.with({ truncated }) : region,
      changes,
      cost,
    })
  }
  return found
}

/** Whether the value is valid only because data was dropped or made into text: another reading may be the right one. */
function isForced(tried: Attempt): boolean {
  return tried.changes.some(({ rule }) => rule === 'json->str' || rule === 'wrap' || rule === 'drop-key')
}

/** Penalty for unlikely answers: objects without declared members, and empty values. */
export function strangeness(value: unknown, declared: ReadonlySet<string>): number {
  if (isEmpty(value)) return 15
  return isObject(value) && declared.size > 0 && !Object.keys(value).some((key) => declared.has(key)) ? 20 : 0
}

/** Joins separate values into one list. */
export function together(parts: readonly Region[]): Region {
  const first = parts[0] as Region
  const last = parts[parts.length - 1] as Region
  const edits: TextEdit[] = [{ rule: 'collect', start: first.start, end: first.start, after: '[' }]
  parts.forEach((part, index) => {
    for (const edit of part.edits) edits.push(edit)
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
  return new Region({ value, edits, start: first.start, end: last.end, truncated }, { at: nodes })
}

export function listWanted(trial: Trial): boolean {
  const types = trial.target.guided?.root.types ?? []
  return types.includes('array') && !types.includes('object')
}
