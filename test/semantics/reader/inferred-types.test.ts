/** The types that `parse` and `createReader` promise for JSON Schema literals, type names and partials. Checked by `npm run types`. */
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  createReader,
  type Infer,
  type JsonSchema,
  type JsonSchemaValue,
  type PartialValue,
  parse,
  parseAndValidate,
} from '../../../src/output/index.ts'
import { Random, randomObject } from '../../random.ts'

type Of<S> = JsonSchemaValue<S>
/** The type of a literal as `const` parameters see it. */
const literal = <const S extends JsonSchema>(schema: S): S => schema

describe('a JSON Schema literal', () => {
  it('types a value that is taken out of the result before `ok` is checked', () => {
    const { ok, value, issues } = parse('{age: "36"}', {
      type: 'object',
      properties: { age: { type: 'integer' } },
      required: ['age'],
    })
    expectTypeOf(value).toEqualTypeOf<{ age: number } | undefined>()
    if (ok) expectTypeOf(value).toEqualTypeOf<{ age: number }>()
    expect({ ok, value, issues }).toEqual({ ok: true, value: { age: 36 }, issues: [] })
  })

  it('gives the type of the value, without as const', () => {
    const result = parse('{name: Ada, age: "36", tags: a}', {
      type: 'object',
      properties: {
        name: { type: 'string' },
        age: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
        level: { enum: ['low', 'high', 3, null] },
      },
      required: ['name', 'age'],
    })
    if (!result.ok) throw new Error('The text was not read')
    expectTypeOf(result.value).toEqualTypeOf<{
      name: string
      age: number
      tags?: string[]
      level?: 'low' | 'high' | 3 | null
    }>()
    expect(result.value).toEqual({ name: 'Ada', age: 36, tags: ['a'] })
  })

  it('gives it with as const, to parseAndValidate and to createReader too', () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const
    expectTypeOf(parseAndValidate('{"ok": true}', schema)).toEqualTypeOf<{ ok: boolean }>()
    const reader = createReader({ type: 'array', items: { type: 'number' } })
    reader.push('[1, 2')
    const result = reader.end()
    if (result.ok) expectTypeOf(result.value).toEqualTypeOf<number[]>()
    expect(result).toMatchObject({ ok: true, value: [1, 2] })
  })

  it('has types, unions of types, null, const and enum', () => {
    expectTypeOf<Of<{ type: 'string' }>>().toEqualTypeOf<string>()
    expectTypeOf<Of<{ type: readonly ['integer', 'null'] }>>().toEqualTypeOf<number | null>()
    expectTypeOf<Of<{ type: 'string'; nullable: true }>>().toEqualTypeOf<string | null>()
    expectTypeOf<Of<{ $ref: '#/$defs/a'; nullable: true; $defs: { a: { type: 'string' } } }>>().toEqualTypeOf<
      string | null
    >()
    expectTypeOf<Of<{ const: 'x' }>>().toEqualTypeOf<'x'>()
    expectTypeOf<Of<{ const: { readonly a: readonly [1, 2] } }>>().toEqualTypeOf<{ a: [1, 2] }>()
    expectTypeOf<Of<{ type: 'string'; enum: readonly ['a', 'b'] }>>().toEqualTypeOf<'a' | 'b'>()
    expectTypeOf<Of<true>>().toBeUnknown()
    expectTypeOf<Of<false>>().toBeNever()
  })

  it('has lists and tuples, whose items may be absent beyond minItems', () => {
    const pair = literal({
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'number' }],
      items: false,
    })
    expectTypeOf<Of<typeof pair>>().toEqualTypeOf<[string?, number?]>()
    const least = literal({ ...pair, minItems: 2 } as const)
    expectTypeOf<Of<typeof least>>().toEqualTypeOf<[string, number]>()
    const open = literal({ type: 'array', prefixItems: [{ type: 'string' }], minItems: 1 })
    expectTypeOf<Of<typeof open>>().toEqualTypeOf<[string, ...unknown[]]>()
    const old = literal({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      items: [{ type: 'string' }],
      additionalItems: { type: 'number' },
      minItems: 1,
    })
    expectTypeOf<Of<typeof old>>().toEqualTypeOf<[string, ...number[]]>()
    expectTypeOf<Of<{ type: 'array' }>>().toEqualTypeOf<unknown[]>()
  })

  it('has unions, intersections and objects without declared members', () => {
    const shape = literal({
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
          required: ['kind'],
        },
        { type: 'null' },
      ],
    })
    expectTypeOf<Of<typeof shape>>().toEqualTypeOf<{ kind: 'circle'; radius?: number } | null>()
    const nested = literal({
      anyOf: [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'null' }],
    })
    expectTypeOf<Of<typeof nested>>().toEqualTypeOf<string | number | null>()
    const both = literal({
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'number' } } },
      ],
    })
    expectTypeOf<Of<typeof both>>().toExtend<{ a: string; b?: number }>()
    const guarded = literal({
      type: 'object',
      properties: { a: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    })
    expectTypeOf<Of<typeof guarded>>().toExtend<{ a?: string }>()
    expectTypeOf<Of<{ type: 'object'; additionalProperties: { type: 'number' } }>>().toEqualTypeOf<{
      [key: string]: number
    }>()
    expectTypeOf<Of<{ type: 'object' }>>().toEqualTypeOf<{ [key: string]: unknown }>()
    const named = literal({ type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'] })
    expectTypeOf<Of<typeof named>>().toEqualTypeOf<{ a: string; b: unknown }>()
  })

  it('follows references to definitions, in themselves too', () => {
    const tree = literal({
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
          },
          required: ['name', 'children'],
        },
      },
    })
    interface Tree {
      name: string
      children: Tree[]
    }
    const value = parseAndValidate('{"name": "a", "children": [{"name": "b", "children": []}]}', tree)
    expectTypeOf(value).toEqualTypeOf<Tree>()
    expectTypeOf(value.children[0]?.children[0]?.name).toEqualTypeOf<string | undefined>()
    const lists = literal({ anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#' } }] })
    type Lists = string | Lists[]
    expectTypeOf<Of<typeof lists>>().toExtend<Lists>()
    expect(value.children[0]?.name).toBe('b')
  })

  it('is unknown where a reference leads to another document, in a circle, or under a name of its own', () => {
    expectTypeOf<Of<{ $ref: '#/$defs/none' }>>().toBeUnknown()
    expectTypeOf<Of<{ $ref: 'https://example.com/a' }>>().toBeUnknown()
    expectTypeOf<Of<{ $ref: '#/$defs/a~1b'; $defs: { 'a~1b': { type: 'string' } } }>>().toBeUnknown()
    expectTypeOf<Of<{ $ref: '#/$defs/a'; $defs: { a: { anyOf: readonly [{ $ref: '#' }] } } }>>().toBeUnknown()
    expectTypeOf<Of<{ $ref: '#/$defs/a'; $defs: { a: { $id: 'b'; type: 'string' } } }>>().toBeUnknown()
  })

  it('is never narrower than the schema: what a draft ignores, what is not said, what is not a literal', () => {
    const draft4 = literal({ $schema: 'http://json-schema.org/draft-04/schema#', const: 1 })
    expectTypeOf<Of<typeof draft4>>().toBeUnknown()
    expect(parse('"text"', draft4)).toMatchObject({ ok: true, value: 'text' })
    const draft7 = literal({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      prefixItems: [{ type: 'string' }],
    })
    expectTypeOf<Of<typeof draft7>>().toEqualTypeOf<unknown[]>()
    expect(parse('[1]', draft7)).toMatchObject({ ok: true, value: [1] })
    expectTypeOf<Of<{ properties: { a: { type: 'string' } } }>>().toBeUnknown()
    expect(parse('7', { properties: { a: { type: 'string' } } })).toMatchObject({ ok: true, value: 7 })
    const wide = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    expectTypeOf<Infer<typeof wide>>().toBeUnknown()
    expectTypeOf<Infer<JsonSchema>>().toBeUnknown()
    expectTypeOf<
      Of<{ type: 'object'; properties: { a: { type: 'string' } }; required: string[] }>
    >().toEqualTypeOf<{
      a?: string
    }>()
    const free = parse('1')
    if (free.ok) expectTypeOf(free.value).toBeUnknown()
  })
})

describe('a type name', () => {
  it('gives its type', () => {
    expectTypeOf<Infer<'string[]'>>().toEqualTypeOf<string[]>()
    expectTypeOf<Infer<'integer'>>().toEqualTypeOf<number>()
    expectTypeOf<Infer<'object[][]'>>().toEqualTypeOf<{ [key: string]: unknown }[][]>()
    expectTypeOf<Infer<'array'>>().toEqualTypeOf<unknown[]>()
    expectTypeOf<Infer<string>>().toBeUnknown()
    const result = parse('a, b', 'string[]')
    if (result.ok) expectTypeOf(result.value).toEqualTypeOf<string[]>()
  })
})

describe('a partial', () => {
  it('is what the model writes: members may be absent, scalars and lists are anything yet', () => {
    const reader = createReader({
      type: 'object',
      properties: {
        title: { type: 'string' },
        count: { type: 'integer' },
        level: { enum: ['low', 'high'] },
        owner: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
      },
      required: ['title', 'count', 'level', 'owner', 'items'],
    })
    const { partial } = reader.push('{"count": "3", "level": "hi", "items": "[{", "owner": {"na')
    expectTypeOf(partial?.title).toBeUnknown()
    expectTypeOf(partial?.count).toBeUnknown()
    expectTypeOf(partial?.owner?.name).toBeUnknown()
    expectTypeOf(partial?.items).toEqualTypeOf<
      | ({ readonly id?: unknown } | null)[]
      | string
      | number
      | boolean
      | { readonly [key: string]: unknown }
      | null
      | undefined
    >()
    // Each of these is of another type than the one that the end promises.
    expect(partial).toEqual({ count: '3', level: 'hi', items: '[{', owner: {} })
    const items = partial?.items
    if (Array.isArray(items)) expectTypeOf(items[0]?.id).toBeUnknown()
    // @ts-expect-error a list may still be something else
    expect(() => partial?.items?.map((item) => item)).toThrow(TypeError)
    // @ts-expect-error the view must not be changed
    if (partial) partial.title = 'x'
  })

  it('of a union has the members of every branch, because none is chosen yet', () => {
    type Shape = { kind: 'circle'; radius: number } | { kind: 'square'; sides: { a: number } }
    expectTypeOf<PartialValue<Shape>>().toEqualTypeOf<{
      readonly kind?: unknown
      readonly radius?: unknown
      readonly sides?: { readonly a?: unknown } | null
    } | null>()
    expectTypeOf<PartialValue<string | { a: 1 }>>().toBeUnknown()
    expectTypeOf<PartialValue<unknown>>().toBeUnknown()
  })

  it('of a schema with transforms is that of its input', () => {
    const schema = z.object({
      tags: z.string().transform((text) => text.split(',')),
      at: z.object({ n: z.number() }),
    })
    const zod = createReader(schema).push('{"tags": "a').partial
    expectTypeOf(zod?.tags).toBeUnknown()
    expectTypeOf(zod?.at?.n).toBeUnknown()
    const lengths = v.object({
      list: v.pipe(
        v.array(v.string()),
        v.transform((list) => ({ length: list.length })),
      ),
    })
    const partial = createReader(lengths).push('{"list": ["a"').partial
    expectTypeOf<Extract<NonNullable<typeof partial>['list'], readonly unknown[]>>().toEqualTypeOf<
      unknown[]
    >()
    expect(partial).toEqual({ list: ['a'] })
  })

  it('of a value inside of itself is one too', () => {
    interface Tree {
      name: string
      next?: Tree
      children: Tree[]
    }
    const partial = {} as NonNullable<PartialValue<Tree>>
    expectTypeOf(partial.next?.next?.next?.name).toBeUnknown()
    const { children } = partial
    if (Array.isArray(children)) expectTypeOf(children[0]?.next?.name).toBeUnknown()
    expect(partial).toEqual({})
  })
})

/** Files of the compiler's own library, which every program shares. */
const parsed = new Map<string, ts.SourceFile>()

/** Compiles a text that may use `JsonSchemaValue`, as strictly as the project itself. */
function compile(text: string): { readonly messages: readonly string[]; readonly instantiations: number } {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  const file = fileURLToPath(new URL('./compiled-schemas.ts', import.meta.url))
  const whole = `import type { JsonSchemaValue } from '../../../src/output/infer.ts'\n${text}`
  host.fileExists = (name) => name === file || fileExists(name)
  host.getSourceFile = (name, version) => {
    if (name === file) return ts.createSourceFile(name, whole, version)
    const source = parsed.get(name) ?? getSourceFile(name, version)
    if (source !== undefined) parsed.set(name, source)
    return source
  }
  const program = ts.createProgram([file], options, host)
  const messages = program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ start = 0, messageText }) => {
      const line = whole.slice(whole.lastIndexOf('\n', start) + 1, whole.indexOf('\n', start))
      return `${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
  // Not part of the public types of the compiler; `tsc --extendedDiagnostics` prints it.
  const { getInstantiationCount } = program as unknown as { getInstantiationCount(): number }
  return { messages, instantiations: getInstantiationCount() }
}

describe('inferred types', { timeout: 120_000 }, () => {
  it('hold every value that a random schema allows', () => {
    const random = new Random(57)
    const lines = Array.from({ length: 150 }, (_, i) => {
      const { schema, sample } = randomObject(random)
      const values = Array.from({ length: 3 }, () => JSON.stringify(sample()))
      return `const s${i} = ${JSON.stringify(schema)} as const; export const v${i}: JsonSchemaValue<typeof s${i}>[] = [${values}]`
    })
    expect(compile(lines.join('\n')).messages).toEqual([])
    const wrong = `const s = {"type":"object","properties":{"a":{"type":"string"}}} as const; export const v: JsonSchemaValue<typeof s> = {"a": 1}`
    expect(compile(wrong).messages).toHaveLength(1)
  })

  it('cost the compiler work in proportion to the properties', () => {
    const kinds = [
      '{ type: "string" }',
      '{ type: ["integer", "null"] }',
      '{ enum: ["a", "b"] }',
      '{ type: "array", items: { type: "object", properties: { x: { type: "number" }, y: { $ref: "#/$defs/n" } } } }',
      '{ anyOf: [{ type: "string" }, { type: "object", properties: { k: { const: "z" } } }] }',
    ]
    function instantiations(properties: number): number {
      const names = Array.from({ length: properties }, (_, i) => `p${i}`)
      const members = names.map((name, i) => `${name}: ${kinds[i % kinds.length]}`)
      const compiled = compile(`const schema = {
        type: 'object', properties: { ${members} }, required: ${JSON.stringify(names)},
        $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } } } } } as const
      declare const value: JsonSchemaValue<typeof schema>
      export const all = [${names.map((name) => `value.${name}`)}]
      export const deep: unknown = value.p3[0]?.y?.next?.next`)
      expect(compiled.messages).toEqual([])
      return compiled.instantiations
    }
    expect(instantiations(200) - instantiations(50)).toBeLessThan(150 * 500)
  })
})
