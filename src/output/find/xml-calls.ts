/**
 * Reads the arguments of calls written as XML, each as an object: `<parameter name="a">1</parameter>`,
 * `<parameter=a>1</parameter>`, `<arg_key>a</arg_key><arg_value>1</arg_value>`, and `<a>1</a>` in
 * `<function_call name="f">`.
 */

import { makeNode, type Node } from '../decode/tree/tree.ts'
import { classify } from '../decode/unquoted.ts'
import { type Region, toRegion } from '../scan/region.ts'
import { scan } from '../scan/scan.ts'
import type { Trial } from './attempt.ts'
import { isReasoned, toScanOptions } from './survey.ts'

const NAME = '[A-Za-z_][\\w.-]{0,80}'
/** The beginning of the first argument, or the opening tag of a call before any other tag. */
const START = new RegExp(
  `<(?:(?:parameter|param|argument|arg)(?:=|\\s+name=)|arg_key>|(function_call|tool_call|invoke|function|tool|call)(?:=|\\s[^<>]{0,80}?\\bname=)["']?${NAME}["']?[^<>]{0,80}>(?=\\s*<${NAME}>))`,
  'g',
)
/** The opening tag of an argument: the tag and the key, as in the notations above. */
const ARGUMENT = new RegExp(
  `\\s*<(?:(parameter|param|argument|arg)(?:=|\\s+name=)["']?(${NAME})["']?[^<>]{0,80}|arg_key>\\s*(${NAME})\\s*</arg_key>\\s*<(arg_value)|(${NAME}))>`,
  'y',
)

/** Limits: the number of calls, the arguments of each, and the length of the text. Calls are short. */
const MOST_CALLS = 100
const MOST_ARGUMENTS = 100
const LONGEST_TEXT = 100_000

/** The regions with the calls written as XML, without the regions inside of them. */
export function withXmlCalls(trial: Trial, regions: readonly Region[]): readonly Region[] {
  const calls = xmlCalls(trial).filter((call) => !regions.some((region) => isInside(call, region)))
  if (calls.length === 0 || !trial.allowance.spend(calls.length * regions.length, 0)) return regions
  const others = regions.filter((region) => !calls.some((call) => isInside(region, call)))
  return [...others, ...calls].sort((a, b) => a.start - b.start)
}

function isInside(inner: Region, outer: Region): boolean {
  return outer.start <= inner.start && inner.end <= outer.end
}

function xmlCalls(trial: Trial): Region[] {
  const { text, strict, settings, allowance } = trial
  const calls: Region[] = []
  if (strict !== undefined || text.length > LONGEST_TEXT || settings.tolerance < 2) return calls
  // Closing tags that no longer occur: the rest of the text is searched once for each.
  const missing = new Set<string>()
  START.lastIndex = 0
  for (let tries = 0; tries < MOST_CALLS; tries++) {
    const match = START.exec(text)
    if (match === null) break
    const node = readArguments(trial, match[1] === undefined ? match.index : START.lastIndex, missing)
    if (!allowance.spend((node?.end ?? START.lastIndex) - match.index, match.index)) break
    if (node === undefined) continue
    calls.push(toRegion('call', node, { reasoning: isReasoned(text, node.start, node.end) }))
    START.lastIndex = node.end
  }
  return calls
}

/** The arguments that follow each other from `from` on; undefined if there are none or one is not closed. */
function readArguments(trial: Trial, from: number, missing: Set<string>): Node | undefined {
  const { text, allowance } = trial
  const members: [string, Node][] = []
  let end = from
  while (members.length < MOST_ARGUMENTS) {
    ARGUMENT.lastIndex = end
    const match = ARGUMENT.exec(text)
    const tag = match?.[1] ?? match?.[4] ?? match?.[5]
    const key = match?.[2] ?? match?.[3] ?? match?.[5]
    if (tag === undefined || key === undefined) break
    if (missing.has(tag)) return undefined
    const start = ARGUMENT.lastIndex
    const close = text.indexOf(`</${tag}>`, start)
    if (close < 0) {
      missing.add(tag)
      allowance.spend(text.length - start, start)
      return undefined
    }
    members.push([key, toNode(trial, start, close)])
    end = close + tag.length + 3
  }
  if (members.length === 0) return undefined
  const value = Object.fromEntries(members.map(([key, item]) => [key, item.value]))
  const start = text.indexOf('<', from)
  return {
    ...makeNode('object', value, start, end),
    keys: members.map(([key]) => key),
    items: members.map(([, item]) => item),
  }
}

/** The content of an argument: a number, a truth value, a list or an object where it looks like one, else a text. */
function toNode(trial: Trial, from: number, to: number): Node {
  const { text } = trial
  // Line breaks next to the tags are layout.
  const start = from + (/^[^\S\n]*\n/.exec(text.slice(from, to))?.[0].length ?? 0)
  const content = text.slice(start, to).replace(/\r?\n[^\S\n]*$/, '')
  const end = start + content.length
  if (/^\s*[{[]/.test(content)) {
    const [region] = scan(text.slice(0, end), { ...toScanOptions(trial), firstOnly: true }, start).regions
    if (
      region !== undefined &&
      text.slice(start, region.start).trim() + text.slice(region.end, end).trim() === ''
    )
      return region.node
  }
  const bare = classify(content)
  if (bare.kind === 'number' || bare.kind === 'boolean') return makeNode(bare.kind, bare.value, start, end)
  return { ...makeNode('string', content, start, end), bare: true }
}
