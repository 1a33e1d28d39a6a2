/** Agents over HTTP, as far as no adapter is needed: who is registered, and where each of them is. Put together by `createApp`. */
import { type Endpoint, liveSecrets } from '../domain/endpoint.ts'
import type { Callbacks } from '../domain/ports/callbacks.ts'
import { createTenantCatalogs, type TenantCatalogs } from '../plan/index.ts'
import {
  type Agent,
  createLivingCatalog,
  type LivingCatalog,
  type LivingCatalogOptions,
} from './living-catalog.ts'
import { createRegistrar, type Registrar, type RegistrarOptions } from './registrar.ts'

export interface AgentsOptions
  extends Omit<LivingCatalogOptions, 'catalogs'>,
    Pick<RegistrarOptions, 'inspectUrl'> {
  /** Where capabilities of kind `http` are that the process brings itself, by id. */
  readonly own?: { readonly [capabilityId: string]: Endpoint }
}

export { createEndpointSeal } from './endpoint-seal.ts'

/** What routes need of agents. */
export interface AgentsDoor {
  readonly registrar: Registrar
  readonly callbacks: Callbacks
}

export interface Agents {
  readonly catalogs: TenantCatalogs
  readonly living: LivingCatalog
  readonly registrar: Registrar
  endpointOf(agent: Agent): Endpoint | undefined
  /** Secrets that are alive of an agent's signing keys. */
  secretsOf(agent: Agent): readonly string[]
}

export function createAgents(options: AgentsOptions): Agents {
  const { registrations, shared, clock, seal, inspectUrl, own = {} } = options
  const catalogs = createTenantCatalogs(shared)
  const living = createLivingCatalog({ ...options, catalogs })
  const endpointOf = (agent: Agent) =>
    shared.capability(agent.capabilityId) === undefined
      ? living.endpointOf(agent)
      : Object.hasOwn(own, agent.capabilityId)
        ? own[agent.capabilityId]
        : undefined
  return {
    catalogs,
    living,
    registrar: createRegistrar({ registrations, catalogs, living, clock, seal, inspectUrl }),
    endpointOf,
    secretsOf: (agent) => liveSecrets(endpointOf(agent) ?? { keys: [] }, clock.now()),
  }
}
