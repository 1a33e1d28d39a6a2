/** Agents come, stay and go; everybody may see who is there, and nobody where. */
import { ProvisoError } from '../../base/error.ts'
import type { Json } from '../../base/json.ts'
import { capabilitySchema } from '../../domain/schemas/capability-schema.ts'
import { closed, flag, text } from '../../domain/schemas/parts.ts'
import type { TenantEntry } from '../../plan/index.ts'
import type { AgentsDoor } from '../agents.ts'
import type { GivenRegistration, ListQuery } from '../registrar.ts'
import type { Route } from '../route.ts'
import type { Served } from '../served.ts'
import { api, iso, ok, refusals } from './parts.ts'

const path = `${api}/capabilities`
const { kind: _kind, settings: _settings, ...fields } = capabilitySchema.properties
const capabilityId = { ...text, maxLength: 200 } as const
const params = closed({ capabilityId }, ['capabilityId'])

/** As it can stand in a header. */
const bearer = { type: 'string', maxLength: 4_000, pattern: '^[!-~]+$' } as const

/** Open, so that a field that has no place here is refused by the registrar, which knows what it was meant to be. */
const registration = {
  type: 'object',
  properties: {
    ...fields,
    endpoint: closed(
      {
        url: { type: 'string', maxLength: 2_000 },
        timeoutMs: { type: 'integer', minimum: 1, maximum: 3_600_000 },
      },
      ['url'],
    ),
    auth: closed({ kind: { const: 'bearer' }, token: bearer }, ['kind', 'token']),
    rotateKey: flag,
  },
  required: ['capabilityId', 'version', 'displayName', 'summary', 'inputContract', 'outputContract'],
} as const

const heartbeatShape = closed({ intervalSeconds: { type: 'number' }, timeoutSeconds: { type: 'number' } })
const standing = {
  capabilityId,
  status: { enum: ['active', 'inactive'] },
  registeredAt: text,
  lastSeenAt: text,
} as const

export const registerCapability: Route = {
  method: 'POST',
  path: `${path}/register`,
  operation: 'registerCapability',
  summary: 'Registers an agent, or renews what it said; tells its signing key when a new one is made',
  roles: ['agent'],
  body: registration,
  replies: {
    200: ok('Renewed', registeredShape()),
    201: ok('Registered', registeredShape()),
    ...refusals(404, 409, 413, 415, 422),
  },
  async handle({ caller, body }, served) {
    const { registrar } = agentsOf(served)
    // The schema of the body has said that it is one.
    const done = await registrar.register(caller, body as unknown as GivenRegistration)
    const { row, entry, heartbeat, signingKey, warnings } = done
    return {
      status: row.registeredAt === row.heartbeatAt ? 201 : 200,
      body: {
        capabilityId: row.capabilityId,
        status: row.status,
        registeredAt: iso(row.registeredAt),
        lastSeenAt: iso(row.heartbeatAt),
        heartbeat: { ...heartbeat },
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
  summary: 'A sign of life',
  roles: ['agent'],
  params,
  body: { type: ['object', 'null'], additionalProperties: false },
  replies: {
    200: ok('Heard', closed(standing)),
    ...refusals(404, 415, 422),
  },
  async handle({ caller, params }, served) {
    const row = await agentsOf(served).registrar.heartbeat(caller, params['capabilityId'] ?? '')
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
  summary: 'The agent leaves: nothing more is planned with it',
  roles: ['agent'],
  params,
  replies: {
    204: { description: 'Gone' },
    ...refusals(404),
  },
  async handle({ caller, params }, served) {
    await agentsOf(served).registrar.deregister(caller, params['capabilityId'] ?? '')
    return { status: 204 }
  },
}

export const listCapabilities: Route = {
  method: 'GET',
  path,
  operation: 'listCapabilities',
  summary: 'What the tenant can plan with: built in, of this process, and registered',
  roles: ['caller', 'agent', 'operator'],
  query: closed({
    q: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'Words of names, summaries, facets, traits',
    },
    facet: text,
    status: { enum: ['active', 'inactive'] },
    limit: { type: 'integer', minimum: 1, maximum: 1_000 },
  }),
  replies: {
    200: ok(
      'The best match first where words were given',
      closed({ capabilities: { type: 'array', items: { type: 'object' } } }, ['capabilities']),
    ),
    ...refusals(404),
  },
  async handle({ caller, query }, served) {
    const { q, ...rest } = query
    const found = agentsOf(served).registrar.list(caller.tenant, {
      ...(rest as ListQuery),
      ...(typeof q === 'string' && { text: q }),
    })
    const shown = found.map((entry) => served.app.redactor.value(viewOf(entry)) as Json)
    return { status: 200, body: { capabilities: shown } }
  },
}

/** What may be seen of a capability: never its settings, its endpoint or whose token it came with. */
function viewOf({ capability, source, status, reason, registeredAt, lastSeenAt, contracts }: TenantEntry) {
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

export function agentsOf({ app }: Served): AgentsDoor {
  if (app.agents) return app.agents
  throw new ProvisoError('agents/off', 'This server works with no agents over HTTP')
}

function registeredShape() {
  return closed({
    ...standing,
    heartbeat: heartbeatShape,
    contracts: { type: 'object' },
    keyId: text,
    signingKey: { ...text, description: 'Shown this once' },
    warnings: { type: 'array', items: { type: 'object' } },
  })
}
