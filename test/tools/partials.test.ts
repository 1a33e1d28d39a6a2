/** Turns of an agent over HTTP while its model writes them: text, arguments of calls, and the answer as far as it is there. */
import type { ServerResponse } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { createClient, type RunPartial } from '../../src/client/index.ts'
import { modelServer } from '../models/model-server.ts'
import { flexToken, serve } from '../server/support.ts'
import { agent, draft, envelope, makeTools } from './support.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const line = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

/** A model that says what the test wants, when it wants, in one response after another. */
async function openModel() {
  const waiting: ((response: ServerResponse) => void)[] = []
  const arrived: ServerResponse[] = []
  const server = await modelServer<{ readonly open: true }>([{ open: true }], (_, __, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    const next = waiting.shift()
    if (next) next(response)
    else arrived.push(response)
  })
  closers.push(() => server.close())
  const next = async () => arrived.shift() ?? new Promise<ServerResponse>((resolve) => waiting.push(resolve))
  return { url: server.url, next }
}

async function until(
  partials: AsyncGenerator<RunPartial, void, void>,
  test: (partial: RunPartial) => boolean,
): Promise<RunPartial> {
  for (;;) {
    const { value, done } = await partials.next()
    if (done) throw new Error('The stream ended too early')
    if (test(value)) return value
  }
}

it('shows text, arguments and the typed answer; a client that joins gets the current turn first; none is stored', async () => {
  const model = await openModel()
  const { search, called } = makeTools()
  const { address: url, app } = await serve({
    providers: [compatible({ baseURL: model.url })],
    capabilities: [agent([search])],
    secrets: ['plain-secret-value'],
  })
  const client = createClient({ url, token: flexToken })
  const run = await client.runs.start(envelope, { draft, partials: true })
  const partials = run.partials()

  const first = await model.next()
  first.write(line({ content: 'I look for plain-secret-value and m' }))
  const text = await until(partials, ({ turn }) => turn?.text !== '')
  // The last word may be the beginning of a secret.
  expect(text).toMatchObject({
    value: null,
    turn: { turn: 1, text: 'I look for [redacted] and ', calls: [] },
  })
  const call = {
    index: 0,
    id: 'a',
    type: 'function',
    function: { name: 'search', arguments: '{"query":"green ' },
  }
  first.write(line({ tool_calls: [call] }))
  const writing = await until(partials, ({ turn }) => turn?.calls[0]?.arguments !== undefined)
  expect(writing.turn?.calls).toEqual([{ tool: 'search', arguments: { query: 'green ' } }])
  expect(called).toEqual([])

  // Another client joins in the middle.
  const joined = await until(run.partials(), () => true)
  expect(joined.turn).toEqual(writing.turn)

  first.write(line({ tool_calls: [{ index: 0, function: { arguments: 'tea"}' } }] }))
  first.end(`${line({}, 'tool_calls')}data: [DONE]\n\n`)
  const second = await model.next()
  expect(called).toMatchObject([{ inputs: { query: 'green tea' } }])
  second.write(line({ content: '{"answer":"Because it ' }))
  const answer = await until(partials, ({ turn, value }) => turn?.turn === 2 && value !== null)
  expect(answer.value).toEqual({ answer: 'Because it ' })
  second.write(line({ content: 'warms","sources":[]}' }))
  second.end(`${line({}, 'stop')}data: [DONE]\n\n`)
  expect(await run.output()).toEqual({ answer: 'Because it warms', sources: [] })
  const stored = await app.store.read(run.id, 0, 1_000)
  expect(stored.map(({ type }) => type as string)).not.toContain('partial')
})
