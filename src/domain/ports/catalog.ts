/** The port to what is alive: facets and capabilities, as planners, prover and engine see them. */
import type { Capability } from '../capability.ts'
import type { Facet } from '../facet.ts'

export interface Catalog {
  facets(): readonly Facet[]
  /** Active capabilities. */
  capabilities(): readonly Capability[]
  /** Known capabilities that nothing here can carry out, with the reason; they are not planned with. Absent: none. */
  inactive?(): ReadonlyMap<string, string>
  /** By id, active or not; absent if unknown here. */
  capability(capabilityId: string): Capability | undefined
  /** What one tenant sees: what is everybody's, and its own. Absent: everything is everybody's. */
  forTenant?(tenant: string): Catalog
}
