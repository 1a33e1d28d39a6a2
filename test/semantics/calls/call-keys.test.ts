/** Keys of calls: a call that is continued keeps its key, work that is ordered anew gets another. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import type { EventPayloads } from '../../../src/domain/event.ts'
import { answer, envelope, journal, local, open } from '../../journeys/support.ts'

const draft = { nodes: [{ id: 'write', capabilityId: 'write', label: 'write' }] }
const pause = { id: 'hold', trigger: { kind: 'manual' }, action: { type: 'pause', reason: 'Not now' } }

/** Writes a text per call, and keeps the key of each; the first `hanging` calls do not come back. */
function writer(hanging = 0) {
  const keys: string[] = []
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const capability = local('write', () => ({}), {
    run: (_: Json, context: { idempotencyKey: string }) => {
      keys.push(context.idempotencyKey)
      begin()
      return keys.length > hanging ? { text: `text ${keys.length}` } : new Promise<Json>(() => {})
    },
  })
  return { capability, keys, begun }
}

const directives = {
  'the whole answer': { askBeforeFinish: true },
  'the output of the node': { hitlRequiredFor: ['write'] },
}

describe.each(Object.entries(directives))('%s, rejected', (_, asked) => {
  it.each(['replan', 'retry'] as const)('is made again under a new key: %s', async (rejectAction) => {
    const { capability, keys } = writer()
    const app = await open({ capabilities: [capability] })
    const given = envelope({ policies: { planner: { directives: asked } }, constraints: { maxAsks: 5 } })
    const { runId } = await app.run(given, { draft })
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await app.reply(runId, { requestId, valueHash, decision: 'reject', rejectAction, by: 'ann' })
    expect((await app.result(runId)).status).toBe('waiting')
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'text 2' } })
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(2)
    const starts = (await journal(app, runId)).filter(({ type }) => type === 'attempt_start')
    expect(starts.map(({ payload }) => (payload as EventPayloads['attempt_start']).idempotencyKey)).toEqual(
      keys,
    )
    expect((await app.replay(runId)).differences).toEqual([])
  })
})

it('a node that is only resumed is called again under its key', async () => {
  const { capability, keys, begun } = writer(1)
  const app = await open({ capabilities: [capability] })
  const { id: runId } = await app.start(envelope({ policies: { runtime: [pause] } }), { draft })
  await begun
  await app.trigger(runId, { policyId: 'hold', by: 'ann' })
  expect(await app.result(runId)).toMatchObject({ status: 'waiting', paused: {} })
  await app.resume(runId, { by: 'ann' })
  expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'text 2' } })
  expect(keys).toEqual([keys[0], keys[0]])
})
