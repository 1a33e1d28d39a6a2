/**
 * The model planner: a model drafts, the reader reads, `prove` decides. When the model is unavailable, does not answer with a
 * draft, or was rejected before, the search planner drafts instead, and the draft says so; `fallback: false` makes it an error.
 */
import { ProvisoError } from '../../base/error.ts'
import { sha256Hex } from '../../base/hash.ts'
import type { Issue } from '../../base/issue.ts'
import { messageOf } from '../../base/message-of.ts'
import { pick } from '../../base/pick.ts'
import { createRetries, type RetrySource } from '../../base/retry.ts'
import { declines } from '../../domain/declines.ts'
import { failedTry, wasGenerated } from '../../domain/model-answer.ts'
import type { Usage } from '../../domain/output.ts'
import type { Draft } from '../../domain/plan.ts'
import type { DraftRequest, Planner } from '../../domain/ports/planner.ts'
import type { ModelAnswer, Provider } from '../../domain/ports/provider.ts'
import { createRedactor, type Redactor } from '../../domain/redact.ts'
import { draftSchema } from '../../domain/schemas.ts'
import { feedback, parse } from '../../output/index.ts'
import { parseDraft } from '../parse-nouns.ts'
import { withRetries } from '../planned-retries.ts'
import { search } from '../search/search.ts'
import { openAccount, type PlannerPrice, type Words } from './account.ts'
import { promptLimits, systemText, userText } from './prompt.ts'
import { shortlist } from './shortlist.ts'

export interface ProposeOptions extends RetrySource {
  readonly provider: Provider
  /** Without the provider's name. */
  readonly model: string
  /** How often the model is asked for one draft; from the second time on with what was wrong. Default 2. */
  readonly asks?: number
  /** The attempt from which on the search drafts, because the model's drafts were rejected. Default 3, the last of a run. */
  readonly searchFrom?: number
  /** For each call. Default 240,000. */
  readonly timeoutMs?: number
  /** Capabilities that the model is shown. Default 80. */
  readonly mostCapabilities?: number
  /** What must not leave. Default: by the names of keys. */
  readonly redactor?: Redactor
  /** Draft by search when the model fails or its drafts are rejected. Default true; false makes that an error. */
  readonly fallback?: boolean
  /** What the model costs. Without it the search drafts for runs that limit their cost. */
  readonly price?: PlannerPrice
}

export interface Proposal {
  readonly draft: Draft
  readonly runtime: 'model' | 'search'
  /** Why the search drafted instead. */
  readonly reason?: string
  /** Calls that were made. */
  readonly calls: number
  /** What they took; `request.onUsage` was told on the way. */
  readonly usage: Usage
}

/** Ends after which the model is not asked again. */
type FinalCode = 'planner/unavailable' | 'planner/refused'

const free: PlannerPrice = { inputPerMillion: 0, outputPerMillion: 0 }

/**
 * @example
 * const { draft, runtime } = await propose(request, { provider, model: 'gpt-5' })
 */
export async function propose(request: DraftRequest, options: ProposeOptions): Promise<Proposal> {
  const { asks = 2, fallback = true, redactor = createRedactor() } = options
  const searchFrom = fallback ? (options.searchFrom ?? 3) : Number.POSITIVE_INFINITY
  const list = shortlist(request, options.mostCapabilities ?? promptLimits.capabilities)
  const account = openAccount(request, options.provider.free ? free : options.price)
  const spent = () => ({ calls: account.spent.calls, usage: account.spent })
  const instead = (reason: string, code?: FinalCode): Proposal => {
    if (!fallback) throw code === undefined ? new Error(reason) : new ProvisoError(code, reason)
    const { draft } = search(request)
    const metadata = { ...draft.metadata, plannerFallback: reason, plannerModel: nameOf(options) }
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
    }, failedTry)
    request.signal.throwIfAborted()
    // A provider that would not accept its own model's text as JSON has still sent the text (FSD-01).
    const said = answer.kind === 'text' || answer.kind === 'error' ? answer.text : undefined
    const refusal = refusalIn(answer, said)
    if (refusal !== undefined)
      return instead(`the model refused to draft: ${refusal.slice(0, 300)}`, 'planner/refused')
    if (said === undefined) {
      const isUnavailable = !wasGenerated(answer)
      const often = isUnavailable && tries > 1 ? ` in ${tries} tries` : ''
      return instead(
        `the model did not answer${often}: ${'message' in answer ? answer.message : ''}`,
        isUnavailable ? 'planner/unavailable' : undefined,
      )
    }
    const read = readDraft(said)
    if (read.ok) {
      const draft = withRetries(read.draft, request.capabilities)
      return { draft: signed(draft, options), runtime: 'model', ...spent() }
    }
    wrong = read.issues
  }
  return instead(`the model gave no draft: ${wrong[0]?.message ?? ''}`)
}

/** The same as a planner, for `createApp`. */
export function modelPlanner(options: ProposeOptions): Planner {
  return { name: nameOf(options), draft: async (request) => (await propose(request, options)).draft }
}

function nameOf({ provider, model }: ProposeOptions): string {
  return `${provider.name}/${model}`
}

function signed(draft: Draft, options: ProposeOptions): Draft {
  return { ...draft, metadata: { ...draft.metadata, plannerRuntime: 'model', plannerModel: nameOf(options) } }
}

/** A refusal by the provider's field, or by a text that declines: it is never read as a draft and never repaired. */
function refusalIn(answer: ModelAnswer, said: string | undefined): string | undefined {
  if (answer.kind === 'refused') return answer.message
  return said !== undefined && declines(said) ? said.trim() : undefined
}

/** A model's text as a draft, or what is wrong with it. */
export function readDraft(
  text: string,
): { readonly ok: true; readonly draft: Draft } | { readonly ok: false; readonly issues: readonly Issue[] } {
  const read = parse(text, draftSchema)
  if (!read.ok) return { ok: false, issues: read.issues }
  const parsed = parseDraft(read.value)
  return parsed.ok ? { ok: true, draft: parsed.value } : { ok: false, issues: parsed.issues }
}

/** One call within its time; a provider that throws, against its promise, has failed like any other. */
async function generate(
  { most, ...said }: Words & { readonly most?: number },
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
    return { kind: 'error', message: messageOf(cause) }
  }
}
