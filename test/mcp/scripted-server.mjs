/**
 * A scripted MCP server for tests: a process over stdio, or over HTTP within the test. It notes every effect as a line in
 * the file of `EFFECTS`, so that a test can count what was really done.
 */
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const effects = process.env.EFFECTS
const effect = (line) => effects && appendFileSync(effects, `${line}\n`)
let flavour = 'green'
let notify = async () => {}

const text = { type: 'object', properties: { text: { type: 'string' } } }
const tools = () => [
  {
    name: 'add',
    description: 'Adds two numbers',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'bad',
    description: 'Acts, and returns what its schema forbids',
    inputSchema: text,
    outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
  },
  { name: 'slow', description: 'Acts, and never answers', inputSchema: text },
  { name: 'fail', description: 'Reports a failure', inputSchema: text },
  { name: 'order', description: 'Asks how many, then orders', inputSchema: text },
  { name: 'brew', description: `Brews ${flavour} tea`, inputSchema: text },
  { name: 'change', description: 'Changes what brew is', inputSchema: text },
  { name: 'progress', description: 'Reports progress', inputSchema: text },
]

const said = (words) => ({ content: [{ type: 'text', text: words }] })

const handlers = {
  add: ({ a, b }) => ({ ...said(`${a + b}`), structuredContent: { sum: a + b } }),
  bad: () => {
    effect('bad')
    return { ...said('?'), structuredContent: { sum: 'many' } }
  },
  slow: (_, { _meta }) => {
    effect(`slow ${_meta?.['proviso/idempotencyKey'] ?? ''}`)
    return new Promise(() => {})
  },
  fail: () => ({ ...said('out of tea'), isError: true }),
  order: ({ text }, _, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.count?.content?.count
    if (answer === undefined) {
      if (text !== undefined) effect(`asks for ${text}`)
      return inputRequired({
        inputRequests: {
          count: inputRequired.elicit({
            message: text === undefined ? 'How many bags?' : `How many bags of ${text}?`,
            requestedSchema: {
              type: 'object',
              properties: { count: { type: 'integer', minimum: 1 } },
              required: ['count'],
            },
          }),
        },
        requestState: 'state-\u00e9-1',
      })
    }
    effect(`order ${answer} ${ctx.mcpReq.requestState?.() ?? ''}`)
    return said(`ordered ${answer}`)
  },
  brew: () => {
    effect(`brew ${flavour}`)
    return said(`${flavour} tea`)
  },
  change: async () => {
    flavour = 'black'
    await notify()
    return said('changed')
  },
  progress: async (_, params, ctx) => {
    const progressToken = params._meta?.progressToken
    if (progressToken !== undefined)
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 2, message: 'half' },
      })
    return said('done')
  },
}

function createOne() {
  const server = new Server(
    { name: 'scripted', version: '1' },
    { capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} } },
  )
  server.setRequestHandler('tools/list', () => ({ tools: tools() }))
  server.setRequestHandler('tools/call', (request, ctx) =>
    handlers[request.params.name](request.params.arguments ?? {}, request.params, ctx),
  )
  server.setRequestHandler('resources/list', () => ({ resources: [{ uri: 'tea://list', name: 'list' }] }))
  server.setRequestHandler('resources/read', ({ params }) => ({
    contents: [{ uri: params.uri, text: 'oolong' }],
  }))
  server.setRequestHandler('prompts/list', () => ({ prompts: [{ name: 'brew' }] }))
  server.setRequestHandler('prompts/get', () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Brew!' } }],
  }))
  notify = () => server.sendToolListChanged()
  return server
}

/**
 * Serves over HTTP on loopback. `before` may answer a request itself, by returning true.
 * @param {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => boolean} before
 */
export async function listen(before = () => false) {
  const handler = createMcpHandler(createOne)
  const http = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    request.text = body.toString()
    if (before(request, response)) return
    const answer = await handler.fetch(
      new Request(`http://localhost${request.url}`, {
        method: request.method,
        headers: request.headers,
        ...(body.length > 0 && { body }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    for await (const chunk of answer.body ?? []) response.write(chunk)
    response.end()
  })
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    port: http.address().port,
    close: () => {
      http.closeAllConnections()
      return new Promise((resolve) => http.close(resolve))
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stderr.write(`started with ${process.env.API_TOKEN ?? 'no token'}\n`)
  serveStdio(createOne)
}
