/** Decodes JSON inside strings: `"{\"a\": 1}"` where the schema expects an object. */

import { parseQuietly } from '../decode/quick-strict.ts'
import type { Node } from '../decode/tree/tree.ts'
import type { Settings } from '../settings.ts'
import type { Allowance } from '../step-budget.ts'
import { scan } from './scan.ts'

/** The object or list that makes up the whole string, ignoring fences and spaces; undefined if absent. */
export function decodeInner(
  text: string,
  { settings, allowance }: { readonly settings: Settings; readonly allowance: Allowance },
): Node | undefined {
  if (!mayHold(text)) return undefined
  // Several readings of one string ask for it in turn.
  if (allowance.decoded?.text !== text)
    allowance.decoded = { text, node: decodeWhole(text, settings, allowance) }
  return allowance.decoded.node
}

function decodeWhole(text: string, settings: Settings, allowance: Allowance): Node | undefined {
  const { limits, acceptTruncated } = settings
  const { regions } = scan(text, { depth: limits.depth, acceptTruncated, allowance })
  const region = regions[0]
  if (region === undefined || regions.length > 1 || region.truncated) return undefined
  const around = text.slice(0, region.start) + text.slice(region.end)
  if (
    !/^[\s`~;\u0000\u200b-\u200d\u2060\ufeff]*(?:json)?[\s`~;}\]\u0000\u200b-\u200d\u2060\ufeff]*$/i.test(
      around,
    )
  )
    return undefined
  const tolerable = region.summary.level <= settings.tolerance
  return tolerable ? region.node : undefined
}

/** Decodes a text that is exactly one JSON string: it was encoded once too often. */
export function peelString(text: string): string | undefined {
  const whole = text.trim()
  if (!whole.startsWith('"') || !whole.endsWith('"')) return undefined
  const value = parseQuietly(whole)?.value
  return typeof value === 'string' ? value : undefined
}

/** Cheap test before the scan: only spaces, invisible characters and a fence occur before the first bracket. */
export function mayHold(text: string): boolean {
  return /^[\s\u0000\u200b-\u200d\u2060\ufeff]{0,64}(?:[`~]{3,8} ?\w{0,10}\s{0,8})?[\ufeff]?[{[｛［]/.test(
    text,
  )
}
