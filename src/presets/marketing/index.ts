/** Entry point `proviso/presets/marketing`: facets, agents and tools for marketing flows. A catalog has them only if they are passed to it. */
import type { DefinedCapability } from '../../domain/capability/define-capability.ts'
import type { Facet } from '../../domain/facet.ts'
import { marketingCapabilities } from './capabilities.ts'
import { marketingFacets } from './facets.ts'
import { escalate, scoreCopy } from './quality-tools.ts'
import { analyzeAssets, planKnobs } from './strategy-tools.ts'

export { marketingCapabilities, marketingRegistrations, type Registration } from './capabilities.ts'
export { marketingFacets } from './facets.ts'

/**
 * Everything a catalog needs for marketing flows.
 *
 * @example
 * const app = await createApp({ ...marketing, store: 'sqlite:runs.db' })
 */
export const marketing: {
  readonly facets: readonly Facet[]
  readonly capabilities: readonly DefinedCapability[]
} = {
  facets: marketingFacets,
  capabilities: marketingCapabilities,
}

// Tools for marketing flows that need no model (FLEX-103). Pass them to `createApp` as capabilities.

/**
 * @example
 * await createApp({ facets: marketing.facets, capabilities: [...marketing.capabilities, ...marketingTools] })
 */
export const marketingTools: readonly DefinedCapability[] = [analyzeAssets, planKnobs, scoreCopy, escalate]
