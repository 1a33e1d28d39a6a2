/** A loop whose provider pauses its first turn. */
import { defineAgent, tool } from '../../../src/index.ts'
import { journal, open } from '../../journeys/support.ts'
import { answerSchema, draft, envelope, query } from '../../tools/agent-parts.ts'
import { serveWire, wires } from './wires.ts'

interface Message {
  readonly role: string
  readonly content: readonly object[]
}

export async function anthropicPause(isStreamed: boolean) {
  const wire = wires.find(({ name }) => name === 'anthropic')!
  const server = await serveWire(wire, (turn) =>
    turn === 0
      ? { text: 'I look it up,', finish: 'pause_turn' }
      : { text: JSON.stringify({ answer: 'Because', sources: [] }) },
  )
  const search = tool({
    id: 'search',
    description: 'Searches',
    input: query,
    output: query,
    run: (given) => given,
  })
  const agent = defineAgent({
    id: 'researcher',
    model: wire.model,
    input: { type: 'object' },
    output: answerSchema,
    tools: [search],
  })
  const app = await open({ providers: [wire.provider(server.url)], capabilities: [agent] })
  const run = await app.start(envelope, { draft, ...(isStreamed && { partials: true }) })
  const result = await run.result()
  await server.close()
  const turns = (await journal(app, run.id)).flatMap((event) =>
    event.type === 'turn_end' ? [event.payload] : [],
  )
  return { result, turns, bodies: server.seen.map(({ body }) => body['messages'] as readonly Message[]) }
}
