import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compileSchema } from './compile/compile.ts'
import { isStandardSchema, standardJsonSchema, validateStandard } from './standard.ts'

const zod = z.object({ length: z.string().transform((text) => text.length), count: z.number().default(3) })
const arktype = type({ length: 'string.numeric.parse', count: 'number = 3' })
const valibot = v.object({
  length: v.pipe(
    v.string(),
    v.transform((text) => text.length),
  ),
  count: v.optional(v.number(), 3),
})
const guide = {
  type: 'object',
  required: ['length'],
  properties: { length: { type: 'string' }, count: { type: 'number' } },
}

describe('a Standard Schema', () => {
  it('is distinguished from a JSON Schema', () => {
    for (const schema of [zod, arktype, valibot]) expect(isStandardSchema(schema)).toBe(true)
    for (const other of [true, null, {}, { type: 'object' }, { '~standard': 1 }, 'x'])
      expect(isStandardSchema(other)).toBe(false)
  })

  it.each([
    ['zod', zod],
    ['arktype', arktype],
  ])('of %s says the JSON Schema of its input itself', (_, schema) => {
    const json = standardJsonSchema(schema, { type: 'null' })
    expect(json).toMatchObject({
      type: 'object',
      required: ['length'],
      properties: { length: { type: 'string' } },
    })
    const compiled = compileSchema(json!)
    expect(compiled.accepts({ length: '12' })).toBe(true)
    expect(compiled.accepts({ length: 12 })).toBe(false)
  })

  it('of a library without JSON Schema uses the one given beside it, else what its objects say', () => {
    expect(standardJsonSchema(valibot, guide)).toBe(guide)
    expect(standardJsonSchema(valibot)).toEqual(guide)
  })

  it('keeps its JSON Schema where a part of it, such as a date, cannot be said', () => {
    const schema = z.object({ at: z.coerce.date(), name: z.string() })
    expect(standardJsonSchema(schema)).toMatchObject({ properties: { name: { type: 'string' } } })
    const ark = type({ at: 'Date', name: 'string' })
    expect(standardJsonSchema(ark)).toMatchObject({ properties: { name: { type: 'string' } } })
  })

  it('falls back to the given JSON Schema when the library cannot convert at all', () => {
    const refuse = () => {
      throw new Error('no')
    }
    const schema = { '~standard': { ...zod['~standard'], jsonSchema: { input: refuse, output: refuse } } }
    expect(standardJsonSchema(schema, guide)).toBe(guide)
  })

  it.each([
    ['zod', zod],
    ['arktype', arktype],
    ['valibot', valibot],
  ])('of %s yields the output of its transforms and defaults', (name, schema) => {
    expect(validateStandard(schema, { length: '12' })).toEqual({
      value: { length: name === 'arktype' ? 12 : 2, count: 3 },
    })
  })

  it.each([
    ['zod', zod],
    ['arktype', arktype],
    ['valibot', valibot],
  ])('of %s reports located issues', (_, schema) => {
    const result = validateStandard(schema, { length: 12 })
    expect(result).toMatchObject({
      issues: [{ code: 'schema/standard', at: { pointer: '/length' }, actual: 12 }],
    })
  })

  it('reports a place deep inside by pointer, also through keys with slashes', () => {
    const schema = z.object({ 'a/b': z.array(z.object({ c: z.number() })) })
    const result = validateStandard(schema, { 'a/b': [{ c: 1 }, { c: 'x' }] })
    expect(result).toMatchObject({ issues: [{ at: { pointer: '/a~1b/1/c' }, actual: 'x' }] })
  })

  it('that is asynchronous is an issue, and its rejection has no effect', async () => {
    const rejections: unknown[] = []
    const listen = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', listen)
    const failing = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: async () => Promise.reject(new Error('later')),
      },
    }
    expect(validateStandard(failing, 1)).toMatchObject({ issues: [{ code: 'schema/async' }] })
    const refined = z.string().refine(async () => true)
    expect(validateStandard(refined, 'x')).toMatchObject({ issues: [{ code: 'schema/async' }] })
    const piped = v.pipeAsync(
      v.string(),
      v.checkAsync(async () => true),
    )
    expect(validateStandard(piped, 'x')).toMatchObject({ issues: [{ code: 'schema/async' }] })
    // Unhandled rejections are reported before the event loop turns.
    await new Promise(setImmediate)
    process.off('unhandledRejection', listen)
    expect(rejections).toEqual([])
  })

  it('whose validator throws is an issue', () => {
    const parse = (text: string) => JSON.parse(text)
    const thrown = validateStandard(v.pipe(v.string(), v.transform(parse)), '{')
    expect(thrown).toMatchObject({ issues: [{ code: 'schema/threw', at: { pointer: '' } }] })
    // Zod takes the throw for a promise and answers with one.
    const answered = validateStandard(z.string().transform(parse), '{')
    expect(answered).toMatchObject({
      issues: [{ code: 'schema/async', hint: expect.stringContaining('no transform may throw') }],
    })
  })

  it('with a recursive type and a named part compiles', () => {
    const Name = z.string().meta({ id: 'Name' })
    const Tree = z.object({
      name: Name,
      get kids() {
        return z.array(Tree)
      },
    })
    const compiled = compileSchema(standardJsonSchema(Tree)!)
    expect(compiled.accepts({ name: 'a', kids: [{ name: 'b', kids: [] }] })).toBe(true)
    expect(compiled.accepts({ name: 'a', kids: [{ name: 1, kids: [] }] })).toBe(false)
  })
})
