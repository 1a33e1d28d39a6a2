/** Parses numbers as people and models write them, only when the meaning is unambiguous. Called by the conversions. */
import { classify, losesDigits } from '../decode/unquoted.ts'

export type NumberReading =
  | { readonly kind: 'number'; readonly value: number }
  /** The conversion would lose digits. */
  | { readonly kind: 'unsafe' }
  | { readonly kind: 'none' }

const NONE: NumberReading = { kind: 'none' }
const CURRENCY =
  /^(?:[$€£¥₹₩₽₺₫₪฿]|(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY)\b)\s*|\s*(?:[$€£¥₹₩₽₺₫₪฿]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY))$/g
const GROUPED = /^[+-]?\d{1,3}(?:([,.'’\u00a0\u202f _])\d{3})(?:\1\d{3})*(?:([.,])\d+)?$/
const LONGEST = 400

/** Parses a number; `bounds` decide the base of a percentage. */
export function readNumber(text: string, bounds: { readonly maximum: number | undefined }): NumberReading {
  let body = asciiDigits(text.trim())
  if (body === '' || body.length > LONGEST) return NONE
  let scale = 1
  if (/[%％]$/.test(body)) {
    body = body.slice(0, -1).trimEnd()
    if (bounds.maximum !== undefined && bounds.maximum <= 1) scale = 100
  }
  const sign = /^\((.+)\)$/.exec(body)
  if (sign === null) body = body.replace(CURRENCY, '').replace(/^([+-])\s*(?:[$€£¥₹])\s*/, '$1')
  const value = plain(body)
  if (value.kind !== 'number' || scale === 1) return value
  // Shift the exponent in the text: 12.5 % becomes exactly 0.125, without a rounding error.
  return { kind: 'number', value: Number(`${body}e-2`) }
}

function plain(body: string): NumberReading {
  const grouped = ungroup(body)
  if (/^[+-]?\d/.test(grouped) || /^[+-]?\.\d/.test(grouped)) {
    const bare = classify(grouped)
    if (bare.kind === 'number') return { kind: 'number', value: bare.value }
    if (bare.kind === 'big') return { kind: 'unsafe' }
    // Leading zeros: 007 is 7 where a number is expected.
    if (/^[+-]?0+\d+(?:\.\d+)?$/.test(grouped)) return checked(grouped)
    return arithmetic(grouped)
  }
  return NONE
}

function checked(text: string): NumberReading {
  const value = Number(text)
  if (!Number.isFinite(value) || losesDigits(text, value)) return { kind: 'unsafe' }
  return { kind: 'number', value }
}

/** 12,000 and 1.234,56 and 1'000: separators every three digits, and at most one other mark for the decimals. */
function ungroup(body: string): string {
  const match = GROUPED.exec(body)
  if (match === null) return body
  const [, separator, decimal] = match as unknown as [string, string, string | undefined]
  if (separator === decimal) return body
  // A single point before three digits is a decimal point: 1.234 is not 1234.
  if (separator === '.' && decimal === undefined && body.indexOf('.') === body.lastIndexOf('.')) return body
  const digits = body.replaceAll(separator, '')
  return decimal === ',' ? digits.replace(',', '.') : digits
}

/**
 * Evaluates a constant sum, difference or product with spaces around its operators. Leaves fractions, ranges and dates
 * alone.
 */
function arithmetic(text: string): NumberReading {
  if (!/^\d+(?:\.\d+)?(?:\s[+\-*]\s\d+(?:\.\d+)?){1,20}$/.test(text)) return NONE
  const words = text.split(/\s/)
  let sum = 0
  let product = Number(words[0])
  let sign = 1
  for (let i = 1; i < words.length; i += 2) {
    const operand = Number(words[i + 1])
    if (words[i] === '*') product *= operand
    else {
      sum += sign * product
      sign = words[i] === '-' ? -1 : 1
      product = operand
    }
  }
  const value = sum + sign * product
  return Number.isFinite(value) ? { kind: 'number', value } : NONE
}

/** Maps full-width, Arabic-Indic and Devanagari digits to ASCII. */
function asciiDigits(text: string): string {
  return text.replace(/[\uff10-\uff19\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]/g, (digit) => {
    const c = digit.charCodeAt(0)
    const zero = c >= 0xff10 ? 0xff10 : c >= 0x966 ? 0x966 : c >= 0x6f0 ? 0x6f0 : 0x660
    return String(c - zero)
  })
}
