/** Endpoint of an agent of kind `http`. Contains secrets: stored separately from the capability and never returned. */
import { isObject, type Json, own } from '../../base/json.ts'

export interface SigningKey {
  readonly keyId: string
  /** What both sides sign with. */
  readonly secret: string
  /** Milliseconds since 1970 at which it dies; absent: it lives. */
  readonly until?: number
}

export interface Endpoint {
  /** Absent if the agent polls. */
  readonly url?: string
  /** Workers of the agent take its calls. */
  readonly poll?: true
  /** The newest first; at most two are alive, so that a key can be changed while calls are on their way. */
  readonly keys: readonly SigningKey[]
  /** What the agent wants to see in `Authorization: Bearer`. */
  readonly bearer?: string
  /** The longest that one call may take, in milliseconds; the server's own limit where it says nothing. */
  readonly timeoutMs?: number
}

/** Secrets of the keys that are alive at this moment, the newest first. */
export function liveSecrets({ keys }: Pick<Endpoint, 'keys'>, now: number): readonly string[] {
  return keys.filter(({ until }) => until === undefined || until > now).map(({ secret }) => secret)
}

/** Everything in an endpoint that must not be seen. */
export function endpointSecrets({ keys, bearer }: Endpoint): readonly string[] {
  return [...keys.map(({ secret }) => secret), ...(bearer === undefined ? [] : [bearer])]
}

/** Parses a stored endpoint; undefined if it is not valid. */
export function readEndpoint(stored: Json): Endpoint | undefined {
  if (!isObject(stored)) return undefined
  const [url, keys] = [own(stored, 'url'), own(stored, 'keys')]
  const [bearer, timeoutMs] = [own(stored, 'bearer'), own(stored, 'timeoutMs')]
  const isPolled = own(stored, 'poll') === true
  if ((typeof url !== 'string' && !isPolled) || !Array.isArray(keys)) return undefined
  return {
    ...(typeof url === 'string' && { url }),
    ...(isPolled && { poll: true }),
    keys: keys.flatMap((key: unknown) => readKey(key) ?? []),
    ...(typeof bearer === 'string' && { bearer }),
    ...(typeof timeoutMs === 'number' && { timeoutMs }),
  }
}

function readKey(key: unknown): SigningKey | undefined {
  if (!isObject(key)) return undefined
  const { keyId, secret, until } = key
  if (typeof keyId !== 'string' || typeof secret !== 'string') return undefined
  return { keyId, secret, ...(typeof until === 'number' && { until }) }
}
