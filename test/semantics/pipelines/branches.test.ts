/** Steps of a pipeline behind a choice: only the branch that was taken runs, and what the other would have left is absent. */
import { describe, expect, it } from 'vitest'
import { readInput, run } from '../../pipelines/support.ts'

const agents = `
version: "0.1"
name: posts
agents:
  writer: { model: openai/gpt-5, system_prompt: Write., output_schema: { type: string } }
  scorer:
    model: openai/gpt-5
    system_prompt: Score.
    output_schema: { type: object, properties: { score: { type: number } }, required: [score] }
`

const echo = (score: number) => (request: Parameters<typeof readInput>[0]) =>
  JSON.stringify(request.schema ?? '').includes('score') ? `{"score":${score}}` : String(readInput(request))

describe('a conditional whose branches both read an earlier step', () => {
  const text = `${agents}
steps:
  - { name: write, agent: writer, input: "tea" }
  - { name: rate, agent: scorer, input: "{{ steps.write.output }}" }
  - name: gate
    kind: conditional
    condition: { ">=": [{ var: previous_step.score }, 0.8] }
    branches:
      true:
        - { name: publish, agent: writer, input: "publish {{ steps.write.output }}" }
      false:
        - { name: hold, agent: writer, input: "hold {{ steps.write.output }}" }
`

  it.each([
    [0.9, 'publish tea', 3],
    [0.3, 'hold tea', 3],
  ])('takes one of them: a score of %d gives %j', async (score, output, calls) => {
    const done = await run(text, echo(score))
    expect(done).toMatchObject({ status: 'completed', output })
    expect(done.seen).toHaveLength(calls)
  })
})

describe('a value that a branch would have put into the context', () => {
  const text = `${agents}
steps:
  - name: first
    kind: conditional
    condition: { "==": [{ var: input }, "rate"] }
    branches:
      true:
        - { name: rate, agent: scorer, input: "tea", updates_context: true }
  - name: second
    kind: conditional
    condition: { ">=": [{ var: context.score }, 0.8] }
    branches:
      true:
        - { name: good, agent: writer, input: "good" }
      false:
        - { name: plain, agent: writer, input: "plain" }
`

  it.each([
    ['rate', 'good'],
    ['skip', 'plain'],
  ])(
    'is absent where the branch was not taken, and skips no later step: %j gives %j',
    async (input, output) => {
      const done = await run(text, echo(0.9), { input })
      expect(done).toMatchObject({ status: 'completed', output })
    },
  )
})
