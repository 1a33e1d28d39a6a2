/** Registers the capabilities of this process: built-in ones and its own. They stay active as long as the process runs. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Capability } from '../../domain/capability.ts'
import { withBuiltins } from '../builtin-capabilities.ts'
import type { CapabilityCatalog } from './catalog.ts'

/**
 * Throws `option/invalid` for duplicate ids and for capabilities that the catalog rejects. A capability with the id of
 * a built-in one replaces it.
 */
export function addOwnCapabilities(catalog: CapabilityCatalog, capabilities: readonly Capability[]): void {
  for (const capability of withBuiltins(capabilities)) {
    const { capabilityId } = capability
    if (catalog.getCapabilityById(capabilityId) !== undefined)
      throw new ProvisoError(
        'option/invalid',
        `Cannot register "${capabilityId}": two capabilities have this id`,
        {
          hint: 'Change the `capabilityId` of one of them',
        },
      )
    const registered = catalog.register(capability, { pinned: true })
    if (registered.ok) continue
    const message = `Cannot register the capability "${capabilityId}": ${registered.issues[0]?.message ?? ''}`
    throw new ProvisoError('option/invalid', message, { issues: registered.issues })
  }
}
