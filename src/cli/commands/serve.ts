/** `proviso serve`: runs the HTTP server on a store until it receives a stop signal. */
import { type Command, InvalidArgumentError } from 'commander'
import { describeExitCodes } from '../exit-codes.ts'
import { addUseOption } from '../input/read-work.ts'
import { readPort } from '../options/option-parsers.ts'
import { addStoreOption } from '../options/store-option.ts'
import type { ServeFlags } from '../serve/serve.ts'
import { addSettingFlags } from '../serve/setting-flags.ts'

const examples = `
Who may call: tokens of the store (\`proviso token create\`), and FLEX_TOKEN for a server with one user. With --dev everybody may,
and the server listens on loopback only. Agents register over HTTP; they call back at PROVISO_PUBLIC_URL, and those at private
addresses must be named in PROVISO_AGENT_HOSTS (with --dev this machine is fine). SIGTERM or Ctrl-C ends it in order within ten seconds, a second one at once.

Settings: flags win over environment variables, these over proviso.toml ([planner], [server], [retention], [catalog]);
\`proviso config --explain\` prints all of them. At start the server prints its planner, and each variable that has no effect.

Examples:
  proviso serve --dev                                      to try things out
  FLEX_TOKEN=$(openssl rand -hex 32) proviso serve         one user, runs in ./proviso.db
  proviso serve --store postgres://… --host 0.0.0.0        several processes on one database
  proviso serve --planner auto --planner-model openai/gpt-5
  proviso serve --use agents.mjs --cors https://console.example

${describeExitCodes(['ok', 'internal', 'usage'])}`

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .summary('serve the HTTP API')
    .description('Serves runs, asks and proofs over HTTP and executes the runs in the store.')
    .option('--port <n>', `port to listen on; 0 takes a free one (default: $PROVISO_PORT, else 3003)`, port)
    .option('--host <address>', 'address to listen on (default: $PROVISO_HOST, else 127.0.0.1)')
    .option('--dev', 'development: no token needed, loopback only')
    .option(
      '--cors <origin>',
      'origin whose pages may call; may be repeated (default: $PROVISO_CORS)',
      collect,
      [],
    )
    .option('--config <file>', 'settings (default: $PROVISO_CONFIG, else proviso.toml here or above)')
  addSettingFlags(addStoreOption(addUseOption(command)))
    .addHelpText('after', examples)
    .action(async (flags: ServeFlags) => {
      // Lazy import: the server is large, and other commands do not need it.
      const { serve } = await import('../serve/serve.ts')
      process.exitCode = await serve(flags)
    })
}

function port(text: string): number {
  const value = readPort(text)
  if (value === undefined) throw new InvalidArgumentError('It must be a port, 0 to 65535.')
  return value
}

function collect(origin: string, before: readonly string[]): readonly string[] {
  if (!URL.canParse(origin) || new URL(origin).origin !== origin)
    throw new InvalidArgumentError('It must be an origin such as https://console.example, without a path.')
  return [...before, origin]
}
