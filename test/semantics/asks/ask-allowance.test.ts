/** How often a run may ask: a pipeline without a limit as often as its steps can, and a limit below that is a finding. */
import { describe, expect, it } from 'vitest'
import { envelope, local, open, rao, says, text } from '../../journeys/support.ts'
import { compile, defineCapability, run } from '../../pipelines/support.ts'

const agents = 'agents: { w: { model: m, system_prompt: W. }, other: { model: m, system_prompt: O. } }'
const allowed = (steps: string, own: Parameters<typeof compile>[1] = {}) =>
  compile(`name: p\n${agents}\nsteps: [${steps}]\n`, { input: ['a'], ...own }).draft.limits?.maxAsks
const map = (body: string, items = 5) =>
  `{ name: each, kind: map, map: { iterable_input: "{{ input }}", max_items: ${items}, body: [${body}] } }`
const hitl = '{ name: q, kind: hitl, message: "Good?" }'
const call = (more: string) => `{ name: s, agent: w, input: "x", ${more} }`
const loop = (body: string) =>
  `{ name: l, kind: loop, loop: { max_loops: 2, on_max_loops: accept, body: [${body}] } }`

describe('the asks that a pipeline may raise without a limit', () => {
  it.each([
    ['reviews under a RAO contract', map(call('contract: true')), 5],
    ['questions about failures', map(call('on_fail: ask')), 5],
    ['both', map(call('on_fail: ask, contract: true')), 10],
    ['rounds of items', loop(map(hitl, 4)), 8],
    ['nodes beside each other', `${map(hitl, 4)}, ${call('on_fail: ask')}`, 5],
    ['the review of a fallback, too', map(call('contract: true, fallback: agents.other')), 10],
    [
      'one failure of a step and its fallback',
      `${map(hitl, 4)}, ${call('on_fail: ask, fallback: agents.other')}`,
      5,
    ],
    ['no fewer than the default', call('on_fail: ask'), undefined],
  ])('count %s', (_, steps, most) => {
    expect(allowed(steps)).toBe(most)
  })

  it('count approvals of side effects', () => {
    const send = defineCapability({
      capabilityId: 'mail.send',
      sideEffect: true,
      inputContract: { type: 'object' },
      outputContract: text,
      run: () => ({ text: 'sent' }),
    })
    expect(allowed(map('{ name: m, uses: mail.send, input: { to: "{{ item }}" } }'), { own: [send] })).toBe(5)
  })

  it('let every item be reviewed', async () => {
    const steps = map('{ name: s, agent: w, input: "{{ item }}", contract: true }')
    const ran = await run(`name: p\n${agents}\nsteps: [${steps}]\n`, () => rao('maybe', 0.6), {
      input: [1, 2, 3, 4, 5],
    })
    expect(ran.failure).toBeUndefined()
    expect(ran.status).toBe('waiting')
  })
})

describe('a limit below what the plan may ask', () => {
  const draft = (more: object = {}) => ({
    nodes: [
      {
        id: 'each',
        inputs: { items: { value: [1, 2, 3, 4, 5] } },
        map: { maxItems: 5 },
        body: {
          nodes: [{ id: 'w', capabilityId: 'w', inputs: { x: { input: '/item' } }, ...more }],
          output: { node: 'w' },
        },
      },
    ],
    output: { node: 'each' },
  })
  const found = async (more: object, given: object) => {
    const app = await open({ capabilities: [says('w', ['{"text":"x"}']), local('h', () => ({ text: '' }))] })
    const { runId } = await app.run(envelope({ outputContract: { schema: { type: 'array' } }, ...given }), {
      draft: draft(more),
    })
    const { infos } = (await app.state(runId))?.plan?.diagnostics ?? { infos: [] }
    return infos.filter(({ details }) => details?.['code'] === 'plan/may-exceed-limit')
  }
  const limited = (maxAsks: number) => ({ constraints: { maxAsks } })

  it.each<[string, object, object]>([
    ['reviews', { data: { contract: true } }, {}],
    ['failures', { onFail: 'ask' }, {}],
    ['labels', {}, { policies: { planner: { directives: { hitlRequiredFor: ['w'] } } } }],
  ])('is a finding: %s', async (_, node, more) => {
    expect(await found(node, { ...limited(4), ...more })).toMatchObject([
      {
        constraint: 'maxAsks 4 covers up to 5 asks',
        suggestion: expect.stringContaining('Raise maxAsks to 5'),
        details: { limit: 4, most: 5 },
      },
    ])
    expect(await found(node, { ...limited(5), ...more })).toEqual([])
  })
})

it('hitlRequiredFor may name a node of a body: no warning', async () => {
  const app = await open({ capabilities: [local('dbl', () => ({ text: 'x' }))] })
  const given = envelope({
    outputContract: { schema: { type: 'array' } },
    policies: { planner: { directives: { hitlRequiredFor: ['w'] } } },
  })
  const body = { nodes: [{ id: 'w', capabilityId: 'dbl', inputs: { x: { input: '/item' } } }] }
  const nodes = [{ id: 'each', inputs: { items: { value: [1] } }, map: {}, body }]
  const begun = await app.run(given, { draft: { nodes, output: { node: 'each' } } })
  expect(begun.status).toBe('waiting')
  expect(begun.warnings ?? []).toEqual([])
})
