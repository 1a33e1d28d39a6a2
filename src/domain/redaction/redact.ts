/**
 * Redacts everything that leaves the process: prompts, logs, streams, the debugging endpoint, stored evidence. Detects
 * secrets by shape (values under keys that name secrets, passwords in URLs) and known secrets anywhere in a text. Known
 * secrets are also removed from data before it is stored.
 */
import { setOwn } from '../../base/json.ts'
import type { AttemptResult } from '../output.ts'

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

interface RedactorOptions {
  /** Known secrets, such as the keys of providers; secrets of fewer than 6 characters are ignored. */
  readonly secrets?: readonly string[]
}

export interface Redactor {
  /**
   * Redacts an outgoing value: returns one of the same shape, in which parts without secrets are the given ones. Parts that
   * are too deep, too many or cyclic are redacted too.
   */
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
  const text = hide ? (given: string) => withoutShapes(hide(given)) : withoutShapes
  const keys = new Map<string, Key>()
  const redactor: Redactor = {
    text,
    value: (value) => redactAny(value, { text, keys, nodes: 0 }, 0),
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

interface Walk {
  readonly text: (text: string) => string
  /** Keys that were read before: the same few come again and again. */
  readonly keys: Map<string, Key>
  nodes: number
}

const mostKeys = 1_000
const longestKey = 100

function readKey(key: string, { text, keys }: Walk): Key {
  const read = { text: text(key), names: namesSecret(key) }
  if (key.length <= longestKey && keys.size < mostKeys) keys.set(key, read)
  return read
}

/** Copies only where something has to go, like `withoutKnown`: most values that leave have no secret. */
function redactAny(value: unknown, walk: Walk, depth: number): unknown {
  if (typeof value === 'string') return walk.text(value)
  if (typeof value === 'bigint') return walk.text(String(value))
  if (typeof value !== 'object' || value === null) return value
  if (++walk.nodes > redactLimits.nodes || depth >= redactLimits.depth) return redacted
  if (value instanceof Date) return value.toJSON()
  // What is not plain is copied first: its own code may write another text than its members.
  const isPlain = plainPrototypes.has(Object.getPrototypeOf(value)) && !Object.hasOwn(value, 'toJSON')
  if (Array.isArray(value)) return redactItems(isPlain ? value : [...value], walk, depth)
  return redactMembers(isPlain ? value : { ...value }, walk, depth)
}

const plainPrototypes: ReadonlySet<unknown> = new Set([Object.prototype, Array.prototype, null])

function redactItems(items: readonly unknown[], walk: Walk, depth: number): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    const clean = redactAny(item, walk, depth + 1)
    if (clean === item) continue
    copy ??= [...items]
    copy[index] = clean
  }
  return copy ?? items
}

function redactMembers(value: object, walk: Walk, depth: number): object {
  let copy: object | undefined
  const keys = Object.keys(value)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const member: unknown = Reflect.get(value, key)
    const { text, names } = walk.keys.get(key) ?? readKey(key, walk)
    const clean = names && isSecret(key, member) ? redacted : redactAny(member, walk, depth + 1)
    if (copy === undefined) {
      if (clean === member && text === key) continue
      copy = copyMembers(value, keys.slice(0, index))
    }
    setOwn(copy, text, clean)
  }
  return copy ?? value
}

function copyMembers(value: object, keys: readonly string[]): object {
  const copy = {}
  for (const key of keys) setOwn(copy, key, Reflect.get(value, key))
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

// Unknown secrets, by shape: names of keys, passwords in URLs, bearer tokens.

export const redacted = '[redacted]'

const sensitiveKey =
  /token|secret|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|authorization|passw(or)?d|passphrase|bearer|credential|set-cookie/i
/** Counts, not secrets: `maxTokens`, `input_tokens`. */
const countKey = /tokens$/i

/** Whether the value under this key may be a secret. */
function namesSecret(key: string): boolean {
  return sensitiveKey.test(key)
}

/** Whether a member is a secret; flags and absent values (`no_credential_access: true`) are not. */
function isSecret(key: string, value: unknown): boolean {
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

function withoutShapes(text: string): string {
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

interface RedactResultOptions {
  /** For the value, which other nodes read. */
  readonly redactor: Redactor
  /** For the evidence (raw text, reasoning, issues): may know more secrets, such as the inputs of the call. Default: the same. */
  readonly evidence?: Redactor
  /** Keep the raw text. Default true. */
  readonly raw?: boolean
}

/** Redacts the result of an attempt before it is stored or shown: known secrets in the value, all secrets in the evidence. */
export function redactResult(
  result: AttemptResult,
  { redactor, evidence = redactor, raw: keepRaw = true }: RedactResultOptions,
): AttemptResult {
  const { raw, ...rest } = result
  const { output, issues, model, question } = rest
  return {
    ...rest,
    ...(raw !== undefined && keepRaw && { raw: evidence.text(raw) }),
    // A redacted copy has the shape of the original.
    issues: evidence.value(issues) as AttemptResult['issues'],
    ...(model !== undefined && { model: evidence.text(model) }),
    ...(question && { question: { ...question, text: evidence.text(question.text) } }),
    ...(output && { output: redactOutput(output, { redactor, evidence, keepRaw }) }),
  }
}

function redactOutput(
  { raw, reasoning, ...output }: NonNullable<AttemptResult['output']>,
  { redactor, evidence, keepRaw }: { redactor: Redactor; evidence: Redactor; keepRaw: boolean },
): NonNullable<AttemptResult['output']> {
  return {
    ...redactor.known(output),
    ...(raw !== undefined && keepRaw && { raw: evidence.text(raw) }),
    ...(reasoning !== undefined && { reasoning: evidence.text(reasoning) }),
  }
}
