/** Takes known secrets out of texts: the longest first, each also as it looks in JSON and in URLs. */
import { redacted } from './secret-shapes.ts'

/** Shorter ones are in every text. */
export const shortestSecret = 6

/** More than this make an expression that takes seconds to compile. */
const mostInPattern = 200

/** `undefined` when there is nothing to hide. */
export function hiderOf(secrets: readonly string[]): ((text: string) => string) | undefined {
  const spellings = secrets
    .filter((secret) => secret.trim().length >= shortestSecret)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encoded(secret)])
  const unique = [...new Set(spellings)].sort((a, b) => b.length - a.length)
  if (unique.length === 0) return undefined
  return unique.length <= mostInPattern ? byPattern(unique) : byBeginning(unique)
}

/** Halves of surrogate pairs have no form in URLs. */
function encoded(secret: string): string {
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret
}

function byPattern(secrets: readonly string[]): (text: string) => string {
  const escaped = secrets.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  const pattern = new RegExp(escaped.join('|'), 'g')
  return (text) => text.replace(pattern, redacted)
}

/** Looks every place of the text up by its next characters: as fast for a hundred thousand secrets as for one. */
function byBeginning(secrets: readonly string[]): (text: string) => string {
  const known = new Set(secrets)
  /** How long the secrets are that begin so, the longest first. */
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
      clean += text.slice(from, at) + redacted
      from = at + length
      at = from - 1
    }
    return from === 0 ? text : clean + text.slice(from)
  }
}
