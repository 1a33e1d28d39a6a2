/**
 * Tokens without quotes: finding where they end, and telling numbers and literals (of JSON, JavaScript and Python)
 * from plain words. The decoder calls `classify` on the text it has cut out.
 */
import type { RuleName } from './rules.ts'

export type Bare =
  | { readonly kind: 'number'; readonly value: number; readonly rule: RuleName | undefined }
  | { readonly kind: 'big'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly rule: RuleName | undefined }
  | { readonly kind: 'null'; readonly rule: RuleName | undefined }
  /** `NaN`, `Infinity`, `undefined`: values that JSON cannot hold. */
  | { readonly kind: 'constant' }
  | { readonly kind: 'string' }
  /** A sign or point with no digits: the beginning of a number that never came. */
  | { readonly kind: 'nothing' }

const STRICT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const LOOSE = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d*)?(?:[eE][+-]?\d*)?$/
const SEPARATED = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+(?:_\d+)+|\d{1,3}(?:,\d{3})*)(?:\.\d+(?:_\d+)*)?$/
const HEX = /^[+-]?0[xX][0-9a-fA-F]+$/

const LITERALS: Readonly<Record<string, Bare>> = {
  true: { kind: 'boolean', value: true, rule: undefined },
  false: { kind: 'boolean', value: false, rule: undefined },
  null: { kind: 'null', rule: undefined },
  True: { kind: 'boolean', value: true, rule: 'literal' },
  False: { kind: 'boolean', value: false, rule: 'literal' },
  TRUE: { kind: 'boolean', value: true, rule: 'literal' },
  FALSE: { kind: 'boolean', value: false, rule: 'literal' },
  None: { kind: 'null', rule: 'literal' },
  Null: { kind: 'null', rule: 'literal' },
  NULL: { kind: 'null', rule: 'literal' },
  nil: { kind: 'null', rule: 'literal' },
  undefined: { kind: 'constant' },
  NaN: { kind: 'constant' },
  nan: { kind: 'constant' },
  Infinity: { kind: 'constant' },
  '+Infinity': { kind: 'constant' },
  '-Infinity': { kind: 'constant' },
  inf: { kind: 'constant' },
  '-inf': { kind: 'constant' },
}

/** What an unquoted text means. */
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

/** `+1`, `.5`, `5.`, `2e`: what is there is kept, what is missing is not made up. */
function loose(text: string): Bare {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d*))?$/.exec(text)
  if (match === null) return { kind: 'string' }
  const [, sign, whole, fraction, exponent] = match
  if (!whole && !fraction) return { kind: exponent === undefined ? 'nothing' : 'string' }
  const tail = exponent && /\d/.test(exponent) ? `e${exponent}` : ''
  const plain = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction ? `.${fraction}` : ''}${tail}`
  return number(plain, Number(plain), 'number')
}

/** Digits are never lost silently: what a double cannot hold stays text. */
function number(text: string, value: number, rule: RuleName | undefined): Bare {
  if (!Number.isFinite(value)) return { kind: 'big', value: text }
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && losesDigits(text, value)) {
    return { kind: 'big', value: text }
  }
  return { kind: 'number', value, rule }
}

/** Whether a whole number, as written, differs from the double that it becomes. */
export function losesDigits(text: string, value: number): boolean {
  return /^[+-]?\d+$/.test(text) && BigInt(text) !== BigInt(value)
}
