/** Routes for agents to register, send heartbeats and deregister, and for all roles to list capabilities without endpoints. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import { capabilitySchema } from '../../domain/schemas/capability-schema.ts'
import { closed, flag, text } from '../../domain/schemas/parts.ts'
import type { TenantEntry } from '../../plan/index.ts'
import type { AgentServices } from '../agents/agents.ts'
import type { GivenRegistration, ListQuery } from '../agents/register-agents.ts'
import type { Route } from '../route.ts'
import type { Served } from '../served.ts'
import { api, iso, ok, refusals } from './parts.ts'

const path = `${api}/capabilities`
const { kind: _kind, settings: _settings, ...fields } = capabilitySchema.properties
const capabilityId = { ...text, maxLength: 200 } as const
const params = closed({ capabilityId }, ['capabilityId'])

/** Only characters that are valid in a header. */
const bearer = { type: 'string', maxLength: 4_000, pattern: '^[!-~]+$' } as const

/** Open schema: the registrar refuses unknown fields with a better message. */
const registration = {
  type: 'object',
  properties: {
    ...fields,
    endpoint: closed({
      url: { type: 'string', maxLength: 2_000 },
      poll: { const: true, description: 'Workers of the agent take its calls; it has no URL' },
      timeoutMs: { type: 'integer', minimum: 1, maximum: 3_600_000 },
    }),
    auth: closed({ kind: { const: 'bearer' }, token: bearer }, ['kind', 'token']),
    rotateKey: flag,
  },
  required: ['capabilityId', 'version', 'displayName', 'summary', 'inputContract', 'outputContract'],
} as const

const heartbeatShape = closed({ intervalSeconds: { type: 'number' }, timeoutSeconds: { type: 'number' } })
const heartbeatReply = {
  capabilityId,
  status: { enum: ['active', 'inactive'] },
  registeredAt: text,
  lastSeenAt: text,
} as const

export const registerCapability: Route = {
  method: 'POST',
  path: `${path}/register`,
  operation: 'registerCapability',
  summary:
    'Register an agent or a person, or update a registration; returns the signing key when a new one is created',
  // Operators register people; the registrar refuses their agents.
  roles: ['agent', 'operator'],
  registers: true,
  body: registration,
  replies: {
    200: ok('Renewed', registeredShape()),
    201: ok('Registered', registeredShape()),
    ...refusals(404, 409, 413, 415, 422),
  },
  async handle({ caller, body }, served) {
    const { registrar } = requireAgents(served)
    // Validated by the schema of the body.
    const done = await registrar.register(caller, body as unknown as GivenRegistration)
    const { row, entry, heartbeat, signingKey, warnings } = done
    return {
      status: row.registeredAt === row.heartbeatAt ? 201 : 200,
      body: {
        capabilityId: row.capabilityId,
        status: row.status,
        registeredAt: iso(row.registeredAt),
        lastSeenAt: iso(row.heartbeatAt),
        ...(heartbeat && { heartbeat: { ...heartbeat } }),
        contracts: entry.contracts as Json,
        ...(signingKey && { keyId: signingKey.keyId, signingKey: signingKey.secret }),
        warnings: warnings.map(({ code, message }) => ({ code, message })),
      },
    }
  },
}

export const heartbeatCapability: Route = {
  method: 'PATCH',
  path: `${path}/:capabilityId`,
  operation: 'heartbeatCapability',
  isControl: true,
  summary: 'Send a heartbeat',
  roles: ['agent', 'operator'],
  params,
  body: { type: ['object', 'null'], additionalProperties: false },
  replies: {
    200: ok('Heartbeat recorded', closed(heartbeatReply)),
    ...refusals(404, 415, 422),
  },
  async handle({ caller, params }, served) {
    const row = await requireAgents(served).registrar.heartbeat(caller, params['capabilityId'] ?? '')
    return {
      status: 200,
      body: {
        capabilityId: row.capabilityId,
        status: row.status,
        registeredAt: iso(row.registeredAt),
        lastSeenAt: iso(row.heartbeatAt),
      },
    }
  },
}

export const deregisterCapability: Route = {
  method: 'DELETE',
  path: `${path}/:capabilityId`,
  operation: 'deregisterCapability',
  isControl: true,
  summary: 'Deregister the agent; new plans no longer use it',
  roles: ['agent', 'operator'],
  params,
  replies: {
    204: { description: 'Deregistered' },
    ...refusals(404),
  },
  async handle({ caller, params }, served) {
    await requireAgents(served).registrar.deregister(caller, params['capabilityId'] ?? '')
    return { status: 204 }
  },
}

export const listCapabilities: Route = {
  method: 'GET',
  path,
  operation: 'listCapabilities',
  summary:
    'List the capabilities that plans of the tenant can use: built-in ones, those of this process, and registered agents',
  roles: ['caller', 'agent', 'operator'],
  query: closed({
    q: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'Search words in names, summaries, facets and traits',
    },
    facet: text,
    status: { enum: ['active', 'inactive'] },
    limit: { type: 'integer', minimum: 1, maximum: 1_000 },
  }),
  replies: {
    200: ok(
      'Ordered by match if text is given',
      closed({ capabilities: { type: 'array', items: { type: 'object' } } }, ['capabilities']),
    ),
    ...refusals(404),
  },
  async handle({ caller, query }, served) {
    const { q, ...rest } = query
    const { registrar, update } = requireAgents(served)
    await update(caller.tenant)
    const found = registrar.list(caller.tenant, {
      ...(rest as ListQuery),
      ...(typeof q === 'string' && { text: q }),
    })
    const shown = found.map((entry) => served.app.redactor.value(toView(entry)) as Json)
    return { status: 200, body: { capabilities: shown } }
  },
}

/** Returns the public fields of a capability: never its settings, its endpoint or the token that registered it. */
function toView({ capability, source, status, reason, registeredAt, lastSeenAt, contracts }: TenantEntry) {
  const { settings: _, ...shown } = capability
  const why = reason !== undefined && { reason }
  return {
    ...shown,
    source,
    status,
    ...why,
    registeredAt: iso(registeredAt),
    lastSeenAt: iso(lastSeenAt),
    contracts,
  }
}

export function requireAgents({ app }: Served): AgentServices {
  if (app.agents) return app.agents
  throw new ProvisoError('agents/off', 'Agents over HTTP are disabled on this server')
}

function registeredShape() {
  return closed({
    ...heartbeatReply,
    heartbeat: heartbeatShape,
    contracts: { type: 'object' },
    keyId: text,
    signingKey: { ...text, description: 'Shown only in this response' },
    warnings: { type: 'array', items: { type: 'object' } },
  })
}
