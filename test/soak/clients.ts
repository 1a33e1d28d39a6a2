/** Clients that use a server for long: each starts runs and streams them, is cut off now and then, and continues where it was. */
import { randomUUID } from 'node:crypto'
import { Agent, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { Random } from '../random.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const envelope = { objective: 'Continue', inputs: { text: 'x' }, outputContract: { schema: text } }

function chain(capabilityId: string, length: number) {
  const nodes = Array.from({ length }, (_, index) => ({
    id: `n${index}`,
    capabilityId,
    inputs: {},
  }))
  const edges = nodes.slice(1).map(({ id }, index) => ({ from: `n${index}`, to: id }))
  return JSON.stringify({ envelope, draft: { nodes, edges, output: { node: `n${length - 1}` } } })
}

/** Three agents; and one whose events are several times what sockets hold. */
export const bodies = { small: chain('small', 3), large: chain('large', 20) }

interface Given {
  readonly body?: string
  /** Starts the run once, however often it is sent. */
  readonly key?: string
  readonly after?: number
}

export interface Clients {
  /** Begins a run and follows it to its end, over as many connections as it takes; its id. */
  follow(body: string, random: Random): Promise<string>
  readonly counts: {
    runs: number
    completed: number
    failed: number
    cuts: number
    events: number
    /** Requests that were refused and repeated, and streams that the server ended early. */
    refused: number
  }
  /** Gaps and repeats. */
  readonly wrong: readonly string[]
  close(): void
}

export interface ClientOptions {
  /** Share of the connections that are cut somewhere. */
  readonly faults: number
  /** The server may refuse a request for a moment, or end a stream, because its database is away. */
  readonly isTolerant: boolean
}

const refusedMs = 200

export function createClients(url: string, { faults, isTolerant }: ClientOptions): Clients {
  const agent = new Agent({ keepAlive: true })
  const counts = { runs: 0, completed: 0, failed: 0, cuts: 0, events: 0, refused: 0 }
  const wrong: string[] = []

  /** Repeats a request that is refused for a moment. */
  async function send(path: string, given: Given): Promise<IncomingMessage> {
    for (;;) {
      const response = await sendOnce(path, given)
      if (!isTolerant || (response.statusCode !== 503 && response.statusCode !== 429)) return response
      counts.refused++
      response.resume()
      await new Promise((resolve) => setTimeout(resolve, refusedMs))
    }
  }

  function sendOnce(path: string, given: Given): Promise<IncomingMessage> {
    const headers = {
      accept: 'text/event-stream',
      authorization: 'Bearer soak',
      ...(given.body !== undefined && { 'content-type': 'application/json' }),
      ...(given.key !== undefined && { 'idempotency-key': given.key }),
      ...(given.after !== undefined && { 'last-event-id': String(given.after) }),
    }
    const method = given.body === undefined ? 'GET' : 'POST'
    return new Promise((resolve, reject) => {
      request(`${url}/api/v1/flex/${path}`, { agent, method, headers }, resolve)
        .on('error', reject)
        .end(given.body)
    })
  }

  return {
    counts,
    wrong,
    async follow(body, random) {
      counts.runs++
      let response = await send('run.stream', { body, key: randomUUID() })
      const runId = String(response.headers['proviso-run-id'])
      let last = 0
      for (;;) {
        const cutAt = random.chance(faults) ? last + random.int(1, 20) : Number.POSITIVE_INFINITY
        let end: string | undefined
        const parser = createParser({
          onEvent({ id, event, data }) {
            if (last >= cutAt) return
            if (Number(id) !== last + 1) wrong.push(`${runId}: ${id} after ${last}`)
            last = Number(id)
            counts.events++
            if (event === 'complete') end = JSON.parse(data).payload.status
          },
        })
        for await (const chunk of response.setEncoding('utf8')) {
          parser.feed(chunk)
          if (last >= cutAt) break
        }
        if (end !== undefined) {
          counts[end === 'completed' ? 'completed' : 'failed']++
          return runId
        }
        if (last < cutAt && isTolerant) counts.refused++
        else if (last < cutAt)
          throw new Error(`The stream of ${runId} ended after ${last} (${response.statusCode})`)
        else counts.cuts++
        response.destroy()
        response = await send(`runs/${runId}/events`, { after: last })
      }
    },
    close: () => agent.destroy(),
  }
}
