/** What a server keeps beside the runs: who may call, who offered to work, and what must happen only once. Times are the store's own. */
import type { Json } from '../../base/json.ts'

/** What a caller may do: start runs, work as an agent, answer for people, or everything. */
export type Role = (typeof roles)[number]

export const roles = ['caller', 'agent', 'operator', 'admin'] as const

export interface TokenRow {
  /** Public: named in lists, logs and the audit. */
  readonly tokenId: string
  readonly tenant: string
  readonly role: Role
  /** What people call it. */
  readonly name: string
  /** SHA-256 of the token in hex; the token itself is shown once and kept nowhere. */
  readonly hash: string
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** An agent's token is good for this capability alone. */
  readonly capabilityId?: string
}

export interface Tokens {
  /** Throws `option/invalid` if there is one with this id. */
  add(token: Omit<TokenRow, 'createdAt' | 'revokedAt'>): Promise<TokenRow>
  /** Expired and revoked ones are not found. */
  byHash(hash: string): Promise<TokenRow | undefined>
  /** All of them, the oldest first, then by id; of one tenant, if one is named. */
  list(query: { readonly tenant?: string }): Promise<TokenRow[]>
  /** False if there is none, or it was revoked before. */
  revoke(tokenId: string): Promise<boolean>
}

/** A capability that somebody registered over the wire. */
export interface RegistrationRow {
  readonly tenant: string
  readonly capabilityId: string
  /** As it was registered, with compiled contracts; secrets are not in here. */
  readonly payload: Json
  /**
   * Where and how it is called, signing keys included. A store keeps it and gives it back as it is: whoever lets a row leave
   * (a list over HTTP, a log, an event) must leave this out.
   */
  readonly endpoint: Json
  /** By the store's clock: `inactive` when no heartbeat came for `ttlMs`. */
  readonly status: 'active' | 'inactive'
  readonly registeredAt: number
  readonly heartbeatAt: number
  readonly ttlMs: number
  /** Whose it is: nobody else may change it. */
  readonly tokenId: string
}

export interface Registrations {
  /** New, or over the one that is there; `undefined` if that one is another token's and alive. */
  put(
    row: Omit<RegistrationRow, 'status' | 'registeredAt' | 'heartbeatAt'>,
  ): Promise<RegistrationRow | undefined>
  /** A sign of life, which also brings a silent one back; `undefined` if there is none. Who may give it is the server's business. */
  beat(key: { readonly tenant: string; readonly capabilityId: string }): Promise<RegistrationRow | undefined>
  remove(key: { readonly tenant: string; readonly capabilityId: string }): Promise<boolean>
  /** The oldest first, silent ones included, then by tenant and capability; of one tenant, if one is named. */
  list(query: { readonly tenant?: string }): Promise<RegistrationRow[]>
}

/** Names that only one may take: keys of requests, nonces of callbacks. */
export interface Once {
  /** `taken`: it was free and is the caller's now, for so long. `held`: it is somebody's, and what they wrote there. */
  take(
    name: string,
    given: { readonly body: Json; readonly keepMs: number },
  ): Promise<{ readonly kind: 'taken' } | { readonly kind: 'held'; readonly body: Json }>
  /** What is written there, without taking it; nothing if it is nobody's. */
  look(name: string): Promise<{ readonly body: Json } | undefined>
  /** Writes what became of it; nothing if it is nobody's any more. */
  settle(name: string, body: Json): Promise<void>
  /** Gives a name back: what was to be done did not happen. */
  release(name: string): Promise<void>
}

export interface Records {
  readonly tokens: Tokens
  readonly registrations: Registrations
  readonly once: Once
}
