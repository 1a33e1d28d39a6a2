/** Detects unknown secrets by shape: names of keys, passwords in URLs, bearer tokens. */

export const redacted = '[redacted]'

const sensitiveKey =
  /token|secret|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|authorization|passw(or)?d|passphrase|bearer|credential|set-cookie/i
/** Counts, not secrets: `maxTokens`, `input_tokens`. */
const countKey = /tokens$/i

/** Whether the value under this key may be a secret. */
export function namesSecret(key: string): boolean {
  return sensitiveKey.test(key)
}

/** Whether a member is a secret; flags and absent values (`no_credential_access: true`) are not. */
export function isSecret(key: string, value: unknown): boolean {
  if (!namesSecret(key)) return false
  if (value === null || value === undefined || typeof value === 'boolean') return false
  return !(typeof value === 'number' && countKey.test(key))
}

/** One row per shape; each pattern runs in linear time, because every text of a model is matched. */
const shapes: readonly Shape[] = [
  // scheme://user:password@host
  {
    mark: '://',
    pattern: /:\/\/([^\s/:@"'<>]*):[^\s/@"'<>]+@/g,
    replace: (_all, user) => `://${user}:${redacted}@`,
  },
  // ?name=value in a URL, if the name is that of a secret
  {
    mark: '=',
    pattern: /([?&])([\w.-]{1,100})=([^&\s"'#<>]+)/g,
    replace: (all, sign, name, value) =>
      isSecret(name ?? '', value) ? `${sign}${name}=${redacted}` : (all ?? ''),
  },
  // Bearer and its token in a header; a word without a digit is not a token
  {
    shortest: 'bearer '.length + 12,
    pattern: /\b(bearer\s{1,4})(?=[^\s\d]{0,200}\d)[\w.~+/=-]{12,}/gi,
    replace: (_all, word) => `${word}${redacted}`,
  },
]

interface Shape {
  /** A text without this mark, or shorter than `shortest`, cannot match: skips most texts. */
  readonly mark?: string
  readonly shortest?: number
  readonly pattern: RegExp
  readonly replace: (...parts: string[]) => string
}

export function withoutShapes(text: string): string {
  let rest = text
  for (const { mark = '', shortest = 0, pattern, replace } of shapes)
    if (rest.length >= shortest && rest.includes(mark)) rest = rest.replace(pattern, replace)
  return rest
}

/** Collects the texts under keys that name secrets, in settings or inputs. */
export function secretsIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > 100) return []
  return Object.entries(value).flatMap(([key, member]) =>
    !Array.isArray(value) && isSecret(key, member) ? scalarsIn(member, depth) : secretsIn(member, depth + 1),
  )
}

function scalarsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') {
    // A header is a scheme and the secret, and the secret may occur alone.
    const [, bare] = /^(?:bearer|basic|token|digest)\s+(.+)$/is.exec(value) ?? []
    return bare === undefined ? [value] : [value, bare]
  }
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null || depth > 100) return []
  return Object.values(value).flatMap((member) => scalarsIn(member, depth + 1))
}

/** Whether a text can be removed from data safely: it looks like a key, not like a word (`tokenSource: "environment"`). */
export function isKeyLike(text: string): boolean {
  return text.length >= 8 && /\d/.test(text) && !/\s/.test(text)
}
