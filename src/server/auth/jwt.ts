/**
 * Verifies JSON web tokens of an identity provider (OpenID Connect): signature, issuer, audience and times, then role and
 * tenant from claims. Algorithms are a list of the operator, never what a token says, so that neither `none` nor a public key
 * used as a shared secret is accepted. Keys come from the provider's key set and follow its rotation.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Role, roles as roleNames } from '../../domain/ports/records.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { GuardedFetch } from '../served.ts'
import type { Verified } from './token.ts'

export interface JwtOptions {
  /** As in the claim `iss`, such as `https://login.example/realms/acme`. */
  readonly issuer: string
  /** The claim `aud` must have one of these. */
  readonly audience: string | readonly string[]
  /** URL of the issuer's key set. Default: discovered at `/.well-known/openid-configuration` of the issuer. */
  readonly jwksUrl?: string
  /** A public key in PEM (SPKI), instead of a key set. */
  readonly publicKey?: string
  /** A shared secret of at least 32 characters for HS256, HS384 and HS512, instead of a key set. */
  readonly secret?: string
  /** Accepted algorithms. Default: all asymmetric ones; with `secret`: HS256. */
  readonly algorithms?: readonly string[]
  /** Accepted difference between the clocks. Default 5. */
  readonly clockToleranceSeconds?: number
  /** The claim with the roles: a list, or a text with spaces. Dots lead into objects: `realm_access.roles`. Default `roles`. */
  readonly rolesClaim?: string
  /** Which value of that claim has which role. Default: the names of the roles themselves. */
  readonly roles?: { readonly [value: string]: Role }
  /** The claim with the tenant; a token without it is refused. Default: every token belongs to the tenant `default`. */
  readonly tenantClaim?: string
  /** The claim with the roles of the person for tasks, such as `legal`: a list, or a text with spaces. Default: none. */
  readonly taskRolesClaim?: string
  /** The claim with the name of the caller, for the journal and the audit. Default `sub`. */
  readonly nameClaim?: string
  /** Private hosts, addresses or ranges where the issuer may be reached. Default: public addresses only. */
  readonly allow?: readonly string[]
  /** Allows an issuer on this machine, over http too: for development. Default false. */
  readonly allowLoopback?: boolean
  /** Time in which an unknown key id does not lead to another request for the key set. Default 30. */
  readonly cooldownSeconds?: number
}

export type VerifyJwt = (token: string) => Promise<Verified | Refusal>

export interface JwtParts {
  readonly fetch: GuardedFetch
  readonly clock: Clock
  /** Called when the issuer cannot be asked. */
  readonly onError: (cause: unknown) => void
}

const asymmetric = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
const symmetric = ['HS256', 'HS384', 'HS512']

/** Whether a token has the form of a JSON web token; others are tokens of the store or of `verify`. */
export function isJwtLike(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)
}

export function createJwtVerify(options: JwtOptions, parts: JwtParts): VerifyJwt {
  checkJwtOptions(options)
  const { issuer, audience, clockToleranceSeconds = 5 } = options
  const algorithms = chooseAlgorithms(options)
  const findKey = createKeySource(options, parts)
  const read = createClaimReader(options)
  return async (token) => {
    const { jwtVerify, errors } = await import('jose')
    const expected: JWTVerifyOptions = {
      issuer,
      audience: [audience].flat(),
      algorithms,
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(parts.clock.now()),
      // A token without an end could not be withdrawn.
      requiredClaims: ['exp'],
    }
    try {
      const key = await findKey()
      const { payload } =
        typeof key === 'function'
          ? await jwtVerify(token, key, expected)
          : await jwtVerify(token, key, expected)
      return read(payload)
    } catch (cause) {
      if (cause instanceof errors.JOSEError && !(cause instanceof errors.JWKSTimeout))
        return invalidToken(describe(cause))
      // No token can cause anything else: the issuer did not answer, or its key is not usable, such as one that is too short.
      parts.onError(cause)
      return unavailable
    }
  }
}

/** The reasons that help the caller. Nothing here reveals more than the token itself. */
const reasons: { readonly [code: string]: string } = {
  ERR_JWT_EXPIRED: 'The token has expired',
  ERR_JWKS_NO_MATCHING_KEY: 'The issuer has no key with the key id of the token',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'The signature of the token is wrong',
  ERR_JOSE_ALG_NOT_ALLOWED: 'The algorithm of the token is not allowed',
}

function describe({ code, ...more }: Error & { readonly code: string }): string {
  const claim = 'claim' in more && typeof more.claim === 'string' ? more.claim : undefined
  const known = reasons[code]
  if (known !== undefined) return known
  if (claim === 'nbf') return 'The token is not valid yet'
  return claim === undefined || claim === 'unspecified'
    ? 'The token is not a valid JSON web token'
    : `The claim "${claim}" of the token is missing or wrong`
}

function invalidToken(reason: string): Refusal {
  return refusal('auth/invalid', reason, {
    hint: 'Get a new token from your identity provider',
    headers: {
      'www-authenticate': `Bearer realm="proviso", error="invalid_token", error_description="${reason.replaceAll('"', "'")}"`,
    },
  })
}

function forbidden(detail: string, hint: string): Refusal {
  return refusal('auth/forbidden', detail, {
    hint,
    headers: { 'www-authenticate': 'Bearer realm="proviso", error="insufficient_scope"' },
  })
}

const unavailable = refusal('auth/unavailable', 'The keys of the identity provider cannot be read', {
  headers: { 'retry-after': '5' },
})

/** Turns verified claims into a caller. A token without a known role or tenant is refused, never given a default. */
function createClaimReader({
  rolesClaim = 'roles',
  roles = ownNames,
  tenantClaim,
  taskRolesClaim,
  nameClaim = 'sub',
}: JwtOptions) {
  return (payload: object): Verified | Refusal => {
    const found = new Set(
      listNames(readClaim(payload, rolesClaim)).flatMap((value) =>
        Object.hasOwn(roles, value) ? [roles[value]] : [],
      ),
    )
    const role = strongestFirst.find((each) => found.has(each))
    if (role === undefined)
      return forbidden(
        `The claim "${rolesClaim}" of the token has no role of this server`,
        `Give the account one of: ${Object.keys(roles).join(', ')}`,
      )
    const name = readClaim(payload, nameClaim)
    if (!isName(name) || tokenLike.test(name))
      return invalidToken(`The claim "${nameClaim}" of the token is missing or wrong`)
    const taskRoles = taskRolesClaim === undefined ? [] : listNames(readClaim(payload, taskRolesClaim))
    if (tenantClaim === undefined) return { name, role, taskRoles }
    const tenant = readClaim(payload, tenantClaim)
    if (!isName(tenant))
      return forbidden(
        `The claim "${tenantClaim}" of the token names no tenant`,
        'Let your identity provider add the claim',
      )
    return { name, role, tenant, taskRoles }
  }
}

/** Names of tokens of the store end like this in the journal and the audit: no person may pass for one. */
const tokenLike = /\(tok_[^)]*\)\s*$/

const ownNames: { readonly [value: string]: Role } = Object.fromEntries(roleNames.map((role) => [role, role]))
/** Of several roles, the first of these counts. */
const strongestFirst: readonly Role[] = ['admin', 'operator', 'caller', 'agent']

/** Names in a claim: a list, or a text with spaces. */
function listNames(given: unknown): readonly string[] {
  const values = typeof given === 'string' ? given.split(/\s+/) : Array.isArray(given) ? given : []
  return values.filter(isName)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 200
}

/** A claim by its name; if there is none of that name, by its path. URLs as names contain dots. */
function readClaim(payload: object, path: string): unknown {
  if (Object.hasOwn(payload, path)) return Reflect.get(payload, path)
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined),
      payload,
    )
}

/** The issuer did not answer, or not with what it must. */
class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable'
}

type Key = KeyObject | Uint8Array | JWTVerifyGetKey

/** After a failed request the issuer is left alone for this time: every bad token would cause another one. */
const backOffMs = 5_000
const requestMs = 5_000

function createKeySource(options: JwtOptions, { fetch, clock }: JwtParts): () => Promise<Key> {
  const { secret, publicKey, cooldownSeconds = 30 } = options
  let found: Promise<Key> | undefined
  let failed: { readonly until: number; readonly cause: IssuerUnavailable } | undefined

  /** Rejects, and pauses, also if the answer is not what `check` wants; that throws the reason. */
  const request: AskIssuer = async (url, check) => {
    if (failed && clock.now() < failed.until) throw failed.cause
    try {
      const { status, text } = await fetch(url, AbortSignal.timeout(requestMs))
      if (status !== 200) throw new Error(`It answered ${status}`)
      const checked = check(parseObject(text))
      failed = undefined
      return checked
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      failed = {
        until: clock.now() + backOffMs,
        cause: new IssuerUnavailable(`Cannot read ${url}: ${why}`, { cause }),
      }
      throw failed.cause
    }
  }
  const find = async (): Promise<Key> => {
    if (secret !== undefined) return new TextEncoder().encode(secret)
    if (publicKey !== undefined) return createPublicKey(publicKey)
    const { createRemoteJWKSet, customFetch, errors } = await import('jose')
    const url = options.jwksUrl ?? (await discover(options.issuer, request))
    const keySet = createRemoteJWKSet(new URL(url), {
      cooldownDuration: cooldownSeconds * 1_000,
      [customFetch]: async (each: string) => Response.json(await request(each, checkKeySet)),
    })
    /** After an unusable key, when the set is read again: the issuer may have corrected it. */
    let reloadAt: number | undefined
    return async (header, token) => {
      if (reloadAt !== undefined && clock.now() >= reloadAt) {
        reloadAt = undefined
        await keySet.reload()
      }
      try {
        const key = await keySet(header, token)
        const { modulusLength } = key.algorithm as { readonly modulusLength?: number }
        if (modulusLength !== undefined && modulusLength < shortestModulus)
          throw new Error(`An RSA key must have at least ${shortestModulus} bits, got ${modulusLength}`)
        return key
      } catch (cause) {
        const isOfToken =
          cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWKSMultipleMatchingKeys
        if (isOfToken || cause instanceof IssuerUnavailable) throw cause
        reloadAt ??= clock.now() + backOffMs
        const why = cause instanceof Error ? cause.message : String(cause)
        throw new IssuerUnavailable(`Cannot use a key of ${url}: ${why}`, { cause })
      }
    }
  }
  return () => {
    found ??= find().catch((cause) => {
      // The next token asks again.
      found = undefined
      throw cause
    })
    return found
  }
}

type IssuerAnswer = { readonly [name: string]: unknown }

type AskIssuer = <T>(url: string, check: (answer: IssuerAnswer) => T) => Promise<T>

/** Throws if the text is not a JSON object, such as the page of a proxy. */
function parseObject(text: string): IssuerAnswer {
  const said: unknown = JSON.parse(text)
  if (isObject(said)) return said
  throw new Error('It must answer with a JSON object')
}

function checkKeySet(answer: IssuerAnswer): IssuerAnswer {
  const { keys } = answer
  if (Array.isArray(keys) && keys.every(isObject)) return answer
  throw new Error('It must answer with a key set, `{ "keys": […] }`')
}

/** Reads the address of the key set from the issuer, which must confirm its own name. */
function discover(issuer: string, request: AskIssuer): Promise<string> {
  return request(
    `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    ({ issuer: confirmed, jwks_uri: jwksUrl }) => {
      if (confirmed !== issuer) throw new Error(`Its issuer must be "${issuer}", got "${String(confirmed)}"`)
      if (typeof jwksUrl !== 'string' || !URL.canParse(jwksUrl)) throw new Error('jwks_uri must be a URL')
      return jwksUrl
    },
  )
}

function chooseAlgorithms({ algorithms, secret, publicKey }: JwtOptions): string[] {
  if (algorithms !== undefined) return [...algorithms]
  // A key in PEM does not say which algorithm it is for: RSA is the usual one.
  return secret !== undefined ? ['HS256'] : publicKey !== undefined ? ['RS256'] : asymmetric
}

type Refuse = (message: string, hint: string) => never

const curves: { readonly [curve: string]: string } = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}

/** Shortest modulus of RSA keys, as RFC 7518 demands. */
const shortestModulus = 2_048

/** The algorithms that a public key can verify. */
function listAlgorithms({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): readonly string[] {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails
  if (asymmetricKeyType === 'rsa' && modulusLength >= shortestModulus)
    return asymmetric.filter((algorithm) => /^[RP]S/.test(algorithm))
  if (asymmetricKeyType === 'ec') return asymmetric.filter((algorithm) => algorithm === curves[namedCurve])
  return asymmetricKeyType === 'ed25519' ? ['EdDSA', 'Ed25519'] : []
}

/** Refuses a key that cannot verify all accepted algorithms: tokens of the others would fail one by one. */
function checkPublicKey(pem: string, algorithms: readonly string[], refuse: Refuse): void {
  const readKey = () => {
    try {
      return pem.includes('-----BEGIN PUBLIC KEY-----') ? createPublicKey(pem) : undefined
    } catch {
      return undefined
    }
  }
  const key =
    readKey() ??
    refuse(
      '`auth.jwt.publicKey` must be a public key in PEM (SPKI)',
      'It begins with -----BEGIN PUBLIC KEY-----; make one with `openssl pkey -in key.pem -pubout`',
    )
  const possible = listAlgorithms(key)
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve, modulusLength } = {} } = key
  const named = [type, namedCurve ?? modulusLength].filter((part) => part !== undefined).join(' ')
  if (possible.length === 0)
    refuse(
      `\`auth.jwt.publicKey\` must be a key for one of ${asymmetric.join(', ')}, got ${named}`,
      `Use an RSA key of at least ${shortestModulus} bits, an EC key or an Ed25519 key`,
    )
  const wrong = algorithms.find((algorithm) => !possible.includes(algorithm))
  if (wrong !== undefined)
    refuse(
      `\`auth.jwt.algorithms\` must be of ${possible.join(', ')} for the key in \`publicKey\` (${named}), got "${wrong}"`,
      'Set `algorithms` to the algorithm of your identity provider; without it, RS256 is accepted',
    )
}

/** Throws for options that are not usable or not safe. */
function checkJwtOptions(options: JwtOptions): void {
  const { issuer, audience, jwksUrl, publicKey, secret, algorithms, roles = {} } = options
  const refuse: Refuse = (message, hint) => {
    throw new ProvisoError('option/invalid', message, { hint })
  }
  if (!isName(issuer))
    refuse('`auth.jwt.issuer` must be a text', 'Write it as in the claim `iss` of the tokens')
  if ([audience].flat().length === 0 || ![audience].flat().every(isName))
    refuse(
      '`auth.jwt.audience` must be a text or a list of texts',
      'Without it, tokens for other services would be accepted',
    )
  const sources = [jwksUrl, publicKey, secret].filter((source) => source !== undefined)
  if (sources.length > 1)
    refuse('`auth.jwt` must have at most one of `jwksUrl`, `publicKey` and `secret`', 'Remove the others')
  if (sources.length === 0 && !URL.canParse(issuer))
    refuse(
      `\`auth.jwt.issuer\` must be a URL for discovery, got "${issuer}"`,
      'Set `jwksUrl`, `publicKey` or `secret`',
    )
  if (secret !== undefined && secret.length < 32)
    refuse('`auth.jwt.secret` must have at least 32 characters', 'Create one with `openssl rand -hex 32`')
  const possible = secret === undefined ? asymmetric : symmetric
  const wrong = (algorithms ?? []).find((algorithm) => !possible.includes(algorithm))
  if (wrong !== undefined || algorithms?.length === 0)
    refuse(
      `\`auth.jwt.algorithms\` must be of ${possible.join(', ')}, got "${wrong ?? ''}"`,
      'Name the algorithm of your identity provider',
    )
  if (publicKey !== undefined) checkPublicKey(publicKey, chooseAlgorithms(options), refuse)
  const unknown = Object.values(roles).find((role) => !roleNames.includes(role))
  if (unknown !== undefined)
    refuse(
      `\`auth.jwt.roles\` must have roles of ${roleNames.join(', ')}, got "${String(unknown)}"`,
      'Map each value to one of them',
    )
}
