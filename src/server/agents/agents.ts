/** Combines the agent services that need no adapter: the registrar and the catalog of registered agents. Built by `createApp`. */
import { type Endpoint, liveSecrets } from '../../domain/capability/endpoint.ts'
import type { Callbacks } from '../../domain/ports/callbacks.ts'
import { createTenantCatalogs, type TenantCatalogs } from '../../plan/index.ts'
import {
  type Agent,
  createLivingCatalog,
  type LivingCatalog,
  type LivingCatalogOptions,
} from './live-catalog.ts'
import { createRegistrar, type Registrar, type RegistrarOptions } from './register-agents.ts'

export interface AgentsOptions
  extends Omit<LivingCatalogOptions, 'catalogs'>,
    Pick<RegistrarOptions, 'inspectUrl' | 'operations'> {
  /** Endpoints of the process's own capabilities of kind `http`, by capability id. */
  readonly own?: { readonly [capabilityId: string]: Endpoint }
}

export { createEndpointSeal, readSecretKey } from './endpoint-seal.ts'

/** The agent services that routes call. */
export interface AgentServices {
  readonly registrar: Registrar
  readonly callbacks: Callbacks
}

interface Agents {
  readonly catalogs: TenantCatalogs
  readonly living: LivingCatalog
  readonly registrar: Registrar
  findEndpoint(agent: Agent): Endpoint | undefined
  /** Returns the valid signing secrets of an agent. */
  secretsOf(agent: Agent): readonly string[]
}

export function createAgents(options: AgentsOptions): Agents {
  const { registrations, operations, shared, clock, seal, inspectUrl, own = {} } = options
  const catalogs = createTenantCatalogs(shared)
  const living = createLivingCatalog({ ...options, catalogs })
  const findEndpoint = (agent: Agent) =>
    shared.capability(agent.capabilityId) === undefined
      ? living.findEndpoint(agent)
      : Object.hasOwn(own, agent.capabilityId)
        ? own[agent.capabilityId]
        : undefined
  return {
    catalogs,
    living,
    registrar: createRegistrar({ registrations, operations, catalogs, living, clock, seal, inspectUrl }),
    findEndpoint,
    secretsOf: (agent) => liveSecrets(findEndpoint(agent) ?? { keys: [] }, clock.now()),
  }
}
