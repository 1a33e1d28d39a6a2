/** A client that costs little, for it shares the machine: only ids and types are read. */
import { Agent, request } from 'node:http'

export function createClient(url) {
  const agent = new Agent({ keepAlive: true })
  const send = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = {
        accept: 'text/event-stream',
        authorization: 'Bearer bench',
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      }
      request(`${url}${path}`, { method, agent, headers }, resolve).on('error', reject).end(body)
    })

  return {
    /** Begins a run and reads its stream to the end. Gaps: events that were missed or came twice. */
    async stream(body) {
      let start = performance.now()
      let response = await send('POST', '/api/v1/flex/run.stream', body)
      let shed = 0
      // An overloaded server says when to come back.
      for (; response.statusCode === 429 || response.statusCode === 503; shed++) {
        response.resume()
        await new Promise((resolve) => setTimeout(resolve, Number(response.headers['retry-after']) * 1_000))
        start = performance.now()
        response = await send('POST', '/api/v1/flex/run.stream', body)
      }
      const acceptMs = performance.now() - start
      if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${await textOf(response)}`)
      const { last, gaps, type } = await readIds(response)
      return {
        acceptMs,
        runMs: performance.now() - start,
        events: last,
        gaps,
        shed,
        over: type === 'complete',
      }
    },
    /** Begins a run and goes away; its id. */
    async begin(body) {
      const response = await send('POST', '/api/v1/flex/run.stream', body)
      response.destroy()
      return response.headers['proviso-run-id']
    },
    /** A stream that is open; resolves when its first event is there. */
    async watch(runId) {
      const response = await send('GET', `/api/v1/flex/runs/${runId}/events`)
      await new Promise((resolve, reject) => response.once('data', resolve).once('close', reject))
      response.on('error', () => {})
      return response
    },
    close: () => agent.destroy(),
  }
}

async function textOf(response) {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return text.slice(0, 500)
}

async function readIds(response) {
  let rest = ''
  let last = 0
  let gaps = 0
  let type
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      if (line.startsWith('event: ')) type = line.slice(7)
      if (!line.startsWith('id: ')) continue
      const id = Number(line.slice(4))
      if (id !== last + 1) gaps++
      last = id
    }
  }
  return { last, gaps, type }
}
