/** Agents over HTTP, put together: who is registered, how they are called, and where they call back. */
import { createCallbacks } from '../adapters/dispatchers/callbacks.ts'
import { httpDispatcher } from '../adapters/dispatchers/http.ts'
import { createGuard } from '../adapters/guard.ts'
import type { AppOptions, HttpOptions } from '../app-options.ts'
import { ProvisoError } from '../base/error.ts'
import { pick } from '../base/pick.ts'
import type { Store } from '../domain/ports/store.ts'
import { attemptFacts } from '../engine/attempt-facts.ts'
import { commaList, type EnvConfig, envNames } from '../env.ts'
import { type AgentsDoor, type AgentsOptions, createAgents, createEndpointSeal } from '../server/agents.ts'
import { wholeMs } from './times.ts'

export function wireAgents(
  http: HttpOptions,
  parts: Pick<AgentsOptions, 'shared' | 'clock' | 'onError'> & {
    readonly store: Store
    readonly env: EnvConfig
    readonly onPartial: AppOptions['onPartial']
    /** An agent has called back although its attempt is over, and a person is asked about it. */
    readonly onLateAnswer: (runId: string, idempotencyKey: string) => Promise<void>
  },
) {
  const { store, clock, env, onPartial } = parts
  const guard = createGuard(http)
  const agents = createAgents({
    ...pick(parts, ['shared', 'clock', 'onError']),
    registrations: store.records.registrations,
    inspectUrl: guard.inspect,
    seal: createEndpointSeal({
      keys: http.secretKeys ?? secretKeysIn(env),
      clear: http.clearSecrets ?? store.name === 'memory',
    }),
    cacheTtlMs: http.cacheTtlMs ?? wholeMs(env, 'capabilityCacheTtlMs') ?? 30_000,
    selfRefreshMs: http.selfRefreshMs ?? wholeMs(env, 'capabilityRefreshMs') ?? 300_000,
    ...(http.agents && { own: http.agents }),
  })
  if (typeof http.callbackUrl === 'string') requireCallbackUrl(http.callbackUrl)
  const { secretsOf, registrar, living, catalogs } = agents
  const callbacks = createCallbacks({
    once: store.records.once,
    clock,
    secretsOf,
    refresh: living.refresh,
    attemptOf: (name) => attemptFacts(store, name),
    onAnswer: ({ runId, idempotencyKey }) => parts.onLateAnswer(runId, idempotencyKey),
  })
  const dispatcher = httpDispatcher({
    guard,
    clock,
    callbacks,
    endpointOf: ({ tenant, capability: { capabilityId } }) => agents.endpointOf({ tenant, capabilityId }),
    callbackBase: () => (typeof http.callbackUrl === 'function' ? http.callbackUrl() : http.callbackUrl),
    ...pick(http, ['maxBytes', 'timeoutMs', 'callbackMs']),
    ...(onPartial && { onPartial }),
  })
  const door: AgentsDoor = { registrar, callbacks }
  return { catalogs, living, dispatcher, door, guard }
}

/** Agents would be given it, and their answers would never arrive. */
function requireCallbackUrl(url: string): void {
  const { protocol, search, hash } = URL.canParse(url) ? new URL(url) : { protocol: '', search: '', hash: '' }
  if (/^https?:$/.test(protocol) && search === '' && hash === '') return
  throw new ProvisoError('option/invalid', `No agent could call back at "${url}"`, {
    hint: `Set callbackUrl (${envNames.publicUrl[0]}) to where this server is reached, such as https://proviso.example`,
  })
}

/** The newest first. */
function secretKeysIn({ secretKey, previousSecretKeys }: EnvConfig): readonly string[] {
  const previous = commaList(previousSecretKeys)
  if (secretKey !== undefined) return [secretKey, ...previous]
  if (previous.length === 0) return []
  // An old key must not seal again what it was taken away for.
  throw new ProvisoError(
    'option/invalid',
    `${envNames.previousSecretKeys[0]} is set, and ${envNames.secretKey[0]} is not`,
    { hint: 'Make a new key with `openssl rand -hex 32`' },
  )
}
