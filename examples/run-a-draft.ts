/** Runs a draft under contract: it is proved before it starts, a person approves the answer, and its provenance is printed. */
import { createApp, defineCapability } from 'proviso'

const line = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] } as const
const write = defineCapability({
  id: 'write',
  input: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
  output: line,
  run: ({ topic }) => ({ line: `There is always time for ${topic}.` }),
})

const app = await createApp({ capabilities: [write] })
const envelope = {
  objective: 'One line about tea',
  inputs: { topic: 'tea' },
  outputContract: { schema: line },
  policies: { planner: { directives: { askBeforeFinish: true } } },
}
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const { runId, status } = await app.run(envelope, { draft })
const [ask] = await app.store.asks({ runId })
console.log(status, ask?.question, ask?.value)

const { requestId = '', valueHash = '' } = ask ?? {}
await app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
const result = await app.result(runId)
console.log(result.status, result.output)
console.log(result.provenance)

// A contract that the draft cannot satisfy: refused before anything runs.
const price = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] }
const rejected = await app.run({ ...envelope, outputContract: { schema: price } }, { draft })
console.log(rejected.status, rejected.failure)
await app.close()

// Prints:
// waiting Approve the answer? { line: 'There is always time for tea.' }
// completed { line: 'There is always time for tea.' }
// [
//   {
//     pointer: '/line',
//     nodeId: 'write',
//     capabilityId: 'write',
//     attempt: 1,
//     approvedBy: 'ann'
//   }
// ]
// failed plan/rejected
