/**
 * Redacts everything that leaves the process: prompts, logs, streams, the debugging endpoint, stored evidence. Detects
 * values under keys that name secrets, texts with the shape of a key (`secret-shapes.ts`), and known secrets anywhere in a
 * text. Known secrets are also removed from data before it is stored.
 */
import { setOwn } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { cutOpenEnd, hideKnown } from './known-secrets.ts'
import { type KnownKeys, rewriteValue } from './rewrite-value.ts'
import { replaceSecretShapes } from './secret-shapes.ts'

export { isKeyLike, secretsIn } from './secret-keys.ts'

export const redacted = '[redacted]'

const toRedacted = () => redacted
const identity = (value: unknown) => value

/** Removes everything that has the shape of a secret. */
function withoutShapes(text: string): string {
  return replaceSecretShapes(text, toRedacted)
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
  /**
   * Redacts the answer of a run for streams and pages: members whose names ask for a secret are kept, because the contract
   * asks for them by name; keys in other texts are redacted.
   */
  answer(value: unknown): unknown
  /**
   * Redacts an outgoing value that is still being written. Texts that are not `finished` end after a whole word and before
   * what may become a known secret: the beginning of a secret cannot be recognised, and would leave piece by piece.
   */
  partial(value: unknown, finished: ReadonlySet<Pointer>): unknown
  /** Redacts stored data: removes only known secrets; returns the same value if it has none. */
  known<T>(value: T): T
  /** Returns a redactor that knows these secrets too. */
  with(secrets: readonly string[]): Redactor
}

/** Most secrets are in data of a few levels; deeper and larger data is cut. */
const outgoing = { deepest: 100, nodes: 1_000_000 } as const
/** JSON that deep reaches no journal; a cycle ends here as well. */
const stored = { deepest: 1000, nodes: Number.POSITIVE_INFINITY } as const

/**
 * @example
 * createRedactor().value({ apiKey: 'sk-1', maxTokens: 5 }) // { apiKey: '[redacted]', maxTokens: 5 }
 */
export function createRedactor({ secrets = [] }: RedactorOptions = {}): Redactor {
  const hide = hideKnown(secrets, toRedacted)
  const text = hide ? (given: string) => withoutShapes(hide(given)) : withoutShapes
  const keys: KnownKeys = new Map()
  const outwards = { ...outgoing, text, keys, secret: toRedacted, cut: toRedacted, isOutgoing: true }
  const asIs = hide
    ? (value: unknown) => rewriteValue(value, { ...stored, text: hide, cut: toRedacted })
    : identity
  const answers = { ...outwards, secret: asIs }
  const inwards = hide && { ...stored, text: hide, cut: toRedacted }
  let cut: ((text: string) => string) | undefined
  const getCut = () => {
    cut ??= cutOpenEnd(secrets)
    return cut
  }
  const redactor: Redactor = {
    text,
    value: (value) => rewriteValue(value, outwards),
    answer: (value) => rewriteValue(value, answers),
    partial: (value, finished) => redactor.value(cutOpenTexts(value, '', { finished, cut: getCut() })),
    // Keeps the type: only texts change.
    known: <T>(value: T) => (inwards ? (rewriteValue(value, inwards) as T) : value),
    with: (more) => (more.length === 0 ? redactor : createRedactor({ secrets: [...secrets, ...more] })),
  }
  return redactor
}

interface OpenTexts {
  /** Parts that no longer change. */
  readonly finished: ReadonlySet<Pointer>
  readonly cut: (text: string) => string
}

function cutOpenTexts(value: unknown, at: Pointer, texts: OpenTexts): unknown {
  if (texts.finished.has(at)) return value
  if (typeof value === 'string') return texts.cut(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, index) => cutOpenTexts(item, child(at, index), texts))
  const copy = {}
  for (const [key, member] of Object.entries(value))
    setOwn(copy, key, cutOpenTexts(member, child(at, key), texts))
  return copy
}
