/** Starting, stopping, pausing, dying and coming back. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { DraftInput } from '../../src/domain/envelope/envelope-input.ts'
import { defineCapability, type Planner } from '../../src/index.ts'
import { envelope, journal, listTypes, local, open, rao, says, text } from './support.ts'

const tea = local('write', () => ({ text: 'Tea' }))
const one = { nodes: [{ id: 'write', capabilityId: 'write' }] }

describe('lifecycle', () => {
  it('cancel-reaches-the-socket: cancelling a run closes the connection of its attempt', async () => {
    const server = createServer()
    const arrived = new Promise<import('node:http').IncomingMessage>((resolve) =>
      server.once('request', resolve),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const write = defineCapability({
      capabilityId: 'write',
      inputContract: { type: 'object' },
      outputContract: text,
      run: async (_inputs, { signal }) => (await fetch(url, { signal })).json() as never,
    })
    const app = await open({ capabilities: [write] })
    const { id: runId } = await app.start(envelope(), { draft: one })
    const request = await arrived
    const closed = new Promise((resolve) => request.once('close', resolve))
    await app.cancel(runId, { by: 'ann', reason: 'changed my mind' })
    await closed
    expect(await app.result(runId)).toMatchObject({ status: 'cancelled', failure: 'run/cancelled' })
    expect(listTypes(await journal(app, runId)).at(-1)).toBe('complete')
    server.close()
  })

  it('kill-and-recover: what a dead process left is taken over, and finished work is not done again', async () => {
    const store = createMemoryStore()
    const calls: string[] = []
    let hang = true
    const capabilities = [
      local('first', () => {
        calls.push('first')
        return { text: 'one' }
      }),
      local('second', () => {
        calls.push('second')
        return hang ? new Promise(() => {}) : { text: 'two' }
      }),
    ]
    const draft = {
      nodes: [
        { id: 'first', capabilityId: 'first' },
        { id: 'second', capabilityId: 'second', inputs: { text: { node: 'first', pointer: '/text' } } },
      ],
      output: { node: 'second' },
    }
    const dying = await open({ store, capabilities, leaseMs: 60 })
    const { id: runId } = await dying.start(envelope(), { draft })
    for await (const event of dying.watch(runId))
      if (event.type === 'attempt_start' && event.nodeId === 'second') break
    await dying.close({ graceMs: 0 })
    hang = false
    const heir = await open({ store, capabilities, leaseMs: 60 })
    expect(await heir.result(runId)).toMatchObject({ status: 'completed', output: { text: 'two' } })
    expect(calls).toEqual(['first', 'second', 'second'])
    const keys = (await journal(heir, runId)).flatMap((event) =>
      event.type === 'attempt_start' && event.nodeId === 'second' ? [event.payload.idempotencyKey] : [],
    )
    expect(new Set(keys).size).toBe(1)
  })

  it('a process that ends begins nothing, and gives each run back when nothing of it is under way, not with the slowest', async () => {
    const store = createMemoryStore()
    const gates = new Map<string, () => void>()
    const through = (name: string) => new Promise<void>((resolve) => gates.set(name, resolve))
    const done: string[] = []
    const capabilities = (who: string) => [
      local('slow', async () => {
        await through('slow')
        return { text: who }
      }),
      local('first', async () => {
        await through('first')
        return { text: who }
      }),
      local('second', ({ text }) => {
        done.push(`first by ${text}, second by ${who}`)
        return { text: who }
      }),
    ]
    const leaving = await open({ store, capabilities: capabilities('leaving') })
    const { id: slow } = await leaving.start(envelope(), {
      draft: { nodes: [{ id: 'slow', capabilityId: 'slow' }] },
    })
    const { id: runId } = await leaving.start(envelope(), {
      draft: {
        nodes: [
          { id: 'first', capabilityId: 'first' },
          { id: 'second', capabilityId: 'second', inputs: { text: { node: 'first', pointer: '/text' } } },
        ],
        output: { node: 'second' },
      },
    })
    await expect.poll(() => [...gates.keys()].sort()).toEqual(['first', 'slow'])
    let over = false
    const closing = leaving.close({ graceMs: 60_000 }).then(() => {
      over = true
    })
    const staying = await open({ store, capabilities: capabilities('staying') })
    gates.get('first')?.()
    expect(await staying.result(runId)).toMatchObject({ status: 'completed', output: { text: 'staying' } })
    expect(done).toEqual(['first by leaving, second by staying'])
    expect(over).toBe(false)
    gates.get('slow')?.()
    await closing
    expect(await staying.result(slow)).toMatchObject({ status: 'completed', output: { text: 'leaving' } })
  })

  it('a process that executes only its own runs leaves other runs alone, until it claims one on request', async () => {
    const store = createMemoryStore()
    const capabilities = [local('write', () => new Promise(() => {}))]
    const dying = await open({ store, capabilities, leaseMs: 30 })
    const { id: runId } = await dying.start(envelope(), { draft: one })
    for await (const event of dying.watch(runId)) if (event.type === 'attempt_start') break
    await dying.close({ graceMs: 0 })
    const able = [local('write', () => ({ text: 'Tea' }))]
    const wanted: (string | undefined)[] = []
    const claim: typeof store.claim = (request) => {
      wanted.push(request.runId)
      return store.claim(request)
    }
    const heir = await open({ store: { ...store, claim }, capabilities: able, claim: 'own', pollMs: 10 })
    const before = await store.head(runId)
    expect(before?.status).toBe('running')
    expect((await heir.run(envelope(), { draft: one })).status).toBe('completed')
    expect(await store.head(runId)).toEqual(before)
    // Neither this run nor, with no name, any run of the store was asked for.
    for (const asked of wanted) expect([runId, undefined]).not.toContain(asked)
    await heir.claim(runId)
    expect(await heir.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(wanted).toContain(runId)
  })

  it('an attempt that ends before the turn that started it is over is not forgotten', async () => {
    const app = await open({ capabilities: [] })
    const done = await app.run(envelope(), { draft: one, signal: AbortSignal.timeout(5_000) })
    expect(done.status).toBe('failed')
  })

  it('two-resumes-one-winner: a paused run continues once, the second caller gets an error', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const runtime = [
      { id: 'wait', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Not yet' } },
    ]
    const paused = await app.run(envelope({ policies: { runtime } }), { draft: one })
    expect(paused).toMatchObject({ status: 'waiting', paused: {} })
    const resumes = await Promise.allSettled([
      app.resume(paused.runId, { by: 'ann' }),
      app.resume(paused.runId, { by: 'ben' }),
    ])
    expect(resumes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await app.result(paused.runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const events = await journal(app, paused.runId)
    expect(
      events.filter((event) => event.type === 'plan_generated' && event.payload.metadata.resumed),
    ).toHaveLength(1)
  })

  it('a resume with an older plan version is refused', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const runtime = [{ id: 'wait', trigger: { kind: 'onNodeComplete' }, action: { type: 'pause' } }]
    const { runId } = await app.run(envelope({ policies: { runtime } }), { draft: one })
    await expect(app.resume(runId, { by: 'ann', expectedPlanVersion: 7 })).rejects.toMatchObject({
      code: 'plan/stale-version',
    })
    await app.resume(runId, { by: 'ann', expectedPlanVersion: 1 })
    expect((await app.result(runId)).status).toBe('completed')
  })

  it('replays a recorded run with no call, and says what other thresholds would change', async () => {
    let calls = 0
    const app = await open({
      capabilities: [
        local('write', () => {
          calls++
          return { text: 'Tea' }
        }),
      ],
    })
    const { runId } = await app.run(envelope(), { draft: one })
    expect(await app.replay(runId)).toMatchObject({ differences: [] })
    const stop = {
      id: 'stop',
      enabled: true,
      trigger: { kind: 'onNodeComplete' },
      action: { type: 'fail' },
    } as const
    const { differences } = await app.replay(runId, { policies: [stop] })
    expect(differences[0]?.instead).toContain('policy_triggered write: stop, fail')
    expect(calls).toBe(1)
  })

  it('a node that takes too long is ended by its time', async () => {
    const app = await open({ capabilities: [local('write', () => new Promise(() => {}))] })
    const done = await app.run(envelope(), {
      draft: { nodes: [{ id: 'write', capabilityId: 'write', timeoutMs: 20 }] },
    })
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/timed_out' })
  })

  it('a run ends at its deadline, whatever it waits for', async () => {
    const app = await open({ capabilities: [local('write', () => new Promise(() => {}))] })
    const done = await app.run(envelope(), { draft: { ...one, limits: { deadlineMs: 30 } } })
    expect(done).toMatchObject({ status: 'failed', failure: 'run/deadline' })
  })

  it("a caller's deadline holds before there is a plan: for planners, and for asks on start", async () => {
    const hasty = { constraints: { deadlineMs: 30 } }
    let isReported = false
    const planner: Planner = {
      name: 'silent',
      draft: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            isReported = true
          })
        }),
    }
    const app = await open({ planner, capabilities: [tea] })
    const unplanned = await app.run(envelope(hasty))
    expect(unplanned).toMatchObject({ status: 'failed', failure: 'run/deadline' })
    expect(isReported).toBe(true)
    const gate = { id: 'gate', trigger: { kind: 'onStart' }, action: { type: 'hitl' } }
    const { id: runId } = await app.start(envelope({ ...hasty, policies: { runtime: [gate] } }), {
      draft: one,
    })
    for await (const event of app.watch(runId))
      if (event.type === 'complete') expect(event.payload.error?.code).toBe('run/deadline')
    expect((await app.replay(runId)).differences).toEqual([])
  })

  it('timers survive a restart: a retry that became due without a process happens when one starts', async () => {
    const store = createMemoryStore()
    const capabilities = [says('write', ['not yet', '{"text":"Tea"}'])]
    const draft = { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 1, backoffMs: 60 } }] }
    const before = await open({ store, capabilities })
    const { id: runId } = await before.start(envelope(), { draft })
    for await (const event of before.watch(runId)) if (event.type === 'timer_set') break
    await before.close({ graceMs: 0 })
    const after = await open({ store, capabilities })
    expect(await after.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('every node has a result in the shape of a task', async () => {
    const app = await open({ capabilities: [tea, says('fails', ['no'])] })
    const draft: DraftInput = {
      nodes: [
        { id: 'write', capabilityId: 'write' },
        { id: 'extra', capabilityId: 'fails' },
        { id: 'rescue', capabilityId: 'write', kind: 'fallback' },
      ],
      edges: [{ from: 'extra', to: 'rescue', when: 'fail' }],
      output: { node: 'write' },
    }
    const { runId, status } = await app.run(envelope(), { draft: draft })
    expect(status).toBe('completed')
    const results = await app.taskResults(runId)
    expect(results.get('write')).toEqual({
      content: '{"text":"Tea"}',
      parsedContent: { text: 'Tea' },
      status: 'COMPLETE',
      notes: {},
    })
    expect(results.get('extra')).toMatchObject({
      status: 'FAILED',
      notes: { error: { type: 'TASK_FAILURE', reason: 'output_format_failure' } },
    })
  })

  it('a node that was skipped has a result that says why, and one that is still active says what it waits for', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = local('slow', async () => {
      await gate
      return { text: 'slow' }
    })
    const app = await open({ capabilities: [tea, slow, says('write-rao', [rao({ text: 'Tea' }, 0.7)])] })
    const draft: DraftInput = {
      nodes: [
        { id: 'write', capabilityId: 'write' },
        { id: 'rescue', capabilityId: 'write', kind: 'fallback' },
        { id: 'review', capabilityId: 'write-rao', data: { contract: true } },
        { id: 'slow', capabilityId: 'slow' },
        { id: 'after', capabilityId: 'write' },
      ],
      edges: [
        { from: 'write', to: 'rescue', when: 'fail' },
        { from: 'review', to: 'after' },
        { from: 'slow', to: 'after' },
      ],
      output: { node: 'after' },
    }
    const { id: runId } = await app.start(envelope(), { draft: draft })
    for await (const event of app.watch(runId)) if (event.type === 'hitl_request') break
    const during = await app.taskResults(runId)
    expect([...during.keys()]).toEqual(['write', 'rescue', 'review', 'slow', 'after'])
    expect(during.get('rescue')).toEqual({
      content: '',
      status: 'COMPLETE',
      notes: { skipped: 'No control edge to it was followed' },
    })
    const waiting = (waitingFor: string) => ({ content: '', status: 'CONTINUATION', notes: { waitingFor } })
    expect(during.get('review')).toEqual(waiting('a person'))
    expect(during.get('slow')).toEqual(waiting('the end of its attempt'))
    expect(during.get('after')).toEqual(waiting('the end of review, slow'))
    release()
    await app.cancel(runId, { by: 'ann' })
    await app.result(runId)
    expect((await app.taskResults(runId)).get('after')).toMatchObject({
      content: '',
      status: 'FAILED',
      notes: {
        error: { reason: 'execution_halted', details: { code: 'run/cancelled' } },
        skipped: 'The run ended before this node did: Cancelled by ann',
      },
    })
  })

  it('a run never has more attempts at one time than it may', async () => {
    let now = 0
    let most = 0
    const busy = local('busy', async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now--
      return { text: 'done' }
    })
    const app = await open({ capabilities: [busy] })
    const nodes = Array.from({ length: 12 }, (_, index) => ({ id: `n${index}`, capabilityId: 'busy' }))
    const done = await app.run(envelope(), {
      draft: { nodes, output: { node: 'n0' }, limits: { concurrency: 3 } },
    })
    expect([done.status, most]).toEqual(['completed', 3])
  })

  it('watching ends at once where nothing can come any more, and refuses a run that is not there', async () => {
    const app = await open({ capabilities: [tea] })
    const { runId } = await app.run(envelope(), { draft: one })
    const last = (await journal(app, runId)).length
    const seen = []
    for await (const event of app.watch(runId, { after: last })) seen.push(event)
    expect(seen).toEqual([])
    await expect(app.watch('unknown').next()).rejects.toMatchObject({ code: 'run/missing' })
  })

  it('who decides must be named, whatever the caller has for types', async () => {
    const app = await open({ capabilities: [local('write', () => new Promise(() => {}))] })
    const { id: runId } = await app.start(envelope(), { draft: one })
    const nameless = app.cancel as (runId: string, given?: { by: string }) => Promise<void>
    await expect(nameless(runId)).rejects.toMatchObject({ code: 'option/invalid' })
    await expect(app.cancel(runId, { by: '' })).rejects.toMatchObject({ code: 'option/invalid' })
    await app.cancel(runId, { by: 'ann' })
    expect((await app.result(runId)).status).toBe('cancelled')
  })
})
