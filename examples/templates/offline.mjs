/** Replaces the model, so that these templates run without a key: its answer depends on the instructions. */
import { defineCapability } from 'proviso'

const answers = [
  [/^List files/, () => ['a.ts', 'b.ts']],
  [/^Greet/, ({ name }) => `Hello, ${name}`],
  [/^Describe the file/, ({ filepath }) => ({ name: filepath, size: 1200, language: 'ts' })],
  [/^Say how to split/, (inputs) => `Two halves of ${inputs['info.size'] / 2} bytes`],
  [/^Summarize/, ({ text, style }) => `${text.name}, ${style}`],
  [
    /^Report/,
    (inputs) => ({
      file: inputs['info.name'],
      verdict: inputs.verdict,
      more: inputs['summarize(info, "long")'],
    }),
  ],
  [/^List the topics/, ({ input }) => input.split(' ')],
  [/^Add/, ({ result, accumulator }) => ({ topics: [...accumulator.topics, ...result] })],
  [/^Find a title/, ({ input }) => `All about ${input}`],
  [/^Write an outline/, (inputs) => Object.entries(inputs).map(([name, value]) => `${name}: ${value}`)],
]

const model = (capabilityId) =>
  defineCapability({
    capabilityId,
    inputContract: { type: 'object' },
    outputContract: {},
    idempotent: true,
    run(inputs, { instructions }) {
      const [, answer] = answers.find(([task]) => task.test(instructions)) ?? []
      if (answer === undefined) throw new Error(`No answer is scripted for: ${instructions}`)
      return answer(inputs)
    },
  })

export const capabilities = [
  model('proviso.answer'),
  model('proviso.template.model:anthropic/claude-haiku-4-5'),
]
