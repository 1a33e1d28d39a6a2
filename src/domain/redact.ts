/**
 * The one redactor: what leaves the house (prompts, logs, streams, the debugging endpoint, stored evidence) goes through it.
 * Two ways: values under keys that name secrets, and secrets that are known, wherever they stand.
 */
import { setOwn } from '../base/json.ts'

export const redacted = '[redacted]'

export interface RedactorOptions {
  /** Secrets that are known, such as the keys of providers; shorter ones than 6 characters are ignored, for they are in every text. */
  readonly secrets?: readonly string[]
}

export interface Redactor {
  /** A copy with the same shape; what is too deep, too much or in a circle is redacted as well. */
  value(value: unknown): unknown
  text(text: string): string
}

const sensitiveKey = /token|secret|apikey|api_key|authorization|password|bearer|credential/i
/** Counts, not secrets: `maxTokens`, `input_tokens`. */
const countKey = /tokens$/i

export const redactLimits = { depth: 100, nodes: 1_000_000, shortestSecret: 6 } as const

/**
 * @example
 * createRedactor().value({ apiKey: 'sk-1', maxTokens: 5 }) // { apiKey: '[redacted]', maxTokens: 5 }
 */
export function createRedactor({ secrets = [] }: RedactorOptions = {}): Redactor {
  const pattern = secretPattern(secrets)
  const text =
    pattern === undefined ? (given: string) => given : (given: string) => given.replace(pattern, redacted)
  return {
    text,
    value: (value) => redactAny(value, { text, nodes: 0 }, 0),
  }
}

interface Walk {
  readonly text: (text: string) => string
  nodes: number
}

function redactAny(value: unknown, walk: Walk, depth: number): unknown {
  if (typeof value === 'string') return walk.text(value)
  if (typeof value === 'bigint') return walk.text(String(value))
  if (typeof value !== 'object' || value === null) return value
  if (++walk.nodes > redactLimits.nodes || depth >= redactLimits.depth) return redacted
  if (Array.isArray(value)) return value.map((item) => redactAny(item, walk, depth + 1))
  if (value instanceof Date) return value.toJSON()
  const copy: object = {}
  for (const key of Object.keys(value)) {
    const member: unknown = Reflect.get(value, key)
    setOwn(copy, walk.text(key), isSecret(key, member) ? redacted : redactAny(member, walk, depth + 1))
  }
  return copy
}

/** Flags and absent values under such a key (`no_credential_access: true`) tell nothing. */
function isSecret(key: string, value: unknown): boolean {
  if (!sensitiveKey.test(key)) return false
  if (value === null || value === undefined || typeof value === 'boolean') return false
  return !(typeof value === 'number' && countKey.test(key))
}

/** One pass for all secrets, the longest first, each also as it looks in JSON and in URLs. */
function secretPattern(secrets: readonly string[]): RegExp | undefined {
  const spellings = secrets
    .filter((secret) => secret.trim().length >= redactLimits.shortestSecret)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encoded(secret)])
  const unique = [...new Set(spellings)].sort((a, b) => b.length - a.length)
  if (unique.length === 0) return undefined
  return new RegExp(unique.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
}

/** Halves of surrogate pairs have no form in URLs. */
function encoded(secret: string): string {
  return /\p{Surrogate}/u.test(secret) ? secret : encodeURIComponent(secret)
}
