/**
 * What a call brings: a pure function of the seed, the node, the capability and how many attempts have ended before it in
 * a recorded way. A call that is repeated after a crash therefore brings what the lost one would have.
 */
import type { Json } from '../../src/base/json.ts'
import type { AttemptResult, Outcome } from '../../src/domain/output.ts'
import type { Dispatch } from '../../src/domain/ports/dispatcher.ts'
import { costlyTokens } from './catalog.ts'
import { mix, type Random, randomFor } from './random.ts'

export interface Answer {
  readonly result: AttemptResult | 'throws' | 'hangs'
  readonly durationMs: number
  /** Whether and when (as a part of the duration) it changes the world. */
  readonly effectAt?: number
  readonly heedsAbort: boolean
  readonly tokens: number
}

export interface AnswerRates {
  /** How often a call fails that may fail. */
  readonly failures: number
  /** Whether calls may hang: only where the plan has limits of time. */
  readonly hangs: boolean
  /** Whether calls that cannot be repeated may fail as well. */
  readonly onceFails: boolean
  /** Whether some calls ask before they do anything. */
  readonly asks: boolean
  /** How often a call does not report its tokens. Default 0. */
  readonly uncounted?: number
  /** All answers come within a few milliseconds, so that many come at once; or take more than a second. Default: mixed. */
  readonly pace?: 'quick' | 'slow'
}

type Failing =
  | Exclude<Outcome, 'ok' | 'outcome_unknown' | 'cancelled' | 'timed_out' | 'unclear' | 'unavailable'>
  | 'throws'
  | 'hangs'
  | 'negative'
  | 'not-applied'

const failings: readonly Failing[] = [
  'provider_error',
  'throws',
  'invalid',
  'throttled',
  'refused',
  'truncated',
  'not-applied',
]
/** A change of the world is made although the answer cannot be read. */
const failingsWithEffect: readonly Failing[] = [
  'provider_error',
  'throws',
  'throttled',
  'not-applied',
  'invalid',
  'truncated',
]
const withoutEffect: ReadonlySet<Failing> = new Set(['throttled', 'not-applied'])

export function answerTo(seed: number, call: Dispatch, nth: number, rates: AnswerRates): Answer {
  const { capabilityId, sideEffect } = call.capability
  const random = randomFor(seed, 'answer', call.runId, call.nodeId, capabilityId, nth)
  if (rates.asks && isUnclear(seed, call)) return unclear
  const drawnMs = random.pick([0, random.int(20), random.int(200), random.int(2000)])
  const durationMs =
    rates.pace === 'quick' ? drawnMs % 20 : rates.pace === 'slow' ? 1000 + drawnMs / 2 : drawnMs
  const failing = failureOf(random, call, { nth, rates })
  const tokens = capabilityId === 'costly' && failing !== 'throttled' ? random.int(costlyTokens + 1) : 0
  const isUnreachable = randomFor(seed, 'unreachable', call.runId, call.nodeId, nth).chance(0.5)
  const applied = sideEffect && (failing === undefined || !withoutEffect.has(failing))
  const result = failing ? failed(failing, isUnreachable, tokens) : succeeded(seed, call, random, tokens)
  const uncounted = randomFor(seed, 'uncounted', call.runId, call.nodeId, nth).chance(rates.uncounted ?? 0)
  return {
    durationMs,
    tokens,
    heedsAbort: random.chance(0.7),
    ...(applied && { effectAt: Math.floor(durationMs * random.next()) }),
    result: uncounted && typeof result === 'object' ? withoutTokens(result) : result,
  }
}

/** The provider does not say what was used. */
function withoutTokens(result: AttemptResult): AttemptResult {
  return { ...result, usage: { calls: result.usage.calls } }
}

/** Some calls ask once. */
function isUnclear(seed: number, { runId, nodeId, capability, bundle }: Dispatch): boolean {
  if (bundle.clarifications.length > 0) return false
  return randomFor(seed, 'unclear', runId, nodeId, capability.capabilityId).chance(0.3)
}

const unclear: Answer = {
  durationMs: 10,
  tokens: 0,
  heedsAbort: true,
  result: { outcome: 'unclear', question: { text: 'How much?' }, issues: [], usage: { calls: 1 } },
}

function failureOf(
  random: Random,
  call: Dispatch,
  { nth, rates }: { nth: number; rates: AnswerRates },
): Failing | undefined {
  const { capabilityId, sideEffect } = call.capability
  if (!call.capability.idempotent && !rates.onceFails) return undefined
  if (!random.chance(rates.failures / (nth + 1))) return undefined
  if (rates.hangs && random.chance(0.1)) return 'hangs'
  if (capabilityId === 'checked' && random.chance(0.5)) return 'negative'
  return random.pick(sideEffect ? failingsWithEffect : failings)
}

/** Turned away, or not reached at all. */
function outcomeOf(failing: Exclude<Failing, 'throws' | 'hangs'>, isUnreachable: boolean) {
  if (failing === 'throttled' && isUnreachable) return 'unavailable'
  return failing === 'not-applied' || failing === 'negative' ? 'provider_error' : failing
}

function failed(
  failing: Failing,
  isUnreachable: boolean,
  tokens: number,
): AttemptResult | 'throws' | 'hangs' {
  const usage = { calls: 1, outputTokens: tokens }
  if (failing === 'throws' || failing === 'hangs') return failing
  if (failing === 'negative') return { outcome: 'ok', output: { value: { v: -1 } }, issues: [], usage }
  if (failing === 'invalid') return { outcome: 'ok', output: { value: { v: 'much' } }, issues: [], usage }
  const outcome = outcomeOf(failing, isUnreachable)
  return {
    outcome,
    issues: [{ code: `attempt/${outcome}`, at: { pointer: '' }, message: `It is ${failing}` }],
    usage: failing === 'throttled' ? { calls: 0 } : usage,
    ...(outcome === 'throttled' && { retryAfterMs: 500 }),
    ...((failing === 'not-applied' || outcome === 'unavailable') && { notApplied: true }),
  }
}

function succeeded(seed: number, call: Dispatch, random: Random, tokens: number): AttemptResult {
  const value = { v: computeSum(seed, call.nodeId, call.bundle.inputs) }
  const confidence = Math.round(random.next() * 100) / 100
  const envelope = {
    primary_output: JSON.stringify(value),
    confidence,
    confidence_type: 'verbalized',
    escalate: random.chance(0.1),
  }
  return {
    outcome: 'ok',
    output: { value: call.rao ? envelope : value },
    issues: [],
    usage: { calls: 1, outputTokens: tokens },
  }
}

/** What a node makes of its inputs, with any executor. */
export function computeSum(seed: number, nodeId: string, inputs: Json): number {
  const { a = 0, b = 0 } = inputs as { a?: number; b?: number }
  return (a * 7 + b * 3 + mix(seed, nodeId)) % 1000
}
