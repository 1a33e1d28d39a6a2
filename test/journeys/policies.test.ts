/** Runtime policies: every trigger fires, every action acts, and no policy acts more often than it may. */
import { describe, expect, it } from 'vitest'
import { type App, defineCapability, type Planner } from '../../src/index.ts'
import { answer, envelope, journal, local, open, rao, says, text } from './support.ts'

const one = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const tea = () => local('write', () => ({ text: 'Tea' }))
const scored = {
  type: 'object',
  properties: { text: { type: 'string' }, score: { type: 'number' } },
  required: ['text'],
} as const

const under = (...runtime: unknown[]) => envelope({ policies: { runtime } })

async function triggered(app: App, runId: string) {
  return (await journal(app, runId)).flatMap((event) =>
    event.type === 'policy_triggered'
      ? [`${event.payload.trigger} ${event.payload.policyId} ${event.payload.actionDetails.type}`]
      : [],
  )
}

describe('triggers', () => {
  it('onStart acts before anything is planned', async () => {
    const app = await open({ capabilities: [tea()] })
    const fail = {
      id: 'closed',
      trigger: { kind: 'onStart' },
      action: { type: 'fail', message: 'We are closed' },
    }
    const done = await app.run(under(fail), { draft: one })
    expect(done).toMatchObject({
      status: 'failed',
      failure: 'policy/fail',
      issues: [{ message: 'We are closed' }],
    })
    expect(await triggered(app, done.runId)).toEqual(['onStart closed fail'])
  })

  it('onNodeComplete sees the values of the run, and the first match wins', async () => {
    const app = await open({
      capabilities: [local('write', () => ({ text: 'Tea', score: 0.7 }), { outputContract: scored })],
    })
    const low = { '<': [{ var: 'score' }, 0.6] }
    const middle = { between: [{ var: 'score' }, 0.6, 0.8] }
    const emit = (event: string) => ({ type: 'emit', event })
    const when = (id: string, condition: unknown) => ({
      id,
      trigger: { kind: 'onNodeComplete', selector: { kind: 'execution' }, condition },
      action: emit(id),
    })
    const done = await app.run(
      under(when('low', low), when('middle', middle), when('any', { '>=': [{ var: 'score' }, 0] })),
      { draft: one },
    )
    expect(await triggered(app, done.runId)).toEqual(['onNodeComplete middle emit'])
    const logs = (await journal(app, done.runId)).filter((event) => event.type === 'log')
    expect(logs.map(({ payload }) => payload)).toEqual([{ event: 'middle' }])
  })

  it('onNodeComplete selects by capability', async () => {
    const app = await open({ capabilities: [tea()] })
    const other = {
      id: 'other',
      trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'paint' } },
      action: { type: 'fail' },
    }
    expect((await app.run(under(other), { draft: one })).status).toBe('completed')
  })

  it('onNodeComplete selects by the capability of a person, too', async () => {
    const person = defineCapability({
      capabilityId: 'person',
      kind: 'human',
      inputContract: { type: 'object' },
      outputContract: text,
    })
    const app = await open({ capabilities: [person] })
    const received = {
      id: 'heard',
      trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'person' } },
      action: { type: 'emit', event: 'heard' },
    }
    const { runId } = await app.run(under(received), {
      draft: { nodes: [{ id: 'do', capabilityId: 'person' }] },
    })
    await answer(app, runId, 'answer', { text: 'Tea' })
    expect(await app.result(runId)).toMatchObject({
      status: 'completed',
      provenance: [{ nodeId: 'do', capabilityId: 'person', person: 'ann' }],
    })
    expect(await triggered(app, runId)).toEqual(['onNodeComplete heard emit'])
  })

  it('of all policies that a completed node sets off, the first in the list acts, whatever its trigger', async () => {
    const app = await open({
      capabilities: [local('write', () => ({ text: 'Tea', score: 0.1 }), { outputContract: scored })],
    })
    const guard = {
      id: 'guard',
      trigger: { kind: 'onMetricBelow', metric: 'score', threshold: 0.5 },
      action: { type: 'fail', message: 'Too weak' },
    }
    const notice = {
      id: 'notice',
      trigger: { kind: 'onNodeComplete' },
      action: { type: 'emit', event: 'done' },
    }
    const guarded = await app.run(under(guard, notice), { draft: one })
    expect(guarded).toMatchObject({ status: 'failed', issues: [{ message: 'Too weak' }] })
    const noticed = await app.run(under(notice, guard), { draft: one })
    expect(await triggered(app, noticed.runId)).toEqual(['onNodeComplete notice emit'])
  })

  it('onValidationFail acts when an output does not satisfy its contract', async () => {
    const app = await open({ capabilities: [says('write', ['nothing like it', '{"text":"Tea"}'])] })
    const note = {
      id: 'note',
      trigger: { kind: 'onValidationFail' },
      action: { type: 'emit', event: 'bad_output' },
    }
    const done = await app.run(under(note), {
      draft: { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 1 } }] },
    })
    expect(done.status).toBe('completed')
    expect(await triggered(app, done.runId)).toEqual(['onValidationFail note emit'])
  })

  it('onValidationFail acts on the whole answer, once under each plan, and no person can approve it', async () => {
    const hard = { constraintId: 'strong', level: 'hard', expr: { '>=': [{ var: 'score' }, 0.5] } }
    const check = local('check', () => ({ text: 'seen' }), {
      nodeKind: 'validation',
      inputContract: { type: 'object', properties: { score: { type: 'number' } } },
    })
    const opened = async () => {
      let drafts = 0
      const draft: Planner['draft'] = async () => {
        const id = `write${++drafts}`
        const score = { node: id, pointer: '/score' }
        return {
          nodes: [
            { id, capabilityId: 'write' },
            { id: `check${drafts}`, capabilityId: 'check', kind: 'validation', inputs: { score } },
          ],
          output: { node: id },
        }
      }
      const write = () => (drafts === 1 ? { text: 'Tea' } : { text: 'Tea', score: 0.9 })
      const capabilities = [local('write', write, { outputContract: scored }), check]
      return open({ planner: { name: 'again', draft }, capabilities })
    }
    const when = (action: unknown) =>
      envelope({
        outputContract: { schema: scored, constraints: [hard] },
        policies: { runtime: [{ id: 'weak', trigger: { kind: 'onValidationFail' }, action }] },
      })
    const app = await opened()
    const replanned = await app.run(when({ type: 'replan' }))
    expect(replanned).toMatchObject({ status: 'completed', output: { score: 0.9 } })
    expect(await triggered(app, replanned.runId)).toEqual(['onValidationFail weak replan'])

    const asking = await opened()
    const { runId } = await asking.run(when({ type: 'hitl' }))
    await expect(answer(asking, runId, 'approve')).rejects.toMatchObject({ code: 'ask/invalid' })
    await answer(asking, runId, 'reject')
    expect(await asking.result(runId)).toMatchObject({ status: 'failed', failure: 'policy/fail' })
    const errors = (await journal(asking, runId)).filter(({ type }) => type === 'validation_error')
    expect(errors.map(({ payload }) => payload)).toMatchObject([{ scope: 'output' }])
  })

  it('onTimeout acts when the run takes longer, also while it waits', async () => {
    const app = await open({ capabilities: [local('write', () => new Promise(() => {}))] })
    const late = {
      id: 'late',
      trigger: { kind: 'onTimeout', ms: 30 },
      action: { type: 'fail', message: 'Too slow' },
    }
    const done = await app.run(under(late), { draft: one })
    expect(done).toMatchObject({ status: 'failed', issues: [{ message: 'Too slow' }] })
    expect(await triggered(app, done.runId)).toEqual(['onTimeout late fail'])
  })

  it('onMetricBelow sees a confidence, the satisfaction at the end, and numbers of facets', async () => {
    const below = (id: string, metric: string) => ({
      id,
      trigger: { kind: 'onMetricBelow', metric, threshold: 0.95 },
      action: { type: 'emit', event: id },
    })
    const sure = { nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true } }] }
    const app = await open({ capabilities: [says('write', [rao({ text: 'Tea' }, 0.9)])] })
    const confident = await app.run(under(below('shaky', 'confidence')), { draft: sure })
    expect(await triggered(app, confident.runId)).toEqual(['onMetricBelow shaky emit'])

    const facets = await open({
      capabilities: [local('write', () => ({ text: 'Tea', score: 0.7 }), { outputContract: scored })],
    })
    const scoredRun = await facets.run(under(below('poor', 'score')), { draft: one })
    expect(await triggered(facets, scoredRun.runId)).toEqual(['onMetricBelow poor emit'])

    const soft = { constraintId: 'long', level: 'soft', expr: { '==': [{ var: 'text' }, 'A long text'] } }
    const unsatisfied = envelope({
      outputContract: { schema: text, constraints: [soft] },
      policies: {
        runtime: [
          { ...below('unsatisfied', 'satisfaction'), action: { type: 'fail', message: 'Not good enough' } },
        ],
      },
    })
    const plain = await open({ capabilities: [tea()] })
    expect(await plain.run(unsatisfied, { draft: one })).toMatchObject({
      status: 'failed',
      issues: [{ message: 'Not good enough' }],
    })
  })

  it('manual is fired by a person, by name, and nothing else is', async () => {
    const app = await open({ capabilities: [local('write', () => new Promise(() => {}))] })
    const stop = {
      id: 'stop',
      trigger: { kind: 'manual' },
      action: { type: 'fail', message: 'Stopped by hand' },
    }
    const { id: runId } = await app.start(under(stop), { draft: one })
    await expect(app.trigger(runId, { policyId: 'start', by: 'ann' })).rejects.toMatchObject({
      code: 'policy/unknown',
    })
    await app.trigger(runId, { policyId: 'stop', by: 'ann' })
    expect(await app.result(runId)).toMatchObject({
      status: 'failed',
      issues: [{ message: 'Stopped by hand' }],
    })
  })

  it('a disabled policy does nothing', async () => {
    const app = await open({ capabilities: [tea()] })
    const off = { id: 'off', enabled: false, trigger: { kind: 'onStart' }, action: { type: 'fail' } }
    expect((await app.run(under(off), { draft: one })).status).toBe('completed')
  })
})

describe('actions', () => {
  const gate = (more = {}) => ({
    id: 'gate',
    trigger: { kind: 'onNodeComplete' },
    action: { type: 'hitl', rationale: 'Review it', ...more },
  })

  it('hitl: approval resumes and rejection fails, unless the policy says otherwise', async () => {
    const app = await open({ capabilities: [tea()] })
    const approved = await app.run(under(gate()), { draft: one })
    expect(approved.status).toBe('waiting')
    await answer(app, approved.runId, 'approve')
    expect((await app.result(approved.runId)).status).toBe('completed')

    const rejected = await app.run(under(gate()), { draft: one })
    await answer(app, rejected.runId, 'reject')
    expect(await app.result(rejected.runId)).toMatchObject({ status: 'failed', failure: 'policy/fail' })
  })

  it('hitl: nested follow-ups are carried out, asks within asks included', async () => {
    const app = await open({ capabilities: [tea()] })
    const nested = gate({
      approveAction: {
        type: 'hitl',
        rationale: 'Really?',
        rejectAction: { type: 'pause', reason: 'Think again' },
      },
    })
    const { runId } = await app.run(under(nested), { draft: one })
    await answer(app, runId, 'approve')
    expect((await app.result(runId)).status).toBe('waiting')
    await answer(app, runId, 'reject')
    expect(await app.result(runId)).toMatchObject({ status: 'waiting', paused: {} })
    await app.resume(runId, { by: 'ann' })
    expect((await app.result(runId)).status).toBe('completed')
    expect(await triggered(app, runId)).toEqual([
      'onNodeComplete gate hitl',
      'follow_up gate hitl',
      'follow_up gate pause',
    ])
  })

  it('pause keeps everything, policy state included, and resume does not plan again', async () => {
    const app = await open({ capabilities: [tea()] })
    const wait = {
      id: 'wait',
      trigger: { kind: 'onNodeComplete' },
      action: { type: 'pause', reason: 'Lunch' },
      maxAttempts: 1,
    }
    const { runId, status } = await app.run(under(wait), { draft: one })
    expect(status).toBe('waiting')
    expect((await app.state(runId)).policyFired.get('wait')).toBe(1)
    await app.resume(runId, { by: 'ann' })
    expect((await app.result(runId)).status).toBe('completed')
    const requests = (await journal(app, runId)).filter(({ type }) => type === 'plan_requested')
    expect(requests).toHaveLength(1)
  })

  it('replan after an approval makes a new version; what was approved is not run again', async () => {
    const planner = { name: 'same', draft: async () => one }
    const app = await open({ planner, capabilities: [tea()] })
    const hold = {
      id: 'hold',
      trigger: { kind: 'onNodeComplete' },
      action: { type: 'hitl', approveAction: { type: 'replan' } },
    }
    const { runId } = await app.run(under(hold))
    await answer(app, runId, 'approve')
    expect((await app.result(runId)).status).toBe('completed')
    expect((await app.state(runId)).planVersion).toBe(2)
  })

  it('replan after a node that failed for good is made: the new plan does without it', async () => {
    let drafts = 0
    const planner = {
      name: 'other',
      draft: async () => ({
        nodes: [drafts++ === 0 ? { id: 'a', capabilityId: 'bad' } : { id: 'b', capabilityId: 'write' }],
      }),
    }
    const app = await open({ planner, capabilities: [tea(), local('bad', () => ({ wrong: true }))] })
    const fix = { id: 'fix', trigger: { kind: 'onValidationFail' }, action: { type: 'replan' } }
    const done = await app.run(under(fix))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect((await app.state(done.runId)).planVersion).toBe(2)
  })

  it('replan is limited: a run that is never good enough ends, and says why', async () => {
    let drafts = 0
    const planner = {
      name: 'new',
      draft: async () => ({ nodes: [{ id: `write${++drafts}`, capabilityId: 'write' }] }),
    }
    const app = await open({ planner, capabilities: [tea()] })
    const again = { id: 'again', trigger: { kind: 'onNodeComplete' }, action: { type: 'replan' } }
    const ended = await app.run(under({ ...again, maxAttempts: 9 }))
    expect(ended).toMatchObject({ status: 'failed', failure: 'plan/replan-limit' })
    expect(drafts).toBe(3)
    expect(await app.run(under(again))).toMatchObject({ status: 'failed', failure: 'plan/replan-limit' })
    const patient = await app.run(under({ ...again, maxAttempts: 2 }))
    expect(patient.status).toBe('completed')
  })

  it('asks at most as often as the run may, and an ask that cannot be made denies', async () => {
    const app = await open({ capabilities: [tea()] })
    const done = await app.run(under(gate()), { draft: { ...one, limits: { maxAsks: 0 } } })
    expect(done).toMatchObject({ status: 'failed', failure: 'policy/fail' })
  })

  it('an ask without an answer in time counts as rejected', async () => {
    const app = await open({ capabilities: [tea()], askMs: 30 })
    const { runId } = await app.run(under(gate()), { draft: one })
    for await (const event of app.watch(runId)) {
      if (event.type === 'hitl_resolved')
        expect(event.payload).toMatchObject({ decision: 'expired', by: 'system' })
    }
    expect((await app.result(runId)).status).toBe('failed')
  })
})
