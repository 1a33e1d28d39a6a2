/** Manages the tokens of a tenant over HTTP, for admins: while a server has a SQLite store open, no other process can write to it. */
import type { Json } from '../../base/json.ts'
import { type Role, roles, type TokenRow } from '../../domain/ports/records.ts'
import { closed, count, text } from '../../domain/schemas/parts.ts'
import { createToken } from '../auth/token.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, iso, ok, refusals } from './parts.ts'

const tokenSchema = {
  type: 'object',
  required: ['tokenId', 'tenant', 'role', 'name', 'createdAt'],
  properties: {
    tokenId: text,
    tenant: text,
    role: { enum: roles },
    name: text,
    createdAt: { type: 'string', format: 'date-time' },
    expiresAt: { type: 'string', format: 'date-time' },
    revokedAt: { type: 'string', format: 'date-time' },
    capabilityId: text,
    /** Only in the response that creates it. */
    token: text,
  },
} as const

export const createTokenRoute: Route = {
  method: 'POST',
  path: `${api}/tokens`,
  operation: 'createToken',
  summary: 'Create a token of the caller’s tenant; it is only shown in this response',
  roles: ['admin'],
  body: closed(
    {
      role: { enum: roles },
      name: { type: 'string', minLength: 1, maxLength: 200 },
      /** Seconds. Absent: valid until it is revoked. */
      expiresIn: { ...count, maximum: 10 * 365 * 86_400 },
      capabilityId: text,
    },
    ['role', 'name'],
  ),
  replies: { 201: ok('The token', tokenSchema), ...refusals(413, 415, 422) },
  async handle({ caller, body }, { app }) {
    // Validated by the route's schema.
    const { role, name, expiresIn, capabilityId } = body as unknown as TokenBody
    const { token, row } = await createToken(app.store.records.tokens, {
      tenant: caller.tenant,
      role,
      name,
      ...(expiresIn !== undefined && { expiresAt: Date.now() + expiresIn * 1000 }),
      ...(capabilityId !== undefined && { capabilityId }),
    })
    return { status: 201, body: { token, ...tokenView(row) } }
  },
}

interface TokenBody {
  readonly role: Role
  readonly name: string
  readonly expiresIn?: number
  readonly capabilityId?: string
}

export const listTokens: Route = {
  method: 'GET',
  path: `${api}/tokens`,
  operation: 'listTokens',
  summary: 'List the tokens of the caller’s tenant, without their values',
  roles: ['admin'],
  replies: {
    200: ok('The tokens', {
      type: 'object',
      required: ['tokens'],
      properties: { tokens: { type: 'array', items: tokenSchema } },
    }),
    ...refusals(),
  },
  async handle({ caller: { tenant } }, { app }) {
    const rows = await app.store.records.tokens.list({ tenant })
    return { status: 200, body: { tokens: rows.map(tokenView) } }
  },
}

export const revokeToken: Route = {
  method: 'DELETE',
  path: `${api}/tokens/:tokenId`,
  operation: 'revokeToken',
  summary: 'Revoke a token of the caller’s tenant at once',
  roles: ['admin'],
  params: closed({ tokenId: text }, ['tokenId']),
  replies: { 204: { description: 'Revoked' }, ...refusals(404) },
  async handle({ caller, params }, { app }) {
    const { tokens } = app.store.records
    const own = await tokens.list({ tenant: caller.tenant })
    const tokenId = own.find((row) => row.tokenId === params['tokenId'])?.tokenId
    const done = tokenId !== undefined && (await tokens.revoke(tokenId))
    return done
      ? { status: 204 }
      : refusal('route/missing', 'Token not found, or already revoked', {
          hint: `List tokens with GET ${api}/tokens`,
        })
  },
}

function tokenView({ hash: _, createdAt, expiresAt, revokedAt, ...row }: TokenRow): { [key: string]: Json } {
  return {
    ...row,
    createdAt: iso(createdAt),
    ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
    ...(revokedAt !== undefined && { revokedAt: iso(revokedAt) }),
  }
}
