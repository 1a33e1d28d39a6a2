/** What a run would take before it starts: calls, tokens and cost, from one answer per model node to the whole budget. */
import { roughTokens } from '../../base/rough-tokens.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { Draft, DraftNode } from '../../domain/plan.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { findProvider } from './find-provider.ts'
import { costOf, isListed, nothing, type Price, priceList, priceOf } from './prices.ts'

export interface Range {
  readonly least: number
  readonly most: number
}

export interface Estimate {
  readonly calls: Range
  readonly tokens: Range
  /** Absent when the price of some model is unknown: a sum of which a part is unknown is unknown. */
  readonly costUsd?: Range
  /** Models without a known price. */
  readonly unknownPrices: readonly string[]
  /** Said when a price comes from the package's own list: as of when, and that it has to be checked. */
  readonly priceNote?: string
  readonly nodes: readonly NodeEstimate[]
}

export interface NodeEstimate {
  readonly nodeId: string
  readonly model: string
  readonly calls: Range
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd?: number
}

export interface EstimateContext {
  readonly capability: (id: string) => Capability | undefined
  readonly defaultModel: string
  readonly prices: readonly Price[]
  /** Who would be asked: those who are `free` take nothing. Default: nobody who is. */
  readonly providers?: readonly Provider[]
}

/** What the instruction around a task takes. */
const overhead = 150
/** For answers whose schema says little. */
const shortAnswer = 120
const callBudget = 4

export function estimateDraft(envelope: Envelope, draft: Draft, context: EstimateContext): Estimate {
  const nodes = draft.nodes.flatMap((node) => estimateNode(node, envelope, context))
  const sum = (of: (node: NodeEstimate) => number) => nodes.reduce((total, node) => total + of(node), 0)
  const most = (node: NodeEstimate) => node.calls.most * (node.inputTokens + node.outputTokens)
  const unknownPrices = [
    ...new Set(nodes.filter(({ costUsd }) => costUsd === undefined).map(({ model }) => model)),
  ]
  return {
    calls: { least: nodes.length, most: sum(({ calls }) => calls.most) },
    tokens: { least: sum((node) => node.inputTokens + node.outputTokens), most: sum(most) },
    ...(unknownPrices.length === 0 && {
      costUsd: {
        least: sum(({ costUsd = 0 }) => costUsd),
        most: sum(({ costUsd = 0, calls }) => costUsd * calls.most),
      },
    }),
    unknownPrices,
    ...(nodes.some(({ model }) => !isFree(model, context) && isListed(model, context.prices)) && {
      priceNote: priceList.note,
    }),
    nodes,
  }
}

function estimateNode(node: DraftNode, envelope: Envelope, context: EstimateContext): NodeEstimate[] {
  const capability = node.capabilityId === undefined ? undefined : context.capability(node.capabilityId)
  if (capability?.kind !== 'model') return []
  const model = capability.preferredModels?.[0] ?? context.defaultModel
  const schema = JSON.stringify(node.contracts?.output ?? capability.outputContract)
  const words = [envelope.objective, JSON.stringify(envelope.inputs), node.instructions ?? '', schema]
  const inputTokens = overhead + words.reduce((total, text) => total + roughTokens(text), 0)
  const estimated = capability.cost?.estimatedTokens
  const outputTokens = Math.max(
    shortAnswer,
    (estimated ?? 0) - inputTokens,
    Math.ceil(roughTokens(schema) / 2),
  )
  const price = isFree(model, context) ? { model, ...nothing } : priceOf(model, context.prices)
  const costUsd = costOf({ inputTokens, outputTokens }, price)
  return [
    {
      nodeId: node.id,
      model,
      calls: { least: 1, most: node.callBudget ?? callBudget },
      inputTokens,
      outputTokens,
      ...(costUsd !== undefined && { costUsd }),
    },
  ]
}

function isFree(model: string, { providers = [] }: EstimateContext): boolean {
  return findProvider(providers, model)?.free === true
}
