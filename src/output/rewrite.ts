/** Texts that were changed on the way: quoted like a mail, or with HTML entities. Read back only when nothing else fits. */

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  '#34': '"',
  '#39': "'",
}

/** The text as it may have been before. */
export function* rewritings(text: string): Generator<string> {
  if (text.length > 1_000_000) return
  if (/^[^\S\n]*>[^\S\n]?[^\n]*[{[]/m.test(text)) yield text.replace(/^[^\S\n]*> ?/gm, '')
  if (text.includes('&quot;') || text.includes('&#34;')) {
    yield text.replace(/&(quot|apos|amp|lt|gt|nbsp|#34|#39);/g, (_, name: string) => ENTITIES[name] as string)
  }
}
