/** The body of a map is proved once, for any element of its list; findings name their place in it. */
import { describe, expect, it } from 'vitest'
import { createApp, type Draft, defineCapability } from '../../src/index.ts'
import { parseDraft, parseEnvelope, prove } from '../../src/plan/index.ts'
import { envelope, mapDraft, working } from './support.ts'

const listing = (outputContract: object) =>
  defineCapability({
    capabilityId: 'list',
    kind: 'local',
    inputContract: {},
    outputContract,
    run: () => [],
  } as never)

const takesText = defineCapability({
  capabilityId: 'write',
  kind: 'local',
  inputContract: { type: 'object', required: ['value'], properties: { value: { type: 'string' } } },
  outputContract: {
    type: 'object',
    required: ['value'],
    properties: { value: { type: 'string', minLength: 1 } },
  },
  run: () => ({ value: 'x' }),
})

/** A map over what `list` gives, whose body writes. */
const overList = (input = '/item'): Draft =>
  ({
    nodes: [
      { id: 'list', capabilityId: 'list' },
      {
        id: 'each',
        inputs: { items: { node: 'list' } },
        map: {},
        body: {
          nodes: [{ id: 'write', capabilityId: 'write', inputs: { value: { input } } }],
          output: { node: 'write', pointer: '/value' },
        },
      },
    ],
    output: { properties: { out: { node: 'each' } } },
  }) as Draft

function proofOf(
  draft: Draft,
  list: object,
  more: { schema?: object; constraints?: readonly object[] } = {},
) {
  const { schema = { type: 'object', required: ['out'], properties: { out: true } }, constraints = [] } = more
  const read = parseEnvelope(envelope({}, { outputContract: { schema, constraints } }))
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  const capabilities = [listing(list), takesText].map(({ capability }) => capability)
  const proof = prove({ envelope: read.value, draft, facets: [], capabilities, version: 1 })
  const { failures, infos } = proof.ok ? proof.plan.diagnostics : proof.diagnostics
  const reported = [...failures, ...infos].map(({ nodeId, details }) => [nodeId, details?.['code']])
  return { ok: proof.ok, reported, plan: proof.ok ? proof.plan : undefined }
}

const texts = { type: 'array', items: { type: 'string' } }

describe('the proof of a map', () => {
  it('knows the element by the schema of the list', () => {
    expect(proofOf(overList(), texts)).toMatchObject({ ok: true, reported: [] })
  })

  it('rejects a body that some element does not suit, at its node', () => {
    const { ok, reported } = proofOf(overList(), { type: 'array', items: { type: 'number' } })
    expect({ ok, reported }).toEqual({ ok: false, reported: [['each[].write', 'plan/input-mismatch']] })
  })

  describe('that collects failures', () => {
    const some = { type: 'array', items: { type: 'string' }, minItems: 1 }
    const collecting = (contracts?: object): Draft => {
      const { nodes, ...rest } = overList()
      const [list, each] = nodes
      return {
        ...rest,
        nodes: [list, { ...each, map: { onItemFail: 'collect' }, ...(contracts && { contracts }) }],
      } as Draft
    }
    const outOf = (items: object) => ({
      schema: { type: 'object', required: ['out'], properties: { out: { type: 'array', items } } },
    })
    const withValue = (status: string, type: string) => ({
      required: ['status'],
      properties: { status: { const: status }, value: { type } },
    })

    it.each([
      ['values without their status', { type: 'string' }, false],
      ['a status that no item has', withValue('done', 'string'), false],
      ['completed items with another value', withValue('completed', 'number'), false],
      ['completed items with their value', withValue('completed', 'string'), true],
      ['failed items', { required: ['error'] }, true],
    ])('is judged by what both kinds of items can be: %s', (_, items, ok) => {
      expect(proofOf(collecting(), some, outOf(items)).ok).toBe(ok)
      expect(proofOf(collecting(), { ...some, minItems: 0 }, outOf(items)).ok, 'an empty list').toBe(true)
    })

    it('is rejected if its own contract can never hold', () => {
      const contracts = { output: { type: 'array', items: { type: 'string' } } }
      const { ok, reported } = proofOf(collecting(contracts), some)
      expect({ ok, reported }).toEqual({ ok: false, reported: [['each', 'plan/map-mismatch']] })
      const status = { output: { type: 'array', items: withValue('completed', 'string') } }
      expect(proofOf(collecting(status), some)).toMatchObject({ ok: true })
    })
  })

  it('rejects elements of which nothing is known where the body needs to know, at its node', () => {
    const { ok, reported } = proofOf(overList(), { type: 'array' })
    expect({ ok, reported }).toEqual({ ok: false, reported: [['each[].write', 'plan/input-mismatch']] })
  })

  it('rejects a value that is not a list', () => {
    expect(proofOf(overList(), { type: 'object' }).reported).toContainEqual(['each', 'plan/input-mismatch'])
  })

  it('rejects a body that reads what it is not given', () => {
    const { ok, reported } = proofOf(overList('/itm'), texts)
    expect(ok).toBe(false)
    expect(reported).toContainEqual(['each[].write', 'plan/binding'])
  })

  it('knows how long the output is, and what its elements are', () => {
    const three = { ...texts, minItems: 1, maxItems: 3 }
    const constraints = [
      { constraintId: 'c', level: 'hard', expr: { '<=': [{ var: 'out.length' }, 3] } },
      { constraintId: 'd', level: 'hard', expr: { '>=': [{ var: 'out.length' }, 1] } },
    ]
    expect(proofOf(overList(), three, { constraints })).toMatchObject({ ok: true, reported: [] })
    const output = proofOf(overList(), three).plan?.nodes[1]?.contracts.output
    expect(output).toMatchObject({ type: 'array', minItems: 1, maxItems: 3, items: { minLength: 1 } })
  })

  it('does not count on items of a list that may be empty', () => {
    const constraints = [{ constraintId: 'c', level: 'hard', expr: { '>=': [{ var: 'out.length' }, 1] } }]
    expect(proofOf(overList(), texts, { constraints }).ok).toBe(false)
  })
})

describe('a draft with a body', () => {
  it.each([
    ['a body alone', { id: 'a', body: { nodes: [{ id: 'b', capabilityId: 'x' }] } }, '/nodes/0'],
    ['no body', { id: 'a', map: {}, inputs: { items: { value: [] } } }, '/nodes/0'],
    ['no list', { id: 'a', map: {}, body: { nodes: [{ id: 'b', capabilityId: 'x' }] } }, '/nodes/0'],
    [
      'a capability beside its body',
      {
        id: 'a',
        map: {},
        capabilityId: 'x',
        inputs: { items: { value: [] } },
        body: { nodes: [{ id: 'b', capabilityId: 'x' }] },
      },
      '/nodes/0/capabilityId',
    ],
    [
      'a node without a worker inside',
      { id: 'a', map: {}, inputs: { items: { value: [] } }, body: { nodes: [{ id: 'b' }] } },
      '/nodes/0/body/nodes/0',
    ],
  ])('is refused at its place: %s', (_, node, at) => {
    const read = parseDraft({ nodes: [node] })
    expect(read.ok).toBe(false)
    expect(read.ok ? [] : read.issues.map((issue) => 'pointer' in issue.at && issue.at.pointer)).toContain(at)
  })
})

describe('what a map would take', () => {
  it('is its items times its body, where the list is known, else up to its limit', async () => {
    const model = defineCapability({
      capabilityId: 'm',
      kind: 'model',
      inputContract: { type: 'object', required: ['value'], properties: { value: true } },
      outputContract: { type: 'object', required: ['value'], properties: { value: { type: 'string' } } },
    })
    const app = await createApp({ capabilities: [model] })
    try {
      const known = app.estimate(envelope({ items: [1, 2, 3] }), { draft: mapDraft('m') })
      expect(known.calls).toEqual({ least: 3, most: 12 })
      expect(known.nodes.map(({ nodeId }) => nodeId)).toEqual(['each[].work'])
    } finally {
      await app.close()
    }
  })
})

it('runs a map in a map whose outer list happens to be empty', async () => {
  const app = await createApp({ capabilities: [takesText] })
  const inner = {
    id: 'inner',
    inputs: { items: { value: ['a'] }, row: { input: '/item' } },
    map: {},
    body: {
      nodes: [{ id: 'note', capabilityId: 'write', inputs: { value: { input: '/item' } } }],
      output: { input: '/row' },
    },
  }
  const draft = {
    nodes: [
      {
        id: 'each',
        inputs: { items: { envelope: '/inputs/rows' } },
        map: {},
        body: {
          nodes: [
            inner,
            { id: 'write', capabilityId: 'write', inputs: { value: { node: 'inner', pointer: '/0' } } },
          ],
          output: { node: 'write', pointer: '/value' },
        },
      },
    ],
    output: { properties: { out: { node: 'each' } } },
  }
  const run = (rows: string[]) => app.run(envelope({ rows }), { draft })
  expect(await run(['tea'])).toMatchObject({ status: 'completed', output: { out: ['x'] } })
  expect(await run([])).toMatchObject({ status: 'completed', output: { out: [] } })
  await app.close()
})

it('misses no capability while those of its body are known', async () => {
  const human = working('ask', () => undefined, { kind: 'human', run: undefined })
  const app = await createApp({ capabilities: [human] })
  try {
    const { id: runId } = await app.start(envelope({ items: [1] }), { draft: mapDraft('ask') })
    await app.result(runId)
    expect(await app.missingCapabilities(runId)).toEqual([])
  } finally {
    await app.close()
  }
})
