/**
 * Estimates the tokens of a text: four characters per token in Latin script, fewer in others. Used where no count is
 * reported.
 */
export function roughTokens(text: string): number {
  let units = 0
  for (const char of text) units += char.charCodeAt(0) < 0x250 ? 1 : 3
  return Math.ceil(units / 4)
}
