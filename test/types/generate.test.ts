/** `generate` types its value by the schema, as `parse` does. The types are checked by `npm run types`. */
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod-3'
import { z as z40 } from 'zod-4.0'
import { type GenerateResult, generateValue } from '../../src/adapters/models/index.ts'
import { type App, createApp, type Json, type Provider } from '../../src/index.ts'

const Line = z.object({ line: z.string(), stars: z.number() })
const jsonLine = {
  type: 'object',
  properties: { line: { type: 'string' }, stars: { type: 'number' } },
  required: ['line', 'stars'],
} as const
type Value = { line: string; stars: number }

/** A model that answers with these texts, one per call; it streams every character. */
function answering(...texts: readonly string[]) {
  const prompts: string[] = []
  const provider: Provider = {
    name: 'scripted',
    async generate({ system, prompt, onText }) {
      const text = texts[Math.min(prompts.push(`${system}\n${prompt}`), texts.length) - 1] ?? ''
      for (const character of text) onText?.(character)
      return { kind: 'text', text, finish: 'stop', usage: {} }
    },
  }
  return { provider, prompts }
}

const request = { model: 'scripted/any', objective: 'One line about tea' }

describe('the types of generate', () => {
  it('are those of the schema, of any library', () => {
    const typed = async (app: App) => {
      expectTypeOf(await app.generate({ ...request, schema: Line })).toEqualTypeOf<GenerateResult<Value>>()
      const zod3 = await app.generate({ ...request, schema: z3.object({ line: z3.string() }) })
      expectTypeOf(zod3).toEqualTypeOf<GenerateResult<{ line: string }>>()
      const zod40 = await app.generate({ ...request, schema: z40.object({ line: z40.string() }) })
      expectTypeOf(zod40).toEqualTypeOf<GenerateResult<{ line: string }>>()
      const valibot = await app.generate({ ...request, schema: v.object({ line: v.string() }) })
      expectTypeOf(valibot).toEqualTypeOf<GenerateResult<{ line: string }>>()
      const arktype = await app.generate({ ...request, schema: type({ line: 'string' }) })
      expectTypeOf(arktype).toEqualTypeOf<GenerateResult<{ line: string }>>()
      const json = await app.generate({
        ...request,
        schema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
      })
      expectTypeOf(json).toEqualTypeOf<GenerateResult<{ line: string }>>()
      const providers: Provider[] = []
      const alone = await generateValue({ ...request, providers, schema: Line })
      expectTypeOf(alone).toEqualTypeOf<GenerateResult<Value>>()
    }
    expect(typed).toBeTypeOf('function')
  })

  it('are `Json` for a schema that the compiler does not know, and the converted type with a transform', () => {
    const typed = async (app: App, schema: { readonly [keyword: string]: unknown }) => {
      expectTypeOf(await app.generate({ ...request, schema })).toEqualTypeOf<GenerateResult<Json>>()
      const long = z.object({ line: z.string().transform((line) => line.length) })
      expectTypeOf(await app.generate({ ...request, schema: long })).toEqualTypeOf<
        GenerateResult<{ line: number }>
      >()
    }
    expect(typed).toBeTypeOf('function')
  })

  it('give a value with the outcome `ok` only', () => {
    const typed = (result: GenerateResult<Value>) => {
      if (result.outcome === 'ok') return expectTypeOf(result.output.value).toEqualTypeOf<Value>()
      return expectTypeOf(result.output).toEqualTypeOf<undefined>()
    }
    expect(typed).toBeTypeOf('function')
  })

  it('leave the members of partial values unknown, and do not compile where they are used as known', () => {
    const typed = [
      (app: App) =>
        app.generate({
          ...request,
          schema: Line,
          onPartial: ({ value }) =>
            expectTypeOf(value).toEqualTypeOf<{
              readonly line?: unknown
              readonly stars?: unknown
            } | null>(),
        }),
      (app: App) =>
        app.generate({
          ...request,
          schema: jsonLine,
          // @ts-expect-error: the number may still be a text
          onPartial: ({ value }) => value?.stars.toFixed(),
        }),
      // @ts-expect-error: a misspelled option
      (app: App) => app.generate({ ...request, schema: Line, onPartail: () => {} }),
      // @ts-expect-error: without a schema
      (app: App) => app.generate(request),
      // @ts-expect-error: the value has no such member
      async (app: App) => (await app.generate({ ...request, schema: Line })).output?.value.lines,
    ]
    expect(typed).toHaveLength(5)
  })
})

describe('a generated value', () => {
  it.each([
    ['Zod 4', Line],
    ['Zod 3', z3.object({ line: z3.string(), stars: z3.number() })],
    ['Zod 4.0', z40.object({ line: z40.string(), stars: z40.number() })],
    ['Valibot', v.object({ line: v.string(), stars: v.number() })],
    ['ArkType', type({ line: 'string', stars: 'number' })],
    ['a JSON Schema', jsonLine],
  ])('is converted toward the schema, which the model is shown, with %s', async (_, schema) => {
    const { provider, prompts } = answering("Sure: {line: 'Tea.', stars: '5'}")
    await using app = await createApp({ providers: [provider] })
    const partials: unknown[] = []
    const result = await app.generate({
      ...request,
      schema,
      onPartial: ({ value }) => partials.push(structuredClone(value)),
    })
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { line: 'Tea.', stars: 5 } } })
    expect(result.issues).toEqual([])
    expect(prompts).toHaveLength(1)
    expect(prompts[0]).toContain('"stars"')
    // The number is still a text while it streams.
    expect(partials).toContainEqual({ line: 'Tea.', stars: '5' })
  })

  it('passes the validator, which converts it, and whose objections go into the next request', async () => {
    const short = z.object({
      line: z
        .string()
        .refine((line) => line.length < 6, 'at most 5 letters')
        .transform((line) => line.length),
    })
    const { provider, prompts } = answering('{"line":"A long line"}', '{"line":"Tea."}')
    await using app = await createApp({ providers: [provider] })
    const result = await app.generate({ ...request, schema: short })
    expect(result).toMatchObject({ outcome: 'ok', output: { value: { line: 4 } } })
    expect(prompts).toHaveLength(2)
    expect(prompts[1]).toContain('at most 5 letters')
  })

  it('that the validator always refuses is `invalid`, with its issues', async () => {
    const { provider, prompts } = answering('{"line":"A long line"}')
    const never = z.object({ line: z.string().refine(() => false, 'never right') })
    const result = await generateValue({ ...request, providers: [provider], schema: never })
    expect(result).toMatchObject({
      outcome: 'invalid',
      issues: [{ code: 'schema/standard', at: { pointer: '/line' }, message: 'never right' }],
    })
    expect(prompts).toHaveLength(4)
  })

  it('of a library without JSON Schema says once what to install, and takes one beside it', async () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'mine',
        validate: (value: unknown) => ({ value: value as { stars: number } }),
      },
    } as const
    const { provider, prompts } = answering('{"stars": "5"}')
    const unguided = await generateValue({ ...request, providers: [provider], schema })
    expect(unguided).toMatchObject({ outcome: 'ok', output: { value: { stars: '5' } } })
    expect(unguided.issues).toMatchObject([
      { code: 'schema/unguided', hint: expect.stringContaining('zod@^4.2') },
    ])
    const guided = await generateValue({ ...request, providers: [provider], schema, jsonSchema: jsonLine })
    expect(guided.issues.map(({ code }) => code)).not.toContain('schema/unguided')
    expect(prompts[1]).toContain('"stars"')
  })
})
