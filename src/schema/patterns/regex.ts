/**
 * The regex engines for schema patterns. Trusted schemas use the native engine. Untrusted schemas use re2js, which is
 * linear in the text: a pattern such as `^(a+)+$` would otherwise hang the process. In a process that accepts untrusted
 * schemas, their patterns become parts of plans, contracts and asks, where their origin is no longer known; there all
 * patterns use re2js. Only patterns that re2js cannot express, which are rejected in untrusted schemas, use the native
 * engine.
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
