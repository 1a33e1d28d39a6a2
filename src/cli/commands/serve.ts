/** `proviso serve`: the HTTP server on a store, until it is told to stop. */
import { type Command, InvalidArgumentError } from 'commander'
import { type App, createApp, openStore } from '../../app.ts'
import { ProvisoError } from '../../base/error.ts'
import type { Store } from '../../domain/ports/store.ts'
import { type EnvConfig, readEnv } from '../../env.ts'
import { createServer, defaultPort, type Server, shortestToken } from '../../server/index.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { colors, printNote, printText, refuse } from '../print.ts'
import { addUseOption, readWork } from '../read-work.ts'
import { exitOnAnythingUnforeseen, untilToldToStop } from '../stop.ts'
import { addStoreOption, chooseLastingStore } from '../store-option.ts'

interface Flags {
  readonly port?: number
  readonly host?: string
  readonly store?: string
  readonly dev?: true
  readonly use: readonly string[]
  readonly cors: readonly string[]
}

const examples = `
Who may call: tokens of the store (\`proviso token create\`), and FLEX_TOKEN for a server with one user. With --dev everybody may,
and the server listens on loopback only. SIGTERM or Ctrl-C ends it in order within ten seconds, a second one at once.

Examples:
  proviso serve --dev                                      to try things out
  FLEX_TOKEN=$(openssl rand -hex 32) proviso serve         one user, runs in ./proviso.db
  proviso serve --store postgres://… --host 0.0.0.0        several processes on one database
  proviso serve --use agents.mjs --cors https://console.example

${describeExitCodes(['ok', 'internal', 'usage'])}`

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .summary('serve the HTTP API')
    .description('Serves runs, asks and proofs over HTTP and carries the runs of the store.')
    .option(
      '--port <n>',
      `port to listen on; 0 takes a free one (default: $PROVISO_PORT, else ${defaultPort})`,
      port,
    )
    .option('--host <address>', 'address to listen on (default: $PROVISO_HOST, else 127.0.0.1)')
    .option('--dev', 'development: no token needed, loopback only')
    .option(
      '--cors <origin>',
      'origin whose pages may call; may be repeated (default: $PROVISO_CORS)',
      collect,
      [],
    )
  addStoreOption(addUseOption(command))
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await serve(flags)
    })
}

/** How long requests, and then attempts, may take to end: together with closing the store below ten seconds. */
const grace = { requests: 2_000, attempts: 4_000, all: 9_500 } as const

async function serve(flags: Flags): Promise<number> {
  const env = readEnv()
  const choice = chooseLastingStore(flags.store)
  const work = await readWork({ use: flags.use })
  if ('unreadable' in work) return refuse(work.unreadable)
  const store = await openStore(choice.spec, { ledger: env.ledger === '1' })
  try {
    if (!flags.dev) await requireTokens(store, env)
    const { capabilities, facets } = work
    const secrets = env.flexToken === undefined ? [] : [env.flexToken]
    const app = await createApp({ store, capabilities, facets, env, secrets, onCrash: tellCrash })
    try {
      return await serveApp(app, env, { ...flags, forgets: choice.forgets })
    } finally {
      await app.close({ graceMs: grace.attempts })
    }
  } finally {
    await store.close()
  }
}

async function serveApp(
  app: App,
  env: EnvConfig,
  flags: Flags & { readonly forgets: boolean },
): Promise<number> {
  const { dev = false } = flags
  const cors =
    flags.cors.length > 0 ? flags.cors : (env.cors?.split(',').map((origin) => origin.trim()) ?? [])
  const auth = dev ? { open: true } : env.flexToken === undefined ? {} : { token: env.flexToken }
  const server = createServer({ app }, { auth, cors, onError: tellError })
  try {
    await listen(server, env, flags)
    if (dev)
      printNote(
        colors.yellow('Development mode: everybody who reaches this port may do everything. Loopback only.'),
      )
    if (flags.forgets) printNote('The store is in memory: runs end with this process.')
    exitOnAnythingUnforeseen()
    const signal = await untilToldToStop()
    printNote(`${signal}: stopping. A second signal leaves at once.`)
    leaveAfter(grace.all)
    return exitCode('ok')
  } finally {
    await server.close({ graceMs: grace.requests })
  }
}

async function listen(server: Server, env: EnvConfig, { host, port: chosen }: Flags): Promise<void> {
  const at = chosen ?? (env.port === undefined ? defaultPort : readPort(env.port))
  if (at === undefined)
    throw new ProvisoError('option/invalid', `PROVISO_PORT or PORT is no port: ${env.port}`, {
      hint: 'Set it to a number from 0 to 65535',
    })
  const address = await server.listen({ host: host ?? env.host ?? '127.0.0.1', port: at })
  printText(`Proviso serves on ${address}`)
}

/** Open to everybody is something to be said, never a default. */
async function requireTokens(store: Store, { flexToken }: EnvConfig): Promise<void> {
  if (flexToken !== undefined) {
    if (flexToken.length >= shortestToken) return
    throw new ProvisoError(
      'option/invalid',
      `FLEX_TOKEN has fewer than ${shortestToken} characters and could be guessed`,
      {
        hint: 'Make one with `openssl rand -hex 32`',
      },
    )
  }
  const tokens = await store.records.tokens.list({})
  const isGood = tokens.some(
    ({ revokedAt, expiresAt }) =>
      revokedAt === undefined && (expiresAt ?? Number.POSITIVE_INFINITY) > Date.now(),
  )
  if (isGood) return
  throw new ProvisoError('option/invalid', 'Nobody could call this server: there is no token', {
    hint: 'Make one with `proviso token create --role admin`, set FLEX_TOKEN, or say --dev to try things out on this machine',
  })
}

function tellCrash(runId: string, cause: unknown): void {
  const what = runId === '' ? 'The store does not answer' : `The run ${runId} could not go on here`
  printNote(`${colors.red('error')} ${what}: ${cause instanceof Error ? cause.message : String(cause)}`)
}

function tellError(cause: unknown, { traceId, route }: { traceId: string; route: string }): void {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  printNote(`${colors.red('error')} ${route} ${traceId}: ${text}`)
}

/** Whatever does not end must not keep the process. */
function leaveAfter(ms: number): void {
  setTimeout(() => {
    printNote('Not everything has ended in time; leaving.')
    process.exit(exitCode('internal'))
  }, ms).unref()
}

function port(text: string): number {
  const value = readPort(text)
  if (value === undefined) throw new InvalidArgumentError('It must be a port, 0 to 65535.')
  return value
}

function readPort(text: string): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text) && value <= 65_535 ? value : undefined
}

function collect(origin: string, before: readonly string[]): readonly string[] {
  if (!URL.canParse(origin) || new URL(origin).origin !== origin)
    throw new InvalidArgumentError('It must be an origin such as https://console.example, without a path.')
  return [...before, origin]
}
