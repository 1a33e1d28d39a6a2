/** The most tokens that texts can take: a bound for budgets. */

/** At most: tokenizers take a byte of UTF-8 or more for every token, in whatever language. */
export function mostTokens(text: string): number {
  return Buffer.byteLength(text)
}

/** What a chat takes around its two messages, at most. */
export const framing = 16
