/**
 * The MCP servers of an app: connects to them, turns their tools into capabilities of kind `mcp`, and calls them. A server
 * that cannot be reached is no obstacle to the others: it is retried, and its tools appear when it answers.
 */
import type { Client } from '@modelcontextprotocol/client'
import { ProvisoError, toErrorMessage } from '../../base/errors/error.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Capability } from '../../domain/capability.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { ended, failedCall, isTimeout, lostCall, readToolResult, readValue } from './call-result.ts'
import { lastRound, readRound, toQuestion, toResponses } from './elicitation.ts'
import { loadSdk } from './load-sdk.ts'
import {
  type ConnectionState,
  createConnection,
  type EnteredCall,
  type McpConnection,
  type McpLogLine,
} from './mcp-connection.ts'
import type { McpServerOptions, McpServers, ToolEffect } from './mcp-options.ts'
import { keyMember } from './open-transport.ts'
import { type McpTarget, type OfferedTool, readerCapabilities, toCapability } from './tool-capability.ts'

export type { McpLogLine } from './mcp-connection.ts'

/** The state of a server, for operators. */
interface McpServerState extends ConnectionState {
  readonly name: string
  readonly transport: 'stdio' | 'http'
  readonly tools: readonly McpToolState[]
}

interface McpToolState {
  readonly tool: string
  readonly capabilityId?: string
  readonly effect?: ToolEffect
  /** Changes with the definition of the tool. */
  readonly version?: string
  /** Why it cannot be used. */
  readonly problem?: string
}

/** What an app offers of its MCP servers, besides capabilities. */
export interface McpAccess {
  servers(): readonly McpServerState[]
  listResources(server: string): Promise<readonly Json[]>
  readResource(server: string, uri: string): Promise<Json>
  listPrompts(server: string): Promise<readonly Json[]>
  getPrompt(server: string, name: string, args?: { readonly [name: string]: string }): Promise<Json>
}

export interface McpClient extends McpAccess {
  readonly dispatcher: Dispatcher
  /** Connects to all servers; resolves when each has answered, or cannot be reached. */
  open(): Promise<void>
  close(): Promise<void>
}

export interface McpClientOptions {
  readonly servers: McpServers
  readonly clock: Clock
  readonly redactor: Redactor
  readonly onLog: (line: McpLogLine) => void
  /** Called with all capabilities of a server whenever its list is read; returns why some are not accepted. */
  readonly onCapabilities: (
    server: string,
    capabilities: readonly Capability[],
  ) => ReadonlyMap<string, string>
}

interface Held {
  readonly options: McpServerOptions
  readonly connection: McpConnection
  tools: readonly McpToolState[]
}

export function createMcpClient({
  servers,
  clock,
  redactor,
  onLog,
  onCapabilities,
}: McpClientOptions): McpClient {
  const held = new Map<string, Held>()
  for (const [name, options] of Object.entries(servers)) {
    const connection = createConnection({
      name,
      server: options,
      clock,
      redactor,
      onLog,
      onListed({ tools, resources, prompts }) {
        const wanted = options.tools && new Set(options.tools)
        const offered = tools
          .filter((tool) => wanted?.has(tool.name) ?? true)
          .map((tool) => toCapability(name, options, tool))
        const missing = [...(wanted ?? [])].filter((tool) => !tools.some((each) => each.name === tool))
        const capabilities = [
          ...offered.flatMap((each) => ('capability' in each ? [each.capability] : [])),
          ...readerCapabilities(name, { resources, prompts }),
        ]
        const refused = onCapabilities(name, capabilities)
        const entry = held.get(name)
        if (entry)
          entry.tools = [
            ...offered.map((each) => toToolState(each, refused)),
            ...missing.map((tool) => ({ tool, problem: 'the server does not have it' })),
          ]
      },
    })
    held.set(name, { options, connection, tools: [] })
  }
  const find = (name: string): Held => {
    const found = held.get(name)
    if (found) return found
    throw new ProvisoError('option/invalid', `MCP server "${name}" not found`, {
      hint: `Servers: ${[...held.keys()].join(', ')}`,
    })
  }
  const withClient = async <T>(
    name: string,
    read: (client: Client, timeout: number) => Promise<T>,
  ): Promise<T> => {
    const { connection, options } = find(name)
    try {
      return await readWith(connection, (client) => read(client, options.timeoutMs ?? defaultTimeoutMs))
    } catch (cause) {
      if (ProvisoError.is(cause)) throw cause
      const why = redactor.text(toErrorMessage(cause))
      throw new ProvisoError('mcp/unavailable', `Cannot read from the MCP server "${name}": ${why}`, {
        cause,
      })
    }
  }
  return {
    dispatcher: mcpDispatcher({ held, clock }),
    async open() {
      if (held.size > 0) await loadSdk()
      await Promise.all([...held.values()].map(({ connection }) => connection.ready().catch(() => {})))
    },
    async close() {
      await Promise.all([...held.values()].map(({ connection }) => connection.close()))
    },
    servers: () =>
      [...held].map(([name, { options, connection, tools }]) => ({
        name,
        transport: 'url' in options ? 'http' : 'stdio',
        ...connection.state(),
        tools,
      })),
    listResources: (server) =>
      withClient(
        server,
        async (client, timeout) =>
          toJson((await client.listResources(undefined, { timeout })).resources) as Json[],
      ),
    readResource: (server, uri) =>
      withClient(server, async (client, timeout) => toJson(await client.readResource({ uri }, { timeout }))),
    listPrompts: (server) =>
      withClient(
        server,
        async (client, timeout) =>
          toJson((await client.listPrompts(undefined, { timeout })).prompts) as Json[],
      ),
    getPrompt: (server, name, args = {}) =>
      withClient(server, async (client, timeout) =>
        toJson(await client.getPrompt({ name, arguments: { ...args } }, { timeout })),
      ),
  }
}

/** Registers the reading like a call, so that what the server asks meanwhile is not taken for a question of a run. */
async function readWith<T>(connection: McpConnection, read: (client: Client) => Promise<T>): Promise<T> {
  const { client, leave } = await connection.enter({ answers: [], ask() {}, lose() {} })
  let isAbandoned = false
  try {
    return await read(client)
  } catch (cause) {
    isAbandoned = isTimeout(cause)
    throw cause
  } finally {
    leave(isAbandoned)
  }
}

const defaultTimeoutMs = 120_000
const defaultMaxBytes = 1_048_576

function toToolState(offered: OfferedTool, refused: ReadonlyMap<string, string>): McpToolState {
  if ('problem' in offered) return offered
  const { tool, effect, capability } = offered
  const { capabilityId, version } = capability
  const problem = refused.get(capabilityId)
  return { tool, capabilityId, effect, version, ...(problem !== undefined && { problem }) }
}

/** A copy as plain JSON: what a server sent, without members that are undefined. */
function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

function mcpDispatcher({
  held,
  clock,
}: {
  readonly held: ReadonlyMap<string, Held>
  readonly clock: Clock
}): Dispatcher {
  return {
    kind: 'mcp',
    remote: true,
    plain: true,
    async dispatch(call) {
      const target = readTarget(call.capability)
      const server = target && held.get(target.server)
      if (!target || !server)
        return ended(
          { outcome: 'provider_error', notApplied: true, final: true },
          `Cannot call "${call.capability.capabilityId}": its MCP server is not configured here`,
        )
      return callServer(call, { target, server, clock })
    },
  }
}

function readTarget({ settings }: Capability): McpTarget | undefined {
  const target = settings?.['mcp']
  return isObject(target) && typeof target['server'] === 'string'
    ? (target as unknown as McpTarget)
    : undefined
}

interface Calling {
  readonly target: McpTarget
  readonly server: Held
  readonly clock: Clock
}

async function callServer(call: Dispatch, calling: Calling): Promise<AttemptResult> {
  const { target, server, clock } = calling
  const about = { server: target.server, isIdempotent: call.capability.idempotent, now: clock.now() }
  const over = new AbortController()
  let question: AttemptResult['question']
  let lost: AttemptResult | undefined
  let cancelAbort = () => {}
  let entered: EnteredCall
  try {
    entered = await server.connection.enter(
      {
        idempotencyKey: call.idempotencyKey,
        answers: call.bundle.elicited ?? [],
        ask(round) {
          if (question) return
          question = toQuestion(round)
          // The server learns that there is no answer now, and ends the call. Until then it may ask for it.
          cancelAbort = clock.timer(clock.now() + endMs, () => over.abort())
        },
        lose(why) {
          lost ??= lostCall(about, why)
          over.abort()
        },
      },
      call.signal,
    )
  } catch (cause) {
    if (call.signal.aborted) return cancelled
    return failedCall(cause, { ...about, isSent: false })
  }
  let isAbandoned = false
  try {
    if (call.signal.aborted) return cancelled
    const result = await request(entered.client, call, {
      ...calling,
      signal: AbortSignal.any([call.signal, over.signal]),
    })
    return question ? unclear(question) : result
  } catch (cause) {
    isAbandoned = over.signal.aborted || call.signal.aborted || isTimeout(cause)
    if (question) return unclear(question)
    if (lost) return lost
    if (call.signal.aborted) return ended({ outcome: 'cancelled' }, 'The call was cancelled')
    return failedCall(cause, { ...about, isSent: true })
  } finally {
    cancelAbort()
    entered.leave(isAbandoned)
  }
}

/** How long a server has to end a call that gets no answer to its question. */
const endMs = 2_000

const cancelled = ended({ outcome: 'cancelled', notApplied: true }, 'The call was cancelled')

/** The server asks before it acts. */
function unclear(question: NonNullable<AttemptResult['question']>): AttemptResult {
  return { outcome: 'unclear', question, issues: [], usage: { calls: 1 }, notApplied: true }
}

async function request(
  client: Client,
  call: Dispatch,
  { target, server, clock, signal }: Calling & { readonly signal: AbortSignal },
): Promise<AttemptResult> {
  const { timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = server.options
  const { deadlineAt, bundle, idempotencyKey, trace } = call
  const options = {
    signal,
    // The engine ends the attempt at its deadline; the limit of the SDK is only a net below that.
    timeout: deadlineAt === undefined ? timeoutMs : Math.max(deadlineAt - clock.now(), 1) + 5_000,
    resetTimeoutOnProgress: deadlineAt === undefined,
    onprogress: ({
      progress,
      total,
      message,
    }: {
      progress: number
      total?: number | undefined
      message?: string | undefined
    }) =>
      call.onEvent('mcp.progress', {
        server: target.server,
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }),
  }
  const inputs = isObject(bundle.inputs) ? (bundle.inputs as { readonly [name: string]: Json }) : {}
  if (target.method === 'resources/read')
    return readValue(toJson(await client.readResource({ uri: String(inputs['uri']) }, options)), maxBytes)
  if (target.method === 'prompts/get') {
    const given = inputs['arguments']
    const args = isObject(given) ? (given as { readonly [name: string]: string }) : {}
    const prompt = await client.getPrompt({ name: String(inputs['name']), arguments: { ...args } }, options)
    return readValue(toJson(prompt), maxBytes)
  }
  const earlier = client.getProtocolEra() === 'modern' ? lastRound(bundle.elicited) : undefined
  const params = {
    name: target.tool ?? '',
    arguments: inputs,
    _meta: { [keyMember]: idempotencyKey, ...(trace && { traceparent: trace.traceparent }) },
    ...(earlier && {
      inputResponses: toResponses(earlier.round, earlier.value),
      ...(earlier.round.requestState !== undefined && { requestState: earlier.round.requestState }),
    }),
  }
  // The types of the SDK do not have the members of a repeated round.
  const result = (await client.callTool(params as never, {
    ...options,
    allowInputRequired: true,
  })) as unknown as {
    readonly [name: string]: unknown
  }
  if (result['resultType'] === 'input_required') {
    const round = readRound(result)
    return typeof round === 'string'
      ? ended(
          { outcome: 'provider_error', notApplied: true, final: true },
          `The MCP server wants more, but ${round}`,
        )
      : unclear(toQuestion(round))
  }
  return readToolResult(toJson(result) as { [name: string]: Json }, {
    isTyped: target.isTyped ?? false,
    maxBytes,
  })
}
