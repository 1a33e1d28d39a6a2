/** Resolves the `Authorization` header to a caller, or to the reason why it is refused. */
import type { Tokens } from '../../domain/ports/records.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Caller, Route } from '../route.ts'
import { isSameHash, tokenHash } from './token.ts'

export interface AuthOptions {
  /** A single token with the role admin in the tenant `default` (`FLEX_TOKEN`). */
  readonly token?: string
  /** Development mode: every request, with or without a token, is an admin of the tenant `default`. */
  readonly open?: boolean
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller | Refusal>

export const defaultTenant = 'default'

export function createAuthenticate(tokens: Tokens, { token, open = false }: AuthOptions): Authenticate {
  const own = token === undefined ? undefined : tokenHash(token)
  return async (authorization) => {
    if (open) return developer
    if (authorization === undefined)
      return refusal('auth/missing', 'This route requires a token', {
        hint: 'Send the header "Authorization: Bearer pvs_…"; create a token with `proviso token create`',
        headers: { 'www-authenticate': 'Bearer realm="proviso"' },
      })
    const [, given] = /^Bearer +([\x21-\x7e]{1,500})$/i.exec(authorization) ?? []
    if (given === undefined) return unknown
    const hash = tokenHash(given)
    if (own !== undefined && isSameHash(hash, own)) return singleUser
    const row = await tokens.byHash(hash)
    if (row === undefined || !isSameHash(row.hash, hash)) return unknown
    const { tenant, role, tokenId, name, capabilityId, familyId } = row
    return {
      tenant,
      role,
      tokenId,
      name,
      ...(capabilityId !== undefined && { capabilityId }),
      ...(familyId !== undefined && { familyId }),
    }
  }
}

/** Denies by default: a role that the route does not name is refused. */
export function authorise({ role, name }: Caller, { roles, method, path }: Route): Refusal | undefined {
  if (roles === 'anyone' || role === 'admin' || roles.includes(role)) return undefined
  return refusal(
    'auth/forbidden',
    `The role ${role} of the token "${name}" does not allow ${method} ${path}`,
    {
      hint: `Use a token with one of these roles: ${[...new Set([...roles, 'admin'])].join(', ')}`,
    },
  )
}

/** The caller of routes that need no token. It has no rights beyond those routes. */
export const anonymous: Caller = { tenant: defaultTenant, role: 'caller', tokenId: '', name: 'anyone' }

const developer: Caller = { tenant: defaultTenant, role: 'admin', tokenId: 'development', name: 'developer' }
const singleUser: Caller = { tenant: defaultTenant, role: 'admin', tokenId: 'FLEX_TOKEN', name: 'FLEX_TOKEN' }

/** Unknown, expired and revoked tokens get the same answer, so that callers cannot probe for valid ones. */
const unknown = refusal('auth/invalid', 'The token is unknown, expired or revoked', {
  hint: 'Create a new token with `proviso token create`',
  headers: { 'www-authenticate': 'Bearer realm="proviso", error="invalid_token"' },
})
