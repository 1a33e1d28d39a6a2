/** A policy that asks a person when validation fails asks about the failure: with what failed, and before it is final. */
import { describe, expect, it } from 'vitest'
import type { App } from '../../../src/app.ts'
import type { Json } from '../../../src/base/json.ts'
import { answer, envelope, journal, listTypes, local, open, says, text } from '../../journeys/support.ts'

const asking = (action: object = {}, more: object = {}) => ({
  runtime: [
    { id: 'look', trigger: { kind: 'onValidationFail' }, action: { type: 'hitl', ...action }, ...more },
  ],
})
const draft = (more: object = {}) => ({ nodes: [{ id: 'write', capabilityId: 'write', ...more }] })
const wrongFirst = () => {
  let calls = 0
  const write = local('write', () => (++calls === 1 ? { text: 7 } : { text: 'Tea' }))
  return { write, calls: () => calls }
}
const pending = async (app: App, runId: string) => (await app.store.asks({ runId, status: 'pending' }))[0]!
const reject = async (app: App, runId: string, more: object = {}) => {
  const { requestId, valueHash } = await pending(app, runId)
  await app.reply(runId, { requestId, valueHash, decision: 'reject', by: 'ann', ...more })
}

describe('a policy that asks about an invalid output', () => {
  it('shows value, issues and contract, before any retry and before the node is final', async () => {
    const { write, calls } = wrongFirst()
    const app = await open({ capabilities: [write] })
    const given = envelope({ policies: asking({ rationale: 'Is this right?' }) })
    const { runId, status } = await app.run(given, { draft: draft({ retry: { max: 1 } }) })
    expect(status).toBe('waiting')
    expect(await pending(app, runId)).toMatchObject({
      kind: 'failure',
      nodeId: 'write',
      policyId: 'look',
      question: 'Is this right?',
      value: { text: 7 },
      issues: [{ at: { pointer: '/text' } }],
      schema: { required: ['text'] },
      decisions: ['edit', 'answer', 'reject'],
      rejectActions: ['fail', 'retry', 'replan'],
    })
    const events = await journal(app, runId)
    expect(listTypes(events)).not.toContain('node_error')
    expect(events.filter((e) => e.type === 'timer_set' && e.payload.purpose.kind === 'retry')).toEqual([])
    await expect(answer(app, runId, 'approve')).rejects.toMatchObject({ code: 'ask/invalid' })
    await expect(answer(app, runId, 'edit', { text: 8 })).rejects.toMatchObject({ code: 'ask/invalid' })
    await answer(app, runId, 'edit', { text: 'By hand' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'By hand' } })
    expect(calls()).toBe(1)
  })

  it('shows the raw text of a model, and the conditions that the value must satisfy', async () => {
    const whole = { '==': [{ var: 'text' }, 'Tea'] }
    const app = await open({ capabilities: [says('write', ['{"text": "Te"} and no more'])] })
    const given = envelope({ policies: asking() })
    const { runId } = await app.run(given, { draft: draft({ postConditions: [whole] }) })
    expect(await pending(app, runId)).toMatchObject({
      value: { text: 'Te' },
      raw: '{"text": "Te"} and no more',
      conditions: [whole],
      issues: [{ code: 'output/post-condition' }],
    })
    await expect(answer(app, runId, 'edit', { text: 'T' })).rejects.toMatchObject({ code: 'ask/invalid' })
    await answer(app, runId, 'answer', { text: 'Tea' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('runs the node again with the note where the rejection says retry', async () => {
    const notes: unknown[] = []
    let calls = 0
    const write = local('write', () => (++calls === 1 ? { text: 7 } : { text: 'Tea' }), {
      run: (_inputs: Json, { feedback }: { feedback: readonly { note?: string }[] }) => {
        notes.push(feedback.map(({ note }) => note))
        return ++calls === 1 ? { text: 7 } : { text: 'Tea' }
      },
    })
    const app = await open({ capabilities: [write] })
    const { runId } = await app.run(envelope({ policies: asking() }), { draft: draft() })
    await reject(app, runId, { rejectAction: 'retry', note: 'Words, please' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(notes.at(-1)).toContain('Words, please')
  })

  it('runs the node again where the policy itself says retry, at most as often as the run may ask', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 7 }))] })
    const policies = asking({ rejectAction: { type: 'retry' } })
    const { runId } = await app.run(envelope({ policies, constraints: { maxAsks: 2 } }), { draft: draft() })
    expect((await pending(app, runId)).rejectAction).toEqual({ type: 'retry' })
    await reject(app, runId)
    await app.result(runId)
    // The last ask of the run cannot lead to a value about which no ask is left.
    expect((await pending(app, runId)).rejectAction).toEqual({ type: 'fail' })
    await reject(app, runId)
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'policy/fail' })
  })

  it('ends the run where it is rejected and nothing else is said, also when an edge would catch the failure', async () => {
    const app = await open({
      capabilities: [local('write', () => ({ text: 7 })), local('rescue', () => ({ text: 'x' }))],
    })
    const { runId } = await app.run(envelope({ policies: asking() }), {
      draft: {
        nodes: [
          { id: 'write', capabilityId: 'write' },
          { id: 'rescue', capabilityId: 'rescue' },
        ],
        edges: [{ from: 'write', to: 'rescue', when: 'fail' }],
        output: [{ node: 'write' }, { node: 'rescue' }],
      },
    })
    await reject(app, runId, { note: 'No' })
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'policy/fail' })
  })

  it('makes a new plan where the rejection says replan', async () => {
    let plans = 0
    const planner = {
      name: 'two',
      draft: async () => ({ nodes: [{ id: 'write', capabilityId: ++plans === 1 ? 'bad' : 'good' }] }),
    }
    const capabilities = [local('bad', () => ({ text: 7 })), local('good', () => ({ text: 'Tea' }))]
    const app = await open({ planner, capabilities })
    const { runId } = await app.run(envelope({ policies: asking() }))
    await reject(app, runId, { rejectAction: 'replan', note: 'Another way' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('offers approval where the policy says what it leads to, and does not take the value for it', async () => {
    const app = await open({ capabilities: [wrongFirst().write] })
    const policies = asking({ approveAction: { type: 'pause', reason: 'Wait' } }, { maxAttempts: 1 })
    const { runId } = await app.run(envelope({ policies }), { draft: draft({ retry: { max: 1 } }) })
    expect((await pending(app, runId)).decisions).toEqual(['approve', 'edit', 'answer', 'reject'])
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'waiting', paused: {} })
    await app.resume(runId, { by: 'ann' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('continues with the retries of the node where a rejection only emits an event', async () => {
    const app = await open({ capabilities: [wrongFirst().write] })
    const policies = asking({ rejectAction: { type: 'emit', event: 'disliked' } })
    const { runId } = await app.run(envelope({ policies }), { draft: draft({ retry: { max: 1 } }) })
    await reject(app, runId)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const logs = (await journal(app, runId)).filter(({ type }) => type === 'log')
    expect(logs).toMatchObject([{ payload: { event: 'disliked' } }])
  })

  it('asks a second person with the same view where a rejection says so', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 7 }))] })
    const policies = asking({ rejectAction: { type: 'hitl', rationale: 'And you?' } })
    const { runId } = await app.run(envelope({ policies }), { draft: draft() })
    await reject(app, runId)
    await app.result(runId)
    expect(await pending(app, runId)).toMatchObject({
      kind: 'failure',
      question: 'And you?',
      value: { text: 7 },
      issues: [{ at: { pointer: '/text' } }],
    })
    await answer(app, runId, 'edit', { text: 'Tea' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })
})

describe('a policy that asks inside a map', () => {
  const body = { nodes: [{ id: 'write', capabilityId: 'write', inputs: { item: { input: '/item' } } }] }
  const map = { nodes: [{ id: 'each', map: {}, body, inputs: { items: { envelope: '/inputs/list' } } }] }
  const texts = { type: 'object', required: ['each'], properties: { each: { type: 'array' } } }
  const listed = (policies: object) =>
    envelope({ inputs: { list: [1, 2, 3] }, policies, outputContract: { schema: texts } })
  const output = { properties: { each: { node: 'each' } } }
  const seen = () => {
    const counts = new Map<unknown, number>()
    const write = local('write', ({ item }) => {
      counts.set(item, (counts.get(item) ?? 0) + 1)
      return item === 2 && counts.get(item) === 1 ? { text: 7 } : { text: `${item}` }
    })
    return { write, counts }
  }

  it('takes a value for the item', async () => {
    const { write, counts } = seen()
    const app = await open({ capabilities: [write] })
    const { runId } = await app.run(listed(asking()), { draft: { ...map, output } })
    expect(await pending(app, runId)).toMatchObject({ kind: 'failure', nodeId: 'each[1].write' })
    await answer(app, runId, 'edit', { text: 'two' })
    const each = [{ text: '1' }, { text: 'two' }, { text: '3' }]
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { each } })
    expect(counts.get(2)).toBe(1)
  })

  it.each([
    ['of the policy', asking(), undefined],
    ['of the node', {}, 'ask'],
  ] as const)('runs only the item again after a rejection %s', async (_, policies, onFail) => {
    const { write, counts } = seen()
    const app = await open({ capabilities: [write] })
    const nodes = [{ ...map.nodes[0]!, body: { nodes: [{ ...body.nodes[0]!, ...(onFail && { onFail }) }] } }]
    const { runId } = await app.run(listed(policies), { draft: { nodes, output } })
    await reject(app, runId, { rejectAction: 'retry', note: 'Words' })
    const each = [{ text: '1' }, { text: '2' }, { text: '3' }]
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { each } })
    expect(Object.fromEntries(counts)).toEqual({ 1: 1, 2: 2, 3: 1 })
  })

  it('asks about the list of a map that does not satisfy its contract, and takes another', async () => {
    const write = local('write', () => ({ text: 'the same' }))
    const contracts = { output: { type: 'array', uniqueItems: true, maxItems: 10 } }
    for (const policies of [asking(), { onNodeFail: 'ask' }]) {
      const app = await open({ capabilities: [write] })
      const nodes = [{ ...map.nodes[0]!, contracts }]
      const started = await app.run(listed(policies), { draft: { nodes, output } })
      expect(started, JSON.stringify(started)).toMatchObject({ status: 'waiting' })
      const { runId } = started
      expect(await pending(app, runId)).toMatchObject({ kind: 'failure', nodeId: 'each', issues: [{}] })
      await reject(app, runId, { rejectAction: 'retry' })
      await app.result(runId)
      const each = ['a', 'b', 'c'].map((said) => ({ text: said }))
      await answer(app, runId, 'edit', each)
      expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { each } })
    }
  })
})

describe('a policy that asks about the whole answer', () => {
  const hard = { constraintId: 'strong', level: 'hard', expr: { '>=': [{ var: 'score' }, 0.5] } }
  const scored = { ...text, properties: { ...text.properties, score: { type: 'number' } } }
  /** The first answer lacks what the constraint reads, so that only the end can decide. */
  const started = async (action: object = {}, bad = 1) => {
    let calls = 0
    const write = local('write', () => (++calls <= bad ? { text: 'Tea' } : { text: 'Tea', score: 0.9 }), {
      outputContract: scored,
    })
    const check = local('check', () => ({ text: 'seen' }), {
      nodeKind: 'validation',
      inputContract: { type: 'object', properties: { score: { type: 'number' } } },
    })
    const app = await open({ capabilities: [write, check] })
    const given = envelope({
      outputContract: { schema: scored, constraints: [hard] },
      policies: { ...asking(action), planner: { directives: { askBeforeFinish: true } } },
    })
    const score = { node: 'write', pointer: '/score' }
    const nodes = [
      { id: 'write', capabilityId: 'write' },
      { id: 'check', kind: 'validation', capabilityId: 'check', inputs: { score } },
    ]
    const { runId } = await app.run(given, { draft: { nodes, output: { node: 'write' } } as never })
    return { app, runId }
  }

  it('shows it with its issues, and takes another that satisfies the contract', async () => {
    const { app, runId } = await started()
    expect(await pending(app, runId)).toMatchObject({
      kind: 'failure',
      policyId: 'look',
      value: { text: 'Tea' },
      schema: scored,
      conditions: [hard.expr],
      issues: [{ code: 'output/constraint' }],
      decisions: ['edit', 'answer', 'reject'],
      producers: ['write'],
    })
    const weak = { text: 'Tea', score: 0.2 }
    await expect(answer(app, runId, 'edit', weak)).rejects.toMatchObject({ code: 'ask/invalid' })
    await answer(app, runId, 'edit', { text: 'Tea', score: 0.7 })
    // A person who writes the answer approves it.
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { score: 0.7 } })
  })

  it('makes it again after a rejection with retry, and asks again where that fails, too', async () => {
    const { app, runId } = await started({}, 2)
    await reject(app, runId, { rejectAction: 'retry', note: 'Score it' })
    await app.result(runId)
    expect(await pending(app, runId)).toMatchObject({ kind: 'failure', feedback: expect.any(Array) })
    await reject(app, runId, { rejectAction: 'retry' })
    await app.result(runId)
    expect(await pending(app, runId)).toMatchObject({ kind: 'final', value: { text: 'Tea', score: 0.9 } })
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { score: 0.9 } })
  })

  it.each([
    ['rejected', {}, 'policy/fail'],
    [
      'rejected, and the policy only emits',
      { rejectAction: { type: 'emit', event: 'no' } },
      'contract/unmet',
    ],
  ])('ends the run when it is %s', async (_, action, failure) => {
    const { app, runId } = await started(action)
    await reject(app, runId)
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure })
  })
})

describe('at the limit of asks', () => {
  it.each([
    ['a policy', { policies: asking() }, {}, 'policy/fail'],
    ['the node', {}, { onFail: 'ask' }, 'attempt/invalid'],
    ['the envelope', { policies: { onNodeFail: 'ask' } }, {}, 'attempt/invalid'],
  ])('the failure that %s would ask about names the limit', async (_, more, node, code) => {
    const app = await open({ capabilities: [local('write', () => ({ text: 7 }))] })
    const given = envelope({ constraints: { maxAsks: 1 }, ...more })
    const first = { id: 'first', capabilityId: 'write', label: 'first', ...node }
    const { runId } = await app.run(given, {
      draft: {
        nodes: [
          first,
          { ...first, id: 'write', inputs: { topic: { node: 'first', pointer: '/text' } } },
        ] as never,
        output: { node: 'write' },
      },
    })
    await answer(app, runId, 'edit', { text: 'Tea' })
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: code })
    const end = (await journal(app, runId)).at(-1)
    expect(end?.payload).toMatchObject({
      error: { message: expect.stringMatching(/asked 1 of at most 1 times \(constraints\.maxAsks\)/) },
    })
  })
})
