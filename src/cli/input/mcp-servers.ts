/** The MCP servers of the settings: for the app of a command, and for pipelines whose steps name their tools. */
import { type AppOptions, createApp } from '../../app.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Config, Pipeline } from '../../pipeline/index.ts'
import { colors, printNote } from '../print.ts'

export type McpServers = NonNullable<AppOptions['mcp']>

export function getMcpServers({ mcp }: Pick<Config, 'mcp'>): { readonly mcp?: McpServers } {
  // The schema of the settings and the options of the app are the same; `createApp` checks them again.
  return Object.keys(mcp).length > 0 ? { mcp: mcp as McpServers } : {}
}

/** The capabilities of the servers that a pipeline names. Connects only if it names one. */
export async function listMcpCapabilities(
  servers: McpServers | undefined,
  pipeline: Pipeline,
): Promise<readonly Capability[]> {
  const text = listTexts(pipeline)
  const named = Object.entries(servers ?? {}).filter(
    ([name]) => text.includes(`"${name}.`) || text.includes(`"${name}:`),
  )
  if (named.length === 0) return []
  const app = await createApp({
    mcp: Object.fromEntries(named),
    onMcpLog: printMcpProblem,
    claim: 'none',
    providers: [],
    env: {},
  })
  try {
    return app.capabilities().filter(({ kind }) => kind === 'mcp')
  } finally {
    await app.close()
  }
}

/** The steps and agents of a pipeline and of its imports, as text. */
function listTexts({ steps, agents, imports }: Pipeline): string {
  const own = JSON.stringify([steps, ...agents.values()], (_, held) =>
    held instanceof Map ? [...held] : held,
  )
  const others = [...imports.values()].flatMap(({ pipeline }) => (pipeline ? [listTexts(pipeline)] : []))
  return [own, ...others].join('\n')
}

type LogLine = Parameters<NonNullable<AppOptions['onMcpLog']>>[0]

/** Prints what servers write, for the operator of a server. */
export function printMcpLog({ server, text }: LogLine): void {
  printNote(colors.dim(`mcp ${server}: ${text}`))
}

/** Prints only lost connections, for commands that run once. */
export function printMcpProblem(line: LogLine): void {
  if (line.source === 'connection') printMcpLog(line)
}
