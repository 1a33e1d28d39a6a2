/** Manages the tokens of a tenant over HTTP, for admins: while a server has a SQLite store open, no other process can write to it. */
import type { Json } from '../../base/json.ts'
import { type Role, roles, type TokenRow } from '../../domain/ports/records.ts'
import { closed, count, text } from '../../domain/schemas/parts.ts'
import { createToken, defaultOverlapMs, rotateToken } from '../auth/token.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, iso, ok, refusals, signature } from './parts.ts'

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
    /** The first token of a series of rotations. */
    familyId: text,
    taskRoles: { type: 'array', items: text },
    /** Only in the response that creates it. */
    token: text,
  },
} as const

/** Longest lifetime, in seconds. */
const longest = 10 * 365 * 86_400

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
      expiresIn: { ...count, maximum: longest },
      capabilityId: text,
      /** Roles of the person for tasks. */
      taskRoles: { type: 'array', items: { ...text, maxLength: 200 }, maxItems: 100 },
    },
    ['role', 'name'],
  ),
  replies: { 201: ok('The token', tokenSchema), ...refusals(413, 415, 422) },
  async handle({ caller, body }, { app }) {
    // Validated by the route's schema.
    const { role, name, expiresIn, capabilityId, taskRoles } = body as unknown as TokenBody
    const given = {
      tenant: caller.tenant,
      role,
      name,
      ...(expiresIn !== undefined && { expiresAt: Date.now() + expiresIn * 1000 }),
      ...(capabilityId !== undefined && { capabilityId }),
      ...(taskRoles && { taskRoles }),
    }
    const { token, row } = await createToken(app.store.records.tokens, given, { by: signature(caller) })
    return { status: 201, body: { token, ...tokenView(row) } }
  },
}

interface TokenBody {
  readonly role: Role
  readonly name: string
  readonly expiresIn?: number
  readonly capabilityId?: string
  readonly taskRoles?: readonly string[]
}

export const rotateTokenRoute: Route = {
  method: 'POST',
  path: `${api}/tokens/:tokenId/rotate`,
  operation: 'rotateToken',
  summary: 'Replace a token of the caller’s tenant; the old one stays valid for the overlap',
  roles: ['admin'],
  params: closed({ tokenId: text }, ['tokenId']),
  body: {
    anyOf: [
      { type: 'null' },
      closed({
        /** Seconds. Default: one day. */
        overlap: { type: 'integer', minimum: 0, maximum: 30 * 86_400 },
        /** Seconds. Default: as long as the old token was made for. */
        expiresIn: { ...count, maximum: longest },
      }),
    ],
  },
  replies: {
    201: ok('The new token, and when the old one expires', {
      ...tokenSchema,
      required: [...tokenSchema.required, 'token', 'replaces', 'oldExpiresAt'],
      properties: {
        ...tokenSchema.properties,
        replaces: text,
        oldExpiresAt: { type: 'string', format: 'date-time' },
      },
    }),
    ...refusals(404, 413, 415, 422),
  },
  async handle({ caller, params, body }, { app }) {
    const { tokenId = '' } = params
    // Validated by the route's schema.
    const { overlap = defaultOverlapMs / 1_000, expiresIn } = (body ?? {}) as {
      overlap?: number
      expiresIn?: number
    }
    const rotated = await rotateToken(app.store.records.tokens, {
      tokenId,
      tenant: caller.tenant,
      overlapMs: overlap * 1_000,
      by: signature(caller),
      ...(expiresIn !== undefined && { lifetimeMs: expiresIn * 1_000 }),
    })
    if (rotated === undefined)
      return refusal('route/missing', 'Token not found, expired or revoked', {
        hint: `List tokens with GET ${api}/tokens`,
      })
    const { token, row, old } = rotated
    const oldExpiresAt = iso(old.expiresAt ?? row.createdAt)
    return { status: 201, body: { token, ...tokenView(row), replaces: tokenId, oldExpiresAt } }
  },
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
    const done = tokenId !== undefined && (await tokens.revoke(tokenId, { by: signature(caller) }))
    return done
      ? { status: 204 }
      : refusal('route/missing', 'Token not found, or already revoked', {
          hint: `List tokens with GET ${api}/tokens`,
        })
  },
}

function tokenView(given: TokenRow): { [key: string]: Json } {
  const { hash: _, createdAt, expiresAt, revokedAt, taskRoles, ...row } = given
  return {
    ...row,
    ...(taskRoles && { taskRoles: [...taskRoles] }),
    createdAt: iso(createdAt),
    ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
    ...(revokedAt !== undefined && { revokedAt: iso(revokedAt) }),
  }
}
