/** `proviso serve`: runs the HTTP server on a store until it receives a stop signal. */
import { type Command, InvalidArgumentError } from 'commander'
import { describeExitCodes } from '../exit-codes.ts'
import { addUseOption } from '../input/read-work.ts'
import { readPort } from '../options/option-parsers.ts'
import { addStoreOption } from '../options/store-option.ts'
import type { ServeFlags } from '../serve/serve.ts'
import { addExecutionFlags, addSettingFlags } from '../serve/serve-settings.ts'

const examples = `
Authentication: tokens of the store (\`proviso token create\`), or FLEX_TOKEN for a server with one user. With --dev no token is
needed, and the server listens on loopback only.
Agents: they register over HTTP and call back at PROVISO_PUBLIC_URL. List agents at private addresses in PROVISO_AGENT_HOSTS
(with --dev, this machine is allowed).
Shutdown: SIGTERM or Ctrl-C stops the server gracefully within ten seconds, a second signal immediately.
Settings: flags override environment variables, and these override proviso.toml ([planner], [server], [queue], [placement], [retention], [catalog]);
\`proviso config --explain\` prints all of them. At start the server prints its planner, and each variable without effect.

Examples:
  proviso serve --dev                                      try it on your own machine
  FLEX_TOKEN=$(openssl rand -hex 32) proviso serve         one user, runs in ./proviso.db
  proviso serve --store postgres://… --host 0.0.0.0        several processes on one database
  proviso serve --store postgres://… --no-execute          the API alone, beside workers
  proviso serve --planner auto --planner-model openai/gpt-5
  proviso serve --use agents.mjs --cors https://console.example

${describeExitCodes(['ok', 'internal', 'usage'])}`

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .summary('serve the HTTP API')
    .description('start the HTTP API and execute the runs in the store')
    .option('--port <n>', `port to listen on; 0 for a free one (default: $PROVISO_PORT, else 3003)`, port)
    .option('--host <address>', 'address to listen on (default: $PROVISO_HOST, else 127.0.0.1)')
    .option('--no-execute', 'serve the API only, and leave the runs to `proviso worker`')
    .option('--dev', 'development mode: no token, loopback only')
    .option('--cors <origin>', 'allow this origin; repeatable (default: $PROVISO_CORS)', collect, [])
    .option('--config <file>', 'settings file (default: $PROVISO_CONFIG, else proviso.toml here or above)')
  addSettingFlags(addExecutionFlags(addStoreOption(addUseOption(command), 'server')))
    .addHelpText('after', examples)
    .action(async (flags: ServeFlags) => {
      // Lazy import: the server is large, and other commands do not need it.
      const { serve } = await import('../serve/serve.ts')
      process.exitCode = await serve(flags)
    })
}

function port(text: string): number {
  const value = readPort(text)
  if (value === undefined) throw new InvalidArgumentError('Must be a port from 0 to 65535.')
  return value
}

function collect(origin: string, before: readonly string[]): readonly string[] {
  if (!URL.canParse(origin) || new URL(origin).origin !== origin)
    throw new InvalidArgumentError('Must be an origin such as https://console.example, without a path.')
  return [...before, origin]
}
