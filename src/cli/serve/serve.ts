/** Runs the server of `proviso serve`: a store, an app on it, the routes, and a graceful shutdown. */
import { parseSqliteAddress } from '../../adapters/stores/store-operations.ts'
import type { App } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Store } from '../../domain/ports/store.ts'
import { commaList, type EnvConfig } from '../../env.ts'
import type { Config } from '../../pipeline/index.ts'
import { requireFreeAddress, requireLoopback } from '../../server/http/free-address.ts'
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
import { onInterrupt } from '../interrupt.ts'
import { readPort } from '../options/option-parsers.ts'
import type { StoreChoice } from '../options/store-option.ts'
import { colors, printNote, printText, redactor, writeLog } from '../print.ts'
import { commandLine } from '../shell.ts'
import { findConsole, version } from '../version.ts'
import { createErrorReports, logErrors, printError } from './error-reports.ts'
import { type AppFlags, attemptGraceMs, isOn, withApp } from './open-app.ts'
import { chooseJwt, chooseSignIn, serverLimits } from './serve-settings.ts'

export interface ServeFlags extends AppFlags {
  readonly port?: number
  readonly host?: string
  readonly cors: readonly string[]
  /** `false`: the runs are left to workers. */
  readonly execute?: boolean
}

/** Graceful shutdown: time limits for requests and, in parallel, attempts; the total, with closing the store, stays below ten seconds. */
const grace = { requests: 2_000, attempts: attemptGraceMs, all: 9_500 } as const

export async function serve(flags: ServeFlags): Promise<number> {
  let server: Server | undefined
  const check = async (store: Store, env: EnvConfig, config: Config) => {
    if (!flags.dev && config.serve.auth === undefined) await requireTokens(store, env)
    // Before the app claims runs: a server that cannot serve must not execute any.
    const address = chooseAddress(env, flags)
    if (flags.dev) requireLoopback(address.host)
    await requireFreeAddress(address)
  }
  const claim = flags.execute === false ? 'none' : 'all'
  const onServer = (made: Server) => {
    server = made
  }
  return withApp(
    flags,
    {
      role: claim === 'none' ? 'api' : 'serve',
      check,
      choose: () => ({ claim }),
      findAddress: () => server?.address,
    },
    ({ app, env, config, ...opened }) => {
      const notes = claim === 'none' ? [...opened.notes, apiOnly] : opened.notes
      return serveApp(app, env, { ...flags, ...opened, notes, settings: config, onServer })
    },
  )
}

const apiOnly = 'This process executes no runs: start `proviso worker` on the same store.'

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
  const errors = createErrorReports(telemetry.log ? logErrors({ ...telemetry.log, redactor }) : printError)
  const server = createServer(
    { app },
    { auth, cors, routes, limits, version: version(), onError: errors.report, ...telemetry, ...console },
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
    errors.close()
  }
}

/** Describes where the runs are stored. A file can be inspected beside the server; a database address may contain a password and is not printed. */
function whereRunsAre({ spec, forgets }: StoreChoice): string[] {
  if (forgets) return ['The store is in memory: runs end with this process.']
  if (parseSqliteAddress(spec) === undefined) return []
  return [`Runs are stored; list them with ${commandLine([...own.program, 'runs', '--store', spec])}.`]
}

async function listen(server: Server, env: EnvConfig, flags: ServeFlags): Promise<void> {
  const address = await server.listen(chooseAddress(env, flags))
  printText(`Proviso serves on ${address}`)
}

function chooseAddress(env: EnvConfig, { host, port: chosen }: Pick<ServeFlags, 'host' | 'port'>) {
  const port = chosen ?? (env.port === undefined ? defaultPort : readPort(env.port))
  if (port === undefined)
    throw new ProvisoError('option/invalid', `PROVISO_PORT or PORT must be a port, got "${env.port}"`, {
      hint: 'Set it to a number from 0 to 65535',
    })
  return { host: host ?? env.host ?? '127.0.0.1', port }
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

/** Forces the process to exit when shutdown exceeds its limit. */
export function leaveAfter(ms: number): void {
  setTimeout(() => {
    printNote('Shutdown timed out; exiting.')
    process.exit(exitCode('internal'))
  }, ms).unref()
}

// Ends a serving process: gracefully on the first signal, at once on the second or on an unexpected error.

/** Resolves on the first SIGTERM or Ctrl-C; the next one, of either kind, exits at once. */
export function waitForStopSignal(): Promise<'SIGTERM' | 'SIGINT'> {
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
export function exitOnUnexpectedError(): void {
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
  return { log: { level, verbose: verbose || isOn(env.telemetryVerbose), destination: { write: writeLog } } }
}

/** Returns the sandbox routes if the flag enables them (FLEX-104). */
export function getSandboxRoutes(env: EnvConfig, app: App): readonly Route[] {
  if (!isOn(env.sandbox)) return []
  const { sandboxTemplateDir: templateDir } = env
  return sandboxRoutes({ generate: app.generate, ...(templateDir !== undefined && { templateDir }) })
}
