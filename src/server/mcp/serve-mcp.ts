/**
 * Serves an app over the Model Context Protocol: its capabilities and runs are tools. A run reports its progress, ends when
 * the client cancels, and asks the client's user what it asks people; a client that cannot ask gets the id of the ask.
 */
import type { Server, ServerContext } from '@modelcontextprotocol/server'
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { ProvisoError, toErrorMessage } from '../../base/errors/error.ts'
import { missingPackage } from '../../base/errors/missing-package.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Ask, Decision } from '../../domain/ask.ts'
import {
  listCapabilityTools,
  type McpApp,
  type McpRunResult,
  type Members,
  runTool,
  type ServedTool,
  toRunId,
} from './mcp-tools.ts'

export type { McpApp } from './mcp-tools.ts'

interface ServeMcpOptions {
  /** Capabilities to serve. Default: all that are active and not built in. */
  readonly capabilities?: readonly string[]
  readonly version: string
  /** Signs the state of questions: at least 32 bytes, the same in every process that serves. */
  readonly key: Uint8Array | string
}

type Sdk = typeof import('@modelcontextprotocol/server')

/** What a signed state says: the run that waits, and the asks that the client's user was shown. */
interface AskedState {
  readonly runId: string
  /** Hash of the tool and its arguments. */
  readonly call: string
  readonly asks: { readonly [key: string]: { readonly requestId: string; readonly valueHash: string } }
}

/** Throws `option/invalid` with the install command. */
export async function loadServerSdk(): Promise<Sdk & typeof import('@modelcontextprotocol/server/stdio')> {
  try {
    const [server, stdio] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ])
    return { ...server, ...stdio }
  } catch (cause) {
    const name = '@modelcontextprotocol/server'
    throw missingPackage({ name, version: '2', purpose: 'serve MCP' }, cause)
  }
}

/** Returns a factory of servers, one per connection or request, for `serveStdio` and `createMcpHandler` of the SDK. */
export function createMcpServers(sdk: Sdk, app: McpApp, options: ServeMcpOptions): () => Server {
  const codec = sdk.createRequestStateCodec<AskedState>({
    key: options.key,
    ttlSeconds: 86_400,
    // A state is for the same caller; that it is for the same call is checked when it comes back.
    bind: (ctx) => `${ctx.mcpReq.method}\n${ctx.http?.authInfo?.clientId ?? ''}`,
  })
  return () => {
    const server = new sdk.Server(
      { name: 'proviso', version: options.version },
      {
        capabilities: { tools: {} },
        requestState: { verify: codec.verify },
        inputRequired: { maxRounds: 20 },
      },
    )
    const list = () => [...listCapabilityTools(app, options.capabilities), runTool]
    server.setRequestHandler('tools/list', () => ({
      // Plain JSON of the package's own types.
      tools: list().map(({ toRun: _, ...tool }) => tool) as never,
    }))
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const tool = list().find(({ name }) => name === params.name)
      if (!tool) return failed(`Tool "${params.name}" not found`) as never
      try {
        return (await callTool(
          { sdk, app, server, ctx, codec },
          tool,
          (params.arguments ?? {}) as Members,
        )) as never
      } catch (cause) {
        return failed(app.redactor.text(toErrorMessage(cause))) as never
      }
    })
    return server
  }
}

interface Calling {
  readonly sdk: Sdk
  readonly app: McpApp
  readonly server: Server
  readonly ctx: ServerContext
  readonly codec: { mint(state: AskedState, ctx: ServerContext): Promise<string> }
}

/** Starts the run, or continues the one that the state names with the answers; ends when it ends or waits. */
async function callTool(calling: Calling, tool: ServedTool, inputs: Members): Promise<object> {
  const { app, ctx } = calling
  const state = ctx.mcpReq.requestState<AskedState>()
  const call = sha256Hex(canonicalJson({ tool: tool.name, inputs }))
  if (state && state.call !== call) return failed('The state belongs to another call')
  const runId = state?.runId ?? (await startRun(calling, tool, inputs))
  if (state) await takeAnswers(calling, state)
  const { signal } = ctx.mcpReq
  const stop = new AbortController()
  const cancel = () =>
    void app.cancel(runId, { by: 'mcp', reason: 'The client cancelled the call' }).catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  const reporting = reportProgress(calling, runId, stop.signal)
  try {
    const result = await app.result(runId)
    if (!isWaiting(result)) {
      // The events of a run that is over end by themselves.
      await reporting
      return toResult(app, result, tool)
    }
    return await askClient(calling, result, call)
  } finally {
    signal.removeEventListener('abort', cancel)
    stop.abort()
  }
}

async function startRun({ app, ctx }: Calling, tool: ServedTool, inputs: Members): Promise<string> {
  const { envelope, draft } = tool.toRun(inputs)
  const key = ctx.mcpReq._meta?.['proviso/idempotencyKey']
  const given = toRunId(tool.name, key)
  const options = { ...(draft !== undefined && { draft }), ...(given !== undefined && { runId: given }) }
  // JSON from outside: `start` parses it.
  const { id } = await app.start(envelope as never, options as never)
  return id
}

function isWaiting({ asks = [] }: McpRunResult): boolean {
  return asks.length > 0
}

/** One notification per node that has ended. */
async function reportProgress({ app, ctx }: Calling, runId: string, signal: AbortSignal): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  let progress = 0
  try {
    for await (const { type, nodeId } of app.watch(runId, { signal })) {
      if (type !== 'node_complete' && type !== 'node_error') continue
      progress++
      const message = `${nodeId ?? ''} ${type === 'node_complete' ? 'completed' : 'failed'}`
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, message },
      })
    }
  } catch {
    // The client is gone, or the call is over: progress is not worth a failure.
  }
}

function toResult(app: McpApp, { runId, status, output, issues }: McpRunResult, tool: ServedTool): object {
  if (status !== 'completed') {
    const why = issues.map(({ message }) => message).join('; ') || status
    return failed(app.redactor.text(`The run "${runId}" is ${status}: ${why}`))
  }
  const shown = app.redactor.value(output) as Json
  return {
    content: [{ type: 'text', text: JSON.stringify(shown) }],
    ...((tool.outputSchema || isObject(shown)) && { structuredContent: shown }),
    _meta: { 'proviso/runId': runId },
  }
}

/** Asks the user of the client; a client that cannot ask gets what to do instead. */
async function askClient(
  { sdk, app, server, ctx, codec }: Calling,
  { runId, asks = [] }: McpRunResult,
  call: string,
): Promise<object> {
  const shown = asks.slice(0, mostAsks)
  const { elicitation } = server.getClientCapabilities() ?? {}
  if (!elicitation) {
    const lines = shown.map(({ requestId, question }) => `${question}\n  proviso reply ${runId} ${requestId}`)
    return failed(
      app.redactor.text(
        `The run "${runId}" waits for a person:\n${lines.join('\n')}\nAnswer on the store of the server, or with POST /api/v1/flex/hitl/resolve, then call again with the same key`,
      ),
    )
  }
  const entries = shown.map((ask, index) => [`ask${index + 1}`, ask] as const)
  const state: AskedState = {
    runId,
    call,
    asks: Object.fromEntries(
      entries.map(([key, { requestId, valueHash }]) => [key, { requestId, valueHash }]),
    ),
  }
  return sdk.inputRequired({
    inputRequests: Object.fromEntries(
      entries.map(([key, ask]) => [key, sdk.inputRequired.elicit(toElicitation(app, ask))]),
    ),
    requestState: await codec.mint(state, ctx),
  })
}

const mostAsks = 10
const longestValue = 4_000

function toElicitation(app: McpApp, { question, value, decisions, schema }: Ask) {
  const shown = JSON.stringify(app.redactor.value(value)).slice(0, longestValue)
  const wanted = schema === undefined ? '' : `\nSchema: ${JSON.stringify(schema).slice(0, longestValue)}`
  return {
    message: `${app.redactor.text(question)}\n${shown}`,
    requestedSchema: {
      type: 'object' as const,
      properties: {
        decision: { type: 'string' as const, enum: [...decisions] },
        value: { type: 'string' as const, description: `JSON, for edit and answer${wanted}` },
        note: { type: 'string' as const },
      },
      required: ['decision'],
    },
  }
}

/** Submits the answers of the client's user. What was declined or left stays open, and is asked again. */
async function takeAnswers({ app, ctx }: Calling, { runId, asks }: AskedState): Promise<void> {
  const by = `mcp:${ctx.http?.authInfo?.clientId ?? 'local'}`
  let isAnswered = false
  for (const [key, given] of Object.entries(ctx.mcpReq.inputResponses ?? {})) {
    const ask = Object.hasOwn(asks, key) ? asks[key] : undefined
    const { action, content } = (isObject(given) ? given : {}) as { action?: string; content?: Members }
    if (!ask || action !== 'accept' || !content) continue
    const { decision, value, note } = content
    isAnswered = true
    await app.reply(runId, {
      ...ask,
      decision: String(decision) as Decision,
      by,
      // Has no role of its own: a task for a role is completed by people with that role.
      taskRoles: [],
      ...(typeof value === 'string' && value !== '' && { value: jsonOrText(value) }),
      ...(typeof note === 'string' && note !== '' && { note }),
    })
  }
  if (!isAnswered)
    throw new ProvisoError(
      'run/waiting',
      `The run "${runId}" waits: nothing was decided. Call again to be asked again`,
    )
}

function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

function failed(text: string): object {
  return { content: [{ type: 'text', text }], isError: true }
}
