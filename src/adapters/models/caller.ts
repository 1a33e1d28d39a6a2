/**
 * Makes the calls of one attempt and keeps the account: what is left of the budget, what was spent, what the provider was
 * asked for. Every call of the house to a model goes through here, and so does every prompt through the redactor.
 */
import type { Issue } from '../../base/issue.ts'
import type { Json } from '../../base/json.ts'
import type { Usage } from '../../domain/output.ts'
import type { CallUsage, ModelAnswer } from '../../domain/ports/provider.ts'
import type { Redactor } from '../../domain/redact.ts'
import type { Trace } from '../../domain/trace.ts'
import { schemaHash } from '../../schema/hash.ts'
import { allowance, type Budget } from './allowance.ts'
import { costOf, type Price, priceOf, roughTokens } from './prices.ts'
import type { Words } from './prompts.ts'
import { type CallOptions, sendRequest } from './send-request.ts'

export type OnEvent = (event: string, payload?: { readonly [key: string]: Json }) => void

export interface CallerOptions {
  readonly budget: Budget
  readonly redactor: Redactor
  readonly prices: readonly Price[]
  readonly idempotencyKey: string
  readonly trace?: Trace | undefined
  readonly signal: AbortSignal
  readonly onEvent: OnEvent
  readonly onUsage?: ((usage: Usage) => void) | undefined
}

export type Called =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer; readonly doomed?: readonly Issue[] }
  /** The budget does not allow the call. */
  | { readonly kind: 'refused'; readonly issue: Issue }

export interface Caller {
  /** Calls that may still be made. */
  left(): number
  spent(): Usage
  call(options: CallOptions): Promise<Called>
}

export function createCaller(options: CallerOptions): Caller {
  const { budget, redactor, prices, onEvent } = options
  let spent: Usage = { calls: 0 }
  let asked = 0
  let unknownCost = false

  return {
    left: () => Math.max(budget.calls - spent.calls, 0),
    spent: () => (unknownCost ? withoutCost(spent) : spent),
    async call(given) {
      const words = { system: redactor.text(given.system), prompt: redactor.text(given.prompt) }
      const price = priceOf(given.model, prices)
      const allowed = allowance(budget, spent, { words, price })
      if ('code' in allowed) return { kind: 'refused', issue: allowed }
      const most = least(given.maxOutputTokens, allowed.most)
      const key = `${options.idempotencyKey}:${++asked}`
      // Told before it leaves: a call that is cut off has been made.
      options.onUsage?.({ ...spent, calls: spent.calls + 1 })
      const { answer, doomed } = await sendRequest(
        { ...given, ...words },
        { key, most, trace: options.trace, signal: options.signal },
      )
      tellStructured(onEvent, given, answer)
      if (wasGenerated(answer)) {
        const usage = counted(answer, words)
        const cost = costOf(usage, price)
        unknownCost ||= cost === undefined
        spent = add(spent, { calls: 1, ...usage, ...(cost !== undefined && { costUsd: cost }) })
        options.onUsage?.(spent)
      }
      return { kind: 'answer', answer, ...(doomed && { doomed }) }
    },
  }
}

/** What became of the intent, for every call that had one (AROS-10, 52, 53). */
function tellStructured(
  onEvent: OnEvent,
  { structured = 'off', schema, schemaName }: CallOptions,
  answer: ModelAnswer,
): void {
  if (structured === 'off' || schema === undefined) return
  const outcome = answer.structured ?? { kind: 'skipped', reason: 'the provider has no JSON mode' }
  const base = { mode: structured, schema_hash: schemaHash(schema) }
  if (outcome.kind === 'skipped') {
    onEvent('aros.soe.skipped', { ...base, reason: outcome.reason })
    return
  }
  const { as, weakened } = outcome
  onEvent('aros.soe.enabled', { ...base, applied: as, weakened })
  onEvent('grammar.applied', {
    ...base,
    applied: as,
    ...(schemaName !== undefined && { schema_name: schemaName }),
  })
}

/** Whether a model has worked for this answer; refusals before that cost nothing. */
function wasGenerated(answer: ModelAnswer): boolean {
  return answer.kind !== 'throttled' && !(answer.kind === 'error' && answer.fatal === true)
}

/** What the provider counted; where it counted nothing, a rough guess, so that no budget is passed unseen. */
function counted(answer: ModelAnswer, { system, prompt }: Words): CallUsage {
  const usage = 'usage' in answer ? (answer.usage ?? {}) : {}
  const said = 'text' in answer ? (answer.text ?? '') : ''
  return {
    ...usage,
    inputTokens: usage.inputTokens ?? roughTokens(system) + roughTokens(prompt),
    outputTokens: usage.outputTokens ?? roughTokens(said),
  }
}

function add(a: Usage, b: Usage): Usage {
  return {
    calls: a.calls + b.calls,
    inputTokens: (a.inputTokens ?? 0) + (b.inputTokens ?? 0),
    outputTokens: (a.outputTokens ?? 0) + (b.outputTokens ?? 0),
    ...((a.costUsd !== undefined || b.costUsd !== undefined) && {
      costUsd: (a.costUsd ?? 0) + (b.costUsd ?? 0),
    }),
  }
}

/** A sum of which a part is unknown is unknown. */
function withoutCost({ costUsd: _, ...usage }: Usage): Usage {
  return usage
}

function least(...values: readonly (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined)
  return given.length > 0 ? Math.min(...given) : undefined
}
