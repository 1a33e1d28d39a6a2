/** A run under a typed contract: a person approves the answer, and the answer has the type of its schema. */
import { createApp, defineCapability } from 'proviso'
import { z } from 'zod'

const Line = z.object({ line: z.string() })
const write = defineCapability({
  id: 'write',
  input: z.object({ topic: z.string() }),
  output: Line,
  run: ({ topic }) => ({ line: `Time for ${topic}.` }),
})

await using app = await createApp({ capabilities: [write] })
const run = await app.start({
  objective: 'One line about tea',
  inputs: { topic: 'tea' },
  output: Line,
  approve: 'final',
})
for await (const ask of run.asks()) {
  console.log(ask.question, ask.value)
  await ask.approve({ by: 'ann' })
}
const { line } = await run.output() // string
console.log(line)

// Prints:
// Approve the answer? { line: 'Time for tea.' }
// Time for tea.
