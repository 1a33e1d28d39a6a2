/**
 * Estimates a run before it starts: calls of models and agents, tokens and cost. The minimum is one answer per node, the
 * maximum every answer that the capability, its retries and each alternate may ask for.
 */

import type { Json } from '../../base/json.ts'
import { valueAt } from '../../base/pointer.ts'
import { roughTokens } from '../../base/rough-tokens.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Envelope } from '../../domain/envelope.ts'
import { type Draft, type DraftNode, iterationDefaults } from '../../domain/plan.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { findProvider } from './find-provider.ts'
import { computeCost, findPrice, isListed, nothing, type Price, priceList } from './prices.ts'

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
  /** The node's own capability, or one of its alternates. */
  readonly capabilityId: string
  /** Absent for agents over HTTP. */
  readonly model?: string
  /** At least 0 for alternates. */
  readonly calls: Range
  /** Of one call. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd?: number
}

export interface EstimateContext {
  readonly capability: (id: string) => Capability | undefined
  readonly defaultModel: string
  readonly prices: readonly Price[]
  /** Providers that would be called: those with `free` cost nothing. Default: all calls are priced. */
  readonly providers?: readonly Provider[]
}

/** What the instruction around a task takes. */
const overhead = 150
/** For answers whose schema says little. */
const shortAnswer = 120
/** Generated answers of one attempt, as the engine allows them. */
const callBudget = 4
/** Retries where the node says nothing, as the engine makes them. */
const retries = 0

export function estimateDraft(envelope: Envelope, draft: Draft, context: EstimateContext): Estimate {
  const nodes = draft.nodes.flatMap((node) => estimateNode(node, envelope, context))
  const range = (perCall: (node: NodeEstimate) => number): Range => ({
    least: nodes.reduce((total, node) => total + node.calls.least * perCall(node), 0),
    most: nodes.reduce((total, node) => total + node.calls.most * perCall(node), 0),
  })
  const models = nodes.filter((node) => node.model !== undefined)
  const unknownPrices = [
    ...new Set(models.filter(({ costUsd }) => costUsd === undefined).map(({ model = '' }) => model)),
  ]
  const isPriced = ({ model = '' }: NodeEstimate) =>
    !isFree(model, context) && isListed(model, context.prices)
  return {
    calls: range(() => 1),
    tokens: range((node) => node.inputTokens + node.outputTokens),
    ...(unknownPrices.length === 0 && { costUsd: range(({ costUsd = 0 }) => costUsd) }),
    unknownPrices,
    ...(models.some(isPriced) && { priceNote: priceList.note }),
    nodes,
  }
}

/** One entry per executor that is called: the node's capability, then its alternates. */
function estimateNode(node: DraftNode, envelope: Envelope, context: EstimateContext): NodeEstimate[] {
  if (node.body) return estimateBody(node, envelope, context)
  const { capabilityId, alternates = [], retry } = node
  const attempts = (retry?.max ?? retries) + 1
  return [capabilityId, ...alternates].flatMap((id, index): NodeEstimate[] => {
    const capability = id === undefined ? undefined : context.capability(id)
    const least = index === 0 ? 1 : 0
    if (capability?.kind === 'http')
      return [{ ...estimateAgent(node, capability), calls: { least, most: attempts } }]
    if (capability?.kind !== 'model') return []
    const calls = { least, most: (node.callBudget ?? callBudget) * attempts }
    return [{ ...estimateModel(node, capability, { envelope, context }), calls }]
  })
}

/** The nodes of a body, as often as it may run: the items of a list that is known, else up to the limit. */
function estimateBody(node: DraftNode, envelope: Envelope, context: EstimateContext): NodeEstimate[] {
  const times = node.map
    ? estimateItems(node, envelope)
    : { least: 1, most: node.loop?.maxRounds ?? iterationDefaults.maxRounds }
  const path = node.map ? `${node.id}[]` : `${node.id}#`
  return (node.body?.nodes ?? []).flatMap((inner) =>
    estimateNode(inner, envelope, context).map((each) => ({
      ...each,
      nodeId: `${path}.${each.nodeId}`,
      calls: { least: each.calls.least * times.least, most: each.calls.most * times.most },
    })),
  )
}

function estimateItems({ map, inputs = {} }: DraftNode, envelope: Envelope): Range {
  const { maxItems = iterationDefaults.maxItems } = map ?? {}
  const source = [inputs['items']].flat()[0]
  const list =
    source && 'value' in source
      ? source.value
      : source && 'envelope' in source
        ? valueAt(envelope as unknown as Json, source.envelope)
        : undefined
  return Array.isArray(list)
    ? { least: Math.min(list.length, maxItems), most: Math.min(list.length, maxItems) }
    : { least: 0, most: maxItems }
}

type CallEstimate = Omit<NodeEstimate, 'calls'>

/** What an agent uses inside is its own affair, unless its registration says. */
function estimateAgent({ id }: DraftNode, { capabilityId, cost }: Capability): CallEstimate {
  return { nodeId: id, capabilityId, inputTokens: 0, outputTokens: cost?.estimatedTokens ?? 0 }
}

function estimateModel(
  node: DraftNode,
  capability: Capability,
  { envelope, context }: { readonly envelope: Envelope; readonly context: EstimateContext },
): CallEstimate {
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
  const price = isFree(model, context) ? { model, ...nothing } : findPrice(model, context.prices)
  const costUsd = computeCost({ inputTokens, outputTokens }, price)
  return {
    nodeId: node.id,
    capabilityId: capability.capabilityId,
    model,
    inputTokens,
    outputTokens,
    ...(costUsd !== undefined && { costUsd }),
  }
}

function isFree(model: string, { providers = [] }: EstimateContext): boolean {
  return findProvider(providers, model)?.free === true
}
