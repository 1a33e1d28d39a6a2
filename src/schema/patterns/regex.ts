/**
 * The regex engines for schema patterns. Trusted schemas use the native engine. Untrusted schemas use re2js, which is
 * linear in the text: a pattern such as `^(a+)+$` would otherwise hang the process. In an app that accepts untrusted
 * schemas, their patterns become parts of plans, contracts and asks, where their origin is no longer known; there all
 * patterns use re2js (`linearPatterns`). Only patterns that re2js cannot express, which are rejected in untrusted schemas,
 * use the native engine.
 */
import { compileNative } from './native-regex.ts'
import { compileLinear } from './re2.ts'

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
