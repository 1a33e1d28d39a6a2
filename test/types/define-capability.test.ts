/** `defineCapability` types its function by the schemas of any library. The types are checked by `npm run types`. */
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod-3'
import { serveAgent } from '../../src/agent/index.ts'
import type { Json } from '../../src/base/json.ts'
import { createApp, defineCapability, tool } from '../../src/index.ts'

interface Tree {
  a: string
  all: Tree[]
}
const server = { url: 'http://127.0.0.1:1', token: 'token' }

describe('the function of a capability', () => {
  it('receives and returns what the schemas of any library say', () => {
    defineCapability({
      id: 'zod',
      input: z.object({ topic: z.string(), count: z.number().default(1) }),
      output: z.object({ line: z.string() }),
      run(inputs) {
        expectTypeOf(inputs).toEqualTypeOf<{ topic: string; count: number }>()
        return { line: inputs.topic }
      },
    })
    defineCapability({
      id: 'zod-3',
      input: z3.object({ topic: z3.string() }),
      output: z3.object({ line: z3.string() }),
      run: ({ topic }) => ({ line: topic.trim() }),
    })
    defineCapability({
      id: 'valibot',
      input: v.object({ topic: v.string() }),
      output: v.object({ line: v.string() }),
      run: async ({ topic }) => ({ line: topic.trim() }),
    })
    defineCapability({
      id: 'arktype',
      input: type({ topic: 'string' }),
      output: type({ line: 'string' }),
      run: ({ topic }) => ({ line: topic.trim() }),
    })
  })

  it('of a tool without an output schema returns any JSON value', () => {
    const open = tool({
      id: 'open',
      input: z.object({ topic: z.string() }),
      run: ({ topic }) => ({ line: topic.trim() }),
    })
    expect(open.defined?.capability.outputContract).toEqual({})
    tool({
      id: 'closed',
      input: z.object({ topic: z.string() }),
      output: z.object({ line: z.string() }),
      // @ts-expect-error: not what the schema says.
      run: ({ topic }) => ({ lines: topic.trim() }),
    })
  })

  it('receives and returns what a JSON Schema literal says, under either names', () => {
    defineCapability({
      capabilityId: 'json',
      inputContract: {
        type: 'object',
        properties: { topic: { type: 'string' }, tone: { enum: ['dry', 'warm'] } },
        required: ['topic'],
      },
      outputContract: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
      run(inputs) {
        expectTypeOf(inputs).toEqualTypeOf<{ topic: string; tone?: 'dry' | 'warm' }>()
        return { line: inputs.topic }
      },
    })
  })

  it('returns literals, tuples and discriminated unions without `as const`', () => {
    const input = z.object({ a: z.string() })
    const output = z.object({ x: z.enum(['p', 'q']) })
    const schema = { type: 'object', properties: { x: { enum: ['p', 'q'] } }, required: ['x'] } as const
    const at = z.object({ at: z.tuple([z.number(), z.number()]), tags: z.array(z.literal('t')) })
    const union = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), n: z.number() }),
      z.object({ kind: z.literal('b') }),
    ])
    const tree: z.ZodType<Tree, Tree> = z.lazy(() => z.object({ a: z.string(), all: z.array(tree) }))
    const grown: Tree = { a: 'a', all: [] }
    const json: Json = null
    const define = [
      () => defineCapability({ id: 'a', input, output, run: ({ a }) => ({ x: a === 'p' ? 'p' : 'q' }) }),
      () =>
        defineCapability({
          id: 'b',
          input,
          output,
          async run({ a }, context) {
            if (a === '') return context.reject('empty')
            if (a === 'p') return { x: 'p' }
            return { x: 'q' }
          },
        }),
      () => defineCapability({ id: 'c', input, output: schema, run: ({ a }) => ({ x: a ? 'p' : 'q' }) }),
      () =>
        defineCapability({
          id: 'd',
          input,
          output: at,
          run: ({ a }) => ({ at: [a.length, 2], tags: ['t'] }),
        }),
      () =>
        defineCapability({
          id: 'e',
          input,
          output: union,
          run: ({ a }) => (a ? { kind: 'a', n: 1 } : { kind: 'b' }),
        }),
      () =>
        defineCapability({
          capabilityId: 'f',
          inputContract: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          outputContract: { type: 'object', properties: { x: { const: 'p' } }, required: ['x'] },
          run: ({ a }) => {
            a.trim()
            return { x: 'p' }
          },
        }),
      () =>
        defineCapability({
          id: 'g',
          input,
          output: z.object({ at: z.date() }),
          run: () => ({ at: new Date() }),
        }),
      () =>
        defineCapability({
          id: 'k',
          input,
          output: tree,
          run: ({ a }) => ({ a, all: [grown, { a, all: [] }] }),
        }),
      () => defineCapability({ id: 'l', input, output: z.json(), run: ({ a }) => ({ a, json: [json] }) }),
      () => tool({ id: 'h', input, output, run: async ({ a }) => ({ x: a ? 'p' : 'q' }) }),
      () => serveAgent({ id: 'i', input, output, run: ({ a }) => ({ x: a ? 'p' : 'q' }), server }),
      () =>
        serveAgent({
          id: 'j',
          input,
          output,
          async *run({ a }) {
            yield a
          },
          server,
        }),
    ]
    const refused = [
      // @ts-expect-error: not a value of the enum
      () => defineCapability({ id: 'a', input, output, run: ({ a }) => ({ x: a ? 'p' : 'z' }) }),
      // @ts-expect-error: neither is this
      () => defineCapability({ id: 'b', input, output: schema, run: async () => ({ x: 'z' }) }),
      // @ts-expect-error: one number is missing
      () => defineCapability({ id: 'c', input, output: at, run: () => ({ at: [1], tags: [] }) }),
      // @ts-expect-error: the other branch has no number
      () => defineCapability({ id: 'd', input, output: union, run: () => ({ kind: 'a' }) }),
      // @ts-expect-error: not a value of the enum
      () => tool({ id: 'e', input, output, run: () => ({ x: 'z' }) }),
      // @ts-expect-error: not a value of the enum
      () => serveAgent({ id: 'f', input, output, run: () => ({ x: 'z' }), server }),
    ]
    expect([...define, ...refused]).toHaveLength(18)
  })

  it('does not compile with a wrong return value, a wrong member or a misspelled field', () => {
    const line = z.object({ line: z.string() })
    const all = { input: line, output: line }
    const define = [
      // @ts-expect-error: the line is a number
      () => defineCapability({ id: 'a', ...all, run: () => ({ line: 1 }) }),
      // @ts-expect-error: nothing is returned
      () => defineCapability({ id: 'b', ...all, run: () => {} }),
      // @ts-expect-error: the input has no member of this name
      () => defineCapability({ id: 'c', ...all, run: ({ lines }) => ({ line: lines }) }),
      // @ts-expect-error: a misspelled field
      () => defineCapability({ id: 'd', ...all, idempotnt: true, run: (inputs) => inputs }),
      // @ts-expect-error: names of both kinds
      () => defineCapability({ id: 'e', capabilityId: 'e', ...all, run: (inputs) => inputs }),
    ]
    expect(define).toHaveLength(5)
  })
})

const envelope = (inputs: { [name: string]: string }) => ({
  objective: 'One line',
  inputs,
  outputContract: {
    schema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
  },
})
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }

describe('the validator of another library', () => {
  it('converts inputs for the function, and leaves its result as it is', async () => {
    const write = defineCapability({
      id: 'write',
      input: z.object({ topic: z.string().transform((topic) => topic.toUpperCase()) }),
      output: z.object({ line: z.string().transform((line) => line.length) }),
      run: ({ topic }) => ({ line: `Time for ${topic}.` }),
    })
    const app = await createApp({ capabilities: [write] })
    const { output } = await app.run(envelope({ topic: 'tea' }), { draft })
    expect(output).toEqual({ line: 'Time for TEA.' })
    await app.close()
  })

  it('refuses inputs for good, and outputs as invalid, by rules that JSON Schema cannot express', async () => {
    let calls = 0
    const even = (text: string) => text.length % 2 === 0
    const write = defineCapability({
      id: 'write',
      input: z.object({ topic: z.string().refine(even, 'an even number of letters, please') }),
      output: z.object({ line: z.string().refine(even, 'an even line, please') }),
      run({ topic }) {
        calls++
        return { line: topic === 'teas' ? 'odd' : 'even' }
      },
    })
    const app = await createApp({ capabilities: [write] })
    const refused = await app.run(envelope({ topic: 'tea' }), { draft })
    expect(refused).toMatchObject({
      status: 'failed',
      issues: [{ at: { pointer: '/topic' }, message: expect.stringContaining('an even number of letters') }],
    })
    expect(calls).toBe(0)
    const invalid = await app.run(envelope({ topic: 'teas' }), { draft })
    expect(invalid).toMatchObject({
      status: 'failed',
      issues: [{ at: { pointer: '/line' }, message: expect.stringContaining('an even line') }],
    })
    expect(calls).toBeGreaterThan(0)
    const good = await app.run(envelope({ topic: 'milk' }), { draft })
    expect(good.output).toEqual({ line: 'even' })
    await app.close()
  })

  it('without a JSON Schema is refused with what to do', () => {
    const custom = {
      '~standard': { version: 1, vendor: 'mine', validate: (value: unknown) => ({ value }) },
    } as const
    expect(() =>
      defineCapability({ id: 'write', input: custom, output: custom, run: (inputs) => inputs }),
    ).toThrow('Cannot use the capability "write": the input schema of mine has no JSON Schema')
  })
})
