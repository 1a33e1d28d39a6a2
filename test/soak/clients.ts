/** Clients that use a server for long: each starts runs and streams them, is cut off now and then, and continues where it was. */
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

export interface Clients {
  /** Begins a run and follows it to its end, over as many connections as it takes; its id. */
  follow(body: string, random: Random): Promise<string>
  readonly counts: { runs: number; completed: number; failed: number; cuts: number; events: number }
  /** Gaps and repeats. */
  readonly wrong: readonly string[]
  close(): void
}

export function createClients(url: string): Clients {
  const agent = new Agent({ keepAlive: true })
  const counts = { runs: 0, completed: 0, failed: 0, cuts: 0, events: 0 }
  const wrong: string[] = []

  function send(path: string, given: { body?: string; after?: number }): Promise<IncomingMessage> {
    const headers = {
      accept: 'text/event-stream',
      authorization: 'Bearer soak',
      ...(given.body !== undefined && { 'content-type': 'application/json' }),
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
      let response = await send('run.stream', { body })
      const runId = String(response.headers['proviso-run-id'])
      let last = 0
      for (;;) {
        // One connection in twenty is cut somewhere.
        const cutAt = random.chance(0.05) ? last + random.int(1, 20) : Number.POSITIVE_INFINITY
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
        if (last < cutAt)
          throw new Error(`The stream of ${runId} ended after ${last} (${response.statusCode})`)
        response.destroy()
        counts.cuts++
        response = await send(`runs/${runId}/events`, { after: last })
      }
    },
    close: () => agent.destroy(),
  }
}
