/**
 * Budget for drafting by a model: whether the run allows another call, how long the answer may be, and the usage so
 * far.
 */
import { roughTokens } from '../../base/rough-tokens.ts'
import type { Usage } from '../../domain/output.ts'
import type { DraftAllowance, DraftRequest } from '../../domain/ports/planner.ts'
import { type ModelAnswer, wasGenerated } from '../../domain/ports/provider.ts'

/** Dollars per million tokens. */
export interface PlannerPrice {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
}

export interface PromptTexts {
  readonly system: string
  readonly prompt: string
}

interface DraftBudget {
  /**
   * Checks the budget before a call. Returns the maximum number of answer tokens (none if unlimited), or why the call
   * is refused.
   */
  allow(words: PromptTexts): { readonly most?: number } | { readonly refused: string }
  /** Counts a call when it is sent, regardless of its outcome. */
  called(): void
  /** Records the usage of a finished call. */
  ended(answer: ModelAnswer, words: PromptTexts): void
  readonly spent: Usage
}

export function createDraftBudget(
  { left = {}, onUsage }: Pick<DraftRequest, 'left' | 'onUsage'>,
  price: PlannerPrice | undefined,
): DraftBudget {
  let spent: Usage = { calls: 0 }
  let unpaid: Usage | undefined
  const reportUsage = (usage: Usage) => onUsage?.(usage)
  return {
    allow: (words) => allowance({ left, price }, spent, words),
    called() {
      unpaid = spent
      spent = { ...spent, calls: spent.calls + 1 }
      reportUsage(spent)
    },
    ended(answer, words) {
      if (!wasGenerated(answer)) spent = unpaid ?? spent
      else spent = withTokens(spent, countedTokens(answer, words), price)
      reportUsage(spent)
    },
    get spent() {
      return spent
    },
  }
}

interface BudgetLimits {
  readonly left: DraftAllowance
  readonly price: PlannerPrice | undefined
}

function allowance(
  { left, price }: BudgetLimits,
  spent: Usage,
  words: PromptTexts,
): ReturnType<DraftBudget['allow']> {
  if (left.calls !== undefined && spent.calls >= left.calls) return none('calls')
  const prompt = roughTokens(words.system) + roughTokens(words.prompt)
  const limits: number[] = []
  if (left.tokens !== undefined) limits.push(left.tokens - countTokens(spent) - prompt)
  if (left.costUsd !== undefined) {
    if (price === undefined) return { refused: 'the run limits cost, and the price of the model is unknown' }
    const micros = (left.costUsd - (spent.costUsd ?? 0)) * 1_000_000 - prompt * price.inputPerMillion
    const free = price.outputPerMillion === 0
    limits.push(
      free ? (micros < 0 ? 0 : Number.MAX_SAFE_INTEGER) : Math.floor(micros / price.outputPerMillion),
    )
  }
  if (limits.length === 0) return {}
  const most = Math.min(...limits)
  return most < 1 ? none(left.tokens === undefined ? 'cost' : 'tokens') : { most }
}

const none = (what: string) => ({ refused: `the run's budget of ${what} does not allow a call` })

interface TokenCounts {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd?: number
}

/**
 * Returns the provider's token counts, or an estimate if it reports none, so that a budget cannot be exceeded
 * unnoticed.
 */
function countedTokens(answer: ModelAnswer, { system, prompt }: PromptTexts): TokenCounts {
  const usage = 'usage' in answer ? (answer.usage ?? {}) : {}
  const said = 'text' in answer ? (answer.text ?? '') : ''
  return {
    ...usage,
    inputTokens: usage.inputTokens ?? roughTokens(system) + roughTokens(prompt),
    outputTokens: usage.outputTokens ?? roughTokens(said),
  }
}

function withTokens(
  spent: Usage,
  { inputTokens, outputTokens, costUsd }: TokenCounts,
  price?: PlannerPrice,
): Usage {
  const cost =
    price === undefined
      ? costUsd
      : (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000
  return {
    calls: spent.calls,
    inputTokens: (spent.inputTokens ?? 0) + inputTokens,
    outputTokens: (spent.outputTokens ?? 0) + outputTokens,
    ...(cost !== undefined && { costUsd: (spent.costUsd ?? 0) + cost }),
  }
}

const countTokens = ({ inputTokens = 0, outputTokens = 0 }: Usage) => inputTokens + outputTokens
