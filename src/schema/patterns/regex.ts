/**
 * The regex engines for schema patterns. Trusted schemas use the native engine. Untrusted schemas use re2js, which is
 * linear in the text: a pattern such as `^(a+)+$` would otherwise hang the process. In an app that accepts untrusted
 * schemas, their patterns become parts of plans, contracts and asks, where their origin is no longer known; there all
 * patterns use re2js (`linearPatterns`). Only patterns that re2js cannot express, which are rejected in untrusted schemas,
 * use the native engine. Only this file imports re2js.
 */
import { RE2JS } from 're2js'
import { compileNative } from './native-regex.ts'

export interface RegexEngine {
  (pattern: string, flags: string): { test(text: string): boolean; toString(): string }
  /** Ajv names the engine by this in standalone code, which we never print. */
  code: string
}

export const nativeRegex: RegexEngine = Object.assign(
  (pattern: string, flags: string) => compileNative(pattern, flags),
  { code: 'new RegExp' },
)

/** What to do about a pattern that the linear engine refuses. */
export const linearHint = 'Lookaround, backreferences and repeats beyond 1,000 are not available'

/** Throws for what is no ECMAScript pattern, and for what cannot be matched in linear time. */
export const linearRegex: RegexEngine = Object.assign(
  (pattern: string, flags: string) => {
    // Constructed to be checked, never run: re2js also takes dialects (`\z`, `(?i)`) that mean something else in JavaScript.
    new RegExp(pattern, flags)
    const test = compileLinear(pattern)
    return {
      test,
      // Ajv keys compiled patterns by this text: without it all patterns of a schema would be the first one.
      toString: () => `/${pattern}/${flags}`,
    }
  },
  { code: 'linearRegex' },
)

const preferLinearRegex: RegexEngine = Object.assign(
  (pattern: string, flags: string) => {
    try {
      return linearRegex(pattern, flags)
    } catch {
      return nativeRegex(pattern, flags)
    }
  },
  { code: 'preferLinearRegex' },
)

/** Which engine runs the patterns of a schema. */
export interface PatternOptions {
  /** The schema is untrusted: its patterns run in linear time, or it is rejected. */
  readonly untrusted?: boolean
  /** Patterns run in linear time where re2js can express them. */
  readonly linearPatterns?: boolean
}

export function regexEngine({ untrusted = false, linearPatterns = false }: PatternOptions): RegexEngine {
  if (untrusted) return linearRegex
  return linearPatterns ? preferLinearRegex : nativeRegex
}

// Compiles a pattern of ECMAScript with re2js to a function that takes linear time.

/** Throws for what cannot be matched in linear time. */
function compileLinear(pattern: string): (text: string) => boolean {
  const engine = RE2JS.compile(RE2JS.translateRegExp(toRe2(pattern)))
  return (text) => engine.test(text)
}

const space =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const notSpace =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'

/** Says in RE2's dialect what ECMAScript means, where the two read the same text differently. */
function toRe2(pattern: string): string {
  let out = ''
  let inClass = false
  for (let i = 0; i < pattern.length; i++) {
    const unit = pattern[i] as string
    if (unit === '\\') {
      const next = pattern[++i] as string
      if (next === 's' || next === 'S') out += inClass ? spaces(next) : `[${spaces(next)}]`
      else if (next === 'b' && inClass) out += '\\x08'
      else if (next === 'k') throw new SyntaxError('it has a backreference')
      else if (next === '0') out += '\\x00'
      else out += unit + next
    } else if (unit === '.' && !inClass) {
      out += '[^\\n\\r\\x{2028}\\x{2029}]'
    } else if (unit === '[') {
      out += inClass ? '\\[' : '['
      inClass = true
    } else {
      if (unit === ']') inClass = false
      out += unit
    }
  }
  return out
}

function spaces(letter: 's' | 'S'): string {
  return letter === 's' ? space : notSpace
}
