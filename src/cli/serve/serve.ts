/** Runs the server of `proviso serve`: a store, an app on it, the routes, and a graceful shutdown. */
import { providersFromKeys } from '../../adapters/models/index.ts'
import { type App, createApp, fallbackModel, openStore } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { pick } from '../../base/json.ts'
import type { Store } from '../../domain/ports/store.ts'
import { commaList, type EnvConfig, readEnv } from '../../env.ts'
import type { Config } from '../../pipeline/index.ts'
import {
  createServer,
  defaultPort,
  type Route,
  type Server,
  type ServerOptions,
  sandboxRoutes,
  shortestToken,
} from '../../server/index.ts'
import { env as own } from '../env.ts'
import { exitCode } from '../exit-codes.ts'
import { noteUnusedSettings, readSettings } from '../input/config-option.ts'
import { printMcpLog } from '../input/mcp-servers.ts'
import { readWork } from '../input/read-work.ts'
import { onInterrupt } from '../interrupt.ts'
import { createMissingCapabilityNotice } from '../missing-capabilities.ts'
import { readPort } from '../options/option-parsers.ts'
import { chooseLastingStore, type StoreChoice } from '../options/store-option.ts'
import { colors, printNote, printText, refuse } from '../print.ts'
import { commandLine } from '../shell.ts'
import { findConsole, version } from '../version.ts'
import { chooseModels, chooseServedPlanner } from './choose-models.ts'
import {
  chooseJwt,
  chooseSignIn,
  chooseWebhooks,
  findInvalidVariables,
  findUnusedVariables,
  serverLimits,
  settingFlags,
} from './serve-settings.ts'
import { recordSettings, startRetention } from './upkeep.ts'

export interface ServeFlags {
  readonly port?: number
  readonly host?: string
  readonly store?: string
  readonly dev?: true
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly cors: readonly string[]
  readonly config?: string
}

/** Graceful shutdown: time limits for requests and, in parallel, attempts; the total, with closing the store, stays below ten seconds. */
const grace = { requests: 2_000, attempts: 4_000, all: 9_500 } as const

export async function serve(flags: ServeFlags): Promise<number> {
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
  const store = await openStore(choice.spec, {
    ledger: env.ledger === '1' || config.aros.correctionLedgerEnabled,
  })
  try {
    if (!flags.dev && config.serve.auth === undefined) await requireTokens(store, env)
    await recordSettings(store, config)
    const { capabilities, facets, stages = [] } = work
    const { note, ...models } = await chooseModels(env, { dev: flags.dev === true })
    const defaultModel = models.defaultModel ?? env.defaultModel ?? fallbackModel
    const providers = providersFromKeys(env)
    const planned = chooseServedPlanner(config.serve.planner, { providers, defaultModel })
    const tracing = { captureContent: isOn(env.captureContent) }
    let server: Server | undefined
    const http = {
      allowLoopback: flags.dev ?? false,
      allow: commaList(env.agentHosts),
      maxBytes: config.serve.server.answerBytes,
      // An in-memory store keeps nothing that could leak later.
      ...(flags.dev && !choice.forgets && { clearSecrets: warnClearSecret }),
      // In development, agents run on this machine and can call the server's own address.
      callbackUrl: env.publicUrl ?? (() => (flags.dev ? server?.address : undefined)),
    }
    const options = {
      store,
      capabilities,
      facets,
      stages,
      env,
      tracing,
      http,
      webhooks: chooseWebhooks(config.serve.webhooks, env),
      ...models,
      planner: planned.planner,
      threads: config.serve.threads,
      storeRaw: config.aros.storeRaw,
      ...(work.mcp && { mcp: work.mcp, onMcpLog: printMcpLog }),
    }
    const app = await createApp({
      untrustedSchemas: true,
      ...options,
      onCrash: reportCrash,
      onMissing: createMissingCapabilityNotice(printNote),
    })
    const onServer = (made: Server) => {
      server = made
    }
    const retention = startRetention(store, config.serve.retention, (cause) => reportCrash('', cause))
    const unused = noteUnusedSettings(config.aros, 'the runs of a server') ?? []
    const notes = [note, planned.note, ...misread, ...findUnusedVariables(own.settings), unused].flat()
    try {
      return await serveApp(app, env, { ...flags, notes, choice, settings: config, onServer })
    } finally {
      await retention.stop()
      await app.close({ graceMs: grace.attempts })
    }
  } finally {
    await store.close()
  }
}

async function serveApp(
  app: App,
  env: EnvConfig,
  flags: Omit<ServeFlags, 'config'> & {
    readonly choice: StoreChoice
    /** Lines to print for the operator. */
    readonly notes: readonly string[]
    readonly settings: Config
    readonly onServer: (server: Server) => void
  },
): Promise<number> {
  const { dev = false } = flags
  const cors = flags.cors.length > 0 ? flags.cors : commaList(env.cors)
  const { settings: config } = flags
  const jwt = dev ? undefined : chooseJwt(config.serve.auth, env)
  const token = env.flexToken === undefined ? {} : { token: env.flexToken }
  const signIn = chooseSignIn(config.serve.auth, env)
  const auth = dev ? { open: true } : { ...token, ...(jwt && { jwt }), ...(signIn && { signIn }) }
  const routes = getSandboxRoutes(env, app)
  const telemetry = logOptions(env, { dev, verbose: config.aros.telemetry.verbose })
  const isSet = (key: string) => config.settings.some((one) => one.key === key && one.from !== 'default')
  const limits = serverLimits(config.serve, { dev, isSet })
  const folder = findConsole()
  const console = folder !== undefined && { console: { folder, createPost: isOn(env.createPost) } }
  const server = createServer(
    { app },
    { auth, cors, routes, limits, version: version(), onError: reportError, ...telemetry, ...console },
  )
  flags.onServer(server)
  try {
    await listen(server, env, flags)
    if (dev) printNote(colors.yellow('Development mode: no authentication, loopback only.'))
    printNote(
      console ? `The console is at ${server.address}/` : 'The console is not built: run `npm run build`.',
    )
    for (const line of flags.notes) printNote(line)
    if (routes.length > 0)
      printNote('The sandbox is enabled: POST /api/v1/flex/sandbox/envelope/conversation/start')
    if (env.secretKey === undefined && /^postgres/.test(flags.choice.spec)) {
      if (!dev) printNote('Agents cannot register: set PROVISO_SECRET_KEY to encrypt their secrets.')
      printNote('Secrets in runs are stored unencrypted: set PROVISO_SECRET_KEY to seal them.')
    }
    for (const line of whereRunsAre(flags.choice)) printNote(line)
    exitOnUnexpectedError()
    const signal = await waitForStopSignal()
    printNote(`${signal}: stopping. A second signal exits at once.`)
    leaveAfter(grace.all)
    return exitCode('ok')
  } finally {
    // In parallel: open requests are answered while the app starts nothing new and other processes claim its runs.
    await Promise.all([server.close({ graceMs: grace.requests }), app.close({ graceMs: grace.attempts })])
  }
}

/** Describes where the runs are stored. A file can be inspected beside the server; a database address may contain a password and is not printed. */
function whereRunsAre({ spec, forgets }: StoreChoice): string[] {
  if (forgets) return ['The store is in memory: runs end with this process.']
  if (!spec.startsWith('sqlite:')) return []
  return [`Runs are stored; list them with ${commandLine([...own.program, 'runs', '--store', spec])}.`]
}

async function listen(server: Server, env: EnvConfig, { host, port: chosen }: ServeFlags): Promise<void> {
  const at = chosen ?? (env.port === undefined ? defaultPort : readPort(env.port))
  if (at === undefined)
    throw new ProvisoError('option/invalid', `PROVISO_PORT or PORT must be a port, got "${env.port}"`, {
      hint: 'Set it to a number from 0 to 65535',
    })
  const address = await server.listen({ host: host ?? env.host ?? '127.0.0.1', port: at })
  printText(`Proviso serves on ${address}`)
}

/** Requires a token: access without authentication must be chosen explicitly, never by default. */
async function requireTokens(store: Store, { flexToken }: EnvConfig): Promise<void> {
  if (flexToken !== undefined) {
    if (flexToken.length >= shortestToken) return
    throw new ProvisoError('option/invalid', `FLEX_TOKEN must have at least ${shortestToken} characters`, {
      hint: 'Create one with `openssl rand -hex 32`',
    })
  }
  const tokens = await store.records.tokens.list({})
  const isGood = tokens.some(
    ({ revokedAt, expiresAt }) =>
      revokedAt === undefined && (expiresAt ?? Number.POSITIVE_INFINITY) > Date.now(),
  )
  if (isGood) return
  throw new ProvisoError('option/invalid', 'Cannot serve: no token exists, so no request can authenticate', {
    hint: 'Create one with `proviso token create --role admin`, set FLEX_TOKEN, or pass --dev on your own machine',
  })
}

function warnClearSecret(): void {
  printNote(
    colors.yellow(
      'Development mode: the signing key of an agent was stored unencrypted. Set PROVISO_SECRET_KEY to encrypt it.',
    ),
  )
}

function reportCrash(runId: string, cause: unknown): void {
  const what = runId === '' ? 'The store does not respond' : `Cannot continue run ${runId} here`
  printNote(`${colors.red('error')} ${what}: ${cause instanceof Error ? cause.message : String(cause)}`)
}

function reportError(cause: unknown, { traceId, route }: { traceId: string; route: string }): void {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  printNote(`${colors.red('error')} ${route} ${traceId}: ${text}`)
}

/** Forces the process to exit when shutdown exceeds its limit. */
function leaveAfter(ms: number): void {
  setTimeout(() => {
    printNote('Shutdown timed out; exiting.')
    process.exit(exitCode('internal'))
  }, ms).unref()
}

// Ends a serving process: gracefully on the first signal, at once on the second or on an unexpected error.

/** Resolves on the first SIGTERM or Ctrl-C; the next one, of either kind, exits at once. */
function waitForStopSignal(): Promise<'SIGTERM' | 'SIGINT'> {
  return new Promise((resolve) => {
    let isStopping = false
    const onSignal = (signal: 'SIGTERM' | 'SIGINT') => {
      if (isStopping) process.exit(exitCode('interrupted'))
      isStopping = true
      resolve(signal)
    }
    process.on('SIGTERM', () => onSignal('SIGTERM'))
    onInterrupt(() => onSignal('SIGINT'))
  })
}

/**
 * Crash-only design: after an unexpected error the state of the process is unknown. Exiting is safe, because everything
 * acknowledged is in the store and every run is claimed again.
 */
function exitOnUnexpectedError(): void {
  const leave = (what: string) => (cause: unknown) => {
    printNote(`${what}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    process.exit(exitCode('internal'))
  }
  process.on('uncaughtException', leave('Uncaught exception'))
  process.on('unhandledRejection', leave('Unhandled rejection'))
}

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/**
 * Logs JSON lines on standard error; off in development, where a person reads it, unless `PROVISO_LOG` overrides this.
 * `verbose` comes from the settings; the environment variable also enables it.
 */
export function logOptions(
  env: EnvConfig,
  { dev, verbose }: { readonly dev: boolean; readonly verbose: boolean },
): Pick<ServerOptions, 'log'> {
  const given = env.log ?? (dev ? 'silent' : 'info')
  const level = levels.find((one) => one === given)
  if (level === undefined)
    throw new ProvisoError('option/invalid', `PROVISO_LOG is no level: ${given}`, {
      hint: `Set it to one of ${levels.join(', ')}`,
    })
  if (level === 'silent') return {}
  const destination = { write: (line: string) => void process.stderr.write(line) }
  return { log: { level, verbose: verbose || isOn(env.telemetryVerbose), destination } }
}

/** Returns the sandbox routes if the flag enables them (FLEX-104). */
export function getSandboxRoutes(env: EnvConfig, app: App): readonly Route[] {
  if (!isOn(env.sandbox)) return []
  const { sandboxTemplateDir: templateDir } = env
  return sandboxRoutes({ generate: app.generate, ...(templateDir !== undefined && { templateDir }) })
}

export function isOn(flag: string | undefined): boolean {
  return flag !== undefined && /^(1|true|yes|on)$/i.test(flag)
}
