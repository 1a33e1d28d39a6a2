/**
 * The supervised connection to one MCP server: connects, follows the list of its tools, keeps the last lines of its standard
 * error, and connects again with backoff when the process dies or the stream breaks.
 */
import type { Client, ClientOptions } from '@modelcontextprotocol/client'
import { toErrorMessage } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import { backoffMs } from '../../base/time/retry.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { loadSdk } from './load-sdk.ts'
import type { McpServerOptions } from './mcp-options.ts'
import { type OpenTransport, openTransport } from './open-transport.ts'
import { type CallInFlight, createQuestions, type LeaveCall, type Questions } from './questions.ts'
import type { ToolDefinition } from './tool-capability.ts'

/** A line that a server wrote to its standard error or sent as a log message, redacted. */
export interface McpLogLine {
  readonly server: string
  readonly source: 'stderr' | 'message' | 'connection'
  readonly text: string
}

interface Listed {
  readonly tools: readonly ToolDefinition[]
  readonly resources: boolean
  readonly prompts: boolean
}

interface ConnectionOptions {
  readonly name: string
  readonly server: McpServerOptions
  readonly clock: Clock
  readonly redactor: Redactor
  readonly onLog: (line: McpLogLine) => void
  /** Called after connecting, and when the server reports another list. */
  readonly onListed: (listed: Listed) => void
}

export interface ConnectionState {
  readonly status: 'connected' | 'connecting' | 'down'
  /** Name and version that the server reports. */
  readonly serverInfo?: { readonly name: string; readonly version: string }
  readonly protocolVersion?: string
  readonly pid?: number
  /** Why it is down. */
  readonly problem?: string
  /** Connections that were lost or failed, in a row. */
  readonly failures: number
  readonly stderr: readonly string[]
}

/** The server cannot be reached now; nothing was sent. */
export class ServerDown extends Error {
  override readonly name = 'ServerDown'
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

export interface EnteredCall {
  readonly client: Client
  readonly leave: LeaveCall
}

export interface McpConnection {
  /** The client, connected; throws `ServerDown`, and what connecting throws. */
  ready(): Promise<Client>
  /** Connects, and registers a call, so that questions of the server reach it; waits if calls of the server are serialized. */
  enter(call: CallInFlight, signal?: AbortSignal): Promise<EnteredCall>
  state(): ConnectionState
  close(): Promise<void>
}

const restartPolicy = {
  max: Number.POSITIVE_INFINITY,
  baseMs: 500,
  factor: 2,
  capMs: 30_000,
  jitter: 'none',
} as const
/** A connection that lasted this long was good: the next restart is quick. */
const stableMs = 30_000
/** How long an answer that has arrived takes to be read. */
const settleMs = 100
const mostLines = 50
const longestLine = 2_000

interface Connected extends OpenTransport {
  readonly client: Client
  readonly since: number
}

interface ClientHooks {
  readonly log: (source: McpLogLine['source'], text: string) => void
  readonly questions: Questions
  readonly takeStderr: (text: string) => void
  readonly onClose: (client: Client) => void
}

/** Connects a new client and lists the tools of its server. */
async function openClient(
  { server, clock, onListed }: ConnectionOptions,
  { log, questions, takeStderr, onClose }: ClientHooks,
): Promise<Connected> {
  const sdk = await loadSdk()
  const report = (tools: unknown) => {
    const { resources, prompts } = client.getServerCapabilities() ?? {}
    onListed({
      tools: tools as readonly ToolDefinition[],
      resources: resources !== undefined,
      prompts: prompts !== undefined,
    })
  }
  const client = new sdk.Client(
    { name: 'proviso', version: '1' },
    {
      capabilities: { elicitation: { form: {} } },
      // Results are validated by the engine, which keeps a bad one as evidence.
      jsonSchemaValidator: acceptAll as NonNullable<ClientOptions['jsonSchemaValidator']>,
      inputRequired: { autoFulfill: false },
      versionNegotiation: toNegotiation(server.protocol),
      listChanged: {
        tools: {
          debounceMs: 50,
          onChanged: (error, tools) =>
            error ? log('connection', `cannot list tools: ${error.message}`) : report(tools),
        },
      },
    },
  )
  const opened = openTransport(sdk, server, {
    onStderr: takeStderr,
    onStreamEnd(key, tooLong) {
      if (tooLong !== undefined) questions.lose(key, { why: 'long', message: tooLong })
      // The answer may have arrived with the end of the stream.
      else void clock.timer(clock.now() + settleMs, () => questions.lose(key, { why: 'ended' }))
    },
    onQuestion: questions.note,
  })
  client.onerror = (error) => log('connection', error.message)
  client.onclose = () => onClose(client)
  // What a server asks before it is connected belongs to no call.
  let isOpen = false
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) =>
    isOpen ? questions.take(params as unknown as Json, mcpReq.id) : { action: 'cancel' },
  )
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const text = typeof params.data === 'string' ? params.data : JSON.stringify(params.data)
    log('message', `${params.level}: ${text}`)
  })
  const { connectMs = 30_000 } = server
  try {
    await client.connect(opened.transport, { timeout: connectMs })
    report((await client.listTools(undefined, { timeout: connectMs })).tools)
  } catch (cause) {
    await client.close().catch(() => {})
    await opened.release()
    throw cause
  }
  isOpen = true
  questions.restart()
  return { ...opened, client, since: clock.now() }
}

export function createConnection(options: ConnectionOptions): McpConnection {
  const { name, server, clock, redactor } = options
  const { lines, log, takeStderr } = createLog(options)
  const questions = createQuestions({
    async renew() {
      log('connection', 'connects again: the server has not answered a call, and may still ask for it')
      await disconnect()
    },
  })
  let current: Connected | undefined
  let connecting: Promise<Connected> | undefined
  let failures = 0
  let problem: string | undefined
  let restartAt = 0
  let cancelRestart = () => {}
  let isClosed = false

  const disconnect = async () => {
    const open = current
    current = undefined
    await open?.client.close().catch(() => {})
    await open?.release()
  }

  const lost = (why: string, wasStable: boolean) => {
    failures = wasStable ? 1 : failures + 1
    problem = redactor.text(why)
    log('connection', `down: ${why}`)
    if (isClosed) return
    const pauseMs = backoffMs(restartPolicy, failures)
    restartAt = clock.now() + pauseMs
    cancelRestart()
    cancelRestart = clock.timer(restartAt, () => void connect().catch(() => {}))
  }

  const open = (): Promise<Connected> =>
    openClient(options, {
      log,
      questions,
      takeStderr,
      onClose(closed) {
        if (current?.client !== closed) return
        const { release, since } = current
        current = undefined
        void release()
        lost('the connection closed', clock.now() - since >= stableMs)
      },
    })

  const connect = (): Promise<Connected> => {
    cancelRestart()
    connecting ??= open()
      .then(async (connected) => {
        if (isClosed) {
          await connected.client.close()
          throw new ServerDown(`The MCP server "${name}" is closed`, 0)
        }
        current = connected
        problem = undefined
        return connected
      })
      .catch((cause: unknown) => {
        lost(toErrorMessage(cause), false)
        throw cause
      })
      .finally(() => {
        connecting = undefined
      })
    return connecting
  }

  const ready = async (): Promise<Client> => {
    if (current) return current.client
    const wait = restartAt - clock.now()
    if (!connecting && wait > 0)
      throw new ServerDown(`The MCP server "${name}" is down: ${problem ?? 'no connection'}`, wait)
    return (await connect()).client
  }

  return {
    ready,
    enter: (call, signal) => enterCall({ ready, questions, server }, call, signal),
    state() {
      return {
        ...describe(current),
        status: current ? 'connected' : connecting ? 'connecting' : 'down',
        ...(!current && problem !== undefined && { problem }),
        failures,
        stderr: [...lines],
      }
    },
    async close() {
      isClosed = true
      cancelRestart()
      await disconnect()
      await connecting?.catch(() => {})
    },
  }
}

/** Registers a call after connecting: a call that waits for its turn may get another connection. */
async function enterCall(
  {
    ready,
    questions,
    server,
  }: {
    readonly ready: () => Promise<Client>
    readonly questions: Questions
    readonly server: McpServerOptions
  },
  call: CallInFlight,
  signal: AbortSignal | undefined,
): Promise<EnteredCall> {
  const isLegacy = (await ready()).getProtocolEra() !== 'modern'
  // Over stdio the question that the answers are for does not name its call.
  const isAlone = isLegacy && !('url' in server) && call.answers.length > 0
  const leave = await questions.enter(call, { isAlone, ...(signal && { signal }) })
  try {
    return { client: await ready(), leave }
  } catch (cause) {
    leave(false)
    throw cause
  }
}

function createLog({ name, redactor, onLog }: ConnectionOptions) {
  /** The last lines of the standard error. */
  const lines: string[] = []
  const log = (source: McpLogLine['source'], text: string) =>
    onLog({ server: name, source, text: redactor.text(text).slice(0, longestLine) })
  const takeStderr = toLines((line) => {
    lines.push(redactor.text(line).slice(0, longestLine))
    if (lines.length > mostLines) lines.shift()
    log('stderr', line)
  })
  return { lines, log, takeStderr }
}

function describe(connected: Connected | undefined): Partial<ConnectionState> {
  const info = connected?.client.getServerVersion()
  const version = connected?.client.getNegotiatedProtocolVersion()
  const pid = connected?.pid()
  return {
    ...(info && { serverInfo: { name: info.name, version: info.version } }),
    ...(version !== undefined && { protocolVersion: version }),
    ...(pid !== undefined && { pid }),
  }
}

const acceptAll = {
  getValidator:
    <T>() =>
    (input: unknown) =>
      ({ valid: true, data: input as T, errorMessage: undefined }) as {
        valid: true
        data: T
        errorMessage: undefined
      },
}

function toNegotiation(protocol: McpServerOptions['protocol'] = 'auto') {
  if (protocol === 'modern') return { mode: { pin: '2026-07-28' } } as const
  return { mode: protocol, probe: { timeoutMs: 5_000 } } as const
}

function toLines(onLine: (line: string) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const parts = (rest + text).split(/\r?\n/)
    rest = (parts.pop() ?? '').slice(0, longestLine)
    for (const line of parts) if (line.trim() !== '') onLine(line)
  }
}
