/** The regex engines that patterns of a schema run on: the native one for trusted schemas, a linear one for the rest. */

export interface RegexEngine {
  (pattern: string, flags: string): { test(text: string): boolean; toString(): string }
  /** Ajv wants to print it in standalone code; we never do that. */
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

export const linearRegex: RegexEngine = nativeRegex
