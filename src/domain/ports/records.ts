/** Records of a server beside the runs: tokens, registered agents, idempotency keys. Times come from the store's clock. */
import type { Json } from '../../base/json.ts'
import type { Documents } from './documents.ts'
import type { Operations } from './operations.ts'

/** Permissions: `caller` starts runs, `agent` executes, `operator` answers asks, `admin` may do everything. */
export type Role = (typeof roles)[number]

export const roles = ['caller', 'agent', 'operator', 'admin'] as const

export interface TokenRow {
  /** Public id, shown in lists, logs and the audit. */
  readonly tokenId: string
  readonly tenant: string
  readonly role: Role
  /** Display name. */
  readonly name: string
  /** SHA-256 of the token in hex; the token itself is shown once and never stored. */
  readonly hash: string
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** Restricts an agent's token to this capability. */
  readonly capabilityId?: string
  /** Id of the first token in a series of rotations; absent for that token itself. Registrations belong to the series. */
  readonly familyId?: string
  /** Roles of the person for tasks, such as `legal`: such tasks are offered to them. */
  readonly taskRoles?: readonly string[]
}

/** A change of records, as the operations audit names it. */
export interface ChangedBy {
  /** Default `library`. */
  readonly by?: string
}

/** A token that replaces another one. */
interface TokenRotation extends ChangedBy {
  readonly tokenId: string
  readonly next: Pick<TokenRow, 'tokenId' | 'hash' | 'expiresAt'>
  /** How long the old token stays valid. */
  readonly overlapMs: number
}

/** Every change is recorded in the operations audit, in the same transaction. */
export interface Tokens {
  /** Throws `option/invalid` if the id exists. */
  add(token: Omit<TokenRow, 'createdAt' | 'revokedAt'>, given?: ChangedBy): Promise<TokenRow>
  /**
   * Adds a token with the permissions of another one, which expires after the overlap. Undefined if that one does not exist,
   * has expired or was revoked.
   */
  rotate(rotation: TokenRotation): Promise<{ readonly old: TokenRow; readonly next: TokenRow } | undefined>
  /** Finds a token; expired and revoked ones are not found. */
  byHash(hash: string): Promise<TokenRow | undefined>
  /** Lists tokens by creation time, then id; of one tenant, if given. */
  list(query: { readonly tenant?: string }): Promise<TokenRow[]>
  /** False if the token does not exist or was revoked before. */
  revoke(tokenId: string, given?: ChangedBy): Promise<boolean>
}

/** A capability that an agent registered over HTTP. */
export interface RegistrationRow {
  readonly tenant: string
  readonly capabilityId: string
  /** The registered capability with compiled contracts, without secrets. */
  readonly payload: Json
  /**
   * Address and signing keys of the agent. A store returns it unchanged: code that publishes a row (a list over HTTP, a log,
   * an event) must remove it.
   */
  readonly endpoint: Json
  /** `inactive` when no heartbeat came for `ttlMs`, by the store's clock. */
  readonly status: 'active' | 'inactive'
  readonly registeredAt: number
  readonly heartbeatAt: number
  readonly ttlMs: number
  /** The token that registered it; no other token may change it. */
  readonly tokenId: string
}

/** New, changed and removed registrations are recorded in the operations audit; heartbeats are not. */
export interface Registrations {
  /** Adds or replaces a registration; undefined if another token holds an active one. */
  put(
    row: Omit<RegistrationRow, 'status' | 'registeredAt' | 'heartbeatAt'>,
    given?: ChangedBy,
  ): Promise<RegistrationRow | undefined>
  /** Records a heartbeat and reactivates the registration; undefined if absent. The server checks the permission. */
  beat(key: { readonly tenant: string; readonly capabilityId: string }): Promise<RegistrationRow | undefined>
  remove(key: { readonly tenant: string; readonly capabilityId: string }, given?: ChangedBy): Promise<boolean>
  /** Replaces the stored endpoint, if it is still `from`: the same secrets under another key. False if it has changed. */
  reseal(change: {
    readonly tenant: string
    readonly capabilityId: string
    readonly from: Json
    readonly to: Json
  }): Promise<boolean>
  /** Lists registrations, inactive ones included, by time, tenant and capability; of one tenant, if given. */
  list(query: { readonly tenant?: string }): Promise<RegistrationRow[]>
}

/** Names that can be taken once: idempotency keys of requests, nonces of callbacks. */
export interface Once {
  /** Takes a name for `keepMs`. `taken`: it was free; `held`: another caller has it, with the body that caller wrote. */
  take(
    name: string,
    given: { readonly body: Json; readonly keepMs: number },
  ): Promise<{ readonly kind: 'taken' } | { readonly kind: 'held'; readonly body: Json }>
  /** Reads the body of a name without taking it; undefined if the name is free. */
  look(name: string): Promise<{ readonly body: Json } | undefined>
  /** Replaces the body with the result; no effect if the name is no longer held. */
  settle(name: string, body: Json): Promise<void>
  /** Keeps a name for `keepMs` from now on; false if it is no longer held. */
  renew(name: string, keepMs: number): Promise<boolean>
  /** Releases a name, because the operation did not happen. */
  release(name: string): Promise<void>
}

export interface Records {
  /**
   * Differs from an earlier result if a token, registration, facet or webhook was added, changed or removed in between, by
   * any process; heartbeats do not count. Cheap enough to be called with every start of a run.
   */
  version(): Promise<number>
  /**
   * Subscribes to such changes of other processes. A hint only: listeners compare the
   * version. Absent: the store cannot notify, or has one process.
   */
  onChange?(listener: () => void): () => void
  readonly tokens: Tokens
  readonly registrations: Registrations
  readonly once: Once
  readonly operations: Operations
  readonly documents: Documents
}
