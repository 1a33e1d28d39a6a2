/** `proviso mcp`: serves capabilities and runs as MCP tools; `mcp list` prints the MCP servers of the settings. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { createApp } from '../../app.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { addConfigOptions, type ConfigFlags, readSettings } from '../input/config-option.ts'
import { getMcpServers } from '../input/mcp-servers.ts'
import { addUseOption } from '../input/read-work.ts'
import { readPort } from '../options/option-parsers.ts'
import { addStoreOption } from '../options/store-option.ts'
import { printJson, printNote, printText, refuse } from '../print.ts'
import { table } from '../render/table.ts'
import type { ServeMcpFlags } from '../serve/serve-mcp.ts'

interface ListFlags extends ConfigFlags {
  readonly json?: true
}

const listExamples = `
Servers are tables of proviso.toml: [mcp.NAME] with command and args, or with url.

Examples:
  proviso mcp list                                       connect to each server, and print its tools
  proviso mcp list --json                                print one JSON object, with the last lines of standard error

${describeExitCodes(['ok', 'usage', 'unmet'])}`

const serveExamples = `
Tools: every capability, and proviso_run for an objective with a JSON Schema of the answer. What a run asks people is asked in
the client, if it can ask; else the result names the ask.

Examples:
  proviso mcp --use agents.mjs --store sqlite:runs.db    serve over standard input and output
  proviso mcp --http 3004 --capability crm.lookup        serve one capability on http://127.0.0.1:3004/mcp

${describeExitCodes(['ok', 'usage'])}`

function port(text: string): number {
  const value = readPort(text)
  if (value === undefined) throw new InvalidArgumentError('Must be a port from 0 to 65535.')
  return value
}

function collect(id: string, before: readonly string[]): readonly string[] {
  return [...before, id]
}

export function addMcpCommands(program: Command): void {
  const group = program
    .command('mcp')
    .summary('serve capabilities as MCP tools, list MCP servers')
    .description('serve capabilities and runs as tools of the Model Context Protocol, over stdio')
  addConfigOptions(addStoreOption(addUseOption(group), 'memory'))
    .option(
      '--http <port>',
      'serve over HTTP on loopback, for callers with FLEX_TOKEN; 0 for a free port',
      port,
    )
    .addOption(
      new Option('--capability <id>', 'serve this capability; repeatable')
        .argParser(collect)
        .default([], 'all'),
    )
    .addHelpText('after', serveExamples)
    .action(async (flags: ServeMcpFlags) => {
      const { serveMcp } = await import('../serve/serve-mcp.ts')
      process.exitCode = await serveMcp(flags)
    })
  addConfigOptions(
    group.command('list').description('connect to the MCP servers of the settings and print their tools'),
  )
    .option('--json', 'print one JSON object')
    .addHelpText('after', listExamples)
    .action(async (flags: ListFlags) => {
      process.exitCode = await list(flags)
    })
}

async function list(flags: ListFlags): Promise<number> {
  const settings = await readSettings(flags)
  if ('unreadable' in settings) return refuse(settings.unreadable)
  const { mcp } = getMcpServers(settings.config)
  const app = await createApp({ ...(mcp && { mcp }), claim: 'none', providers: [], env: {} })
  try {
    const servers = app.mcp?.servers() ?? []
    const isOk = servers.every(
      ({ status, tools }) => status === 'connected' && tools.every(({ problem }) => !problem),
    )
    if (flags.json) printJson({ ok: isOk, servers }, 'line')
    else if (servers.length === 0) printNote('No MCP servers: add [mcp.NAME] to proviso.toml.')
    for (const { name, status, problem, serverInfo, protocolVersion, tools, stderr } of flags.json
      ? []
      : servers) {
      const about = serverInfo
        ? `${serverInfo.name} ${serverInfo.version}, protocol ${protocolVersion}`
        : (problem ?? '')
      printNote(`${name}: ${status}${about === '' ? '' : ` (${about})`}`)
      if (status !== 'connected') for (const line of stderr.slice(-5)) printNote(`  ${line}`)
      if (tools.length > 0)
        printText(
          table(
            ['CAPABILITY', 'EFFECT', 'VERSION', 'PROBLEM'],
            tools.map((each) => [
              each.capabilityId ?? each.tool,
              each.effect ?? '-',
              each.version ?? '-',
              each.problem ?? '',
            ]),
          ),
        )
    }
    return exitCode(isOk ? 'ok' : 'unmet')
  } finally {
    await app.close()
  }
}
