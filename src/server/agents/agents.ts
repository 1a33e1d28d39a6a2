/** Combines the agent services that need no adapter: the registrar and the catalog of registered agents. Built by `createApp`. */
import { deriveCallKey } from '../../domain/capability/call-signature.ts'
import { type Endpoint, liveSecrets } from '../../domain/capability/endpoint.ts'
import type { Callbacks, WorkerCalls } from '../../domain/ports/callbacks.ts'
import { createTenantCatalogs, type TenantCatalogs } from '../../plan/index.ts'
import {
  type Agent,
  createLivingCatalog,
  type LivingCatalog,
  type LivingCatalogOptions,
} from './live-catalog.ts'
import { createRegistrar, type Registrar, type RegistrarOptions } from './register-agents.ts'
import { createFacetServices, type FacetServices } from './tenant-facets.ts'

export interface AgentsOptions
  extends Omit<LivingCatalogOptions, 'catalogs'>,
    Pick<RegistrarOptions, 'inspectUrl' | 'operations' | 'documents'> {
  /** Endpoints of the process's own capabilities of kind `http`, by capability id. */
  readonly own?: { readonly [capabilityId: string]: Endpoint }
}

export { createEndpointSeal, type EndpointSeal, readSecretKey } from './endpoint-seal.ts'
export { createRecordChanges, type RecordChanges } from './record-changes.ts'

/** The agent services that routes call. */
export interface AgentServices {
  readonly registrar: Registrar
  readonly facets: FacetServices
  readonly callbacks: Callbacks
  readonly workers: WorkerCalls
  /** Resolves when this process knows what other processes have changed so far for the tenant. */
  update(tenant: string): Promise<void>
}

interface Agents {
  readonly catalogs: TenantCatalogs
  readonly living: LivingCatalog
  readonly registrar: Registrar
  readonly facets: FacetServices
  findEndpoint(agent: Agent): Endpoint | undefined
  /** Returns the valid signing secrets of an agent. */
  getSecrets(agent: Agent): readonly string[]
  /** Returns the secrets that may sign the answer of a call: of the agent, or of the call if a worker took it. */
  getAnswerSecrets(call: Agent & { readonly idempotencyKey: string }): readonly string[]
}

export function createAgents(options: AgentsOptions): Agents {
  const { registrations, operations, documents, shared, clock, seal, inspectUrl, own = {} } = options
  const catalogs = createTenantCatalogs(shared)
  const living = createLivingCatalog({ ...options, catalogs })
  const findEndpoint = (agent: Agent) =>
    shared.capability(agent.capabilityId) === undefined
      ? living.findEndpoint(agent)
      : Object.hasOwn(own, agent.capabilityId)
        ? own[agent.capabilityId]
        : undefined
  const getSecrets = (agent: Agent) => liveSecrets(findEndpoint(agent) ?? { keys: [] }, clock.now())
  return {
    catalogs,
    living,
    registrar: createRegistrar({
      registrations,
      operations,
      documents,
      catalogs,
      living,
      clock,
      seal,
      inspectUrl,
    }),
    facets: createFacetServices({ documents, registrations, catalogs, living }),
    findEndpoint,
    getSecrets,
    getAnswerSecrets(call) {
      const secrets = getSecrets(call)
      if (findEndpoint(call)?.poll !== true) return secrets
      // Calls of before it polled are signed with the agent's own key.
      return [...secrets.map((secret) => deriveCallKey(secret, call.idempotencyKey)), ...secrets]
    },
  }
}
