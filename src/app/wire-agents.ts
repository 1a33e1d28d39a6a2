/** Wires agents over HTTP: the registry, the dispatcher and the callbacks. */
import { createCallbacks, type UnawaitedAnswer } from '../adapters/executors/callbacks.ts'
import { httpDispatcher } from '../adapters/executors/http.ts'
import { createWorkerQueue } from '../adapters/executors/worker-queue.ts'
import { createAddressFilter } from '../adapters/net/address-filter.ts'
import { createKeyRing } from '../adapters/sealing/seal-store.ts'
import type { AppOptions, HttpOptions } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import { pick } from '../base/json.ts'
import type { ParseText } from '../domain/ports/parse-text.ts'
import type { Store } from '../domain/ports/store.ts'
import { attemptFacts } from '../engine/input/late-result.ts'
import { commaList, type EnvConfig, envNames } from '../env.ts'
import {
  type AgentServices,
  type AgentsOptions,
  createAgents,
  createEndpointSeal,
  type EndpointSeal,
  readSecretKey,
} from '../server/agents/agents.ts'
import type { PartialBroker } from './partial-broker.ts'

export function wireAgents(
  http: HttpOptions,
  parts: Pick<AgentsOptions, 'shared' | 'clock' | 'changes' | 'onError'> & {
    readonly store: Store
    readonly env: EnvConfig
    readonly findListener: PartialBroker['findListener']
    readonly parseText: ParseText
    /** Called when an agent calls back after its attempt is over and a person is asked about it. */
    readonly onLateAnswer: (runId: string, idempotencyKey: string) => Promise<void>
    /** Called when an agent calls back and neither an attempt nor a person waits for the answer. */
    readonly onUnawaited: (answer: UnawaitedAnswer) => Promise<void>
  },
) {
  const { store, clock, env, findListener } = parts
  const addressFilter = createAddressFilter(http)
  const agents = createAgents({
    ...pick(parts, ['shared', 'clock', 'changes', 'onError']),
    registrations: store.records.registrations,
    operations: store.records.operations,
    documents: store.records.documents,
    inspectUrl: addressFilter.inspect,
    seal: openEndpointSeal(http, store, env),
    cacheTtlMs: http.cacheTtlMs ?? wholeMs(env, 'capabilityCacheTtlMs') ?? 30_000,
    selfRefreshMs: http.selfRefreshMs ?? wholeMs(env, 'capabilityRefreshMs') ?? 300_000,
    ...(http.agents && { own: http.agents }),
  })
  if (typeof http.callbackUrl === 'string') requireCallbackUrl(http.callbackUrl)
  const { getSecrets, getAnswerSecrets, registrar, living, catalogs } = agents
  const callbacks = createCallbacks({
    once: store.records.once,
    clock,
    getSecrets: getAnswerSecrets,
    refresh: living.refresh,
    findAttempt: (name) => attemptFacts(store, name),
    onAnswer: ({ runId, idempotencyKey }) => parts.onLateAnswer(runId, idempotencyKey),
    onUnawaited: parts.onUnawaited,
  })
  const workers = createWorkerQueue({
    documents: store.records.documents,
    clock,
    isAwaited: callbacks.isAwaited,
    getSecrets,
    ...(http.workerLeaseMs !== undefined && { leaseMs: http.workerLeaseMs }),
  })
  const dispatcher = httpDispatcher({
    addressFilter,
    clock,
    callbacks,
    workers,
    parseText: parts.parseText,
    update: living.update,
    findEndpoint: ({ tenant, capability: { capabilityId } }) => agents.findEndpoint({ tenant, capabilityId }),
    callbackBase: () => (typeof http.callbackUrl === 'function' ? http.callbackUrl() : http.callbackUrl),
    ...pick(http, ['maxBytes', 'timeoutMs', 'callbackMs']),
    findListener,
  })
  const services: AgentServices = {
    registrar,
    callbacks,
    workers,
    facets: agents.facets,
    update: living.update,
  }
  return { catalogs, living, dispatcher, services, addressFilter }
}

/** Seals the secrets of agents and webhooks, with the configured keys or the key file of the store. */
export function openEndpointSeal(http: HttpOptions, store: Store, env: EnvConfig): EndpointSeal {
  const clear = http.clearSecrets ?? store.name === 'memory'
  return createEndpointSeal({
    keys: createKeyRing(store.keyFile, {
      keys: http.secretKeys ?? readSecretKeys(env),
      readKey: readSecretKey,
      // Where secrets may be stored in the clear, a key file is used if there is one, and not made.
      readOnly: clear !== false,
    }),
    clear,
  })
}

/** Rejects a callback URL that agents could not reach: their answers would be lost. */
function requireCallbackUrl(url: string): void {
  const { protocol, search, hash } = URL.canParse(url) ? new URL(url) : { protocol: '', search: '', hash: '' }
  if (/^https?:$/.test(protocol) && search === '' && hash === '') return
  throw new ProvisoError(
    'option/invalid',
    `callbackUrl must be an HTTP URL without query and fragment, got "${url}"`,
    {
      hint: `Set callbackUrl (${envNames.publicUrl[0]}) to the public URL of this server, such as https://proviso.example`,
    },
  )
}

/** Returns the keys, newest first. */
export function readSecretKeys({ secretKey, previousSecretKeys }: EnvConfig): readonly string[] {
  const previous = commaList(previousSecretKeys)
  if (secretKey !== undefined) return [secretKey, ...previous]
  if (previous.length === 0) return []
  // A previous key must not encrypt again: it was replaced for a reason.
  throw new ProvisoError(
    'option/invalid',
    `${envNames.previousSecretKeys[0]} is set, and ${envNames.secretKey[0]} is not`,
    { hint: 'Generate a new key with `openssl rand -hex 32`' },
  )
}

// Durations that the environment can set, in whole milliseconds.

/** Resolves the timeouts of asks and leases: from the options, else the environment, else the engine's default. */
export function readTimes(options: AppOptions, env: EnvConfig): Pick<AppOptions, 'askMs' | 'leaseMs'> {
  const askMs = options.askMs ?? wholeMs(env, 'askMs')
  const leaseMs = options.leaseMs ?? wholeMs(env, 'leaseMs')
  return { ...(askMs !== undefined && { askMs }), ...(leaseMs !== undefined && { leaseMs }) }
}

function wholeMs(
  env: EnvConfig,
  setting: 'capabilityCacheTtlMs' | 'capabilityRefreshMs' | 'askMs' | 'leaseMs',
): number | undefined {
  const text = env[setting]
  if (text === undefined || /^[1-9]\d{0,14}$/.test(text)) return text === undefined ? text : Number(text)
  throw new ProvisoError('option/invalid', `${envNames[setting][0]} must be a whole number of milliseconds`)
}
