/** Who calls: from the `Authorization` header to a caller, or why there is none. */
import type { Tokens } from '../domain/ports/records.ts'
import { type Refusal, refusal } from './problem.ts'
import type { Caller, Route } from './route.ts'
import { sameHash, tokenHash } from './token.ts'

export interface AuthOptions {
  /** One token that is admin of the tenant `default` (`FLEX_TOKEN`). */
  readonly token?: string
  /** Development mode: any token or none is admin of the tenant `default`. */
  readonly open?: boolean
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller | Refusal>

export const defaultTenant = 'default'

export function createAuthenticate(tokens: Tokens, { token, open = false }: AuthOptions): Authenticate {
  const own = token === undefined ? undefined : tokenHash(token)
  return async (authorization) => {
    if (open) return developer
    if (authorization === undefined)
      return refusal('auth/missing', 'This needs a token', {
        hint: 'Send the header "Authorization: Bearer pvs_…"; `proviso token create` makes one',
        headers: { 'www-authenticate': 'Bearer realm="proviso"' },
      })
    const [, given] = /^Bearer +([\x21-\x7e]{1,500})$/i.exec(authorization) ?? []
    if (given === undefined) return unknown
    const hash = tokenHash(given)
    if (own !== undefined && sameHash(hash, own)) return singleUser
    const row = await tokens.byHash(hash)
    if (row === undefined || !sameHash(row.hash, hash)) return unknown
    const { tenant, role, tokenId, name, capabilityId } = row
    return { tenant, role, tokenId, name, ...(capabilityId !== undefined && { capabilityId }) }
  }
}

/** Default deny: a role that the route does not name may not. */
export function authorise({ role, name }: Caller, { roles, method, path }: Route): Refusal | undefined {
  if (roles === 'anyone' || role === 'admin' || roles.includes(role)) return undefined
  return refusal(
    'auth/forbidden',
    `The token "${name}" has the role ${role}, which may not ${method} ${path}`,
    {
      hint: `It takes one of: ${[...new Set([...roles, 'admin'])].join(', ')}`,
    },
  )
}

/** For routes that anyone may use; no route gives this caller more than that. */
export const nobody: Caller = { tenant: defaultTenant, role: 'caller', tokenId: '', name: 'anyone' }

const developer: Caller = { tenant: defaultTenant, role: 'admin', tokenId: 'development', name: 'developer' }
const singleUser: Caller = { tenant: defaultTenant, role: 'admin', tokenId: 'FLEX_TOKEN', name: 'FLEX_TOKEN' }

/** Unknown, expired and revoked look the same from outside. */
const unknown = refusal('auth/invalid', 'The token is unknown, expired or revoked', {
  hint: 'Ask for a new one: `proviso token create`',
  headers: { 'www-authenticate': 'Bearer realm="proviso", error="invalid_token"' },
})
