/** MCP servers over streamable HTTP: the guard of addresses, throttling, broken streams, time limits, and OAuth. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { journal, open } from '../journeys/support.ts'
import { answer, anything, callOnce, mayAct, pending, scripted, until } from './support.ts'

type Before = (request: IncomingMessage & { text: string }, response: ServerResponse) => boolean

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** The scripted server within this process; `before` may answer a request itself. */
async function listen(before?: Before): Promise<string> {
  const { listen: start } = await import(scripted)
  const { port, close } = await start(before)
  closing.push(close)
  return `127.0.0.1:${port}`
}

const endpoint = (host: string) => ({ url: `http://${host}/mcp`, allow: [host] }) as const
const isCall = (text: string) => text.includes('"tools/call"')

interface Seen {
  readonly seen: readonly string[]
  /** Resolves when the server has seen this. */
  until(line: string): Promise<void>
}

interface Asking {
  readonly message: (who: string) => string
  readonly beforeQuestion?: (who: string, seen: Seen) => Promise<void> | undefined
  readonly afterReply?: (line: string, seen: Seen) => Promise<void> | undefined
}

/** A server before 2026-07-28, which asks within the stream of each call; notes calls and replies. */
async function listenAsking({ message, beforeQuestion, afterReply }: Asking) {
  const replies = new Map<string, (reply: { action: string }) => void>()
  const seen: string[] = []
  const all: Seen = { seen, until: (line) => until(() => seen.includes(line)) }
  const call = async (text: string, response: ServerResponse) => {
    const { id, params } = JSON.parse(text)
    const who: string = params.arguments.text
    const send = (sent: object) =>
      response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...sent })}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    seen.push(`call ${who}`)
    await beforeQuestion?.(who, all)
    const requestedSchema = {
      type: 'object',
      properties: { sure: { type: 'boolean' } },
      required: ['sure'],
    }
    const { action } = await new Promise<{ action: string }>((resolve) => {
      const question = `question-${replies.size}`
      replies.set(question, resolve)
      send({
        id: question,
        method: 'elicitation/create',
        params: { message: message(who), requestedSchema },
      })
    })
    seen.push(`${who} ${action}`)
    await afterReply?.(`${who} ${action}`, all)
    send({ id, result: { content: [{ type: 'text', text: `${action} for ${who}` }] } })
    response.end()
  }
  const host = await listen((request, response) => {
    if (isCall(request.text)) {
      void call(request.text, response)
      return true
    }
    const { id, result } = request.text === '' ? {} : JSON.parse(request.text)
    const take = replies.get(id)
    take?.(result)
    if (take) response.writeHead(202).end()
    return take !== undefined
  })
  return { ...all, server: { ...endpoint(host), protocol: 'legacy' } as const }
}

describe('MCP over HTTP', () => {
  it('calls tools, passes progress on, and reaches private addresses only where they are allowed', async () => {
    const host = await listen()
    const app = await open({ mcp: { tea: endpoint(host), closed: { url: `http://${host}/mcp` } } })
    const sum = await app.run(anything, { draft: callOnce('tea.add', { a: 1, b: 2 }) })
    expect(sum).toMatchObject({ status: 'completed', output: { sum: 3 } })
    const { runId } = await app.run(mayAct, { draft: callOnce('tea.progress', {}) })
    const logs = (await journal(app, runId)).map(({ payload }) => JSON.stringify(payload))
    expect(logs.some((text) => text.includes('mcp.progress') && text.includes('half'))).toBe(true)
    expect(app.mcp?.servers().find(({ name }) => name === 'closed')).toMatchObject({
      status: 'down',
      problem: expect.stringMatching(/not allowed|scheme/),
    })
  })

  it('retries what was turned away, and not what may have been done', async () => {
    let refused = 0
    let cut = 0
    const host = await listen((request, response) => {
      if (!isCall(request.text)) return false
      if (request.text.includes('"add"') && refused++ === 0) {
        response.writeHead(429, { 'retry-after': '0' }).end()
        return true
      }
      if (!request.text.includes('"brew"')) return false
      // The server has acted, and the connection breaks before its answer, or within it.
      if (cut++ > 0) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': \n\n')
      setImmediate(() => request.socket.destroy())
      return true
    })
    const app = await open({ mcp: { tea: endpoint(host) } })
    const sum = await app.run(anything, { draft: callOnce('tea.add', { a: 1, b: 2 }) })
    expect(sum).toMatchObject({ status: 'completed', output: { sum: 3 } })
    expect(refused).toBe(2)
    for (const times of [1, 2]) {
      const { runId, status } = await app.run(mayAct, {
        draft: callOnce('tea.brew', {}, { retry: { max: 2 }, timeoutMs: 20_000 }),
      })
      expect(status).toBe('waiting')
      expect(await pending(app, runId)).toMatchObject([{ kind: 'unknown_outcome' }])
      const end = (await journal(app, runId)).find(({ type }) => type === 'attempt_end')
      expect(end?.payload).toMatchObject({ outcome: 'outcome_unknown' })
      expect(cut).toBe(times)
    }
  })

  it('shows a question to the run whose call caused it', async () => {
    const asking = await listenAsking({
      message: (who) => `Delete ${who}?`,
      // Ann's call is in flight when Bob's asks.
      beforeQuestion: (who, { until }) => (who === 'Ann' ? until('Bob cancel') : undefined),
    })
    const app = await open({ mcp: { tea: asking.server } })
    const ann = await app.start(mayAct, { tenant: 'a', draft: callOnce('tea.brew', { text: 'Ann' }) })
    await asking.until('call Ann')
    const bob = await app.start(mayAct, { tenant: 'b', draft: callOnce('tea.brew', { text: 'Bob' }) })
    expect(await bob.result()).toMatchObject({ asks: [{ question: expect.stringContaining('Delete Bob?') }] })
    expect(await ann.result()).toMatchObject({ asks: [{ question: expect.stringContaining('Delete Ann?') }] })
  })

  it('gives an answer to the call that it was given for, and to no other that asks the same', async () => {
    const asking = await listenAsking({
      message: () => 'Delete it?',
      // Ann's call is in flight with the answer when Bob's asks.
      afterReply: (who, { until }) => (who === 'Ann accept' ? until('Bob cancel') : undefined),
    })
    const app = await open({ mcp: { tea: asking.server } })
    const ann = await app.run(mayAct, { tenant: 'a', draft: callOnce('tea.brew', { text: 'Ann' }) })
    await answer(app, ann.runId, 'answer', { sure: true })
    await asking.until('Ann accept')
    const bob = await app.run(mayAct, { tenant: 'b', draft: callOnce('tea.brew', { text: 'Bob' }) })
    expect(bob).toMatchObject({ status: 'waiting', asks: [{ kind: 'clarify' }] })
    expect(await app.result(ann.runId)).toMatchObject({ output: { content: [{ text: 'accept for Ann' }] } })
    expect(asking.seen).not.toContain('Bob accept')
  })

  it('ends a stream whose event is longer than the limit', async () => {
    const mebibyte = 'x'.repeat(1 << 20)
    let sent = 0
    const host = await listen((request, response) => {
      if (!isCall(request.text)) return false
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': short events are not counted together\r\n\r\n'.repeat(10_000))
      response.write('event: message\ndata: "')
      const send = () => {
        while (!response.closed && sent < 100) {
          sent++
          if (!response.write(mebibyte)) return void response.once('drain', send)
        }
        response.end()
      }
      send()
      return true
    })
    const app = await open({ mcp: { tea: { ...endpoint(host), maxBytes: 65_536 } } })
    const { runId } = await app.run(mayAct, { draft: callOnce('tea.brew', {}) })
    const end = (await journal(app, runId)).find(({ type }) => type === 'attempt_end')
    expect(end?.payload).toMatchObject({
      outcome: 'invalid',
      issues: [{ code: 'answer/limit', message: expect.stringContaining('more than 196608 bytes') }],
    })
    // What the sockets hold of it was sent, and no more.
    expect(sent).toBeLessThan(30)
  })

  it('ends a call at the deadline of its node', async () => {
    const host = await listen()
    const app = await open({ mcp: { tea: { ...endpoint(host), effects: { slow: 'read' } } } })
    const result = await app.run(anything, { draft: callOnce('tea.slow', {}, { timeoutMs: 300 }) })
    expect(result).toMatchObject({ status: 'failed', error: { reason: 'execution_timeout' } })
  })

  it('gets a token with client credentials, and sends headers', async () => {
    const seen: { header?: unknown; grants: string[] } = { grants: [] }
    let issuer = ''
    const authorization = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const json = (value: object) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      if (request.url?.includes('/.well-known/'))
        return json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ['code'],
          grant_types_supported: ['client_credentials'],
        })
      seen.grants.push(body)
      return json({ access_token: 'tea-token-1234567890', token_type: 'Bearer', expires_in: 3_600 })
    })
    await new Promise<void>((resolve) => authorization.listen(0, '127.0.0.1', resolve))
    const authority = `127.0.0.1:${(authorization.address() as AddressInfo).port}`
    issuer = `http://${authority}`
    closing.push(
      () =>
        new Promise((resolve) => {
          authorization.closeAllConnections()
          authorization.close(() => resolve())
        }),
    )
    let host = ''
    host = await listen((request, response) => {
      if (request.url?.includes('/.well-known/')) {
        const about = { resource: `http://${host}/mcp`, authorization_servers: [issuer] }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(about))
        return true
      }
      seen.header = request.headers['x-tea']
      if (request.headers.authorization === 'Bearer tea-token-1234567890') return false
      response
        .writeHead(401, {
          'www-authenticate': `Bearer resource_metadata="http://${host}/.well-known/oauth-protected-resource/mcp"`,
        })
        .end()
      return true
    })
    const app = await open({
      mcp: {
        tea: {
          ...endpoint(host),
          allow: [host, authority],
          headers: { 'x-tea': 'oolong' },
          oauth: { clientId: 'proviso', clientSecret: 'a-secret-of-tea', issuer },
        },
      },
    })
    const sum = await app.run(anything, { draft: callOnce('tea.add', { a: 1, b: 2 }) })
    expect(sum).toMatchObject({ status: 'completed', output: { sum: 3 } })
    expect(seen.header).toBe('oolong')
    expect(seen.grants[0]).toContain('grant_type=client_credentials')
  })
})
