/**
 * The regex engines that patterns of a schema run on. Trusted schemas use the native one. Untrusted schemas use re2js,
 * which is linear in the text: a pattern such as `^(a+)+$` would otherwise hang the process. In a process that serves
 * strangers their patterns become parts of plans, contracts and asks, where nobody knows any more whose they were; there all
 * patterns use re2js, and only those that it cannot express, which no stranger can hand in, the native one.
 */
import { compileLinear } from './re2.ts'

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
