/** What makes a node run: control edges activate it, bindings only supply values. Hand-written drafts on a real app. */

import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import type { DraftInput } from '../../../src/domain/envelope/envelope-input.ts'
import type { JsonSchema } from '../../../src/schema/json-schema.ts'
import { envelope, journal, local, open } from '../../journeys/support.ts'

const anything: JsonSchema = { type: 'object', properties: { text: { type: 'string' } } }
const needs = (...names: string[]): JsonSchema => ({ type: 'object', required: names })
const takes = (...names: string[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, true])),
})

/** One capability of this name for each node that works: it says its name and what it was given. */
interface Worker {
  readonly input?: JsonSchema
  readonly says?: Json
  readonly fails?: boolean
}

interface Ended {
  readonly status: string
  readonly output: unknown
  /** `completed`, `error` or `skipped`, by node. */
  readonly ends: { readonly [node: string]: string }
  readonly inputs: { readonly [node: string]: unknown }
  readonly skipped: { readonly [node: string]: string }
}

const endings: Readonly<Record<string, string>> = {
  node_complete: 'completed',
  node_error: 'error',
  node_skipped: 'skipped',
}

async function run(draft: DraftInput, workers: { readonly [name: string]: Worker }): Promise<Ended> {
  const capabilities = Object.entries(workers).map(([name, { input = {}, says = { text: name }, fails }]) =>
    local(
      name,
      () => {
        if (fails) throw new Error(`${name} is out of order`)
        return says
      },
      { inputContract: input, outputContract: says === null ? true : outputOf(says) },
    ),
  )
  const app = await open({ capabilities })
  const done = await app.run(envelope({ outputContract: { schema: anything } }), { draft })
  const events = await journal(app, done.runId)
  const by = (type: string, read: (payload: never) => unknown) =>
    Object.fromEntries(
      events
        .filter((event) => event.type === type)
        .map(({ nodeId, payload }) => [nodeId, read(payload as never)]),
    )
  return {
    status: done.status,
    output: done.output,
    ends: Object.fromEntries(
      events.flatMap(({ type, nodeId }) => (endings[type] ? [[nodeId, endings[type]]] : [])),
    ),
    inputs: by('attempt_start', ({ inputs }: { inputs: Json }) => inputs),
    skipped: by('node_skipped', ({ reason }: { reason: string }) => reason) as { [node: string]: string },
  }
}

function outputOf(says: Json): JsonSchema {
  const members = Object.entries(says as { [name: string]: Json })
  return {
    type: 'object',
    properties: Object.fromEntries(
      members.map(([name, value]) => [name, typeof value === 'string' ? { type: 'string' } : true]),
    ),
    required: members.map(([name]) => name),
  }
}

const node = (id: string, more: object = {}) => ({ id, capabilityId: id, ...more })
const from = (id: string, property = 'text') => ({ node: id, pointer: `/${property}` })

/** Takes the first target if the topic is this, else the others. */
const gate = (topic: string, to: string | string[], elseTo: string | string[], id = 'gate') => ({
  id,
  inputs: { topic: { envelope: '/inputs/topic' } },
  routing: { routes: [{ condition: { '==': [{ var: 'topic' }, topic] }, to }], elseTo },
})

describe('routes', () => {
  const scored = (score: number) =>
    run(
      {
        nodes: [
          node('write'),
          node('score', { inputs: { text: from('write') } }),
          {
            id: 'gate',
            inputs: { score: from('score', 'score') },
            routing: {
              routes: [{ condition: { '>=': [{ var: 'score' }, 0.8] }, to: 'publish' }],
              elseTo: 'hold',
            },
          },
          node('publish', { inputs: { text: from('write') } }),
          node('hold', { inputs: { text: from('write') } }),
        ],
      },
      {
        write: {},
        score: { input: needs('text'), says: { score } },
        publish: { input: needs('text') },
        hold: { input: needs('text') },
      },
    )

  it('only the chosen target runs, although both read an earlier node', async () => {
    const high = await scored(0.9)
    expect(high).toMatchObject({ status: 'completed', output: { text: 'publish' } })
    expect(high.ends).toMatchObject({ publish: 'completed', hold: 'skipped' })
    const low = await scored(0.3)
    expect(low).toMatchObject({ status: 'completed', output: { text: 'hold' } })
    expect(low.ends).toMatchObject({ publish: 'skipped', hold: 'completed' })
  })

  it('a list of targets runs all of them, and the ones not chosen are skipped with what follows them', async () => {
    const done = await run(
      {
        nodes: [
          gate('coffee', 'left', ['right', 'other']),
          node('left'),
          node('after', { inputs: { text: from('left') } }),
          node('right'),
          node('other', { inputs: { text: from('right') } }),
        ],
        output: { properties: { text: from('other') } },
      },
      { left: {}, after: { input: needs('text') }, right: {}, other: { input: needs('text') } },
    )
    expect(done.ends).toEqual({
      gate: 'completed',
      left: 'skipped',
      after: 'skipped',
      right: 'completed',
      other: 'completed',
    })
    expect(done.skipped).toEqual({
      left: 'No control edge to it was followed',
      after: 'Required input "text" has no source: "left" did not complete',
    })
  })

  it('a gate behind an untaken branch is skipped with all its targets', async () => {
    const done = await run(
      {
        nodes: [
          node('write'),
          gate('coffee', 'judge', 'plain'),
          node('judge'),
          {
            id: 'inner',
            inputs: { good: from('judge', 'good') },
            routing: { routes: [{ condition: { var: 'good' }, to: 'yes' }], elseTo: 'no' },
          },
          node('yes', { inputs: { text: from('write') } }),
          node('no', { inputs: { text: from('write') } }),
          node('plain', { inputs: { text: from('write') } }),
        ],
      },
      { write: {}, judge: { says: { good: true } }, yes: {}, no: {}, plain: {} },
    )
    expect(done.ends).toMatchObject({ inner: 'skipped', yes: 'skipped', no: 'skipped', plain: 'completed' })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'plain' } })
  })

  it('a target that reads from the branch not taken is skipped, unless another source supplies the value', async () => {
    const draft = (sources: unknown) => ({
      nodes: [gate('tea', 'right', 'left'), node('left'), node('right', { inputs: { text: sources } })],
      output: { properties: { text: [from('right'), { value: 'none' }] } },
    })
    const workers = { left: {}, right: { input: needs('text') } }
    const without = await run(draft(from('left')), workers)
    expect(without.ends).toMatchObject({ left: 'skipped', right: 'skipped' })
    expect(without).toMatchObject({ status: 'completed', output: { text: 'none' } })
    const withLiteral = await run(draft([from('left'), { value: 'given' }]), workers)
    expect(withLiteral.ends).toMatchObject({ left: 'skipped', right: 'completed' })
    expect(withLiteral.inputs['right']).toEqual({ text: 'given' })
  })

  it('what a routing node hands on can be read by a node that is not one of its targets', async () => {
    const done = await run(
      {
        nodes: [
          { ...gate('tea', 'left', 'right'), contracts: { input: needs('topic') } },
          node('left'),
          node('right'),
          node('note', { inputs: { topic: from('gate', 'topic') } }),
        ],
        output: { properties: { text: from('note') } },
      },
      { left: {}, right: {}, note: { input: needs('topic') } },
    )
    expect(done.ends).toMatchObject({ left: 'completed', right: 'skipped', note: 'completed' })
    expect(done.inputs['note']).toEqual({ topic: 'tea' })
  })
})

describe('data', () => {
  const branches = [gate('tea', 'right', 'left'), node('left'), node('right')]

  it('a node whose first source was skipped runs with the next one', async () => {
    const done = await run(
      { nodes: [...branches, node('join', { inputs: { text: [from('left'), from('right')] } })] },
      { left: {}, right: {}, join: { input: needs('text') } },
    )
    expect(done.ends).toMatchObject({ left: 'skipped', right: 'completed', join: 'completed' })
    expect(done.inputs['join']).toEqual({ text: 'right' })
    expect(done.output).toEqual({ text: 'join' })
  })

  it('the reader of a branch is skipped with it, and its plan is proved', async () => {
    const done = await run(
      {
        nodes: [...branches, node('reader', { inputs: { text: from('left') } })],
        output: { properties: { text: [from('reader'), from('right')] } },
      },
      { left: {}, right: {}, reader: { input: needs('text') } },
    )
    expect(done).toMatchObject({ status: 'completed', output: { text: 'right' } })
    expect(done.ends).toMatchObject({ left: 'skipped', reader: 'skipped' })
  })

  it('an input that the contract names and does not require is absent where its source was skipped', async () => {
    const done = await run(
      {
        nodes: [
          ...branches,
          node('reader', { inputs: { text: from('right'), more: from('left') } }),
          node('alone', { inputs: { more: from('left') } }),
        ],
        output: { properties: { text: from('reader') } },
      },
      {
        left: {},
        right: {},
        reader: { input: { allOf: [takes('text', 'more'), needs('text')] } },
        alone: { input: takes('more') },
      },
    )
    expect(done.ends).toMatchObject({ left: 'skipped', reader: 'completed', alone: 'completed' })
    expect(done.inputs).toMatchObject({ reader: { text: 'right' }, alone: {} })
  })

  it('an input that is bound and that no contract calls optional is required', async () => {
    const done = await run(
      {
        nodes: [...branches, node('reader', { inputs: { words: from('left') } })],
        output: { properties: { text: [from('reader'), { value: '' }] } },
      },
      { left: {}, right: {}, reader: {} },
    )
    expect(done.ends).toMatchObject({ reader: 'skipped' })
  })

  it('a live control edge does not replace a required source that was skipped', async () => {
    const done = await run(
      {
        nodes: [...branches, node('reader', { inputs: { text: from('left') } })],
        edges: [{ from: 'right', to: 'reader' }],
        output: { properties: { text: [from('reader'), from('right')] } },
      },
      { left: {}, right: {}, reader: { input: needs('text') } },
    )
    expect(done.ends).toMatchObject({ right: 'completed', reader: 'skipped' })
  })

  it('a binding alone never activates a node whose control edges are not followed', async () => {
    const done = await run(
      {
        nodes: [node('write'), ...branches, node('after', { inputs: { text: from('write') } })],
        edges: [{ from: 'left', to: 'after' }],
        output: { properties: { text: [from('after'), from('right')] } },
      },
      { write: {}, left: {}, right: {}, after: { input: needs('text') } },
    )
    expect(done.ends).toMatchObject({ left: 'skipped', after: 'skipped' })
    expect(done.output).toEqual({ text: 'right' })
  })
})

describe('failures', () => {
  const broken = { fails: true }

  it('a fallback node without edges stands in for the node before it, and only when that fails', async () => {
    const draft = { nodes: [node('write'), node('plain', { kind: 'fallback' })] }
    const well = await run(draft, { write: {}, plain: {} })
    expect(well.ends).toEqual({ write: 'completed', plain: 'skipped' })
    expect(well.output).toEqual({ text: 'write' })
    const failed = await run(draft, { write: broken, plain: {} })
    expect(failed.ends).toEqual({ write: 'error', plain: 'completed' })
    expect(failed.output).toEqual({ text: 'plain' })
  })

  it('a second fallback stands in for the first', async () => {
    const nodes = [node('write'), node('plain', { kind: 'fallback' }), node('last', { kind: 'fallback' })]
    const first = await run({ nodes }, { write: broken, plain: {}, last: {} })
    expect(first.ends).toEqual({ write: 'error', plain: 'completed', last: 'skipped' })
    expect(first.output).toEqual({ text: 'plain' })
    const second = await run({ nodes }, { write: broken, plain: broken, last: {} })
    expect(second.ends).toEqual({ write: 'error', plain: 'error', last: 'completed' })
    expect(second.output).toEqual({ text: 'last' })
  })

  it('a fallback that reads what the primary read is skipped after a success', async () => {
    const draft: DraftInput = {
      nodes: [
        node('brief'),
        node('write', { inputs: { text: from('brief') } }),
        node('plain', { kind: 'fallback', inputs: { text: from('brief') } }),
      ],
      edges: [{ from: 'write', to: 'plain', when: 'fail' }],
      output: [{ node: 'write' }, { node: 'plain' }],
    }
    const input = needs('text')
    const well = await run(draft, { brief: {}, write: { input }, plain: { input } })
    expect(well.ends).toMatchObject({ write: 'completed', plain: 'skipped' })
    const failed = await run(draft, { brief: {}, write: { ...broken, input }, plain: { input } })
    expect(failed.ends).toMatchObject({ write: 'error', plain: 'completed' })
    expect(failed.output).toEqual({ text: 'plain' })
  })

  it('the reader of a node that failed runs with the fallback, and without one is skipped', async () => {
    const draft = (sources: unknown): DraftInput => ({
      nodes: [node('write'), node('plain'), node('reader', { inputs: { text: sources } })],
      edges: [{ from: 'write', to: 'plain', when: 'fail' }],
      output: { properties: { text: [from('reader'), from('plain')] } },
    })
    const workers = { write: broken, plain: {}, reader: { input: needs('text') } }
    const either = await run(draft([from('write'), from('plain')]), workers)
    expect(either.ends).toMatchObject({ write: 'error', plain: 'completed', reader: 'completed' })
    expect(either.inputs['reader']).toEqual({ text: 'plain' })
    const alone = await run(draft(from('write')), workers)
    expect(alone.ends).toMatchObject({ reader: 'skipped' })
    expect(alone.output).toEqual({ text: 'plain' })
  })

  it('an edge on always is followed after a success and after a failure', async () => {
    const draft: DraftInput = {
      nodes: [node('write'), node('end')],
      edges: [{ from: 'write', to: 'end', when: 'always' }],
      output: { node: 'end' },
    }
    for (const fails of [true, false]) {
      const done = await run(draft, { write: { fails }, end: {} })
      expect(done).toMatchObject({ status: 'completed', output: { text: 'end' } })
    }
  })

  it('a failure that no edge catches ends the run, although an optional reader waits', async () => {
    const done = await run(
      {
        nodes: [node('write'), node('reader', { inputs: { more: from('write') } })],
        output: { node: 'reader' },
      },
      { write: broken, reader: { input: takes('more') } },
    )
    expect(done.status).toBe('failed')
  })
})
