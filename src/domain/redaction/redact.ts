/**
 * Redacts everything that leaves the process: prompts, logs, streams, the debugging endpoint, stored evidence. Detects
 * values under keys that name secrets, texts with the shape of a key (`secret-shapes.ts`), and known secrets anywhere in a
 * text. Known secrets are also removed from data before it is stored.
 */
import type { AttemptResult } from '../output.ts'
import { hideKnown } from './known-secrets.ts'
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
  const redactor: Redactor = {
    text,
    value: (value) => rewriteValue(value, outwards),
    answer: (value) => rewriteValue(value, answers),
    // Keeps the type: only texts change.
    known: <T>(value: T) => (inwards ? (rewriteValue(value, inwards) as T) : value),
    with: (more) => (more.length === 0 ? redactor : createRedactor({ secrets: [...secrets, ...more] })),
  }
  return redactor
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
