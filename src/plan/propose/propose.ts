/**
 * The model planner: a model writes a draft, the parser reads it, `prove` decides. If the model is unavailable, returns
 * no draft, or had its drafts rejected, the search planner drafts instead and the draft records that; with `fallback:
 * false` this is an error.
 */

import { sha256Hex } from '../../base/canonical.ts'
import { ProvisoError, toErrorMessage } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { pick } from '../../base/json.ts'
import { createRetries, type RetrySource } from '../../base/time/retry.ts'
import { declines } from '../../domain/attempt/refusal.ts'
import { plannerError } from '../../domain/errors/planner-failure.ts'
import type { Usage } from '../../domain/output.ts'
import type { Draft } from '../../domain/plan.ts'
import { type ParseText, parseHere } from '../../domain/ports/parse-text.ts'
import type { DraftRequest, Planner } from '../../domain/ports/planner.ts'
import {
  type ModelAnswer,
  type Provider,
  toRetryableFailure,
  wasGenerated,
} from '../../domain/ports/provider.ts'
import { createRedactor, type Redactor } from '../../domain/redaction/redact.ts'
import { draftSchema } from '../../domain/schemas/all-schemas.ts'
import { feedback } from '../../output/index.ts'
import { parseDraft } from '../parse-nouns.ts'
import { withRetries } from '../search/draft/resilience.ts'
import { search } from '../search/search.ts'
import { createDraftBudget, type PlannerPrice, type PromptTexts } from './draft-budget.ts'
import { promptLimits, systemText, userText } from './prompt.ts'
import { shortlist } from './shortlist.ts'

export interface ProposeOptions extends RetrySource {
  readonly provider: Provider
  /** Model name without the provider prefix. */
  readonly model: string
  /** Maximum number of calls for one draft; from the second on, the prompt includes the issues. Default 2. */
  readonly asks?: number
  /**
   * The planning attempt from which on the search planner drafts, because the model's drafts were rejected. Default 3,
   * the last of a run.
   */
  readonly searchFrom?: number
  /** Timeout of each call. Default 240,000. */
  readonly timeoutMs?: number
  /** Maximum number of capabilities in the prompt. Default 80. */
  readonly mostCapabilities?: number
  /** Removes values that must not be sent to the provider. Default: redacts by key name. */
  readonly redactor?: Redactor
  /** Use the search planner when the model fails or its drafts are rejected. Default true; false makes that an error. */
  readonly fallback?: boolean
  /** Price of the model. Without it, runs with a cost limit are drafted by the search planner. */
  readonly price?: PlannerPrice
  /** Reads the model's texts. Default: on this thread. */
  readonly parseText?: ParseText
}

export interface Proposal {
  readonly draft: Draft
  readonly runtime: 'model' | 'search'
  /** Why the search planner drafted instead. */
  readonly reason?: string
  /** Number of calls made. */
  readonly calls: number
  /** Usage of these calls; also reported to `request.onUsage` as it occurs. */
  readonly usage: Usage
}

/** Drafts by search for this reason, or throws the error if the fallback is disabled. */
type Instead = (reason: string, error?: () => Error) => Proposal

const free: PlannerPrice = { inputPerMillion: 0, outputPerMillion: 0 }

/**
 * @example
 * const { draft, runtime } = await propose(request, { provider, model: 'gpt-5' })
 */
export async function propose(request: DraftRequest, options: ProposeOptions): Promise<Proposal> {
  const { asks = 2, fallback = true, redactor = createRedactor() } = options
  const searchFrom = fallback ? (options.searchFrom ?? 3) : Number.POSITIVE_INFINITY
  const list = shortlist(request, options.mostCapabilities ?? promptLimits.capabilities)
  const account = createDraftBudget(request, options.provider.free ? free : options.price)
  const spent = () => ({ calls: account.spent.calls, usage: account.spent })
  const instead = (reason: string, error: () => Error = () => new Error(reason)): Proposal => {
    if (!fallback) throw error()
    const { draft } = search({ ...request, considered: list.considered })
    const metadata = { ...draft.metadata, plannerFallback: reason, plannerModel: getName(options) }
    return { draft: { ...draft, metadata }, runtime: 'search', reason, ...spent() }
  }
  if (request.attempt >= searchFrom) return instead('the drafts of the model were rejected')
  if (list.lost.length > 0) return instead(`required, but on no way to the contract: ${list.lost.join(', ')}`)
  const system = systemText(list)
  const prompt = userText(request, redactor)
  let wrong: readonly Issue[] = []
  const retries = createRetries({ ...pick(options, ['clock', 'random']), signal: request.signal })
  let tries = 0
  for (let ask = 1; ask <= asks; ask++) {
    const text = ask === 1 ? prompt : `${prompt}\nYour last answer was no draft. ${feedback(wrong)}`
    const words = { system, prompt: text }
    const allowed = account.allow(words)
    if ('refused' in allowed) return instead(allowed.refused)
    const answer = await retries.run(async () => {
      tries++
      account.called()
      const one = await generate({ ...words, ...allowed }, request, options)
      account.ended(one, words)
      return one
    }, toRetryableFailure)
    request.signal.throwIfAborted()
    // A provider that rejects its model's text as JSON still returns the text (FSD-01).
    const said = answer.kind === 'text' || answer.kind === 'error' ? answer.text : undefined
    const refusal = refusalIn(answer, said)
    if (refusal !== undefined) return refusedBy(refusal, instead)
    if (said === undefined) return unanswered(answer, tries, { options, instead })
    const read = await readDraft(said, options.parseText ?? parseHere, request.signal)
    if (read.ok) {
      const draft = withRetries(read.draft, request.capabilities)
      return { draft: signed(draft, options), runtime: 'model', ...spent() }
    }
    wrong = read.issues
  }
  return instead(`the model gave no draft: ${wrong[0]?.message ?? ''}`)
}

function refusedBy(refusal: string, instead: Instead): Proposal {
  const reason = `the model refused to draft: ${refusal.slice(0, 300)}`
  return instead(reason, () => new ProvisoError('planner/refused', reason))
}

/**
 * Handles a call without an answer. Throttled and unreachable models have already been retried; others may be called
 * again.
 */
function unanswered(
  answer: ModelAnswer,
  tries: number,
  { options, instead }: { readonly options: ProposeOptions; readonly instead: Instead },
): Proposal {
  const message = 'message' in answer ? answer.message : ''
  const outcome = toRetryableFailure(answer)?.outcome
  const often = tries > 1 && !wasGenerated(answer) ? ` in ${tries} tries` : ''
  const reason = `the model did not answer${often}: ${message}`
  if (outcome === undefined)
    return instead(reason, () =>
      wasGenerated(answer) ? new Error(reason) : new ProvisoError('planner/unavailable', reason),
    )
  const { provider, model } = options
  return instead(reason, () => plannerError(message, { outcome, provider: provider.name, model, tries }))
}

/** The same as a `Planner`, for `createApp`. */
export function modelPlanner(options: ProposeOptions): Planner {
  return { name: getName(options), draft: async (request) => (await propose(request, options)).draft }
}

function getName({ provider, model }: ProposeOptions): string {
  return `${provider.name}/${model}`
}

function signed(draft: Draft, options: ProposeOptions): Draft {
  return {
    ...draft,
    metadata: { ...draft.metadata, plannerRuntime: 'model', plannerModel: getName(options) },
  }
}

/**
 * Detects a refusal, by the provider's field or by a text that declines; it is never parsed as a draft and never
 * repaired.
 */
function refusalIn(answer: ModelAnswer, said: string | undefined): string | undefined {
  if (answer.kind === 'refused') return answer.message
  return said !== undefined && declines(said) ? said.trim() : undefined
}

/** Parses a model's text as a draft, or returns the issues. */
async function readDraft(
  text: string,
  parseText: ParseText,
  signal: AbortSignal,
): Promise<
  { readonly ok: true; readonly draft: Draft } | { readonly ok: false; readonly issues: readonly Issue[] }
> {
  const read = await parseText(text, draftSchema, {}, signal)
  if (!read.ok) return { ok: false, issues: read.issues }
  const parsed = parseDraft(read.value)
  return parsed.ok ? { ok: true, draft: parsed.value } : { ok: false, issues: parsed.issues }
}

/** Makes one call with a timeout. An exception from the provider, which breaks its contract, counts as a failed call. */
async function generate(
  { most, ...said }: PromptTexts & { readonly most?: number },
  { signal, attempt, trace }: DraftRequest,
  { provider, model, timeoutMs = 240_000 }: ProposeOptions,
): Promise<ModelAnswer> {
  const limit = AbortSignal.timeout(timeoutMs)
  const both = AbortSignal.any([signal, limit])
  const stopped = new Promise<ModelAnswer>((resolve) => {
    const late = () =>
      resolve({ kind: 'error', message: limit.aborted ? 'it took too long' : 'it was stopped' })
    if (both.aborted) late()
    both.addEventListener('abort', late, { once: true })
  })
  const idempotencyKey = sha256Hex(`${attempt}\n${said.system}\n${said.prompt}`)
  try {
    const call = {
      model,
      ...said,
      ...(most !== undefined && { maxOutputTokens: most }),
      idempotencyKey,
      signal: both,
      ...(trace && { trace }),
    }
    return await Promise.race([provider.generate(call), stopped])
  } catch (cause) {
    return { kind: 'error', message: toErrorMessage(cause) }
  }
}
