/** Which members of data are secret by the name of their key, and the texts under such keys. */

/**
 * Words in the names of secrets. Upper and lower case count the same, and words of a name may be joined by `-`, `_` or a
 * space. `part`: anywhere in a name; `end`: at its end, as in `sessionCookie`; `word`: a whole word at its end, because the
 * letters occur in other words.
 */
export const secretNames = {
  token: 'part',
  secret: 'part',
  'api key': 'part',
  'access key': 'part',
  'private key': 'part',
  'signing key': 'part',
  'encryption key': 'part',
  authorization: 'part',
  password: 'part',
  passwd: 'part',
  passphrase: 'part',
  passwort: 'part',
  kennwort: 'part',
  pwd: 'part',
  bearer: 'part',
  credential: 'part',
  cookie: 'end',
  cookies: 'end',
  dsn: 'word',
} as const satisfies { readonly [word: string]: 'part' | 'end' | 'word' }

const sensitiveKey = new RegExp(
  Object.entries(secretNames)
    .filter(([, where]) => where !== 'word')
    .map(([word, where]) => word.replace(' ', '[-_ ]?') + (where === 'end' ? '$' : ''))
    .join('|'),
  'i',
)
/** `dsn`, `DSN`, `sentry_dsn`, `sentryDsn`, and not `fieldsN`. */
const sensitiveWord = new RegExp(
  Object.entries(secretNames)
    .filter(([, where]) => where === 'word')
    .map(([word]) => {
      const capital = `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
      return `(?:^|[-_. ])${word}$|(?:^|[-_. ]|[a-z\\d])${capital}$|${word.toUpperCase()}$`
    })
    .join('|'),
)
/** Counts, not secrets: `maxTokens`, `input_tokens`, `tokenBudget`. */
const countKey = /tokens$|token[-_]?(?:budget|count|limit)$/i

/** Whether the value under this key may be a secret. */
export function namesSecret(key: string): boolean {
  return sensitiveKey.test(key) || sensitiveWord.test(key)
}

/** Whether a member is a secret; flags and absent values (`no_credential_access: true`) are not. */
export function isSecretMember(key: string, value: unknown): boolean {
  if (!namesSecret(key)) return false
  if (value === null || value === undefined || typeof value === 'boolean') return false
  return !(typeof value === 'number' && countKey.test(key))
}

/** Collects the texts under keys that name secrets, in settings or inputs. */
export function secretsIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > 100) return []
  return Object.entries(value).flatMap(([key, member]) =>
    !Array.isArray(value) && isSecretMember(key, member)
      ? scalarsIn(member, depth)
      : secretsIn(member, depth + 1),
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
