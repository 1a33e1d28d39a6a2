/** Notifications of what happens in this process: everything once, in order, and without cost for the run. */
import { describe, expect, it } from 'vitest'
import type { LifecycleNotice } from '../../src/types.ts'
import { lifecycleLimits } from '../seams/engine.ts'
import { answer, envelope, journal, local, open, rao, says } from './support.ts'

const reviewed = { nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true } }] }
const plain = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const unsure = () => [says('write', [rao({ text: 'Tea is warm' }, 0.7)])]

describe('subscribeToLifecycle', () => {
  it('reports every event of the journal once and in order, replies and resumed parts included', async () => {
    const app = await open({ capabilities: unsure() })
    const received: LifecycleNotice[] = []
    app.subscribeToLifecycle((notice) => {
      received.push(notice)
    })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    await answer(app, runId, 'approve')
    await app.result(runId)
    const notified = received.flatMap((notice) => (notice.kind === 'appended' ? notice.events : []))
    expect(notified).toEqual(await journal(app, runId))
    expect(received.filter(({ kind }) => kind === 'left')).toMatchObject([
      { why: 'rests', status: 'awaiting_hitl' },
      { why: 'rests', status: 'completed' },
    ])
    const outside = received.filter((notice) => notice.kind === 'appended' && notice.by === 'outside')
    expect(outside).toMatchObject([{ events: [{ type: 'hitl_resolved' }] }])
  })

  it('says how long a node took, also when it ended in another part of the run', async () => {
    const app = await open({ capabilities: unsure() })
    const ended: unknown[] = []
    app.subscribeToLifecycle((notice) => {
      if (notice.kind === 'appended') ended.push(...notice.ended)
    })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    await answer(app, runId, 'approve')
    await app.result(runId)
    expect(ended).toEqual([{ nodeId: 'write', capabilityId: 'write', durationMs: expect.any(Number) }])
  })

  it('a listener that throws or rejects disturbs neither the run nor the others', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'tea' }))] })
    let received = 0
    app.subscribeToLifecycle(() => {
      throw new Error('boom')
    })
    app.subscribeToLifecycle(async () => {
      throw new Error('boom later')
    })
    app.subscribeToLifecycle(() => {
      received++
    })
    await expect(app.run(envelope(), { draft: plain })).resolves.toMatchObject({ status: 'completed' })
    expect(received).toBeGreaterThan(1)
  })

  it('a slow listener delays nothing, keeps the newest, and learns how many it missed', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'tea' }))] })
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const received: { notice: LifecycleNotice; missed: number }[] = []
    app.subscribeToLifecycle(
      async (notice, { missed }) => {
        received.push({ notice, missed })
        await gate
      },
      { buffer: 2 },
    )
    let all = 0
    app.subscribeToLifecycle(() => {
      all++
    })
    for (let run = 0; run < 5; run++) await app.run(envelope(), { draft: plain })
    expect(received).toHaveLength(1)
    release()
    await expect.poll(() => received.length).toBe(3)
    expect(received.map(({ missed }) => missed)).toEqual([0, all - 3, 0])
    expect(received.at(-1)?.notice).toMatchObject({ kind: 'left', status: 'completed' })
  })

  it('ends when it is ended, and refuses more subscribers than its limit, by name', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'tea' }))], tracing: false })
    let received = 0
    const end = app.subscribeToLifecycle(() => {
      received++
    })
    end()
    await app.run(envelope(), { draft: plain })
    expect(received).toBe(0)
    const ends = Array.from({ length: lifecycleLimits.subscribers }, () => app.subscribeToLifecycle(() => {}))
    expect(() => app.subscribeToLifecycle(() => {})).toThrow('100 subscribers')
    for (const stop of ends) stop()
    expect(() => app.subscribeToLifecycle(() => {})).not.toThrow()
  })
})
