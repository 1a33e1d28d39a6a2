/** The capabilities of this process: the built-in ones and its own. They live as long as the process does. */
import { ProvisoError } from '../../base/error.ts'
import type { Capability } from '../../domain/capability.ts'
import { withBuiltins } from '../builtins.ts'
import type { CapabilityCatalog } from './catalog.ts'

/** Throws `option/invalid` for two of one id and for what the catalog refuses. Whoever brings a built-in's id replaces it. */
export function addOwnCapabilities(catalog: CapabilityCatalog, capabilities: readonly Capability[]): void {
  for (const capability of withBuiltins(capabilities)) {
    const { capabilityId } = capability
    if (catalog.getCapabilityById(capabilityId) !== undefined)
      throw new ProvisoError('option/invalid', `Two capabilities are called "${capabilityId}"`, {
        hint: 'Give one of them another capabilityId',
      })
    const registered = catalog.register(capability, { pinned: true })
    if (registered.ok) continue
    const message = `The capability "${capabilityId}" cannot be registered: ${registered.issues[0]?.message ?? ''}`
    throw new ProvisoError('option/invalid', message, { issues: registered.issues })
  }
}
