/** Finds scalar answers: a string, a number, a boolean, one of a few words. */

import { type JsonType, jsonType } from '../../base/json.ts'
import { memoize } from '../../base/memoize.ts'
import { normalForm } from '../coerce/match-names.ts'
import { THOUGHT_TAG_END } from '../decode/ends.ts'
import { makeNode, type TextEdit } from '../decode/tree/tree.ts'
import { hasFastPaths } from '../fast-paths.ts'
import type { Block } from '../scan/prose.ts'
import { type Region, toRegion } from '../scan/region.ts'
import { decodeBare, type Scan, type ScanOptions } from '../scan/scan.ts'
import type { Conversion } from '../types.ts'
import { type Attempt, attempt, type Trial } from './attempt.ts'
import { toScanOptions } from './survey.ts'

/** Readings of the text as a scalar, best first; only the valid ones unless there are none. */
export function scalarAttempts(trial: Trial, { blocks, regions }: Scan): Attempt[] {
  const types = trial.target.guided?.root.types ?? []
  const values = trial.target.guided?.root.values
  const numeric = types.includes('integer') || types.includes('number')
  const tries: Attempt[] = []
  const add = (region: Region | undefined): boolean => {
    if (region === undefined || isKey(trial.text, region, regions)) return false
    const tried = attempt(trial, region)
    if (tried.valid && isQuoted(trial.text, region) && !mayUnquote(tried.value, trial)) return false
    // One word or line of prose is not a list of one.
    if (tried.valid && region.bare && typeof region.value === 'string' && isContainer(tried.plain))
      return false
    // A member of an object or list is not the answer unless unwrapping is allowed.
    if (tried.valid && trial.settings.aop !== 'full' && isInside(region, regions)) return false
    tries.push(tried)
    return tried.valid
  }
  const start = answerStart(trial)
  const whole = textRegion(trial, [start, trial.text.length], start > 0)
  if (types.includes('string') && values === undefined && (add(quotedWhole(trial, start)) || add(whole)))
    return tries
  for (const [start, end] of slices(trial.text, blocks)) {
    if (isKey(trial.text, { start, end }, regions)) continue
    if (add(bareScalar(trial, start, end))) return tries
    if (numeric && end - start < 60 && add(wordRegion(trial.text, start, end - start))) return tries
    // The brackets of an object are not punctuation around a listed word.
    const isWord = values === undefined || !regions.some((r) => r.start >= start && r.end <= end)
    if (types.includes('string') && isWord && add(textRegion(trial, [start, end]))) return tries
  }
  if (values !== undefined && add(onlyWord(trial, values))) return tries
  if (types.includes('boolean') && add(onlyWord(trial, TRUTH_WORDS))) return tries
  if (numeric) add(onlyNumber(trial))
  // A branch of a union may take the text as it is.
  if (trial.target.guided?.root.unions.length) {
    const tried = attempt(trial, whole)
    if (tried.valid && tried.changes.length === 0) tries.push(tried)
  }
  return tries
}

/** Whether the region is enclosed in quotes, which makes it a string. */
function isQuoted(text: string, { start, end }: Region): boolean {
  return start > 0 && end < text.length && /^["'“][\s\S]["'”]$/.test(`${text[start - 1]}.${text[end]}`)
}

/** Whether a string may be read as this value, by a conversion to a type that the schema allows. */
function mayUnquote(value: unknown, { settings, target }: Trial): boolean {
  const types = target.guided?.root.types ?? []
  const mayBe = (type: JsonType, conversion: Conversion) =>
    types.includes(type) && settings.allows(type, conversion)
  switch (jsonType(value)) {
    case 'integer':
    case 'number':
      return mayBe('integer', 'str->int') || mayBe('number', 'str->float') || mayBe('number', 'str->int')
    case 'boolean':
      return mayBe('boolean', 'str->bool')
    case 'null':
      return mayBe('null', 'str->null')
    default:
      return true
  }
}

/** Whether this is a member name, which is never the answer. */
function isKey(text: string, range: Range, regions: readonly Region[]): boolean {
  return /^["'”]?\s{0,8}[:：]/.test(text.slice(range.end, range.end + 12)) && isInside(range, regions)
}

interface Range {
  readonly start: number
  readonly end: number
}

function isInside({ start, end }: Range, regions: readonly Region[]): boolean {
  return regions.some((outer) => isContainer(outer.value) && outer.start <= start && end <= outer.end)
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

const THOUGHTS = '(think|thinking|thoughts?|reasoning|scratchpad|inner_monologue)'
/** Opening and closing tags of blocks that only ever hold reasoning. */
const THOUGHT = new RegExp(`<(/?)${THOUGHTS}>|[[◁](/?)think[\\]▷]`, 'giu')

/**
 * Where a text begins behind reasoning at its beginning; 0 if a block is open, nothing follows it, or the level does not
 * allow to leave it out.
 */
export function answerStart({ text, settings }: Trial): number {
  if (settings.aop !== 'full' || !/^\s*[<[◁]/.test(text)) return 0
  let start = 0
  let open = 0
  for (const { 0: tag, 1: slash, 3: otherSlash, index } of text.matchAll(THOUGHT)) {
    if (open === 0 && text.slice(start, index).trim() !== '') break
    open += (slash ?? otherSlash) === '/' ? -1 : 1
    if (open < 0) break
    if (open === 0) start = index + tag.length
  }
  const rest = text.slice(start).trimStart()
  return start === 0 || open > 0 || rest === '' ? 0 : text.length - rest.length
}

/** The region of a text that is one JSON string. */
export function quotedWhole(trial: Trial, start = 0): Region | undefined {
  const { text } = trial
  const trimmed = text.slice(start).trim()
  if (!/^["'“`]/.test(trimmed) || /^`(?:``|\s*[{[])/.test(trimmed) || trimmed.length < 2) return undefined
  const region = decodeBare(text, text.indexOf(trimmed, start), text.length, oneValue(trial))
  if (typeof region?.value !== 'string' || region.bare) return undefined
  if (region.uses('inner-quote')) return undefined
  return text.slice(region.end).trim() === '' ? region : undefined
}

/** Options to read a single value: a text of several is rejected as soon as that shows, not at its end. */
function oneValue(trial: Trial): ScanOptions {
  return { ...toScanOptions(trial), onlyOne: true }
}

/** The text itself as a string. `isBehind`: it follows reasoning. */
export function textRegion(trial: Trial, [start, end]: readonly [number, number], isBehind = false): Region {
  const node = makeNode('string', trial.text.slice(start, end), start, end)
  const { length } = trial.text
  const edits: TextEdit[] = [{ rule: 'text-is-value', start: isBehind ? start : 0, end: length, after: node }]
  if (isBehind) edits.unshift({ rule: 'reasoning', start: 0, end: start, after: '' })
  return toRegion('text-is-value', node, { edits, start: 0, end: length })
}

function bareScalar(trial: Trial, start: number, end: number): Region | undefined {
  const region = decodeBare(trial.text, start, end, oneValue(trial))
  return typeof region?.value === 'object' && region.value !== null ? undefined : region
}

/** Ranges that may be the answer by themselves: the whole text, then tagged and fenced blocks, then emphasis. */
function* slices(text: string, blocks: readonly Block[]): Generator<[number, number]> {
  yield trimmed(text, 0, text.length)
  const reasoned = afterReasoning(text)
  if (reasoned > 0) yield trimmed(text, reasoned, text.length)
  for (const block of blocks)
    if (!block.reasoning && block.end - block.start < 400) yield trimmed(text, block.start, block.end)
  if (text.length > 20_000) return
  for (const match of text.matchAll(/\*\*([^*\n]{1,80})\*\*|"([^"\n]{1,80})"|`([^`\n]{1,80})`/g)) {
    const inner = match[1] ?? match[2] ?? match[3] ?? ''
    const start = match.index + match[0].indexOf(inner)
    yield trimmed(text, start, start + inner.length)
  }
  const last = text.trimEnd().lastIndexOf('\n') + 1
  if (last > 0) yield trimmed(text, last, text.length)
}

/** Where the last reasoning block ends. */
function afterReasoning(text: string): number {
  let end = 0
  for (const match of text.matchAll(new RegExp(THOUGHT_TAG_END, 'gi'))) end = match.index + match[0].length
  return end
}

const EDGE =
  '(?:[\\s\\0\u200b-\u200d\u2060\ufeff]|<[|｜][\\w▁]{1,40}[|｜]>|</?s>|<bos>|<eos>|<(?:start|end)_of_turn>|\\[/INST\\])*'
const START = new RegExp(`^${EDGE}`)
const END = new RegExp(`${EDGE}$`)

/** Trims spaces, invisible characters and chat tokens at both ends. */
function trimmed(text: string, start: number, end: number): [number, number] {
  const slice = text.slice(start, end)
  const before = START.exec(slice.slice(0, 400))?.[0].length ?? 0
  const after = END.exec(slice.slice(Math.max(before, slice.length - 400)))?.[0].length ?? 0
  return [start + before, end - after]
}

const TRUTH_WORDS = ['true', 'false']
const NEGATION = /\b(?:not|no|never|non|isn't|neither|without)[\s-]+(?:\w+\s+)?$/i

/** The only listed word in the text, if it is not negated. */
function onlyWord(trial: Trial, values: readonly unknown[]): Region | undefined {
  const { text } = trial
  if (text.length > 20_000) return undefined
  let only: Region | undefined
  for (const { start, length } of findListedWords(text, values)) {
    if (only !== undefined || NEGATION.test(text.slice(Math.max(0, start - 16), start))) return undefined
    only = wordRegion(text, start, length)
  }
  return only
}

function wordRegion(text: string, start: number, length: number): Region {
  const end = start + length
  const node = { ...makeNode('string', text.slice(start, end), start, end), bare: true }
  return toRegion('bare-value', node, { bare: true })
}

/** The only number in the text. */
function onlyNumber(trial: Trial): Region | undefined {
  if (trial.text.length > 20_000) return undefined
  const matches = [...trial.text.matchAll(/(?<![\w.])[-+]?\d[\d,.]*(?:[eE][+-]?\d+)?%?(?!\w)/g)]
  const tokens = new Set(matches.map((match) => match[0].replace(/[.,]+$/, '')))
  const [first] = matches
  if (tokens.size !== 1 || first === undefined) return undefined
  const [token] = tokens as unknown as [string]
  return bareScalar(trial, first.index, first.index + token.length)
}

// Finds listed values in a text as whole words, without regard to case. An index of the values by their first token makes one
// pass over the text enough, however many values there are.

interface FoundWord {
  readonly start: number
  readonly length: number
}

/** The values that begin with one token: by folded text, how often each is listed, and which lengths they have. */
interface SameStart {
  readonly counts: Map<string, number>
  readonly lengths: Set<number>
}

const TOKEN = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu
const STARTS_WITH_WORD = /^[\p{L}\p{N}_]/u

/**
 * The first place of every listed value in the text, in the order of the text. A value that is listed twice, or in two
 * spellings that differ only in case, is found twice.
 */
export function* findListedWords(text: string, values: readonly unknown[]): Generator<FoundWord> {
  const index = buildIndex(values)
  const folded = foldCase(text)
  const seen = new Set<string>()
  let isAfterWord = false
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const same = isAfterWord ? undefined : index.get(folded.slice(start, start + token.length))
    isAfterWord = STARTS_WITH_WORD.test(token)
    if (same === undefined) continue
    for (const length of same.lengths) {
      const end = start + length
      const word = folded.slice(start, end)
      const count = seen.has(word) ? undefined : same.counts.get(word)
      if (count === undefined || STARTS_WITH_WORD.test(text.slice(end, end + 2))) continue
      seen.add(word)
      for (let i = 0; i < count; i++) yield { start, length }
    }
  }
}

/** The values by their first token. Cached: a schema reads many texts. */
const buildIndex = memoize((values: readonly unknown[]): ReadonlyMap<string, SameStart> => {
  const index = new Map<string, SameStart>()
  for (const value of values) {
    if (typeof value !== 'string' || normalForm(value) === '') continue
    const folded = foldCase(value)
    const first = folded.slice(0, value.match(TOKEN)?.[0].length)
    const same = index.get(first) ?? { counts: new Map(), lengths: new Set() }
    same.counts.set(folded, (same.counts.get(folded) ?? 0) + 1)
    same.lengths.add(folded.length)
    index.set(first, same)
  }
  return index
})

/** Folds case as the flags `iu` of a pattern do; every character keeps its length, so that positions stay valid. */
function foldCase(text: string): string {
  if (hasFastPaths && !/[^\0-\x7f]/.test(text)) return text.toLowerCase()
  return text.replace(/\P{ASCII}|[A-Z]/gu, (character) => {
    // The dotless i is a letter of its own, though its capital is that of i.
    if (character === 'ı') return character
    const upper = character.toUpperCase()
    const lower = (upper.length === character.length ? upper : character).toLowerCase()
    return lower.length === character.length ? lower : character
  })
}
