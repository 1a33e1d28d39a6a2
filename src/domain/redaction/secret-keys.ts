/** Which members of data are secret by the name of their key, and the texts under such keys. */

const sensitiveKey =
  /token|secret|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|authorization|passw(or)?d|passphrase|bearer|credential|set-cookie/i
/** Counts, not secrets: `maxTokens`, `input_tokens`, `tokenBudget`. */
const countKey = /tokens$|token[-_]?(?:budget|count|limit)$/i

/** Whether the value under this key may be a secret. */
export function namesSecret(key: string): boolean {
  return sensitiveKey.test(key)
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
