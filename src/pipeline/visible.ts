/** Text of one line as it can be shown beside a caret: every character that cannot be seen becomes one that can. */

const invisible = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u00a0]/gu

/** One unit stays one unit, so that the caret below stands right; tabs become a space. */
export function visible(text: string): string {
  return text.replace(invisible, (char) => (char === '\t' ? ' ' : '\ufffd'.repeat(char.length)))
}
