/** Choices one after the other and side by side: a pipeline with millions of ways through it is proved and run like any other. */
import { describe, expect, it } from 'vitest'
import { parseEnvelope, prove } from '../../src/plan/index.ts'
import { compile, run } from './support.ts'

const repeat = (count: number, step: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => step(n)).join('\n')

const choice = (n: number) => `
  - name: c${n}
    kind: conditional
    condition: { ">=": [{ var: input.${n} }, 1] }
    branches:
      true: [{ name: w, uses: wrap_dict, input: "{{ input.${n} }}", params: { key: k }, updates_context: true }]
      false: []`

const bits = (count: number) => Array.from({ length: count }, (_, n) => n % 2)

describe('is accepted and comes out right', () => {
  it('forty choices one after the other: 2^40 ways', async () => {
    const text = `context: { k: none }\nsteps:${repeat(40, choice)}\n  - { name: end, uses: wrap_dict, input: "{{ context.k }}" }\n`
    const done = await run(text, undefined, { input: bits(40) })
    expect(done).toMatchObject({ status: 'completed', output: { value: 1 }, issues: [] })
  })

  it('twelve choices side by side, and what comes after them', async () => {
    const branch = (n: number) => `
      b${n}:
        - name: c
          kind: conditional
          condition: { ">=": [{ var: input.${n} }, 1] }
          branches: { true: [{ name: w, uses: wrap_dict, input: yes }], false: [{ name: w, uses: wrap_dict, input: no }] }
        - { name: again, uses: wrap_dict }`
    const text = `steps:\n  - name: all\n    kind: parallel\n    branches:${repeat(12, branch)}\n  - { name: end, uses: wrap_dict, input: "{{ steps.all.output.b1.value.value }}{{ steps.all.output.b2.value.value }}" }\n`
    const done = await run(text, undefined, { input: bits(12) })
    expect(done).toMatchObject({ status: 'completed', output: { value: 'yesno' }, issues: [] })
  })

  it('eight maps of six items one after the other', async () => {
    const map = (n: number) => `
  - { name: m${n}, kind: map, map: { iterable_input: previous_step, max_items: 6, body: [{ name: w, uses: wrap_dict, input: "{{ item }}" }] } }`
    const done = await run(`steps:${repeat(8, map)}\n`, undefined, { input: ['a', 'b'] })
    expect(done.status).toBe('completed')
    expect(JSON.stringify(done.output)).toContain('"a"')
  })
})

it('where even one question is about too many scenarios, the diagnostic says so and what to do', () => {
  // Every source may lack the member, so that all of them are checked together.
  const ids = Array.from({ length: 14 }, (_, n) => n)
  const optional = { type: 'object', properties: { k: { type: 'string' } } }
  const envelope = parseEnvelope({ objective: 'x', outputContract: { schema: true } })
  if (!envelope.ok) throw new Error('It is an envelope')
  const [capability] = compile('steps: [{ name: w, uses: wrap_dict }]').capabilities
  if (capability === undefined) throw new Error('There are capabilities')
  const { capabilityId } = capability.capability
  const result = prove({
    envelope: envelope.value,
    capabilities: [capability.capability],
    facets: [],
    version: 1,
    draft: {
      nodes: [
        ...ids.flatMap((n) => [
          {
            id: `r${n}`,
            kind: 'routing' as const,
            routing: { routes: [{ condition: true, to: `a${n}` }], elseTo: `b${n}` },
          },
          { id: `a${n}`, capabilityId, contracts: { output: optional } },
          { id: `b${n}`, capabilityId },
        ]),
        {
          id: 'end',
          capabilityId,
          inputs: { k: ids.map((n) => ({ node: `a${n}`, pointer: '/k' })) },
          contracts: { input: { type: 'object', required: ['k'], properties: { k: true } } },
        },
      ],
      edges: ids.flatMap((n) =>
        ['a', 'b'].map((branch) => ({ from: `${branch}${n}`, to: n < 13 ? `r${n + 1}` : 'end' })),
      ),
      output: { node: 'end' },
    },
  })
  expect(JSON.stringify(result.ok ? [] : result.diagnostics)).toContain(
    'More than 4,096 scenarios lead to it',
  )
})
