/**
 * An ordering (`< <= > >= between`) of anything but two present numbers is false, in the proof and in the run alike: so
 * its negation is true, and no operand of the wrong type decides the condition around it.
 */

import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import type { DraftInput } from '../../../src/domain/envelope/envelope-input.ts'
import { envelope, journal, local, open } from '../../journeys/support.ts'

const low = { '<': [{ var: 'a' }, 0.5] }
const single = (schema: Json) => ({ type: 'object', properties: { a: schema }, required: ['a'] })
const one = { nodes: [{ id: 'write', capabilityId: 'write' }] }

/** Runs one node that returns `{ a }`, declared with `schema`, under the constraint. */
async function runWith(expr: Json, { a, schema = { type: 'string' } }: { a: Json; schema?: Json }) {
  const app = await open({
    capabilities: [local('write', () => ({ a }), { outputContract: single(schema) })],
  })
  const outputContract = {
    schema: single(schema),
    constraints: [{ constraintId: 'c', expr, level: 'hard' }],
  }
  const done = await app.run(envelope({ outputContract }), { draft: one })
  return { app, done }
}

describe('a constraint over unlike types', () => {
  const holding: [string, Json][] = [
    ['the negation of an ordering', { '!': [low] }],
    ['a negated between', { '!': { between: [{ var: 'a' }, 0, 1] } }],
    ['or, the ordering first', { or: [low, { '==': [{ var: 'a' }, 'high'] }] }],
    ['or, the ordering last', { or: [{ '==': [{ var: 'a' }, 'high'] }, low] }],
    ['and of two negations', { and: [{ '!': low }, { '!': { '>=': [{ var: 'a' }, 0.5] } }] }],
    ['an ordering compared with false', { '==': [{ '>': [1, { var: 'a' }] }, false] }],
  ]
  it.each(holding)('%s holds in the run as it was proved', async (_, expr) => {
    const { done } = await runWith(expr, { a: 'high', schema: { enum: ['high'] } })
    expect(done).toMatchObject({ status: 'completed', output: { a: 'high' } })
  })

  it('is proved with a finding where the ordered value is never a number', async () => {
    const { app, done } = await runWith({ '!': [low] }, { a: 'high' })
    expect(done.status).toBe('completed')
    const { plan } = await app.state(done.runId)
    expect(plan?.diagnostics).toMatchObject({
      status: 'accepted_with_findings',
      infos: [],
      failures: [
        { constraintId: 'c', status: 'satisfied', details: { code: 'plan/unlike-types', vars: ['a'] } },
      ],
    })
  })

  it.each([
    ['<', low],
    ['>=', { '>=': [{ var: 'a' }, 0.5] }],
    ['between', { between: [{ var: 'a' }, 0, 1] }],
    ['and', { and: [{ '!': low }, { '>': [{ var: 'a' }, 0] }] }],
  ] as [string, Json][])('%s is false for every text, and the draft is rejected', async (_, expr) => {
    const { done } = await runWith(expr, { a: 'high' })
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
  })

  it.each(['high', true, null, [0.1], { b: 0.1 }, 0.9] as Json[])(
    'holds at the guard and at the end for %j',
    async (a) => {
      const app = await open({
        capabilities: [
          local('write', () => ({ a }), { outputContract: single({}) }),
          local('check', () => ({ text: 'checked' }), {
            inputContract: single({}),
            nodeKind: 'validation',
          }),
        ],
      })
      const outputContract = {
        schema: single({}),
        constraints: [{ constraintId: 'c', expr: { '!': [low] }, level: 'hard' }],
      }
      const draft = {
        nodes: [
          { id: 'write', capabilityId: 'write' },
          { id: 'check', capabilityId: 'check' },
        ],
      }
      const done = await app.run(envelope({ outputContract }), { draft })
      expect(done).toMatchObject({ status: 'completed', output: { a } })
    },
  )
})

describe('outside the contract', () => {
  const texts = { outputContract: single({ type: 'string' }) }

  it.each([
    ['first', { or: [low, { '==': [{ var: 'a' }, 'high'] }] }],
    ['last', { or: [{ '==': [{ var: 'a' }, 'high'] }, low] }],
    ['negated', { '!': low }],
  ] as [string, Json][])('a post-condition holds: the ordering %s', async (_, condition) => {
    let calls = 0
    const write = local(
      'write',
      () => {
        calls += 1
        return { a: 'high' }
      },
      { ...texts, postConditions: [condition] },
    )
    const app = await open({ capabilities: [write] })
    const done = await app.run(envelope({ outputContract: { schema: single({ type: 'string' }) } }), {
      draft: one,
    })
    expect(done.status).toBe('completed')
    expect(calls).toBe(1)
  })

  it('a failed post-condition says which operand was no number', async () => {
    const app = await open({
      capabilities: [local('write', () => ({ a: 'high' }), { ...texts, postConditions: [low] })],
    })
    const done = await app.run(envelope({ outputContract: { schema: single({ type: 'string' }) } }), {
      draft: one,
    })
    expect(done.status).toBe('failed')
    expect(JSON.stringify(await journal(app, done.runId))).toContain('the condition needs a number')
  })

  it.each([
    ['first', { or: [{ '<': [{ var: 'topic' }, 1] }, { '==': [{ var: 'topic' }, 'tea'] }] }],
    ['last', { or: [{ '==': [{ var: 'topic' }, 'tea'] }, { '<': [{ var: 'topic' }, 1] }] }],
    ['negated', { '!': { '<': [{ var: 'topic' }, 1] } }],
  ] as [string, Json][])('a route is taken: the ordering %s', async (_, condition) => {
    const say = (word: string) => local(word, () => ({ text: word }))
    const app = await open({ capabilities: [say('yes'), say('no')] })
    const draft: DraftInput = {
      nodes: [
        {
          id: 'gate',
          kind: 'routing',
          inputs: { topic: { envelope: '/inputs/topic' } },
          routing: { routes: [{ condition, to: 'yes' }], elseTo: 'no' },
        },
        { id: 'yes', capabilityId: 'yes' },
        { id: 'no', capabilityId: 'no' },
      ],
      output: [{ node: 'yes' }, { node: 'no' }],
    }
    const done = await app.run(envelope(), { draft: draft })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'yes' } })
  })

  it.each([
    ['does not act on an ordering of a text', { '<': [{ var: 'text' }, 0.7] }, 'completed'],
    ['acts on its negation', { '!': { '<': [{ var: 'text' }, 0.7] } }, 'failed'],
    ['acts on or, the ordering first', { or: [{ '<': [{ var: 'text' }, 0.7] }, true] }, 'failed'],
  ] as [string, Json, string][])('a policy %s', async (_, condition, status) => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'high' }))] })
    const policy = { id: 'p', trigger: { kind: 'onNodeComplete', condition }, action: { type: 'fail' } }
    const done = await app.run(envelope({ policies: { runtime: [policy] } }), { draft: one })
    expect(done.status).toBe(status)
  })

  it('a policy whose condition runs out of steps still asks a person', async () => {
    const long = 'x'.repeat(200_000)
    const app = await open({ capabilities: [local('write', () => ({ text: long }))] })
    const condition = { in: [{ var: 'text' }, { var: 'text' }] }
    const policy = { id: 'p', trigger: { kind: 'onNodeComplete', condition }, action: { type: 'fail' } }
    const done = await app.run(envelope({ policies: { runtime: [policy] } }), { draft: one })
    expect(done.status).toBe('waiting')
    const [ask] = (await journal(app, done.runId)).filter(({ type }) => type === 'hitl_request')
    expect(JSON.stringify(ask)).toContain('cannot be decided')
  })
})

describe('is reported where it is never meant', () => {
  const texts = single({ type: 'string' })
  const findings = async (nodes: DraftInput['nodes'], more: object = {}) => {
    const app = await open({
      capabilities: [
        local('write', () => ({ a: 'high' }), { outputContract: texts }),
        local('next', () => ({ a: 'high' }), { outputContract: texts }),
        local('check', () => ({ a: 'high' }), {
          inputContract: texts,
          outputContract: texts,
          nodeKind: 'validation',
        }),
      ],
    })
    const draft = { nodes, output: { node: 'last' } }
    const outputContract = { schema: single({ type: 'string' }), ...more }
    const done = await app.run(envelope({ outputContract }), { draft })
    const { plan } = await app.state(done.runId)
    const { failures = [], infos = [] } = plan?.diagnostics ?? {}
    return [...failures, ...infos].filter(({ details }) => details?.['code'] === 'plan/unlike-types')
  }

  it('in a post-condition', async () => {
    const found = await findings([{ id: 'last', capabilityId: 'write', postConditions: [{ '!': low }] }])
    expect(found).toMatchObject([
      {
        nodeId: 'last',
        constraint: 'post-condition 1 of "last" orders numbers',
        suggestion: expect.stringContaining('a is never a number'),
        details: { vars: ['a'] },
      },
    ])
  })

  it('in a route', async () => {
    const found = await findings([
      { id: 'write', capabilityId: 'write' },
      {
        id: 'gate',
        inputs: { a: { node: 'write', pointer: '/a' } },
        routing: { routes: [{ condition: low, to: 'last' }], elseTo: 'last' },
      },
      { id: 'last', capabilityId: 'next' },
    ])
    expect(found).toMatchObject([
      { nodeId: 'gate', constraint: 'route 1 of "gate" orders numbers', details: { vars: ['a'] } },
    ])
  })

  it('in the exit of a loop', async () => {
    const found = await findings([
      {
        id: 'last',
        loop: { maxRounds: 2, until: { or: [low, { '==': [{ var: 'a' }, 'high'] }] } },
        inputs: { state: { value: { a: 'none' } } },
        body: { nodes: [{ id: 'write', capabilityId: 'write' }], output: { node: 'write' } },
      },
    ])
    expect(found).toMatchObject([{ nodeId: 'last', constraint: 'loop.until of "last" orders numbers' }])
  })

  it('in a constraint that a guard checks at run time', async () => {
    const expr = { or: [low, { '==': [{ var: 'a' }, 'high'] }] }
    const found = await findings(
      [
        { id: 'write', capabilityId: 'write' },
        { id: 'last', capabilityId: 'check', inputs: { a: { node: 'write', pointer: '/a' } } },
      ],
      { constraints: [{ constraintId: 'c', expr, level: 'hard' }] },
    )
    expect(found).toMatchObject([
      {
        constraintId: 'c',
        suggestion: expect.stringContaining('a is never a number'),
        details: { note: 'runtime guarded', vars: ['a'] },
      },
    ])
  })

  it('and not where the value may be a number', async () => {
    const app = await open({
      capabilities: [
        local('write', () => ({ a: 1 }), {
          outputContract: single({ type: ['string', 'number'] }),
          postConditions: [{ '>': [{ var: 'a' }, 0] }],
        }),
      ],
    })
    const done = await app.run(envelope({ outputContract: { schema: single({}) } }), { draft: one })
    expect(JSON.stringify((await app.state(done.runId)).plan?.diagnostics)).not.toContain('unlike-types')
  })
})
