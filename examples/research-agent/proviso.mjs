/** A research agent with two tools, an approval before it sends, and a typed result, with Proviso. */
import { createApp, defineAgent, tool } from 'proviso'
import { compatible } from 'proviso/providers/compatible'
import { z } from 'zod'

const Query = z.object({ query: z.string() })
const Mail = z.object({ to: z.string(), text: z.string() })
const Report = z.object({ summary: z.string(), informed: z.array(z.string()) })

export async function research({ baseURL, folder, search, send, decide }) {
  const researcher = defineAgent({
    id: 'researcher',
    model: 'compatible/scripted',
    instructions: 'Research the topic, inform ann, and sum it up.',
    input: z.object({ topic: z.string() }),
    output: Report,
    tools: [
      tool({ id: 'search', description: 'Search the notes', input: Query, idempotent: true, run: search }),
      tool({
        id: 'send',
        description: 'Send a message to a colleague',
        input: Mail,
        sideEffect: true,
        approval: 'always',
        run: send,
      }),
    ],
  })
  const providers = [compatible({ baseURL })]
  const app = await createApp({ store: `sqlite:${folder}/proviso.db`, providers, capabilities: [researcher] })
  const envelope = { objective: 'Research tea', inputs: { topic: 'tea' }, output: Report }
  const run = await app.start(envelope, { runId: 'research-1' })
  for await (const ask of run.asks()) await decide(ask)
  return run.output().finally(() => app.close())
}
