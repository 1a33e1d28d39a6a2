/** Routes for tenants to define facets of their own, which agents and contracts can name at once. */
import type { Json } from '../../base/json.ts'
import { facetSchema } from '../../domain/schemas/facet-schema.ts'
import { closed, text } from '../../domain/schemas/parts.ts'
import type { ListedFacet } from '../agents/tenant-facets.ts'
import type { Route } from '../route.ts'
import { requireAgents } from './capabilities.ts'
import { api, ok, refusals, signature } from './parts.ts'

const path = `${api}/facets`

const listedSchema = {
  type: 'object',
  required: ['name', 'title', 'description', 'schema', 'semantics', 'metadata', 'source'],
  properties: {
    name: text,
    title: { type: 'string' },
    description: { type: 'string' },
    schema: { type: ['object', 'boolean'] },
    semantics: { type: 'object' },
    metadata: { type: 'object' },
    /** `shared`: of the server, for all tenants. */
    source: { enum: ['shared', 'tenant'] },
  },
} as const

export const listFacets: Route = {
  method: 'GET',
  path,
  operation: 'listFacets',
  summary: 'List the facets that contracts of the tenant can name: those of the server, and its own',
  roles: ['caller', 'agent', 'operator'],
  replies: {
    200: ok('The facets', closed({ facets: { type: 'array', items: listedSchema } }, ['facets'])),
    ...refusals(404),
  },
  async handle({ caller: { tenant } }, served) {
    const facets = await requireAgents(served).facets.list(tenant)
    return { status: 200, body: { facets: facets.map(toView) } }
  },
}

export const createFacet: Route = {
  method: 'POST',
  path,
  operation: 'createFacet',
  summary: 'Define a facet of the caller’s tenant; it does not change once it is defined',
  roles: ['admin'],
  // Open: the parser refuses unknown fields with a better message.
  body: { type: 'object', properties: facetSchema.properties, required: ['name', 'schema', 'metadata'] },
  replies: {
    200: ok('It was defined like this before', listedSchema),
    201: ok('Defined', listedSchema),
    ...refusals(404, 409, 413, 415, 422),
  },
  async handle({ caller, body }, served) {
    const by = { tenant: caller.tenant, by: signature(caller) }
    const { facet, isNew } = await requireAgents(served).facets.add(by, body)
    return { status: isNew ? 201 : 200, body: toView({ facet, source: 'tenant' }) }
  },
}

export const deleteFacet: Route = {
  method: 'DELETE',
  path: `${path}/:name`,
  operation: 'deleteFacet',
  summary: 'Delete a facet of the caller’s tenant that no agent and no other facet uses',
  roles: ['admin'],
  params: closed({ name: text }, ['name']),
  replies: { 204: { description: 'Deleted' }, ...refusals(404, 409) },
  async handle({ caller, params }, served) {
    const by = { tenant: caller.tenant, by: signature(caller) }
    await requireAgents(served).facets.remove(by, params['name'] ?? '')
    return { status: 204 }
  },
}

function toView({ facet, source }: ListedFacet): { [name: string]: Json } {
  // Plain JSON: parsed.
  return { ...(facet as unknown as { [name: string]: Json }), source }
}
