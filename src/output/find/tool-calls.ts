/**
 * Normalises tool calls: where the schema expects objects with a name and arguments, converts `f({…})`, `f{…}`, a name
 * on the line before its arguments, `<function=f>`, `{"f": {…}}`, `["f", {…}]` and other key names to that form.
 */
import { findMember } from '../coerce/coerce.ts'
import { makeNode, type Node } from '../decode/tree/tree.ts'
import { decodeInner, mayHold } from '../scan/nested-json.ts'
import { Region } from '../scan/region.ts'
import { decodeBare } from '../scan/scan.ts'
import type { Trial } from './attempt.ts'
import { ARGUMENTS, type CallKeys, findCallKeys, NAMES } from './call-keys.ts'
import { isReasoned, toScanOptions } from './survey.ts'

/** The regions, with calls in other notations converted to the form that the schema expects. */
export function withCalls(trial: Trial, regions: readonly Region[]): readonly Region[] {
  const keys = trial.target.guided && findCallKeys(trial.target.guided)
  if (keys === undefined || trial.settings.tolerance < 2) return regions
  return regions.map((region) => callRegion(trial, region, keys) ?? region)
}

/** The same for a node of a text. */
export function findCallNode(trial: Trial, text: string, node: Node): Node | undefined {
  const keys = trial.target.guided && findCallKeys(trial.target.guided)
  if (keys === undefined || trial.settings.tolerance < 2) return undefined
  return new Notation(trial, text, keys).read(node)
}

function callRegion(trial: Trial, region: Region, keys: CallKeys): Region | undefined {
  if (typeof region.value !== 'object' || region.uses('stray-value')) return undefined
  const notation = new Notation(trial, region.source ?? trial.text, keys)
  const node = notation.read(region.node)
  if (node === undefined) return undefined
  const { end, truncated, fence, reasoning, source } = region
  const { value, start } = node
  const edits = [{ rule: 'named-call' as const, start, end, after: { value } }]
  return new Region({ value, edits, start, end, truncated, fence, reasoning, source }, { at: () => node })
}

/** What may occur between the name of a call and its arguments. */
const FENCE = '(?:[`~]{3,}\\w*\\s*)?'
const NAME = '([A-Za-z_][\\w.-]{0,80})'
const BEFORE = [
  `(?:^|[\\s>;,[(])${NAME}\\s?\\(\\s*$`,
  `(?:^|[\\s>;,[\\]])${NAME}(?:\\[ARGS])?$`,
  `<[\\w:.-]{1,40}(?:=|\\s[^<>]{0,80}?\\bname=)["']?${NAME}["']?[^<>]{0,80}>\\s*${FENCE}$`,
  `\\b(?:action|tool|function|name)\\s*:\\s*\`?${NAME}\`?\\s*\\n\\s*[\\w ]{0,20}(?:input|arguments|args|parameters)\\s*:\\s*${FENCE}$`,
].map((source) => new RegExp(source, 'i'))
/** A name alone on its line: only if it looks like a function name or is a listed one. */
const LINE = new RegExp(`(?:^|[\\n\uFEFF>|｜])[ \\t*\`]*${NAME}[*\`]*[ \\t]*:?[ \\t]*\\r?\\n\\s*${FENCE}$`)
const FUNCTION = /[a-z][A-Z]|_|\w\.\w/

class Notation {
  readonly #trial: Trial
  readonly #text: string
  readonly #keys: CallKeys

  constructor(trial: Trial, text: string, keys: CallKeys) {
    this.#trial = trial
    this.#text = text
    this.#keys = keys
  }

  /** The node as a call or a list of calls; undefined if it is not a call or already has the expected form. */
  read(node: Node): Node | undefined {
    const call = this.#call(node)
    if (call !== undefined || node.kind !== 'array' || node.items === undefined) return call
    const calls = node.items.map((item) => this.#call(item))
    if (calls.length === 0 || !calls.every((item) => item !== undefined)) return undefined
    const values = calls.map((item) => item.value)
    return { ...makeNode('array', values, node.start, node.end), items: calls }
  }

  #call(node: Node): Node | undefined {
    const items = node.items ?? []
    if (node.kind === 'array') {
      const [name, args] = items
      const pair = items.length === 2 && name?.kind === 'string' && this.#isName(name.value as string)
      return pair && args !== undefined ? this.#made(node, name.value as string, args) : undefined
    }
    if (node.kind !== 'object' || this.#holdsCall(node, 3)) return undefined
    const name = NAMES.map((key) => findMember(node, key)).find((item) => item?.kind === 'string')
    const args = ARGUMENTS.map((key) => findMember(node, key)).find((item) => item !== undefined)
    if (name !== undefined && args !== undefined) return this.#made(node, name.value as string, args)
    const [key] = node.keys ?? []
    if (items.length === 1 && key !== undefined && items[0]?.kind === 'object' && this.#isName(key))
      return this.#made(node, key, items[0])
    const before = this.#nameBefore(node.start)
    return before === undefined
      ? undefined
      : this.#made({ start: before.start, end: node.end }, before.name, node)
  }

  /** Whether the object is or contains a call in the expected form: then it is a wrapper. */
  #holdsCall(node: Node, depth: number): boolean {
    const { name, args } = this.#keys
    if (findMember(node, name) !== undefined && findMember(node, args) !== undefined) return true
    return depth > 0 && (node.items ?? []).slice(0, 8).some((item) => this.#holdsCall(item, depth - 1))
  }

  #made(around: Pick<Node, 'start' | 'end'>, name: string, args: Node): Node | undefined {
    const inner =
      args.kind === 'string' && mayHold(String(args.value))
        ? decodeInner(String(args.value), this.#trial)
        : args
    if (inner?.kind !== 'object') return undefined
    const { start, end } = around
    return {
      ...makeNode('object', { [this.#keys.name]: name, [this.#keys.args]: inner.value }, start, end),
      keys: [this.#keys.name, this.#keys.args],
      items: [makeNode('string', name, start, start + name.length), inner],
    }
  }

  #isName(word: string): boolean {
    return /^[A-Za-z_][\w.-]{0,80}$/.test(word) && (this.#keys.listed || FUNCTION.test(word))
  }

  #nameBefore(at: number): { name: string; start: number } | undefined {
    const from = Math.max(0, at - 240)
    const prose = this.#text.slice(from, at)
    const line = LINE.exec(prose)
    const found = line !== null && this.#isName(line[1] as string) ? line : firstMatch(prose)
    const name = found?.[1]
    if (found === undefined || name === undefined) return undefined
    return { name, start: from + found.index + found[0].indexOf(name) }
  }
}

function firstMatch(prose: string): RegExpExecArray | undefined {
  for (const pattern of BEFORE) {
    const match = pattern.exec(prose)
    if (match !== null) return match
  }
  return undefined
}

const KEYWORD_CALL = /(?<![\w.])[A-Za-z_][\w.]{0,80}\((?=\s*[A-Za-z_]\w*\s*=[^=])/g
/** Limits: the number of calls tried, the length of each, and the length of the text. Calls are short. */
const MOST_CALLS = 100
const LONGEST_CALL = 10_000
const LONGEST_TEXT = 100_000
/** How many times the length of the text is read at most: calls that are never closed begin inside of each other. */
const MOST_PASSES = 8

/** `f(a=1, b="x")`, each as the object of its arguments. */
export function keywordCalls(trial: Trial): Region[] {
  const { text } = trial
  const regions: Region[] = []
  if (text.length > LONGEST_TEXT) return regions
  let tries = 0
  let left = MOST_PASSES * text.length
  KEYWORD_CALL.lastIndex = 0
  for (let match = KEYWORD_CALL.exec(text); match !== null; match = KEYWORD_CALL.exec(text)) {
    if (++tries > MOST_CALLS || left < 0) break
    const open = KEYWORD_CALL.lastIndex - 1
    const end = findClose(text, open)
    left -= end - open
    if (!trial.allowance.spend(end - open, open)) break
    const region = decodeBare(text, match.index, end, toScanOptions(trial))
    if (region === undefined || region.node.kind !== 'object') continue
    const lost = region.truncated || region.uses('stray-value')
    // One flat cost for the notation, independent of the number of arguments, so that it does not affect the ranking.
    const edits = lost
      ? region.edits
      : [{ rule: 'call' as const, start: match.index, end, after: { value: region.value } }]
    regions.push(region.with({ edits, reasoning: isReasoned(text, match.index, end) }))
    KEYWORD_CALL.lastIndex = end
  }
  return regions
}

/**
 * Offset behind the round bracket that matches the one at `open`, ignoring strings; the search limit if there is none.
 */
function findClose(text: string, open: number): number {
  const most = Math.min(text.length, open + LONGEST_CALL)
  let depth = 0
  let quote = ''
  for (let i = open; i < most; i++) {
    const c = text[i] as string
    if (quote !== '') {
      if (c === '\\') i++
      else if (c === quote) quote = ''
    } else if (c === '"' || c === "'") quote = c
    else if (c === '(') depth++
    else if (c === ')' && --depth === 0) return i + 1
  }
  return most
}
