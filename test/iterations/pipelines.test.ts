/** Maps and loops as pipelines have them. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/index.ts'
import { compile, defineCapability, run } from '../pipelines/support.ts'

const shout = defineCapability({
  capabilityId: 'shout',
  kind: 'local',
  inputContract: { type: 'object', properties: { input: true }, required: ['input'] },
  outputContract: { type: 'string' },
  idempotent: true,
  run: (inputs: unknown) => {
    const { input } = inputs as { readonly input: Json }
    if (input === 'bad') throw new Error('no')
    return `${String(input)}!`
  },
})

const map = (more = '') => `
steps:
  - name: each
    kind: map
    map:
      iterable_input: "{{ input }}"
      ${more}
      body: [{ name: s, uses: shout, input: "{{ item }}" }]
`

describe('kind: map', () => {
  it.each([0, 1, 25, 300])('goes over %i items without a bound', async (count) => {
    const input = Array.from({ length: count }, (_, index) => `i${index}`)
    const done = await run(map(), undefined, { input, own: [shout] })
    expect(done).toMatchObject({ status: 'completed', output: input.map((item) => `${item}!`), issues: [] })
  })

  it('leaves out or collects items that fail', async () => {
    const input = ['a', 'bad', 'c']
    const skipped = await run(map('on_item_fail: skip'), undefined, { input, own: [shout] })
    expect(skipped.output).toEqual(['a!', 'c!'])
    const collected = await run(map('on_item_fail: collect'), undefined, { input, own: [shout] })
    expect(collected.output).toMatchObject([
      { status: 'completed', value: 'a!' },
      { status: 'failed', error: { message: 'no' } },
      { status: 'completed', value: 'c!' },
    ])
  })

  it('is one node, however long the list may be', () => {
    const { draft } = compile(map('max_items: 100000'), { input: ['a'], own: [shout] })
    expect(draft.nodes).toHaveLength(1)
    expect(draft.nodes[0]).toMatchObject({ id: 'each', kind: 'map', map: { maxItems: 100_000 } })
  })

  it('says a note about its body once', () => {
    const text = `
agents: { j: { model: test/m, output_schema: { type: object, required: [a], properties: { a: { type: string } } } } }
steps:
  - { name: l, kind: loop, loop: { max_loops: 5, on_max_loops: accept, body: [{ name: s, agent: j, input: x }] } }
`
    expect(compile(text).notes).toHaveLength(1)
  })
})

describe('a loop in a map', () => {
  it('goes its rounds for each item', async () => {
    const text = `
steps:
  - name: each
    kind: map
    map:
      iterable_input: "{{ input }}"
      body:
        - name: more
          kind: loop
          loop:
            max_loops: 5
            exit_condition: { "==": [{ var: iteration }, 3] }
            body: [{ name: s, uses: shout }]
`
    const done = await run(text, undefined, { input: ['a', 'b'], own: [shout] })
    expect(done).toMatchObject({ status: 'completed', output: ['a!!!', 'b!!!'], issues: [] })
  })
})
