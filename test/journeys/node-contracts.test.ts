/** What a node gets and what it may do: its context, RAO's limits on it, and errors that name the facet. */
import { getNodeContract, prove } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import {
  type Dispatcher,
  defineCapability,
  type Json,
  type LocalContext,
  type Provider,
} from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'
import { capability, object, envelope as parsed } from '../plan/support.ts'
import { envelope, journal, leave, local, open, rao, says, text } from './support.ts'

/** Remembers what it was given. */
function listening(capabilityId: string) {
  const received: { inputs: Json; context: LocalContext }[] = []
  const defined = defineCapability({
    capabilityId,
    inputContract: { type: 'object' },
    outputContract: text,
    idempotent: true,
    run: (inputs, context) => {
      received.push({ inputs: inputs as Json, context })
      return { text: 'Tea' }
    },
  })
  return { received, defined }
}

describe('the context of a node', () => {
  it('is its slice of the envelope, what came before, knowledge, and what must come back', async () => {
    const { received, defined } = listening('write')
    const research = local('research', () => ({ fact: 'It is a leaf' }), {
      outputContract: { type: 'object', properties: { fact: { type: 'string' } }, required: ['fact'] },
    })
    const app = await open({ capabilities: [research, defined] })
    const draft = {
      nodes: [
        { id: 'research', capabilityId: 'research' },
        {
          id: 'write',
          capabilityId: 'write',
          instructions: 'Write one line',
          inputs: { fact: { node: 'research', pointer: '/fact' } },
          data: { knowledge: ['Tea is served hot', { source: 'handbook' }] },
        },
      ],
    }
    const given = envelope({
      inputs: { topic: 'tea', unrelated: 'coffee' },
      specialInstructions: ['No puns'],
    })
    expect((await app.run(given, { draft })).status).toBe('completed')
    expect(received[0]?.inputs).toEqual({ fact: 'It is a leaf' })
    expect(received[0]?.context).toMatchObject({
      objective: 'Write one line about tea',
      instructions: 'Write one line',
      specialInstructions: ['No puns'],
      knowledge: ['Tea is served hot', '{"source":"handbook"}'],
      returns: text,
    })
  })

  it('reaches a model in its prompt, knowledge included and secrets not', async () => {
    const prompts: string[] = []
    const provider: Provider = {
      name: 'test',
      async generate({ prompt }) {
        prompts.push(prompt)
        return { kind: 'text', text: '{"text": "Tea"}', finish: 'stop', usage: {} }
      },
    }
    const write = defineCapability({
      capabilityId: 'write',
      kind: 'model',
      inputContract: { type: 'object' },
      outputContract: text,
    })
    const app = await open({ capabilities: [write], providers: [provider], defaultModel: 'test/m' })
    const inputs = { login: { value: { user: 'ann', password: 'tea-for-two' } } }
    const node = { id: 'write', capabilityId: 'write', inputs, data: { knowledge: 'Served hot' } }
    expect((await app.run(envelope(), { draft: { nodes: [node] } })).status).toBe('completed')
    expect(prompts[0]).toContain('Knowledge: ["Served hot"]')
    expect(prompts[0]).toContain('"user":"ann"')
    expect(prompts[0]).not.toContain('tea-for-two')
  })
})

describe('constraints of a node', () => {
  const inputs = { login: { value: { user: 'ann', password: 'tea-for-two' } } }

  it('no_credential_access: its inputs are redacted, also for a function of this process', async () => {
    const { received, defined } = listening('write')
    const app = await open({ capabilities: [defined] })
    const run = (constraints: object) =>
      app.run(envelope(), { draft: { nodes: [{ id: 'write', capabilityId: 'write', inputs, constraints }] } })
    await run({})
    await run({ no_credential_access: true })
    expect(received.map((each) => each.inputs)).toEqual([
      { login: { user: 'ann', password: 'tea-for-two' } },
      { login: { user: 'ann', password: '[redacted]' } },
    ])
  })

  it('no_network_access: what is remote is not called, also where the proof could not know', async () => {
    let calls = 0
    const pigeon = (remote: boolean): Dispatcher => ({
      kind: 'pigeon',
      remote,
      async dispatch() {
        calls++
        return { outcome: 'ok', output: { value: { text: 'Tea' } }, issues: [], usage: { calls: 1 } }
      },
    })
    const write = defineCapability({
      capabilityId: 'write',
      kind: 'pigeon',
      inputContract: { type: 'object' },
      outputContract: text,
    })
    const draft = {
      nodes: [{ id: 'write', capabilityId: 'write', constraints: { no_network_access: true } }],
    }
    const far = await open({ capabilities: [write], dispatchers: [pigeon(true)] })
    const refused = await far.run(envelope(), { draft })
    expect(refused.status).toBe('failed')
    expect(refused.issues[0]?.message).toContain('no network access')
    expect(calls).toBe(0)
    const near = await open({ capabilities: [write], dispatchers: [pigeon(false)] })
    expect((await near.run(envelope(), { draft })).status).toBe('completed')
  })

  it('max_duration_ms: what takes longer is not waited for', async () => {
    const never = local('write', () => new Promise(() => {}))
    const app = await open({ capabilities: [never] })
    const draft = { nodes: [{ id: 'write', capabilityId: 'write', constraints: { max_duration_ms: 20 } }] }
    const ended = await app.run(envelope(), { draft })
    expect(ended).toMatchObject({ status: 'failed' })
    expect(ended.issues[0]?.message).toContain('did not end within its time')
  })

  it('no_execution_authority: what changes the world outside is refused before anything runs', async () => {
    const send = local('write', () => ({ text: 'sent' }), { sideEffect: true })
    const app = await open({ capabilities: [send] })
    const nodes = [{ id: 'write', capabilityId: 'write', constraints: { no_execution_authority: true } }]
    expect(await app.run(envelope(), { draft: { nodes } })).toMatchObject({ failure: 'plan/rejected' })
  })

  it('no_execution_authority: what has come to change the world since the proof is not called', async () => {
    const store = createMemoryStore()
    let sent = 0
    const write = (sideEffect: boolean) => local('write', () => ({ text: `sent ${++sent}` }), { sideEffect })
    const first = local('first', () => ({ text: 'Tea' }))
    const node = {
      id: 'write',
      capabilityId: 'write',
      inputs: { text: { node: 'first', pointer: '/text' } },
      constraints: { no_execution_authority: true },
    }
    const pause = { id: 'wait', trigger: { kind: 'onNodeComplete' }, action: { type: 'pause' } }
    const before = await open({ store, claim: 'own', capabilities: [first, write(false)] })
    const { runId, status } = await before.run(envelope({ policies: { runtime: [pause] } }), {
      draft: { nodes: [{ id: 'first', capabilityId: 'first' }, node], output: { node: 'write' } },
    })
    expect(status).toBe('waiting')
    await leave(before)
    const after = await open({ store, claim: 'own', capabilities: [first, write(true)] })
    await after.resume(runId, { by: 'ann' })
    const ended = await after.result(runId)
    expect(ended).toMatchObject({ status: 'failed', failure: 'attempt/provider_error' })
    expect(ended.issues[0]?.message).toContain('no execution authority')
    expect(sent).toBe(0)
  })
})

it('a node of a plan is an RAO node contract: kind, type, title, schemas, constraints', () => {
  const proof = prove({
    envelope: parsed(object({ text: { type: 'string' } })),
    draft: {
      nodes: [
        {
          id: 'write',
          label: 'Write it',
          capabilityId: 'writer',
          rationale: 'A person must',
          constraints: { max_duration_ms: 500, no_network_access: true },
        },
      ],
    },
    facets: [],
    capabilities: [capability('writer', { in: object({ objective: { type: 'string' } }), out: text })],
    version: 1,
  })
  if (!proof.ok) throw new Error('it should be accepted')
  expect(proof.plan.nodes.map(getNodeContract)).toEqual([
    {
      kind: 'execution',
      type_id: 'writer',
      title: 'Write it',
      description: 'A person must',
      input_schema: object({ objective: { type: 'string' } }),
      output_schema: text,
      constraints: {
        max_duration_ms: 500,
        no_credential_access: false,
        no_execution_authority: false,
        no_network_access: true,
      },
    },
  ])
})

describe('repairs in the provenance of an answer', () => {
  const pair = {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    required: ['a', 'b'],
  } as const
  const parts = { a: { node: 'write', pointer: '/a' }, b: { node: 'write', pointer: '/b' } }
  const provenanceOf = async (said: string, data = {}) => {
    const app = await open({ capabilities: [says('write', [said], { outputContract: pair })] })
    const done = await app.run(envelope({ outputContract: { schema: pair } }), {
      draft: { nodes: [{ id: 'write', capabilityId: 'write', data }], output: { properties: parts } },
    })
    expect(done).toMatchObject({ status: 'completed', output: { a: 1, b: 2 } })
    return done.provenance.map(({ pointer, repairs = [] }) => [pointer, ...repairs.map(({ rule }) => rule)])
  }

  it('are those of its part, and those of the whole text', async () => {
    expect(await provenanceOf(`{"a": "1", "b": 2,}`)).toEqual([
      ['/a', 'trailing-comma', 'str->int'],
      ['/b', 'trailing-comma'],
    ])
  })

  it('also get a primary_output', async () => {
    expect(await provenanceOf(rao({ a: '1', b: 2 }, 0.95), { contract: true })).toEqual([
      ['/a', 'str->int'],
      ['/b'],
    ])
  })
})

describe('an answer that breaks its RAO contract', () => {
  const whole = {
    primary_output: '{"text":"Tea"}',
    confidence: 0.9,
    confidence_type: 'verbalized',
    escalate: false,
  }
  const { primary_output: _p, ...noOutput } = whole
  const { confidence: _c, ...noConfidence } = whole
  const { escalate: _e, ...noEscalate } = whole
  const broken: readonly (readonly [unknown, string])[] = [
    ['just text', 'output is not a JSON object'],
    [noOutput, 'missing string field `primary_output`'],
    [noConfidence, 'missing numeric field `confidence`'],
    [{ ...whole, confidence: '0.9' }, 'missing numeric field `confidence`'],
    [{ ...whole, confidence: 1.2 }, 'confidence 1.2 is outside [0.0, 1.0]'],
    [{ ...whole, confidence_type: 'vibes' }, 'unknown confidence_type `vibes`'],
    [noEscalate, 'missing boolean field `escalate`'],
    [{ ...whole, reasoning: 7 }, '`reasoning` must be a string when present, got 7'],
    [{ ...whole, route: 'auto_approve' }, 'unknown field `route`'],
  ]
  const dresses = [(said: string) => said, (said: string) => `Here it is:\n\`\`\`json\n${said}\n\`\`\``]
  it.each(broken)('fails its node in the words of the specification: %j', async (said, why) => {
    for (const dress of dresses) {
      const app = await open({ capabilities: [says('write', [dress(JSON.stringify(said))])] })
      const done = await app.run(envelope(), {
        draft: { nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true } }] },
      })
      const message = `output violates contract schema: ${why}`
      expect(done).toMatchObject({
        status: 'failed',
        failure: 'attempt/invalid',
        error: { reason: 'output_format_failure', message, details: { error: 'SchemaViolation' } },
      })
    }
  })
})

it('errors of a run name facet, pointer and keyword', async () => {
  const writer = local('writer', () => ({ copyVariants: [{ headline: 'H', body: 4, callToAction: 'C' }] }), {
    inputContract: ['toneOfVoice'],
    outputContract: ['copyVariants'],
  })
  const schema = {
    type: 'object',
    properties: { copyVariants: { type: 'array' } },
    required: ['copyVariants'],
  }
  const app = await open({ capabilities: [writer] })
  const draft = { nodes: [{ id: 'write', capabilityId: 'writer' }] }
  const given = { inputs: { toneOfVoice: 'friendly' }, outputContract: { schema } }
  const { runId } = await app.run(envelope(given), { draft })
  const ends = (await journal(app, runId)).flatMap((event) => (event.type === 'attempt_end' ? [event] : []))
  expect(ends[0]?.payload.issues[0]).toMatchObject({
    facet: 'copyVariants',
    pointer: '/copyVariants/0/body',
    keyword: 'type',
  })
})

describe('a function that refuses what it is given', () => {
  it('is called once, however many retries it has, and what to change is the hint of the run', async () => {
    let calls = 0
    const picky = local('write', () => {
      calls++
      throw new ProvisoError('capability/refused', 'There is no tea of that name', {
        hint: 'Name another tea',
      })
    })
    const app = await open({ capabilities: [picky] })
    const draft = { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 3, backoffMs: 60_000 } }] }
    const done = await app.run(envelope(), { draft })
    expect(done).toMatchObject({
      status: 'failed',
      failure: 'attempt/refused',
      error: { message: 'There is no tea of that name', details: { hint: 'Name another tea' } },
    })
    expect(calls).toBe(1)
    expect((await app.replay(done.runId)).differences).toEqual([])
  })
})
