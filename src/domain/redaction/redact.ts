/**
 * Redacts everything that leaves the process: prompts, logs, streams, the debugging endpoint, stored evidence. Detects
 * secrets by shape (values under keys that name secrets, passwords in URLs) and known secrets anywhere in a text. Known
 * secrets are also removed from data before it is stored.
 */
import { setOwn } from '../../base/json.ts'
import { isSecret, namesSecret, redacted, withoutShapes } from './secret-shapes.ts'

/** Shorter secrets would match in every text. */
const shortestSecret = 6

/** A regular expression of more alternatives takes seconds to compile. */
const mostInPattern = 200

/**
 * Returns a function that removes known secrets from a text: the longest first, each also in its JSON and URL encodings.
 * Undefined without secrets.
 */
function hiderOf(secrets: readonly string[]): ((text: string) => string) | undefined {
  const spellings = secrets
    .filter((secret) => secret.trim().length >= shortestSecret)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encoded(secret)])
  const unique = [...new Set(spellings)].sort((a, b) => b.length - a.length)
  if (unique.length === 0) return undefined
  return unique.length <= mostInPattern ? byPattern(unique) : byBeginning(unique)
}

/** Lone surrogates cannot be URL-encoded. */
function encoded(secret: string): string {
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret
}

function byPattern(secrets: readonly string[]): (text: string) => string {
  const escaped = secrets.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  const pattern = new RegExp(escaped.join('|'), 'g')
  return (text) => text.replace(pattern, redacted)
}

/** Looks up each position of the text by its next characters (hash of prefixes): as fast for 100,000 secrets as for one. */
function byBeginning(secrets: readonly string[]): (text: string) => string {
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
      clean += text.slice(from, at) + redacted
      from = at + length
      at = from - 1
    }
    return from === 0 ? text : clean + text.slice(from)
  }
}

export { isKeyLike, redacted, secretsIn } from './secret-shapes.ts'

interface RedactorOptions {
  /** Known secrets, such as the keys of providers; secrets of fewer than 6 characters are ignored. */
  readonly secrets?: readonly string[]
}

export interface Redactor {
  /** Redacts an outgoing value: returns a copy of the same shape; parts that are too deep, too many or cyclic are redacted too. */
  value(value: unknown): unknown
  /** Redacts an outgoing text. */
  text(text: string): string
  /** Redacts stored data: removes only known secrets; returns the same value if it has none. */
  known<T>(value: T): T
  /** Returns a redactor that knows these secrets too. */
  with(secrets: readonly string[]): Redactor
}

const redactLimits = { depth: 100, deepest: 1000, nodes: 1_000_000 } as const

/**
 * @example
 * createRedactor().value({ apiKey: 'sk-1', maxTokens: 5 }) // { apiKey: '[redacted]', maxTokens: 5 }
 */
export function createRedactor({ secrets = [] }: RedactorOptions = {}): Redactor {
  const hide = hiderOf(secrets)
  const text = (given: string) => withoutShapes(hide ? hide(given) : given)
  const key = keyReader(text)
  const redactor: Redactor = {
    text,
    value: (value) => redactAny(value, { text, key, nodes: 0 }, 0),
    // Keeps the type: only texts change.
    known: <T>(value: T) => (hide ? (withoutKnown(value, hide, 0) as T) : value),
    with: (more) => (more.length === 0 ? redactor : createRedactor({ secrets: [...secrets, ...more] })),
  }
  return redactor
}

/** A key as it may leave, and whether it names a secret. */
interface Key {
  readonly text: string
  readonly names: boolean
}

/** The same few keys come again and again. */
const mostKeys = 1_000
const longestKey = 100

function keyReader(text: (given: string) => string): (key: string) => Key {
  const known = new Map<string, Key>()
  return (key) => {
    const found = known.get(key)
    if (found) return found
    const read = { text: text(key), names: namesSecret(key) }
    if (key.length <= longestKey && known.size < mostKeys) known.set(key, read)
    return read
  }
}

interface Walk {
  readonly text: (text: string) => string
  readonly key: (key: string) => Key
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
    const { text, names } = walk.key(key)
    const hidden = names && isSecret(key, member)
    setOwn(copy, text, hidden ? redacted : redactAny(member, walk, depth + 1))
  }
  return copy
}

/** A copy only where something had to go, so that clean data costs a look and no memory. */
function withoutKnown(value: unknown, hide: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return hide(value)
  if (typeof value !== 'object' || value === null) return value
  // JSON that deep reaches no journal; a circle ends here as well.
  if (depth >= redactLimits.deepest) return redacted
  let changed = false
  const entries = Object.entries(value).map(([key, member]) => {
    const [name, clean] = [hide(key), withoutKnown(member, hide, depth + 1)]
    changed ||= name !== key || clean !== member
    return [name, clean] as const
  })
  if (!changed) return value
  if (Array.isArray(value)) return entries.map(([, clean]) => clean)
  const copy: object = {}
  for (const [name, clean] of entries) setOwn(copy, name, clean)
  return copy
}
