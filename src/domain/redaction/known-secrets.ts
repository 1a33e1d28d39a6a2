/** Removes known secrets from texts: the values that the process knows, wherever they occur. */

type Replace = (secret: string) => string
type Hide = (text: string) => string

/** Shorter secrets would match in every text. */
const shortestSecret = 6

/** A regular expression of more alternatives takes seconds to compile. */
const mostInPattern = 200

/**
 * Returns a function that replaces known secrets in a text: the longest first, each also in its JSON and URL encodings.
 * Undefined without secrets.
 */
export function hideKnown(secrets: readonly string[], replace: Replace): Hide | undefined {
  const unique = listSpellings(secrets)
  if (unique.length === 0) return undefined
  return unique.length <= mostInPattern ? byPattern(unique, replace) : byBeginning(unique, replace)
}

/** Ends a word: a space, or a character of a script that is written without spaces. */
const wordEnd =
  /[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}、。，！？]/u

/**
 * Returns a function that shortens a text which is still being written, so that no beginning of a secret is left at its end:
 * by its last word, and by the beginning of a known secret of several words.
 */
export function cutOpenEnd(secrets: readonly string[]): Hide {
  const ofWords = listSpellings(secrets).filter((secret) => wordEnd.test(secret))
  return (text) => {
    const whole = withoutLastWord(text)
    const begun = Math.max(0, ...ofWords.map((secret) => countBegun(whole, secret)))
    return whole.slice(0, whole.length - begun)
  }
}

function withoutLastWord(text: string): string {
  let end = text.length
  while (end > 0 && !isWordEnd(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

/** ASCII without the expression: a word may be a megabyte of base64. */
function isWordEnd(code: number): boolean {
  return code < 128 ? code <= 32 : wordEnd.test(String.fromCharCode(code))
}

/** Returns how many characters of the secret the text ends with. */
function countBegun(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length--)
    if (text.endsWith(secret.slice(0, length))) return length
  return 0
}

/** Each secret as it is, and in its JSON and URL encodings; the longest first. */
function listSpellings(secrets: readonly string[]): readonly string[] {
  const spellings = secrets
    .filter((secret) => secret.trim().length >= shortestSecret)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encoded(secret)])
  return [...new Set(spellings)].sort((a, b) => b.length - a.length)
}

/** Lone surrogates cannot be URL-encoded. */
function encoded(secret: string): string {
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret
}

function byPattern(secrets: readonly string[], replace: Replace): Hide {
  const escaped = secrets.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  const pattern = new RegExp(escaped.join('|'), 'g')
  const shortest = secrets.at(-1)?.length ?? 0
  return (text) => (text.length < shortest ? text : text.replace(pattern, replace))
}

/** Looks up each position of the text by its next characters (hash of prefixes): as fast for 100,000 secrets as for one. */
function byBeginning(secrets: readonly string[], replace: Replace): Hide {
  const known = new Set(secrets)
  /** Lengths of the secrets with this prefix, longest first. */
  const lengths = new Map<string, Set<number>>()
  for (const secret of secrets) {
    const beginning = secret.slice(0, shortestSecret)
    const found = lengths.get(beginning) ?? new Set()
    lengths.set(beginning, found.add(secret.length))
  }
  const lengthAt = (text: string, at: number): number | undefined => {
    for (const length of lengths.get(text.slice(at, at + shortestSecret)) ?? [])
      if (known.has(text.slice(at, at + length))) return length
    return undefined
  }
  return (text) => {
    let [clean, from] = ['', 0]
    for (let at = 0; at + shortestSecret <= text.length; at++) {
      const length = lengthAt(text, at)
      if (length === undefined) continue
      clean += text.slice(from, at) + replace(text.slice(at, at + length))
      from = at + length
      at = from - 1
    }
    return from === 0 ? text : clean + text.slice(from)
  }
}
