/** JSON web tokens and the sign-in of the console. */
import type { Json } from '../../../base/json.ts'
import { text, texts } from '../../../domain/schemas/parts.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface AuthSettings {
  readonly issuer: string
  readonly audience: readonly string[]
  readonly jwksUrl?: string
  readonly publicKey?: string
  readonly algorithms?: readonly string[]
  readonly rolesClaim?: string
  /** Entries such as `team-leads=operator`. */
  readonly roles: readonly string[]
  readonly tenantClaim?: string
  readonly taskRolesClaim?: string
  readonly nameClaim?: string
  readonly clockToleranceSeconds: number
  /** Private hosts where the issuer may be reached. */
  readonly allow: readonly string[]
  /** Id of the console at the provider; absent: people sign in by a token. */
  readonly clientId?: string
  readonly scope?: string
}

export const authTable = {
  'auth.issuer': {
    schema: text,
    otherwise: null,
    what: 'accept JSON web tokens of this issuer, as in their claim iss (default: none)',
    env: ['PROVISO_AUTH_ISSUER'],
  },
  'auth.audience': {
    schema: texts,
    otherwise: [],
    what: 'the claim aud must have one of these; required with auth.issuer',
    env: ['PROVISO_AUTH_AUDIENCE'],
  },
  'auth.jwks_url': {
    schema: text,
    otherwise: null,
    what: 'the key set of the issuer (default: discovered at the issuer)',
    env: ['PROVISO_AUTH_JWKS_URL'],
  },
  'auth.public_key': {
    schema: text,
    otherwise: null,
    what: 'a public key in PEM, instead of a key set',
    env: ['PROVISO_AUTH_PUBLIC_KEY'],
  },
  'auth.algorithms': {
    schema: texts,
    otherwise: null,
    what: 'accepted algorithms (default: the asymmetric ones; with $PROVISO_AUTH_SECRET: HS256)',
    env: ['PROVISO_AUTH_ALGORITHMS'],
  },
  'auth.roles_claim': {
    schema: text,
    otherwise: null,
    what: 'the claim with the roles; dots lead into objects (default: roles)',
    env: ['PROVISO_AUTH_ROLES_CLAIM'],
  },
  'auth.roles': {
    schema: { type: 'array', items: { type: 'string', pattern: '^.+=(caller|agent|operator|admin)$' } },
    otherwise: [],
    what: 'which value of that claim has which role: team-leads=operator (default: the names of the roles)',
    env: ['PROVISO_AUTH_ROLES'],
  },
  'auth.tenant_claim': {
    schema: text,
    otherwise: null,
    what: 'the claim with the tenant; a token without it is refused (default: the tenant "default")',
    env: ['PROVISO_AUTH_TENANT_CLAIM'],
  },
  'auth.task_roles_claim': {
    schema: text,
    otherwise: null,
    what: 'the claim with the roles of the person for tasks (default: none)',
    env: ['PROVISO_AUTH_TASK_ROLES_CLAIM'],
  },
  'auth.name_claim': {
    schema: text,
    otherwise: null,
    what: 'the claim with the name of the caller (default: sub)',
    env: ['PROVISO_AUTH_NAME_CLAIM'],
  },
  'auth.clock_tolerance_seconds': {
    schema: { type: 'integer', minimum: 0, maximum: 300 },
    otherwise: 5,
    what: 'accepted difference between the clocks of issuer and server',
    env: ['PROVISO_AUTH_CLOCK_TOLERANCE_SECONDS'],
  },
  'auth.hosts': {
    schema: texts,
    otherwise: [],
    what: 'private hosts, addresses and ranges where the issuer may be reached',
    env: ['PROVISO_AUTH_HOSTS'],
  },
  'auth.client_id': {
    schema: text,
    otherwise: null,
    what: 'offer the sign-in of the issuer in the console, under this client id (default: by token only)',
    env: ['PROVISO_AUTH_CLIENT_ID'],
  },
  'auth.scope': {
    schema: text,
    otherwise: null,
    what: 'what the sign-in asks for (default: openid profile email)',
    env: ['PROVISO_AUTH_SCOPE'],
  },
} as const satisfies SettingTable

/** The settings of JSON web tokens; `undefined` without an issuer. */
export function readAuthSettings(at: ReadSetting<typeof authTable>): AuthSettings | undefined {
  const issuer = at<string | null>('auth.issuer')
  if (issuer === null) return undefined
  const optional = {
    jwksUrl: 'auth.jwks_url',
    publicKey: 'auth.public_key',
    algorithms: 'auth.algorithms',
    rolesClaim: 'auth.roles_claim',
    tenantClaim: 'auth.tenant_claim',
    taskRolesClaim: 'auth.task_roles_claim',
    nameClaim: 'auth.name_claim',
    clientId: 'auth.client_id',
    scope: 'auth.scope',
  } as const
  const given = Object.entries(optional).flatMap(([name, key]) => {
    const value = at<Json>(key)
    return value === null ? [] : [[name, value]]
  })
  return {
    issuer,
    audience: at('auth.audience'),
    roles: at('auth.roles'),
    clockToleranceSeconds: at('auth.clock_tolerance_seconds'),
    allow: at('auth.hosts'),
    ...Object.fromEntries(given),
  }
}
