/** Determines which capabilities this app can execute, and estimates what a draft would take. Both are known before planning. */
import {
  type EstimateContext,
  estimateDraft,
  findProvider,
  missingProviderHint,
  parseModelId,
} from '../adapters/models/index.ts'
import type { AppOptions } from '../app-options.ts'
import type { Capability } from '../domain/capability.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { Draft } from '../domain/plan.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { EnvConfig } from '../env.ts'
import type { DraftEstimate } from '../plan/index.ts'

export interface AvailabilityContext {
  readonly options: Pick<AppOptions, 'http' | 'dispatchers' | 'capabilities' | 'providers'>
  readonly env: EnvConfig
  readonly providers: readonly Provider[]
  readonly defaultModel: string
}

/** Returns why a capability cannot be executed here, or `undefined` if it can. */
export function availability({ options, env, providers, defaultModel }: AvailabilityContext) {
  const own = new Set((options.capabilities ?? []).map(({ capability }) => capability.capabilityId))
  const custom = new Set((options.dispatchers ?? []).map(({ kind }) => kind))
  const builtIn = new Set(['local', 'scripted', 'human', 'model', 'http'])
  const isServed = (id: string) => {
    const { provider, model } = parseModelId(id)
    const isBare = provider === 'compatible' && !/^https?:/.test(model)
    if (isBare && options.providers === undefined && env.compatibleBaseUrl === undefined) return false
    return findProvider(providers, id) !== undefined
  }
  return ({ kind, capabilityId, preferredModels = [] }: Capability): string | undefined => {
    if (custom.has(kind)) return undefined
    if (!builtIn.has(kind)) return `no dispatcher calls capabilities of kind "${kind}"`
    if (kind === 'http' && options.http === undefined) return 'this app does not call agents over HTTP'
    if (kind === 'http' && own.has(capabilityId) && options.http?.agents?.[capabilityId] === undefined)
      return 'it has no endpoint; add it to `http.agents`'
    if (kind !== 'model') return undefined
    const models = preferredModels.length === 0 ? [defaultModel] : preferredModels
    if (models.some(isServed)) return undefined
    const [first = defaultModel] = models
    return `the model "${first}" has no provider; ${missingProviderHint(first)}`
  }
}

/** Estimates what a draft takes: at least, counting only nodes that always run, and at most. */
export function estimateSpending(envelope: Envelope, draft: Draft, context: EstimateContext): DraftEstimate {
  const all = estimateDraft(envelope, draft, context)
  const certain = estimateDraft(envelope, { ...draft, nodes: certainNodes(draft) }, context)
  return {
    tokens: { least: certain.tokens.least, most: all.tokens.most },
    unknownPrices: all.unknownPrices,
    ...(all.costUsd &&
      certain.costUsd && { costUsd: { least: certain.costUsd.least, most: all.costUsd.most } }),
  }
}

/** Returns nodes that always run: no route, fail edge or fallback decides about them or about a node they depend on. */
function certainNodes({ nodes, edges = [] }: Draft): Draft['nodes'] {
  const open = new Set<string>([
    ...nodes.flatMap(({ routing }) => [
      ...(routing?.routes ?? []).flatMap(({ to }) => to),
      ...[routing?.elseTo ?? []].flat(),
    ]),
    ...edges.filter(({ when }) => when === 'fail').map(({ to }) => to),
    ...nodes.filter(({ kind }) => kind === 'fallback').map(({ id }) => id),
  ])
  for (let before = -1; before !== open.size; ) {
    before = open.size
    for (const { from, to } of edges) if (open.has(from)) open.add(to)
    for (const { id, inputs = {} } of nodes) if (hasNodeReference(JSON.stringify(inputs), open)) open.add(id)
  }
  return nodes.filter(({ id }) => !open.has(id))
}

function hasNodeReference(inputs: string, ids: ReadonlySet<string>): boolean {
  return [...ids].some((id) => inputs.includes(`"node":${JSON.stringify(id)}`))
}
