/** An agent with two tools: it searches, asks a person before it sends, and answers under contract. */
import { createApp, defineAgent, type ModelAnswer, type Provider, tool } from 'proviso'
import { z } from 'zod'

const search = tool({
  id: 'search',
  description: 'Search the notes',
  input: z.object({ query: z.string() }),
  output: z.object({ hits: z.array(z.string()) }),
  idempotent: true, // may be repeated after a crash
  run: ({ query }) => ({ hits: [`${query} grows in hills`] }),
})

const send = tool({
  id: 'send',
  description: 'Send a message to a colleague',
  input: z.object({ to: z.string(), text: z.string() }),
  output: z.object({ sent: z.boolean() }),
  sideEffect: true,
  approval: 'always', // or 'never', or { when: condition over the arguments }
  run: ({ to }, { idempotencyKey }) => {
    console.log(`sending to ${to}, key of ${idempotencyKey.length} characters`)
    return { sent: true }
  },
})

const output = z.object({ summary: z.string(), informed: z.array(z.string()) })
const researcher = defineAgent({
  id: 'researcher',
  model: 'scripted/model',
  instructions: 'Research the topic, inform ann, and sum it up.',
  input: z.object({ topic: z.string() }),
  output,
  tools: [search, send],
  limits: { turns: 8 },
})

const app = await createApp({ capabilities: [researcher], providers: [scripted()] })
const run = await app.start(
  { objective: 'Research tea', inputs: { topic: 'tea' }, output },
  {
    draft: {
      nodes: [
        { id: 'research', capabilityId: 'researcher', inputs: { topic: { envelope: '/inputs/topic' } } },
      ],
    },
  },
)
for await (const ask of run.asks()) {
  console.log(ask.question, ask.value)
  await ask.edit({ by: 'bob', value: { to: 'ann', text: 'Tea grows in hills.' } })
}
const { summary, informed } = await run.output()
console.log(summary, informed)
await app.close()

/** Stands for a model, so that the example runs offline: calls the tools in turn, then answers. */
function scripted(): Provider {
  const turns = [
    call('search', { query: 'tea' }),
    call('send', { to: 'ann', text: 'tea!!' }),
    say({ summary: 'Tea grows in hills', informed: ['ann'] }),
  ]
  let turn = 0
  return { name: 'scripted', tools: true, generate: async () => turns[turn++] ?? turns[2]! }
}

function call(toolName: string, input: object): ModelAnswer {
  const part = { type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) } as const
  return { kind: 'text', text: '', finish: 'stop', usage: {}, parts: [part] }
}

function say(value: object): ModelAnswer {
  const text = JSON.stringify(value)
  return { kind: 'text', text, finish: 'stop', usage: {}, parts: [{ type: 'text', text }] }
}

// Prints:
// "research" wants to call "send": it always needs an approval. Go ahead? { to: 'ann', text: 'tea!!' }
// sending to ann, key of 64 characters
// Tea grows in hills [ 'ann' ]
