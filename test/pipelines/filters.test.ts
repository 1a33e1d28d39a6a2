/** A template with a filter is the input of the user's own capability: its type is that of the last filter, or it is checked at run time. */
import { describe, expect, it } from 'vitest'
import { defineCapability, run } from './support.ts'

const shape = (input: object) => ({ type: 'object', properties: { input }, required: ['input'] })
const output = { type: 'object', properties: { got: true }, required: ['got'] }
const take = (id: string, input: object) =>
  defineCapability({ id, input: shape(input), output, run: (given) => ({ got: (given as never)['input'] }) })

const own = [
  take('text', { type: 'string' }),
  take('short', { type: 'string', maxLength: 3 }),
  take('number', { type: 'integer' }),
  take('person', { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }),
  defineCapability({
    id: 'greet',
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    output,
    run: ({ name }) => ({ got: name }),
  }),
  defineCapability({
    id: 'open',
    input: { type: 'object' },
    output,
    run: (given) => ({ got: (given as never)['input'] }),
  }),
]

const input = { s: ' tea ', words: ['a', 'b'], people: [{ name: 'Ann' }], none: null }

const file = (step: string) => `
version: "0.1"
name: filters
input_schema:
  type: object
  required: [s, words, people]
  properties:
    s: { type: string }
    words: { type: array, minItems: 1, items: { type: string } }
    people: { type: array, items: { type: object } }
    gone: { type: string }
steps:
  ${step}
`
const call = (uses: string, given: string) => file(`- { name: u, uses: ${uses}, input: ${given} }`)
/** The value is known only at run time. */
const later = (uses: string, given: string) =>
  file(`- { name: before, uses: open, input: "{{ input.words }}" }
  - { name: u, uses: ${uses}, input: ${given} }`)

describe('a template with a filter', () => {
  it.each([
    ['text', `"{{ input.s | upper }}"`, ' TEA '],
    ['text', `"{{ input.s | trim }}"`, 'tea'],
    ['short', `"{{ input.s | trim }}"`, 'tea'],
    ['text', `"{{ input.words | join }}"`, 'a, b'],
    ['text', `"{{ input.words | tojson }}"`, '["a","b"]'],
    ['text', `"{{ input.s | truncate(2) }}"`, ' t…'],
    ['text', `"{{ input.words | first }}"`, 'a'],
    ['text', `"{{ input.words | last | upper }}"`, 'B'],
    ['text', `'{{ input.s | default("x") }}'`, ' tea '],
    ['text', `'{{ input.gone | default("x") }}'`, 'x'],
    ['text', `'{{ input.none | default("x") }}'`, 'x'],
    ['number', `"{{ input.words | length }}"`, 2],
    ['person', `"{{ input.people | first }}"`, { name: 'Ann' }],
    ['greet', `"{{ input.people | first }}"`, 'Ann'],
    ['text', `{ input: "{{ input.words | first }}" }`, 'a'],
  ])('is the input of %s: %s', async (uses, given, got) => {
    const ran = await run(call(uses, given), undefined, { input, own })
    expect(ran).toMatchObject({ status: 'completed', output: { got } })
  })

  it.each([
    ['text', `"{{ steps.before.output.got | join }}"`, 'a, b'],
    ['text', `"{{ steps.before.output.got | first }}"`, 'a'],
    ['text', `'{{ steps.before.output.got | first | default("x") }}'`, 'a'],
    ['short', `"{{ steps.before.output.got | tojson | truncate(2) }}"`, '["…'],
  ])(
    'of a value that only the run knows is checked when it is there, by %s: %s',
    async (uses, given, got) => {
      const ran = await run(later(uses, given), undefined, { input, own })
      expect(ran).toMatchObject({ status: 'completed', output: { got } })
    },
  )

  it('works on the items of a map', async () => {
    const text = file(`- name: each
    kind: map
    map:
      iterable_input: "{{ input.words }}"
      body: [{ name: u, uses: text, input: "{{ item | trim }}" }, { name: v, uses: text, input: "{{ previous_step.got | default('x') }}" }]`)
    const ran = await run(text, undefined, { input, own })
    expect(ran).toMatchObject({ status: 'completed', output: [{ got: 'a' }, { got: 'b' }] })
  })

  it('that yields another value at run time fails its step before the capability is called', async () => {
    const ran = await run(later('number', `"{{ steps.before.output.got | first }}"`), undefined, {
      input,
      own,
    })
    expect(ran).toMatchObject({ status: 'failed', started: ['before', 'u.input'] })
  })

  it('that can never yield what the capability takes is rejected before the run', async () => {
    const ran = await run(call('number', `"{{ input.s | upper }}"`), undefined, { input, own })
    expect(ran).toMatchObject({ status: 'failed', started: [] })
  })
})
