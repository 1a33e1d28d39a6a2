/** The entry point `proviso/presets/marketing`: facets, agents and tools of marketing flows. No catalog has them by itself. */
import type { DefinedCapability } from '../../adapters/dispatchers/define-capability.ts'
import type { Facet } from '../../domain/facet.ts'
import { marketingCapabilities } from './capabilities.ts'
import { marketingFacets } from './facets.ts'

export { marketingCapabilities, marketingRegistrations, type Registration } from './capabilities.ts'
export { marketingFacets } from './facets.ts'
export { marketingTools } from './tools.ts'

/**
 * What a catalog needs for marketing flows.
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
