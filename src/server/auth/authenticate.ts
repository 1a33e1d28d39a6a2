/** Resolves the `Authorization` header to a caller, or to the reason why it is refused. */
import { ProvisoError } from '../../base/errors/error.ts'
import { roles, type Tokens } from '../../domain/ports/records.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Caller, Route } from '../route.ts'
import { isJwtLike, type JwtOptions, type VerifyJwt } from './jwt.ts'
import { isSameHash, shortestToken, tokenHash, tokenPrefix, type Verified } from './token.ts'

export interface AuthOptions {
  /** A single token with the role admin in the tenant `default`, at least 16 characters. Default: `FLEX_TOKEN`. */
  readonly token?: string
  /**
   * Verifies a token that is neither `token` nor one of the store, such as a JSON web token: returns who calls, or
   * `undefined` if the token is invalid. If it throws, the request is refused like one with an invalid token.
   */
  readonly verify?: (token: string) => Verified | undefined | Promise<Verified | undefined>
  /**
   * Accepts JSON web tokens of an identity provider, with role and tenant from their claims. Tokens of another form are passed
   * to `verify`, or looked up in the store.
   */
  readonly jwt?: JwtOptions
  /** Offers the sign-in of this provider in the console; needs `jwt`. Default: by token only. */
  readonly signIn?: SignInOptions
  /** Development mode: every request, with or without a token, is an admin of the tenant `default`. */
  readonly open?: boolean
}

export interface SignInOptions {
  /** Id of the console at the identity provider. Its redirect URI there: the address of the server, then `/sign-in`. */
  readonly clientId: string
  /** Only for providers that want one in spite of PKCE. */
  readonly clientSecret?: string
  /** Default `openid profile email`. */
  readonly scope?: string
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller | Refusal>

export const defaultTenant = 'default'

/** Begins the token id of callers that `verify` reports: no token of the store has such an id. */
export const verifiedPrefix = 'verified:'

interface AuthenticateParts {
  readonly onVerifyError?: (cause: unknown) => void
  readonly verifyJwt?: VerifyJwt | undefined
}

export function createAuthenticate(
  tokens: Tokens,
  { token, verify, open = false }: AuthOptions,
  { onVerifyError = () => {}, verifyJwt }: AuthenticateParts = {},
): Authenticate {
  const own = token === undefined ? undefined : tokenHash(token)
  const verifyToken = async (given: string) => {
    try {
      const verified = await verify?.(given)
      return verified && toCaller(verified)
    } catch (cause) {
      onVerifyError(cause)
      return undefined
    }
  }
  return async (authorization) => {
    if (open) return developer
    if (authorization === undefined)
      return refusal('auth/missing', 'This route requires a token', {
        hint: 'Send the header "Authorization: Bearer pvs_…"; create a token with `proviso token create`',
        headers: { 'www-authenticate': 'Bearer realm="proviso"' },
      })
    const [, given] = /^Bearer +([\x21-\x7e]{1,8000})$/i.exec(authorization) ?? []
    if (given === undefined) return unknown
    const hash = tokenHash(given)
    if (own !== undefined && isSameHash(hash, own)) return singleUser
    // Tokens of the store have a prefix: others are not looked up there, and those are not passed on.
    if (verifyJwt && isJwtLike(given)) {
      const verified = await verifyJwt(given)
      return 'refused' in verified ? verified : toCaller(verified)
    }
    if (verify && !given.startsWith(tokenPrefix)) return (await verifyToken(given)) ?? unknown
    const row = await tokens.byHash(hash)
    if (row === undefined || !isSameHash(row.hash, hash)) return unknown
    const { tenant, role, tokenId, name, capabilityId, familyId, taskRoles } = row
    return {
      tenant,
      role,
      tokenId,
      name,
      ...(capabilityId !== undefined && { capabilityId }),
      ...(familyId !== undefined && { familyId }),
      ...(taskRoles && { taskRoles }),
    }
  }
}

/** Converts what `verify` returned. Throws for a result that is not usable, such as an unknown role. */
function toCaller({ name, role, tenant = defaultTenant, taskRoles = [] }: Verified): Caller {
  const areRoles = Array.isArray(taskRoles) && taskRoles.every(isText)
  const isValid = isText(name) && isText(tenant) && roles.includes(role) && areRoles
  if (!isValid)
    throw new ProvisoError(
      'option/invalid',
      '`auth.verify` must return `{ name, role, tenant?, taskRoles? }` or `undefined`',
      {
        hint: `Return a name, a tenant that is not empty, one of the roles ${roles.join(', ')}, and a list of texts as \`taskRoles\``,
      },
    )
  // Counts requests and owns registrations: the same name in another tenant is another caller.
  return { tenant, role, name, taskRoles, tokenId: `${verifiedPrefix}${tenant}/${name}` }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Throws if a token was chosen that is too short to be safe. */
export function requireLongToken({ token }: AuthOptions): void {
  if (token === undefined || token.length >= shortestToken) return
  throw new ProvisoError(
    'option/invalid',
    `The token of the server (\`auth.token\` or FLEX_TOKEN) must have at least ${shortestToken} characters`,
    { hint: 'Create one with `openssl rand -hex 32`' },
  )
}

/** Throws if no request could authenticate. */
export async function requireAnyToken(
  tokens: Tokens,
  { token, verify, jwt, open }: AuthOptions,
): Promise<void> {
  if (token !== undefined || verify || jwt || open) return
  const isValid = ({ revokedAt, expiresAt = Number.POSITIVE_INFINITY }: TokenLife) =>
    revokedAt === undefined && expiresAt > Date.now()
  if ((await tokens.list({})).some(isValid)) return
  throw new ProvisoError('option/invalid', 'Cannot listen: no token exists, so no request can authenticate', {
    hint: 'Pass `auth: { token }` or `auth: { verify }` to createServer, set FLEX_TOKEN, or create a token with `createToken` before',
  })
}

interface TokenLife {
  readonly revokedAt?: number
  readonly expiresAt?: number
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
