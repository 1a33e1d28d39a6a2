/** Tokens of texts that nobody has counted: a guess for estimates, and a bound for budgets. */

/** Roughly: four characters of Latin script each, fewer of others. */
export function roughTokens(text: string): number {
  let units = 0
  for (const char of text) units += char.charCodeAt(0) < 0x250 ? 1 : 3
  return Math.ceil(units / 4)
}

/** At most: tokenizers take a byte of UTF-8 or more for every token, in whatever language. */
export function mostTokens(text: string): number {
  return Buffer.byteLength(text)
}

/** What a chat takes around its two messages, at most. */
export const framing = 16
