/**
 * The regex engines that patterns of a schema run on. Trusted schemas use the native one. Untrusted schemas use re2js,
 * which is linear in the text: a pattern such as `^(a+)+$` would otherwise hang the process. In a process that serves
 * strangers their patterns become parts of plans, contracts and asks, where nobody knows any more whose they were; there all
 * patterns use re2js, and only those that it cannot express, which no stranger can hand in, the native one.
 */
import { RE2JS } from 're2js'

export interface RegexEngine {
  (pattern: string, flags: string): { test(text: string): boolean; toString(): string }
  /** Ajv names the engine by this in standalone code, which we never print. */
  code: string
}

/** JSON Schema asks for the `u` flag; patterns in the wild such as `[\w-.]` only compile without it. */
export const nativeRegex: RegexEngine = Object.assign(
  (pattern: string, flags: string): RegExp => {
    try {
      return new RegExp(pattern, flags)
    } catch {
      return new RegExp(pattern)
    }
  },
  { code: 'new RegExp' },
)

/** Throws for what is no ECMAScript pattern, and for what cannot be matched in linear time. */
export const linearRegex: RegexEngine = Object.assign(
  (pattern: string, flags: string) => {
    // Constructed to be checked, never run: re2js also takes dialects (`\z`, `(?i)`) that mean something else in JavaScript.
    new RegExp(pattern, flags)
    const engine = RE2JS.compile(RE2JS.translateRegExp(toRe2(pattern)))
    return {
      test: (text: string) => engine.test(text),
      // Ajv keys compiled patterns by this text: without it all patterns of a schema would be the first one.
      toString: () => `/${pattern}/${flags}`,
    }
  },
  { code: 'linearRegex' },
)

const carefulRegex: RegexEngine = Object.assign(
  (pattern: string, flags: string) => {
    try {
      return linearRegex(pattern, flags)
    } catch {
      return nativeRegex(pattern, flags)
    }
  },
  { code: 'carefulRegex' },
)

let forStrangers = false

/** From now on this process serves strangers. Called when a server is made, and never taken back. */
export function serveStrangers(): void {
  forStrangers = true
}

export function servesStrangers(): boolean {
  return forStrangers
}

export function regexEngine({ untrusted }: { readonly untrusted: boolean }): RegexEngine {
  if (untrusted) return linearRegex
  return forStrangers ? carefulRegex : nativeRegex
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
