/**
 * Heuristics on words and shapes that classify a value in the text: answer, correction, example, or echo of the schema.
 */
import { isObject } from '../../base/json.ts'
import type { Shape } from '../../schema/shape.ts'
import type { Region } from './region.ts'

/** How trustworthy a region is as the answer: lower is better. */
export const ANSWER = 0
export const EXAMPLE = 1
export const ECHO = 2
const REASONING = 3

const CORRECTION =
  /\b(?:actually|correct(?:ed|ion| (?:version|answer|json|output|one))|final[ _](?:answer|output|result|json|version|response)|revised|(?:updated|fixed) version|instead|wait|let me (?:fix|correct|redo)|here is the (?:fixed|final))\b|\b(?:edit|erratum|errata|right|correct)\s*:|\bfinal\W{0,3}[:>\n]|<answer>|bonne réponse|korrektur|sondern|correcto|corretto|корректн|исправлен|korrigiert|richtig ist|corregid|corrigé|rectif|更正|修正|最终|最終|正しい/i
const SAMPLE =
  /\b(?:for example|example|examples|e\.g|for instance|such as|sample|template|schema|in the (?:form|shape) of|would look like|looks like|expected format|format is|given the|request was)\b|\bformat:|^\W*input:|пример|beispiel|ejemplo|exemple|esempio|例えば|例如|예를/im
const TYPE_WORD =
  /^(?:string|str|number|integer|int|float|boolean|bool|null|array|object|date|datetime|any|text|<[^<>]*>|\.{3}|…|(?:string|number|integer|boolean|array|object)\b.*|your .*|\[[\w ,.|-]{0,40}\]|\{[\w ]{0,30}\})$/i

/** The prose between the previous region and this one. */
function proseBefore(text: string, region: Region, previous: Region | undefined, reach: number): string {
  return text.slice(Math.max(previous?.end ?? 0, region.start - reach), region.start)
}

/** Whether a later value replaces an earlier one. */
export function isCorrection(text: string, region: Region, previous: Region | undefined): boolean {
  return previous !== undefined && CORRECTION.test(proseBefore(text, region, previous, 240))
}

export function rankCue(
  text: string,
  region: Region,
  previous: Region | undefined,
  shape: Shape | undefined,
): number {
  if (region.reasoning) return REASONING
  if (looksLikeSchema(region.value, shape) || looksLikeFormat(region.value)) return ECHO
  const prose = proseBefore(text, region, previous, 120)
  return SAMPLE.test(prose) && !CORRECTION.test(prose) ? EXAMPLE : ANSWER
}

const KEYWORDS = ['type', '$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'description', 'items']

/** Whether the value is a JSON Schema where the caller expects data. */
function looksLikeSchema(value: unknown, shape: Shape | undefined): boolean {
  if (!isObject(value)) return false
  if (Object.hasOwn(value, '$schema') || Object.hasOwn(value, '$defs'))
    return !shape?.names.includes('$schema')
  const { properties } = value
  if (!isObject(properties) || shape?.names.includes('properties')) return false
  return Object.values(properties).every(
    (property) => isObject(property) && KEYWORDS.some((word) => Object.hasOwn(property, word)),
  )
}

/** Whether every leaf names a type or a placeholder: the format was repeated, not filled in. */
function looksLikeFormat(value: unknown): boolean {
  let leaves = 0
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    const at = stack.pop()
    if (Array.isArray(at)) stack.push(...at.slice(0, 50))
    else if (isObject(at)) stack.push(...Object.values(at).slice(0, 50))
    else if (typeof at !== 'string' || !TYPE_WORD.test(at.slice(0, 80))) return false
    else if (++leaves > 200) return false
  }
  return leaves > 0
}
