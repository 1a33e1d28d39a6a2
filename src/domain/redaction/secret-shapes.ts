/** What secrets look like where nobody knows their value: names of keys, passwords in addresses, bearer tokens. */

export const redacted = '[redacted]'

const sensitiveKey =
  /token|secret|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|authorization|passw(or)?d|passphrase|bearer|credential|set-cookie/i
/** Counts, not secrets: `maxTokens`, `input_tokens`. */
const countKey = /tokens$/i

/** Whether what stands under this key may be one. */
export function namesSecret(key: string): boolean {
  return sensitiveKey.test(key)
}

/** Flags and absent values under such a key (`no_credential_access: true`) tell nothing. */
export function isSecret(key: string, value: unknown): boolean {
  if (!namesSecret(key)) return false
  if (value === null || value === undefined || typeof value === 'boolean') return false
  return !(typeof value === 'number' && countKey.test(key))
}

/** One row per shape; each pattern is linear, because every text of a model goes through it. */
const shapes: readonly Shape[] = [
  // scheme://user:password@host
  {
    mark: '://',
    pattern: /:\/\/([^\s/:@"'<>]*):[^\s/@"'<>]+@/g,
    replace: (_all, user) => `://${user}:${redacted}@`,
  },
  // ?name=value in an address, where the name says what it is
  {
    mark: '=',
    pattern: /([?&])([\w.-]{1,100})=([^&\s"'#<>]+)/g,
    replace: (all, sign, name, value) =>
      isSecret(name ?? '', value) ? `${sign}${name}=${redacted}` : (all ?? ''),
  },
  // Bearer and what follows it in a header; words without a digit are words
  {
    shortest: 'bearer '.length + 12,
    pattern: /\b(bearer\s{1,4})(?=[^\s\d]{0,200}\d)[\w.~+/=-]{12,}/gi,
    replace: (_all, word) => `${word}${redacted}`,
  },
]

interface Shape {
  /** Without this in a text, or in a shorter one, there is no such shape: most texts are short and plain. */
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

/** Texts under keys that name secrets, in somebody's settings or inputs. */
export function secretsIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > 100) return []
  return Object.entries(value).flatMap(([key, member]) =>
    !Array.isArray(value) && isSecret(key, member) ? scalarsIn(member, depth) : secretsIn(member, depth + 1),
  )
}

function scalarsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') {
    // A header is a word and the secret, and the secret may turn up alone.
    const [, bare] = /^(?:bearer|basic|token|digest)\s+(.+)$/is.exec(value) ?? []
    return bare === undefined ? [value] : [value, bare]
  }
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null || depth > 100) return []
  return Object.values(value).flatMap((member) => scalarsIn(member, depth + 1))
}

/** Whether a text can be taken out of data without harm: a key and no word (`tokenSource: "environment"` is one). */
export function isKeyLike(text: string): boolean {
  return text.length >= 8 && /\d/.test(text) && !/\s/.test(text)
}
