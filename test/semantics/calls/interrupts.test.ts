/** Interrupts: pausing, cancelling or replacing a run ends its running attempts at once, and what may have taken effect stays in doubt. */
import { describe, expect, it } from 'vitest'
import type { AppOptions } from '../../../src/app.ts'
import type { Json } from '../../../src/base/json.ts'
import type { EventPayloads, EventType, JournalEvent } from '../../../src/domain/event.ts'
import { answer, envelope, journal, listTypes, local, open } from '../../journeys/support.ts'

const one = { nodes: [{ id: 'write', capabilityId: 'write' }] }
/** As long as a call that hangs would hold up its run. */
const never = () => new Promise<Json>(() => {})

/** Late enough for a slow machine to have made the call by then. */
const late = (action: object) => ({
  id: 'late',
  trigger: { kind: 'onTimeout', ms: 600 },
  action,
  maxAttempts: 1,
})
const byHand = (action: object) => ({ id: 'stop', trigger: { kind: 'manual' }, action })
const under = (...runtime: object[]) => envelope({ policies: { runtime } })

function payloads<T extends EventType>(events: readonly JournalEvent[], type: T): EventPayloads[T][] {
  return events.filter((event) => event.type === type).map(({ payload }) => payload as EventPayloads[T])
}

/** A capability whose first call hangs, whatever its signal says, and whose later calls answer. */
function hangsOnce(more: object = {}) {
  const calls: {
    readonly key: string
    readonly signal: AbortSignal
    readonly settle: (value: Json) => void
  }[] = []
  let started = () => {}
  const first = new Promise<void>((resolve) => {
    started = resolve
  })
  const capability = local('write', () => ({ text: 'unused' }), {
    ...more,
    run: (_: unknown, { idempotencyKey, signal }: { idempotencyKey: string; signal: AbortSignal }) =>
      new Promise<Json>((resolve) => {
        calls.push({ key: idempotencyKey, signal, settle: resolve })
        started()
        if (calls.length > 1) resolve({ text: 'Tea' })
      }),
  })
  return { capability, calls, first }
}

const interruptedEnd = { attempt: 1, outcome: 'outcome_unknown', interrupted: true }

describe('a policy acts while a call hangs that ignores its abort signal', () => {
  it('replan: the new plan is made at once, and an idempotent call keeps its key', async () => {
    const { capability, calls } = hangsOnce()
    const app = await open({ planner: { name: 'same', draft: async () => one }, capabilities: [capability] })
    const done = await app.run(under(late({ type: 'replan' })))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const events = await journal(app, done.runId)
    expect(payloads(events, 'attempt_end')[0]).toMatchObject(interruptedEnd)
    expect(calls.map(({ key }) => key)).toEqual([calls[0]?.key, calls[0]?.key])
    expect(calls[0]?.signal.aborted).toBe(true)
    expect((await app.state(done.runId)).planVersion).toBe(2)
  })

  it('hitl: the person is asked at once, and the node runs again after the approval', async () => {
    const { capability, calls } = hangsOnce()
    const app = await open({ capabilities: [capability] })
    const waiting = await app.run(under(late({ type: 'hitl', rationale: 'It takes long' })), { draft: one })
    expect(waiting.status).toBe('waiting')
    expect(calls).toHaveLength(1)
    await answer(app, waiting.runId, 'approve')
    expect(await app.result(waiting.runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(calls).toHaveLength(2)
  })

  it('pause: the run waits at once, and continues with the same call when it is resumed', async () => {
    const { capability, calls } = hangsOnce()
    const app = await open({ capabilities: [capability] })
    const paused = await app.run(under(late({ type: 'pause', reason: 'Lunch' })), { draft: one })
    expect(paused).toMatchObject({ status: 'waiting', paused: {} })
    const [end] = payloads(await journal(app, paused.runId), 'attempt_end')
    expect(end).toMatchObject({ ...interruptedEnd, issues: [{ code: 'attempt/interrupted' }] })
    expect(end?.issues[0]?.message).toContain('Lunch')
    await app.resume(paused.runId, { by: 'ann' })
    expect((await app.result(paused.runId)).status).toBe('completed')
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1)
  })

  it('fail: the run fails at once', async () => {
    const app = await open({ capabilities: [local('write', never)] })
    const done = await app.run(under(late({ type: 'fail', message: 'Too slow' })), { draft: one })
    expect(done).toMatchObject({ status: 'failed', failure: 'policy/fail' })
    expect(payloads(await journal(app, done.runId), 'attempt_end')).toMatchObject([interruptedEnd])
  })
})

describe('a person acts while a call hangs', () => {
  it('a manual pause holds the run at once', async () => {
    const { capability, calls, first } = hangsOnce()
    const app = await open({ capabilities: [capability] })
    const { id: runId } = await app.start(under(byHand({ type: 'pause' })), { draft: one })
    await first
    await app.trigger(runId, { policyId: 'stop', by: 'ann' })
    expect(await app.result(runId)).toMatchObject({ status: 'waiting', paused: {} })
    await app.resume(runId, { by: 'ann' })
    expect((await app.result(runId)).status).toBe('completed')
    expect(calls).toHaveLength(2)
  })

  it('a cancelled run ends at once, and what the call returns later changes nothing', async () => {
    const { capability, calls, first } = hangsOnce()
    const app = await open({ capabilities: [capability] })
    const { id: runId } = await app.start(envelope(), { draft: one })
    await first
    await app.cancel(runId, { by: 'ann', reason: 'Enough' })
    expect((await app.result(runId)).status).toBe('cancelled')
    const before = await journal(app, runId)
    expect(payloads(before, 'attempt_end')).toMatchObject([interruptedEnd])
    calls[0]?.settle({ text: 'Late tea' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(await journal(app, runId)).toEqual(before)
  })

  it('gives back the slot of the call, so that another run can start', async () => {
    const { capability, first } = hangsOnce()
    const options: AppOptions = { capabilities: [capability], limits: { process: 1 } } as AppOptions
    const app = await open(options)
    const { id: runId } = await app.start(under(byHand({ type: 'pause' })), { draft: one })
    await first
    await app.trigger(runId, { policyId: 'stop', by: 'ann' })
    await app.result(runId)
    expect((await app.run(envelope(), { draft: one })).status).toBe('completed')
  })
})

describe('a call that must not be repeated, interrupted', () => {
  const once = { idempotent: false }

  it('asks a person, and is not called again before that', async () => {
    const { capability, calls } = hangsOnce(once)
    const app = await open({ capabilities: [capability] })
    const paused = await app.run(under(late({ type: 'pause' })), { draft: one })
    expect(await app.store.asks({ runId: paused.runId, status: 'pending' })).toMatchObject([
      { kind: 'unknown_outcome', nodeId: 'write' },
    ])
    await app.resume(paused.runId, { by: 'ann' })
    expect((await app.result(paused.runId)).status).toBe('waiting')
    expect(calls).toHaveLength(1)
    await answer(app, paused.runId, 'approve')
    expect((await app.result(paused.runId)).status).toBe('completed')
  })

  it('whose result comes late settles that question, and the ask says so', async () => {
    const { capability, calls } = hangsOnce(once)
    const app = await open({ capabilities: [capability] })
    const { runId } = await app.run(under(late({ type: 'pause' })), { draft: one })
    const settled = new Promise<void>((resolve) => {
      void (async () => {
        for await (const event of app.watch(runId)) if (event.type === 'hitl_resolved') resolve()
      })()
    })
    calls[0]?.settle({ text: 'Late tea' })
    await settled
    await app.resume(runId, { by: 'ann' }).catch(() => {})
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Late tea' } })
    const events = await journal(app, runId)
    expect(payloads(events, 'attempt_settled')).toMatchObject([{ attempt: 1, outcome: 'ok' }])
    expect(payloads(events, 'hitl_resolved')).toMatchObject([
      { decision: 'settled', by: 'system', note: expect.stringContaining('late') },
    ])
    expect(calls).toHaveLength(1)
    expect((await app.replay(runId)).differences).toEqual([])
  })

  it('that the next plan does without, is neither asked about nor forgotten', async () => {
    const { capability, calls } = hangsOnce({ ...once, sideEffect: true })
    const other = local('other', () => ({ text: 'Coffee' }))
    let drafts = 0
    const planner = {
      name: 'other',
      draft: async () => ({
        nodes: [drafts++ === 0 ? { id: 'write', capabilityId: 'write' } : { id: 'b', capabilityId: 'other' }],
      }),
    }
    const app = await open({ planner, capabilities: [capability, other] })
    const done = await app.run(under(late({ type: 'replan' })))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Coffee' } })
    expect(listTypes(await journal(app, done.runId))).not.toContain('hitl_request')
    expect(done.inDoubt).toMatchObject([
      { nodeId: 'write', attempt: 1, planVersion: 1, capabilityId: 'write' },
    ])
    expect(calls).toHaveLength(1)
  })
})

it('what an interrupted attempt had reserved is given back, and a local function costs no call', async () => {
  const { capability } = hangsOnce()
  const app = await open({ capabilities: [capability] })
  const draft = { ...one, limits: { maxCalls: 3 } }
  const paused = await app.run(under(late({ type: 'pause' })), { draft })
  expect((await app.state(paused.runId)).budget).toMatchObject({ calls: 0, reservedCalls: 0 })
  await app.resume(paused.runId, { by: 'ann' })
  expect((await app.result(paused.runId)).status).toBe('completed')
  expect((await app.replay(paused.runId)).differences).toEqual([])
})
