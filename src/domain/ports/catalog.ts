/** Port to the available facets and capabilities, used by planners, prover and engine. */
import type { Capability } from '../capability.ts'
import type { Facet } from '../facet.ts'

export interface Catalog {
  facets(): readonly Facet[]
  /** Active capabilities. */
  capabilities(): readonly Capability[]
  /** Known capabilities that cannot run here, with the reason; plans do not use them. Absent: none. */
  inactive?(): ReadonlyMap<string, string>
  /** Finds a capability by id, active or not; undefined if unknown. */
  capability(capabilityId: string): Capability | undefined
  /** The view of one tenant: shared entries and its own. Absent: all entries are shared. */
  forTenant?(tenant: string): Catalog
}
