/** Opens what `proviso serve` and `proviso worker` share: the settings, the store, and an app on it. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { providersFromKeys } from '../../adapters/models/index.ts'
import { type App, type AppOptions, createApp, fallbackModel, openStore } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { pick } from '../../base/json.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Store } from '../../domain/ports/store.ts'
import { readLimits } from '../../engine/limits/limit-rules.ts'
import { announceProcess, type ProcessInfo } from '../../engine/status.ts'
import { commaList, type EnvConfig, readEnv } from '../../env.ts'
import type { Config } from '../../pipeline/index.ts'
import { env as own } from '../env.ts'
import { noteUnusedSettings, readSettings } from '../input/config-option.ts'
import { printMcpLog } from '../input/mcp-servers.ts'
import { readWork, type Work } from '../input/read-work.ts'
import { createMissingCapabilityNotice } from '../missing-capabilities.ts'
import { chooseLastingStore, type StoreChoice } from '../options/store-option.ts'
import { colors, continueWithoutOutput, printNote, refuse } from '../print.ts'
import { version } from '../version.ts'
import { chooseModels, chooseServedPlanner } from './choose-models.ts'
import {
  chooseQueue,
  chooseWebhooks,
  findInvalidVariables,
  findUnusedVariables,
  settingFlags,
} from './serve-settings.ts'
import { recordSettings, startRetention } from './upkeep.ts'

export interface AppFlags {
  readonly store?: string
  readonly dev?: true
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly config?: string
}

export interface OpenedApp {
  readonly app: App
  readonly env: EnvConfig
  readonly config: Config
  readonly choice: StoreChoice
  /** Name of this process on its leases. */
  readonly owner: string
  /** Lines to print for the operator. */
  readonly notes: readonly string[]
}

interface OpenWith {
  readonly role: ProcessInfo['role']
  /** Checks the settings before the app is created. */
  readonly check?: (store: Store, env: EnvConfig, config: Config) => Promise<void>
  /** What only the caller knows of the options. */
  readonly choose: (work: Work) => Pick<AppOptions, 'claim' | 'limits' | 'pollMs' | 'leaseMs' | 'plannedOnly'>
  /** In development, agents run on this machine and can call the server's own address. */
  readonly findAddress?: () => string | undefined
}

/** Time limit for attempts of the app at the end. */
export const attemptGraceMs = 4_000

/** Calls `use` with the app, and closes the app and its store after it. */
export async function withApp(
  flags: AppFlags,
  { role, check, choose, findAddress }: OpenWith,
  use: (opened: OpenedApp) => Promise<number>,
): Promise<number> {
  continueWithoutOutput()
  const env = readEnv()
  const misread = findInvalidVariables(own.settings)
  const choice = chooseLastingStore(flags.store)
  const settings = await readSettings({
    ...(flags.config !== undefined && { config: flags.config }),
    flags: settingFlags({ ...flags }),
  })
  if ('unreadable' in settings) return refuse(settings.unreadable)
  const { config } = settings
  const work = await readWork(pick(flags, ['use', 'preset', 'config']))
  if ('unreadable' in work) return refuse(work.unreadable)
  const chosen = choose(work)
  const store = await openStore(choice.spec, {
    ledger: env.ledger === '1' || config.aros.correctionLedgerEnabled,
  })
  try {
    await check?.(store, env, config)
    await recordSettings(store, config)
    const queue = chooseQueue(config.serve.queue, env)
    const name = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`
    const owner = typeof queue === 'object' ? `${queue.kind}/${name}` : name
    const { options, notes } = await createOptions(
      { dev: flags.dev === true, env, config, work, choice },
      findAddress,
    )
    const { labels } = config.serve.placement
    const app = await createApp({
      untrustedSchemas: true,
      ...options,
      ...chosen,
      limits: { ...readFleetLimits(config), ...chosen.limits },
      labels,
      store,
      queue,
      owner,
      onCrash: reportCrash,
      onMissing: createMissingCapabilityNotice(printNote),
    })
    const announced = await announceProcess(store.records.documents, {
      ...{ owner, role, host: hostname(), pid: process.pid, version: version(), clock: systemClock },
      // A process that executes no runs serves no placement.
      ...(role !== 'api' && Object.keys(labels).length > 0 && { labels }),
      active: () => app.active,
      circuits: () => app.circuits(),
      onError: (cause) => reportCrash('', cause),
    })
    const retention = startRetention(store, config.serve.retention, (cause) => reportCrash('', cause))
    const unused = noteUnusedSettings(config.aros, 'the runs of a server') ?? []
    const all = [
      ...notes,
      ...describeQueue(queue, role),
      ...misread,
      ...findUnusedVariables(own.settings),
      unused,
    ].flat()
    try {
      return await use({ app, env, config, choice, owner, notes: all })
    } finally {
      await retention.stop()
      await announced.close()
      await app.close({ graceMs: attemptGraceMs })
    }
  } finally {
    await store.close()
  }
}

interface GivenSettings {
  readonly env: EnvConfig
  readonly config: Config
  readonly work: Work
  readonly choice: StoreChoice
}

async function createOptions(
  { dev, env, config, work, choice }: GivenSettings & { readonly dev: boolean },
  findAddress: () => string | undefined = () => undefined,
) {
  const { capabilities, facets, stages = [] } = work
  const { note, ...models } = await chooseModels(env, { dev })
  const defaultModel = models.defaultModel ?? env.defaultModel ?? fallbackModel
  const planned = chooseServedPlanner(config.serve.planner, {
    providers: providersFromKeys(env),
    defaultModel,
  })
  const http = {
    allowLoopback: dev,
    allow: commaList(env.agentHosts),
    maxBytes: config.serve.server.answerBytes,
    // An in-memory store keeps nothing that could leak later.
    ...(dev && !choice.forgets && { clearSecrets: warnClearSecret }),
    callbackUrl: env.publicUrl ?? (() => (dev ? findAddress() : undefined)),
  }
  const options = {
    capabilities,
    facets,
    stages,
    env,
    tracing: { captureContent: isOn(env.captureContent) },
    http,
    webhooks: chooseWebhooks(config.serve.webhooks, env),
    ...models,
    planner: planned.planner,
    threads: config.serve.threads,
    storeRaw: config.aros.storeRaw,
    ...(work.mcp && { mcp: work.mcp, onMcpLog: printMcpLog }),
  }
  return { options, notes: [note, planned.note] }
}

function readFleetLimits({ serve: { limits } }: Config): NonNullable<AppOptions['limits']> {
  const { capabilities, tenants, models, circuitFailures: failures, circuitSeconds } = limits
  return {
    fleet: {
      capabilities: readLimits(capabilities),
      tenants: readLimits(tenants),
      models: readLimits(models),
    },
    circuits: failures === 0 ? false : { failures, openMs: circuitSeconds * 1_000 },
  }
}

/** What an operator should know of the queue. */
function describeQueue(queue: ReturnType<typeof chooseQueue>, role: ProcessInfo['role']): readonly string[] {
  if (queue === 'local') return []
  const { service, address, host, port, ingress, identityKeys = [] } = queue
  if (role === 'api') return [`Queue: sends runs to Restate at ${ingress}, service ${service}.`]
  const where = address ?? `http://${host}:${port}`
  const isOpen = identityKeys.length === 0 && !/^(127\.|localhost$|::1$)/.test(host ?? '')
  return [
    `Queue: Restate delivers runs to ${where}, service ${service}.`,
    ...(isOpen
      ? [
          `Requests to ${host}:${port} are not authenticated: set queue.identity_keys, or restrict who can reach it.`,
        ]
      : []),
  ]
}

function warnClearSecret(): void {
  printNote(
    colors.yellow(
      'Development mode: the signing key of an agent was stored unencrypted. Set PROVISO_SECRET_KEY to encrypt it.',
    ),
  )
}

function reportCrash(runId: string, cause: unknown): void {
  const isQueue = cause instanceof ProvisoError && cause.code === 'queue/unavailable'
  const silent = isQueue ? 'The queue does not respond' : 'The store does not respond'
  const what = runId === '' ? silent : `Cannot continue run ${runId} here`
  printNote(`${colors.red('error')} ${what}: ${cause instanceof Error ? cause.message : String(cause)}`)
}

export function isOn(flag: string | undefined): boolean {
  return flag !== undefined && /^(1|true|yes|on)$/i.test(flag)
}
