/** What the regions of a text can mean under the schema: as they stand, lifted, enclosed, or several as one list. */
import { isObject } from '../base/json.ts'
import { type Attempt, attempt, type Trial } from './attempt.ts'
import { ANSWER, ECHO, isCorrection, tierOf } from './cues.ts'
import { decodeInner, peelString } from './inner.ts'
import { enclosed, lifted } from './lift.ts'
import type { Ranked } from './rank.ts'
import type { ValueChange } from './record.ts'
import { Region } from './region.ts'
import { rules } from './rules.ts'
import { isSlight } from './survey.ts'
import type { Guided } from './target.ts'
import { makeNode, type Node, type TextEdit } from './tree.ts'

/** How many regions are looked into; of the rest only what stands is tried. */
const MOST_READ = 1_000

/** What it costs to look at the words before a region. */
const LOOK_AROUND = 50

export function fromRegions(
  trial: Trial,
  regions: readonly Region[],
  declared: ReadonlySet<string>,
): Ranked[] {
  const { root } = trial.target.guided as Guided
  const ranked: Ranked[] = []
  const parts: Region[] = []
  regions.forEach((region, index) => {
    if (!trial.allowance.spend(LOOK_AROUND, region.start)) return
    if (index >= MOST_READ && !trial.target.check(region.value).ok) return
    const previous = regions[index - 1]
    const tier = tierOf(trial.text, region, previous, root)
    const correction = isCorrection(trial.text, region, previous)
    // A repeated format is not looked into; a string may be the whole answer, encoded.
    const direct = (tier === ECHO && typeof region.value !== 'string') || index >= MOST_READ
    for (const tried of direct ? [attempt(trial, region)] : readings(trial, region, declared)) {
      const extra = strangeness(tried.plain, declared)
      const otherKind = isOtherKind(region.value, root)
      const slight = (otherKind && isSlight(region.value)) || isEmpty(tried.plain)
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
    !ranked.some((r) => r.attempt.valid && Array.isArray(r.attempt.region.value))
  ) {
    const all = attempt(trial, together(parts))
    // One of several values alone would be a silent loss.
    const whole = all.valid ? all : gathered(trial, parts, ranked)
    if (whole !== undefined) return [{ attempt: whole, tier: ANSWER, correction: false, extra: 0 }]
  }
  return ranked
}

/** `[a]` and `[b]` with nothing but space, fences and tags between them: one list, written in pieces. */
function joinedLists(trial: Trial, ranked: readonly Ranked[]): Attempt | undefined {
  const lists = ranked.filter(
    (r) => r.attempt.valid && r.tier === ANSWER && Array.isArray(r.attempt.region.value),
  )
  const regions = [...new Set(lists.map((r) => r.attempt.region))]
  if (regions.length < 2 || regions.length !== lists.length || lists.some((r) => isEmpty(r.attempt.plain)))
    return undefined
  const apart = regions.some((region, index) => {
    const next = regions[index + 1]
    return next !== undefined && !isBetween(trial.text.slice(region.end, next.start))
  })
  return apart || !isBetween(trial.text.slice(0, regions[0]?.start))
    ? undefined
    : gathered(trial, regions, ranked)
}

/** Space, commas, fences with their labels, and tags. One at a time: a single expression would try every way to split a run of fences. */
const BETWEEN = /[\s,;]+|[`~]{3,}\w*|<\/?[\w:.-]{1,40}>/y

function isBetween(text: string): boolean {
  if (text.length > 1_000) return false
  for (BETWEEN.lastIndex = 0; BETWEEN.lastIndex < text.length; ) if (!BETWEEN.test(text)) return false
  return true
}

/** Each part holds an item of the list inside something else: the lists of one that they give are joined. */
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

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** The root wants an object and this is a list, or the reverse. */
function isOtherKind(value: unknown, { types }: Guided['root']): boolean {
  const kind = Array.isArray(value) ? 'array' : isObject(value) ? 'object' : undefined
  return kind !== undefined && types.length > 0 && !types.includes(kind)
}

/** A region as it stands and, if that does not fit, what it wraps or what should wrap it. */
function readings(trial: Trial, region: Region, declared: ReadonlySet<string>): Attempt[] {
  const direct = attempt(trial, region)
  if (direct.valid && !isForced(direct) && strangeness(direct.plain, declared) === 0) return [direct]
  const inner = unescaped(trial, region)
  if (inner?.valid && strangeness(inner.plain, declared) === 0) return [direct, inner]
  if (trial.settings.aop !== 'full') return inner?.valid ? [direct, inner] : [direct]
  const inside = lifted(trial, region, declared).filter((tried) => !explainsMore(direct, tried, declared))
  if (direct.valid || inside.length > 0) return [direct, ...inside]
  const around = enclosed(trial, region)
  return around === undefined ? [direct] : [direct, around]
}

/** A string that holds JSON, unfolded. */
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

/** The whole has at least as many values under declared keys as a part of it: then the part is not the answer. */
function explainsMore(whole: Attempt, part: Attempt, declared: ReadonlySet<string>): boolean {
  if (!whole.valid || whole.changes.some(({ rule }) => rule === 'json->str' || rule === 'wrap')) return false
  const kept = explained(whole.plain, declared)
  return kept > 0 && kept >= explained(part.plain, declared)
}

/** How much of the text a value accounts for: the scalars in a list, or under the declared keys of an object. */
export function explained(value: unknown, declared: ReadonlySet<string>): number {
  let leaves = 0
  const stack: unknown[] = isObject(value)
    ? Object.entries(value).flatMap(([key, member]) =>
        declared.size === 0 || declared.has(key) ? [member] : [],
      )
    : [value]
  while (stack.length > 0) {
    const at = stack.pop()
    if (typeof at !== 'object' || at === null) leaves++
    else for (const inner of Object.values(at)) stack.push(inner)
  }
  return leaves
}

/** Valid only because something was thrown away or made into text: another reading may be the right one. */
function isForced(tried: Attempt): boolean {
  return tried.changes.some(({ rule }) => rule === 'json->str' || rule === 'wrap' || rule === 'drop-key')
}

/** An object that has none of the declared members, or nothing at all, is an unlikely answer. */
export function strangeness(value: unknown, declared: ReadonlySet<string>): number {
  if (Array.isArray(value)) return value.length === 0 ? 15 : 0
  if (!isObject(value)) return 0
  const keys = Object.keys(value)
  if (keys.length === 0) return 15
  return declared.size > 0 && !keys.some((key) => declared.has(key)) ? 20 : 0
}

/** Separate values as one list. */
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
