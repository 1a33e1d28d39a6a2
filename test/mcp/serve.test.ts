/** `proviso mcp`: the official client calls capabilities and runs, is asked what they ask, sees progress, and cancels. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it } from 'vitest'
import { type App, defineCapability } from '../../src/index.ts'
import { open } from '../journeys/support.ts'
import { createMcpServers, loadServerSdk, type McpApp } from '../seams/mcp.ts'
import { until } from './support.ts'

const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const output = {
  type: 'object',
  properties: { greeting: { type: 'string' } },
  required: ['greeting'],
} as const

const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

interface ClientChoice {
  readonly protocol?: 'legacy' | 'modern'
  /** Answers what the server asks; absent: the client cannot ask. */
  readonly answer?: (params: { message: string; requestedSchema?: unknown }) => object
}

/** The official client, connected to the app without a socket. */
async function connect(app: App, { protocol = 'modern', answer }: ClientChoice = {}): Promise<Client> {
  const sdk = await loadServerSdk()
  const handler = sdk.createMcpHandler(
    createMcpServers(sdk, app as McpApp, { version: '1', key: 'a key of at least thirty-two bytes' }),
  )
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: protocol === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      ...(answer && { capabilities: { elicitation: { form: {} } } }),
    },
  )
  if (answer)
    client.setRequestHandler('elicitation/create', async ({ params }) => answer(params as never) as never)
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
      fetch: (url, init) => handler.fetch(new Request(url, init as RequestInit)),
    }),
  )
  clients.push(client)
  return client
}

describe('an app as an MCP server', () => {
  it('serves capabilities with their contracts, and runs with a contract of the caller', async () => {
    let calls = 0
    const greet = defineCapability({
      id: 'greet',
      summary: 'Greets',
      input,
      output,
      run: ({ name }) => {
        calls++
        return { greeting: `Hello, ${name}` }
      },
    })
    const app = await open({ capabilities: [greet] })
    const client = await connect(app)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['greet', 'proviso_run'])
    expect(tools[0]).toMatchObject({ description: 'Greets', inputSchema: input, outputSchema: output })
    const progress: (string | undefined)[] = []
    const result = await client.callTool(
      { name: 'greet', arguments: { name: 'Ann' } },
      { onprogress: ({ message }) => void progress.push(message) },
    )
    expect(result).toMatchObject({ structuredContent: { greeting: 'Hello, Ann' } })
    expect(progress).toEqual(['call completed'])
    const wrong = await client.callTool({ name: 'greet', arguments: {} })
    expect(wrong).toMatchObject({ isError: true })
    const run = { objective: 'Greet', inputs: { name: 'Bob' }, output }
    const planned = await client.callTool({ name: 'proviso_run', arguments: run })
    expect(planned).toMatchObject({ structuredContent: { greeting: 'Hello, Bob' } })
    // The same key of the caller is the same run.
    const again = { name: 'greet', arguments: { name: 'Eve' }, _meta: { 'proviso/idempotencyKey': 'k1' } }
    const before = calls
    const [first, second] = [await client.callTool(again), await client.callTool(again)]
    expect(second.structuredContent).toEqual(first.structuredContent)
    expect(calls).toBe(before + 1)
  })

  const asking = () =>
    defineCapability({
      id: 'order',
      input,
      output,
      run: ({ name }, { clarifications, ask }) =>
        clarifications.length === 0
          ? ask('How many?', { schema: { type: 'integer' } })
          : { greeting: `${name}: ${clarifications[0]}` },
    })

  it('asks the user of the client what a run asks; a forged state and a client that cannot ask get no further', async () => {
    const app = await open({ capabilities: [asking()] })
    const asked: string[] = []
    const client = await connect(app, {
      answer: ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { decision: 'answer', value: '3' } }
      },
    })
    const call = { name: 'order', arguments: { name: 'tea' } }
    expect(await client.callTool(call)).toMatchObject({ structuredContent: { greeting: 'tea: 3' } })
    expect(asked).toEqual([expect.stringContaining('How many?')])
    const forged = { ...call, requestState: 'v1.e30.AAAA', inputResponses: {} }
    await expect(client.callTool(forged)).rejects.toThrow()
    // A state of one call does not continue another.
    const { requestState } = (await client.callTool(call, { allowInputRequired: true })) as never as {
      requestState: string
    }
    const other = { name: 'order', arguments: { name: 'milk' }, requestState, inputResponses: {} }
    expect(await client.callTool(other)).toMatchObject({
      isError: true,
      content: [{ text: 'The state belongs to another call' }],
    })
    const mute = await connect(app)
    const result = await mute.callTool(call)
    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result)).toMatch(/waits for a person.*How many\?.*proviso reply/)
  })

  it('does not complete tasks for a role, which its user does not have', async () => {
    const review = defineCapability({ id: 'review', kind: 'human', input, output, human: { role: 'legal' } })
    const app = await open({ capabilities: [review] })
    const client = await connect(app, {
      answer: () => ({
        action: 'accept',
        content: { decision: 'answer', value: '{"greeting":"approved"}' },
      }),
    })
    const called = await client.callTool({ name: 'review', arguments: { name: 'contract' } })
    expect(called).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('legal') }] })
    const [{ runId = '' } = {}] = await app.store.runs({})
    expect(await app.store.asks({ runId, status: 'pending' })).toMatchObject([{ kind: 'task' }])
  })

  it('cancels the run when the client cancels the call', async () => {
    let isAborted = false
    const slow = defineCapability({
      id: 'slow',
      input,
      output,
      run: (_, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            isAborted = true
            reject(new Error('aborted'))
          }),
        ),
    })
    const app = await open({ capabilities: [slow] })
    const client = await connect(app)
    const stop = new AbortController()
    const called = client.callTool({ name: 'slow', arguments: { name: 'x' } }, { signal: stop.signal })
    called.catch(() => {})
    await until(() => app.active === 1)
    stop.abort()
    await until(() => isAborted)
    const [{ runId = '' } = {}] = await app.store.runs({})
    expect(await app.result(runId)).toMatchObject({ status: 'cancelled' })
  })
})
