/** An answer that does not satisfy its contract is reported once and independent of what follows: a retry, an ask, a policy or the end. */

import { expect, it } from 'vitest'
import { createApp, defineCapability } from '../../../src/app.ts'
import { scripted } from '../../pipelines/support.ts'
import { wrongly } from '../../wrongly.ts'

const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } } as const
const write = defineCapability({
  capabilityId: 'write',
  kind: 'local',
  inputContract: { type: 'object' },
  outputContract: schema,
  run: () => wrongly({ b: 1 }),
})
const answer = defineCapability({
  capabilityId: 'answer',
  kind: 'model',
  preferredModels: ['test/m'],
  inputContract: { type: 'object' },
  outputContract: schema,
})
const asks = { id: 'p', enabled: true, trigger: { kind: 'onValidationFail' }, action: { type: 'hitl' } }

it.each([
  ['the end', { capabilityId: 'write' }, {}, 1],
  ['a retry', { capabilityId: 'write', retry: { max: 1 } }, {}, 2],
  ['an ask', { capabilityId: 'write', onFail: 'ask' }, {}, 1],
  ['a policy', { capabilityId: 'write' }, { policies: { runtime: [asks] } }, 1],
  ['every fallback step of a model', { capabilityId: 'answer' }, {}, 1],
] as const)('once before %s', async (_, node, more, failures) => {
  const app = await createApp({
    env: {},
    providers: [scripted(() => '{"b": 1}')],
    capabilities: [write, answer],
  })
  const outputContract = { mode: 'json_schema', schema, constraints: [] }
  const { runId } = await app.run({ objective: 'x', inputs: {}, outputContract, ...more } as never, {
    draft: { nodes: [{ id: 'n', ...node }], output: { node: 'n' } },
  })
  const events = await app.store.read(runId, 0)
  await app.close()
  expect(events.filter(({ type }) => type === 'attempt_end')).toHaveLength(failures)
  expect(events.filter(({ type }) => type === 'validation_error')).toHaveLength(failures)
})
