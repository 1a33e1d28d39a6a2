/**
 * Classifies unquoted tokens as numbers, literals (of JSON, JavaScript and Python) or plain words. The decoder calls
 * `classify` on the text it has cut out.
 */
import type { RuleName } from '../rules.ts'

export type Bare =
  | { readonly kind: 'number'; readonly value: number; readonly rule: RuleName | undefined }
  | { readonly kind: 'big'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly rule: RuleName | undefined }
  | { readonly kind: 'null'; readonly rule: RuleName | undefined }
  /** `NaN`, `Infinity`, `undefined`: values that JSON cannot represent. */
  | { readonly kind: 'constant' }
  | { readonly kind: 'string' }
  /** A sign or point without digits: the start of an incomplete number. */
  | { readonly kind: 'nothing' }

const STRICT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const LOOSE = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d*)?(?:[eE][+-]?\d*)?$/
const SEPARATED = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+(?:_\d+)+|\d{1,3}(?:,\d{3})*)(?:\.\d+(?:_\d+)*)?$/
const HEX = /^[+-]?0[xX][0-9a-fA-F]+$/

const LITERALS: Record<string, Bare> = {}
for (const [words, bare] of [
  ['true', { kind: 'boolean', value: true, rule: undefined }],
  ['false', { kind: 'boolean', value: false, rule: undefined }],
  ['null', { kind: 'null', rule: undefined }],
  ['True TRUE', { kind: 'boolean', value: true, rule: 'literal' }],
  ['False FALSE', { kind: 'boolean', value: false, rule: 'literal' }],
  ['None Null NULL nil', { kind: 'null', rule: 'literal' }],
  ['undefined NaN nan Infinity +Infinity -Infinity inf -inf', { kind: 'constant' }],
] as const)
  for (const word of words.split(' ')) LITERALS[word] = bare

/** Classifies an unquoted token. */
export function classify(text: string): Bare {
  const c = text.charCodeAt(0)
  // Letters first: most bare tokens are literals or words.
  if (c > 57 || c === 36) return Object.hasOwn(LITERALS, text) ? (LITERALS[text] as Bare) : { kind: 'string' }
  if (STRICT.test(text)) return number(text, Number(text), undefined)
  if (Object.hasOwn(LITERALS, text)) return LITERALS[text] as Bare
  if (HEX.test(text)) return hex(text)
  if (LOOSE.test(text)) return loose(text)
  if (text.length < 64 && SEPARATED.test(text)) {
    const plain = text.replaceAll(',', '').replaceAll('_', '')
    return /^[+-]?0\d/.test(plain) ? { kind: 'string' } : number(plain, Number(plain), 'number')
  }
  return { kind: 'string' }
}

function hex(text: string): Bare {
  const negative = text.startsWith('-')
  const value = Number(text.replace(/^[+-]/, ''))
  if (!Number.isSafeInteger(value)) return { kind: 'string' }
  return { kind: 'number', value: negative ? -value : value, rule: 'number' }
}

/** `+1`, `.5`, `5.`, `2e`: keeps the digits present and invents none. */
function loose(text: string): Bare {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d*))?$/.exec(text)
  if (match === null) return { kind: 'string' }
  const [, sign, whole, fraction, exponent] = match
  if (!whole && !fraction) return { kind: exponent === undefined ? 'nothing' : 'string' }
  const tail = exponent && /\d/.test(exponent) ? `e${exponent}` : ''
  const plain = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction ? `.${fraction}` : ''}${tail}`
  return number(plain, Number(plain), 'number')
}

/** Never loses digits silently: a number that a double cannot hold stays text. */
function number(text: string, value: number, rule: RuleName | undefined): Bare {
  if (!Number.isFinite(value)) return { kind: 'big', value: text }
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && losesDigits(text, value)) {
    return { kind: 'big', value: text }
  }
  return { kind: 'number', value, rule }
}

/** Whether an integer, as written, differs from its double value. */
export function losesDigits(text: string, value: number): boolean {
  return /^[+-]?\d+$/.test(text) && BigInt(text) !== BigInt(value)
}
