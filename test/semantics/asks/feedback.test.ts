/** What people and checks say about earlier work reaches the next attempt and the next plan. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { App } from '../../../src/app.ts'
import type { Json } from '../../../src/base/json.ts'
import type { Reply } from '../../../src/domain/ask.ts'
import { defineCapability } from '../../../src/domain/capability/define-capability.ts'
import type { Feedback } from '../../../src/domain/feedback.ts'
import type { DraftRequest, Planner } from '../../../src/domain/ports/planner.ts'
import type { Provider } from '../../../src/domain/ports/provider.ts'
import type { JsonSchema } from '../../../src/index.ts'
import { modelPlanner } from '../../../src/plan/index.ts'
import { answer, envelope, journal, leave, listTypes, local, open, text } from '../../journeys/support.ts'

const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const approved = (policies: object = {}) =>
  envelope({
    policies: { planner: { directives: { askBeforeFinish: true } }, ...policies },
    constraints: { maxAsks: 10 },
  })

interface Call {
  readonly inputs: { readonly [name: string]: Json }
  readonly feedback: readonly Feedback[]
}

/** Writes a text per call, and keeps what it was called with. */
function writer(calls: Call[], capabilityId = 'write') {
  return defineCapability({
    capabilityId,
    inputContract: { type: 'object' },
    outputContract: text,
    idempotent: true,
    run: (inputs, { feedback }) => {
      calls.push({ inputs: inputs as Call['inputs'], feedback })
      return { text: `${capabilityId} ${calls.length}` }
    },
  })
}

async function openAsk(app: App, runId: string) {
  const [ask] = await app.store.asks({ runId, status: 'pending' })
  if (!ask) throw new Error('Nothing is asked')
  return ask
}

async function reject(app: App, runId: string, more: Partial<Reply> = {}) {
  const { requestId, valueHash } = await openAsk(app, runId)
  await app.reply(runId, { requestId, valueHash, decision: 'reject', by: 'ann', ...more })
  return app.result(runId)
}

describe('a rejected answer', () => {
  it('is made again by its producing node, which sees the note and the rejected value', async () => {
    const calls: Call[] = []
    const app = await open({ capabilities: [writer(calls)] })
    const { runId } = await app.run(approved(), { draft })
    const first = await openAsk(app, runId)
    expect(first).toMatchObject({ producers: ['write'], rejectAction: { type: 'retry' } })
    const waiting = await reject(app, runId, { note: 'Shorter' })
    expect(waiting.status).toBe('waiting')
    expect(calls.map(({ feedback }) => feedback)).toEqual([
      [],
      [
        {
          source: 'reply',
          nodes: ['write'],
          requestId: first.requestId,
          decision: 'reject',
          note: 'Shorter',
          value: { text: 'write 1' },
          by: 'ann',
        },
      ],
    ])
    const second = await openAsk(app, runId)
    expect(second).toMatchObject({ value: { text: 'write 2' }, feedback: [{ note: 'Shorter' }] })
    expect(second.valueHash).not.toBe(first.valueHash)
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'write 2' } })
    const events = await journal(app, runId)
    expect(listTypes(events)).toContain('feedback_recorded')
    const reopened = events.find(({ type }) => type === 'nodes_reopened')
    expect(reopened?.payload).toMatchObject({ nodes: ['write'], downstream: [], round: 1 })
  })

  it('is made again at most three times, then the run fails', async () => {
    const calls: Call[] = []
    const app = await open({ capabilities: [writer(calls)] })
    const { runId } = await app.run(approved(), { draft })
    for (let round = 1; round <= 3; round++)
      expect(await reject(app, runId, { note: `no ${round}` })).toMatchObject({ status: 'waiting' })
    expect((await openAsk(app, runId)).rejectActions).not.toContain('retry')
    expect(await reject(app, runId)).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
    expect(calls).toHaveLength(4)
    expect(calls.at(-1)?.feedback.map(({ note }) => note)).toEqual(['no 1', 'no 2', 'no 3'])
  })

  it('keeps within the limit of asks: the last ask says that more work is not possible', async () => {
    const app = await open({ capabilities: [writer([])] })
    const { runId } = await app.run({ ...approved(), constraints: { maxAsks: 1 } }, { draft })
    expect(await openAsk(app, runId)).toMatchObject({ rejectActions: ['fail'] })
    for (const rejectAction of ['retry', 'replan'] as const)
      await expect(reject(app, runId, { rejectAction })).rejects.toMatchObject({
        code: 'ask/invalid',
        issues: [{ at: { pointer: '/rejectAction' }, hint: expect.stringContaining('constraints.maxAsks') }],
      })
    expect(await reject(app, runId)).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
  })

  it('is not planned anew by the last ask either, where the caller wants a new plan after rejections', async () => {
    const app = await open({ capabilities: [writer([])] })
    const wanted = { ...approved({ rejectAction: 'replan' }), constraints: { maxAsks: 1 } }
    const { runId } = await app.run(wanted, { draft })
    expect(await openAsk(app, runId)).toMatchObject({ rejectAction: { type: 'fail' } })
    expect(await reject(app, runId)).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
  })

  it('fails with the reasons of the planner where no new plan can be made', async () => {
    const planner: Planner = { name: 'none', draft: () => Promise.reject(new Error('No idea')) }
    const app = await open({ planner, capabilities: [writer([])] })
    const { runId } = await app.run(approved({ rejectAction: 'replan' }), { draft })
    const done = await reject(app, runId)
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(done.error?.message).toContain('No idea')
  })

  it('runs only the nodes that fill its slots, and those after them', async () => {
    const ran: string[] = []
    const step = (id: string) =>
      local(
        id,
        () => {
          ran.push(id)
          return { [id]: `${id} ${ran.length}` }
        },
        { outputContract: { type: 'object', properties: { [id]: { type: 'string' } }, required: [id] } },
      )
    const schema = {
      type: 'object',
      properties: { title: { type: 'string' }, body: { type: 'string' } },
      required: ['title', 'body'],
    }
    const app = await open({ capabilities: ['facts', 'title', 'body', 'log'].map(step) })
    const { runId } = await app.run(
      { ...approved(), outputContract: { schema } },
      {
        draft: {
          nodes: [
            { id: 'facts', capabilityId: 'facts' },
            { id: 'title', capabilityId: 'title', inputs: { facts: { node: 'facts', pointer: '/facts' } } },
            { id: 'body', capabilityId: 'body', inputs: { facts: { node: 'facts', pointer: '/facts' } } },
            { id: 'log', capabilityId: 'log', inputs: { body: { node: 'body', pointer: '/body' } } },
          ],
          output: {
            properties: {
              title: { node: 'title', pointer: '/title' },
              body: { node: 'body', pointer: '/body' },
            },
          },
        },
      },
    )
    expect(ran.sort()).toEqual(['body', 'facts', 'log', 'title'])
    ran.length = 0
    await reject(app, runId, { note: 'Again' })
    expect(ran.sort()).toEqual(['body', 'log', 'title'])
  })

  it('fails the run where the reply or the envelope says so', async () => {
    const app = await open({ capabilities: [writer([])] })
    const once = await app.run(approved(), { draft })
    expect(await reject(app, once.runId, { rejectAction: 'fail', note: 'Never' })).toMatchObject({
      status: 'failed',
      failure: 'ask/rejected',
      issues: [{ message: expect.stringContaining('Never') }],
    })
    const other = await app.run(approved({ rejectAction: 'fail' }), { draft })
    expect(await reject(app, other.runId)).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
  })

  it('survives a restart between the rejection and the work', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'proviso-feedback-'))
    const store = `sqlite:${join(folder, 'runs.db')}`
    const calls: Call[] = []
    try {
      const first = await open({ store, capabilities: [writer(calls)] })
      const { runId } = await first.run(approved(), { draft })
      const { requestId, valueHash } = await openAsk(first, runId)
      await leave(first)
      // Records only: this process knows no capability, and does not run anything.
      const desk = await open({ store, claim: 'none' })
      await desk.reply(runId, { requestId, valueHash, decision: 'reject', note: 'Shorter', by: 'ann' })
      await leave(desk)
      expect(calls).toHaveLength(1)
      const second = await open({ store, capabilities: [writer(calls)] })
      expect((await second.result(runId)).status).toBe('waiting')
      expect(calls[1]?.feedback).toMatchObject([{ note: 'Shorter', value: { text: 'write 1' } }])
      await answer(second, runId, 'approve')
      expect(await second.result(runId)).toMatchObject({ output: { text: 'write 2' } })
      await leave(second)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('is replayed and verified like any other history', async () => {
    const app = await open({ capabilities: [writer([])] })
    const { runId } = await app.run(approved(), { draft })
    await reject(app, runId, { note: 'Shorter' })
    await answer(app, runId, 'approve')
    await app.result(runId)
    expect(await app.replay(runId)).toMatchObject({ differences: [] })
  })
})

describe('a labelled node', () => {
  const labelled = (more: object = {}) =>
    envelope({
      policies: { planner: { directives: { hitlRequiredFor: ['write'] } }, ...more },
      constraints: { maxAsks: 10 },
    })

  it('whose output is rejected runs again with the note, before anything after it runs', async () => {
    const calls: Call[] = []
    const app = await open({ capabilities: [writer(calls)] })
    const { runId } = await app.run(labelled(), { draft })
    await reject(app, runId, { note: 'Warmer' })
    expect(calls[1]?.feedback).toMatchObject([{ note: 'Warmer', value: { text: 'write 1' } }])
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'write 2' } })
  })

  it('is a human task: the person sees what was said about the last value', async () => {
    const human = defineCapability({
      capabilityId: 'write',
      kind: 'human',
      inputContract: { type: 'object' },
      outputContract: text,
    })
    const app = await open({ capabilities: [human] })
    const { runId } = await app.run(approved(), { draft })
    await answer(app, runId, 'answer', { text: 'By hand' })
    await app.result(runId)
    await reject(app, runId, { note: 'Please sign it' })
    expect(await openAsk(app, runId)).toMatchObject({
      kind: 'task',
      feedback: [{ note: 'Please sign it', value: { text: 'By hand' } }],
    })
  })
})

describe('feedback for a planner', () => {
  const planned = (calls: Call[]) => [writer(calls, 'first.write'), writer(calls, 'second.write')]

  it('reject with replan reaches a planner with the note, the value and the nodes', async () => {
    const requests: DraftRequest[] = []
    const calls: Call[] = []
    const planner: Planner = {
      name: 'by hand',
      draft: async (request) => {
        requests.push(request)
        return { nodes: [{ id: 'write', capabilityId: 'write' }] }
      },
    }
    const app = await open({ capabilities: [writer(calls)], planner })
    const { runId } = await app.run(approved())
    await reject(app, runId, { note: 'Other words', rejectAction: 'replan' })
    expect(requests[1]).toMatchObject({
      phase: 'replan',
      trigger: { rationale: 'Other words', nodeIds: ['write'] },
      feedback: [{ source: 'reply', note: 'Other words', value: { text: 'write 1' } }],
    })
    // The node keeps its id, but what was rejected is not kept.
    expect(calls[1]?.feedback).toMatchObject([{ note: 'Other words' }])
    expect(await openAsk(app, runId)).toMatchObject({ value: { text: 'write 2' } })
  })

  it('the search planner does the rejected part anew, with another capability where there is one', async () => {
    const calls: Call[] = []
    const app = await open({ capabilities: planned(calls) })
    const { runId } = await app.run(approved())
    const { value } = await openAsk(app, runId)
    await reject(app, runId, { note: 'Other words', rejectAction: 'replan' })
    const again = await openAsk(app, runId)
    const [before, after] = [value, again.value].map((shown) => String((shown as { text: string }).text))
    expect(after?.split(' ')[0]).not.toBe(before?.split(' ')[0])
    expect(calls[1]?.feedback).toMatchObject([{ note: 'Other words' }])
  })

  it('a model planner reads it in its prompt', async () => {
    const prompts: string[] = []
    const provider = {
      name: 'scripted',
      free: true,
      generate: async ({ prompt }: { prompt: string }) => {
        prompts.push(prompt)
        return {
          kind: 'text',
          text: JSON.stringify({ nodes: [{ id: `w${prompts.length}`, capabilityId: 'write' }] }),
          usage: {},
        }
      },
    } as unknown as Provider
    const calls: Call[] = []
    const app = await open({
      capabilities: [writer(calls)],
      planner: modelPlanner({ provider, model: 'm' }),
    })
    const { runId } = await app.run(approved())
    await reject(app, runId, { note: 'Less purple', rejectAction: 'replan' })
    expect(prompts).toHaveLength(2)
    expect(prompts[0]).not.toContain('feedback')
    expect(prompts[1]).toContain('Less purple')
    expect(prompts[1]).toContain('write 1')
    // The new node has another id; it fills the answer, so the feedback is for it.
    expect(calls[1]?.feedback).toMatchObject([{ note: 'Less purple', nodes: ['w1'] }])
  })

  it('findings about the answer reach the next planner and the nodes that made it', async () => {
    const scored = {
      type: 'object',
      properties: { text: { type: 'string' }, score: { type: 'number' } },
      required: ['text'],
    } as const
    const requests: DraftRequest[] = []
    const received: (readonly Feedback[])[] = []
    const planner: Planner = {
      name: 'by hand',
      draft: async (request) => {
        requests.push(request)
        const score = { node: 'write', pointer: '/score' }
        return {
          nodes: [
            { id: 'write', capabilityId: 'write' },
            { id: 'check', capabilityId: 'check', kind: 'validation', inputs: { score } },
          ],
          output: { node: 'write' },
        }
      },
    }
    const write = defineCapability({
      capabilityId: 'write',
      inputContract: { type: 'object' },
      outputContract: scored,
      idempotent: true,
      run: (_, { feedback }) => {
        received.push(feedback)
        return received.length === 1 ? { text: 'Tea' } : { text: 'Tea', score: 0.9 }
      },
    })
    const check = local('check', () => ({ text: 'seen' }), {
      nodeKind: 'validation',
      inputContract: { type: 'object', properties: { score: { type: 'number' } } },
    })
    const app = await open({ planner, capabilities: [write, check] })
    const strong = { constraintId: 'strong', level: 'hard', expr: { '>=': [{ var: 'score' }, 0.5] } }
    const replan = { id: 'weak', trigger: { kind: 'onValidationFail' }, action: { type: 'replan' } }
    const done = await app.run(
      envelope({
        outputContract: { schema: scored, constraints: [strong] },
        policies: { runtime: [replan] },
      }),
    )
    expect(done).toMatchObject({ status: 'completed', output: { score: 0.9 } })
    const goal = {
      source: 'goal',
      nodes: ['write'],
      value: { text: 'Tea' },
      issues: [{ message: expect.stringContaining('strong') }],
    }
    expect(requests[1]).toMatchObject({ trigger: { nodeIds: ['write'] }, feedback: [goal] })
    expect(received[1]).toMatchObject([goal])
  })

  it('why a draft was rejected is recorded, too', async () => {
    const app = await open({ capabilities: [writer([])] })
    const done = await app.run(envelope(), { draft: { nodes: [{ id: 'n', capabilityId: 'unknown' }] } })
    expect(done.failure).toBe('plan/rejected')
    const entry = (await journal(app, done.runId)).find(({ type }) => type === 'feedback_recorded')
    expect(entry?.payload).toMatchObject({ source: 'plan', issues: expect.any(Array) })
    const { issues } = (entry?.payload ?? {}) as Feedback
    expect(issues?.[0]?.at).toEqual({ pointer: '/nodes/n' })
  })
})

describe('what is recorded', () => {
  it('is redacted by the names of keys, and cut', async () => {
    const schema = { type: 'object' } as const
    const app = await open({
      capabilities: [
        local('write', () => ({ password: 'hunter2', long: 'x'.repeat(20_000) }), { outputContract: schema }),
      ],
    })
    const { runId } = await app.run({ ...approved(), outputContract: { schema } }, { draft })
    await reject(app, runId, { note: 'n'.repeat(10_000), rejectAction: 'fail' })
    const entry = (await journal(app, runId)).find(({ type }) => type === 'feedback_recorded')
    const { note, value, cut } = (entry?.payload ?? {}) as Feedback
    expect(JSON.stringify(value)).not.toContain('hunter2')
    expect(String(value).length).toBeLessThanOrEqual(8_000)
    expect(note?.length).toBeLessThanOrEqual(4_000)
    expect(cut).toBe(true)
  })

  it('a validation failure is feedback for the retry', async () => {
    const received: (readonly Feedback[])[] = []
    const write = defineCapability({
      capabilityId: 'write',
      inputContract: { type: 'object' },
      // The function breaks its contract, which the compiler would notice.
      outputContract: text as JsonSchema,
      idempotent: true,
      run: (_, { feedback }) => {
        received.push(feedback)
        return received.length === 1 ? { text: 7 } : { text: 'Tea' }
      },
    })
    const app = await open({ capabilities: [write] })
    const done = await app.run(envelope(), {
      draft: { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 1 } }] },
    })
    expect(done.status).toBe('completed')
    expect(received).toMatchObject([
      [],
      [{ source: 'validation', value: { text: 7 }, issues: [{ at: { pointer: '/text' } }] }],
    ])
  })
})

describe('feedback about an item of a map', () => {
  it('stays with the item: nodes after the map do not get it', async () => {
    const calls: Call[] = []
    const tries = new Map<Json, number>()
    const shout = local(
      'shout',
      ({ word }) => {
        const nth = (tries.get(word ?? null) ?? 0) + 1
        tries.set(word ?? null, nth)
        return { text: word === 'bad' && nth === 1 ? 3 : `${word}!` }
      },
      { inputContract: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] } },
    )
    const app = await open({ capabilities: [shout, writer(calls)] })
    const each = {
      id: 'each',
      inputs: { items: { value: ['good', 'bad'] } },
      map: {},
      body: {
        nodes: [
          { id: 'say', capabilityId: 'shout', inputs: { word: { input: '/item' } }, retry: { max: 1 } },
        ],
        output: { node: 'say', pointer: '/text' },
      },
    }
    const write = { id: 'write', capabilityId: 'write', inputs: { said: { node: 'each' } } }
    const done = await app.run(envelope(), { draft: { nodes: [each, write] } })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'write 1' } })
    expect(calls).toEqual([{ inputs: { said: ['good!', 'bad!'] }, feedback: [] }])
  })
})
