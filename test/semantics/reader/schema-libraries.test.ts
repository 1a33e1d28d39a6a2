/** Every schema library guides the reader alike, and keeps the last word. */
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod-3'
import { z as z40 } from 'zod-4.0'
import { parse } from '../../../src/output/index.ts'
import { randomAlike } from '../../conformance/libraries/alike.ts'
import { columns, playLibraries, withoutGuidance } from '../../conformance/libraries/play.ts'
import { type Row, rows } from '../../conformance/libraries/rows.ts'
import { Random } from '../../random.ts'

describe('schemas of libraries', () => {
  it.each(Object.keys(columns))('%s: texts are read as promised, feature by feature', (library) => {
    const cells = playLibraries([library])
    expect(cells.filter(({ differences }) => differences.length > 0)).toEqual([])
    expect(cells.filter(({ read }) => read.length > 0).length).toBeGreaterThan(20)
  })

  it('the page shows the matrix', () => {
    const page = readFileSync(new URL('../../../docs/reference/conformance.md', import.meta.url), 'utf8')
    const cells = Object.keys(columns)
    for (const { feature } of rows) {
      const verdicts = cells.map((library) => (columns[library]?.[feature] === undefined ? '-' : 'yes'))
      expect(page).toContain(`\n| ${feature} | ${verdicts.join(' | ')} |\n`)
    }
  })

  it('the columns of Zod 4 differ in their import alone', () => {
    const folder = new URL('../../conformance/libraries/', import.meta.url)
    const body = (name: string) => readFileSync(new URL(name, folder), 'utf8').split('\n').slice(2)
    for (const version of ['4.0', '4.1', '4.2']) expect(body(`zod-${version}.ts`)).toEqual(body('zod-4.ts'))
  })

  it('a cell that is not as promised is seen', () => {
    const text = '{"name": "Ada", "age": 36}'
    const differences = (row: Omit<Row, 'feature'>) =>
      playLibraries(['zod'], [{ feature: 'object', ...row }]).flatMap((cell) => cell.differences)
    expect(differences({ clean: { text, value: {} } })).toEqual(['clean: another value'])
    expect(differences({ slipped: { text, value: { name: 'Ada', age: 36 } } })).toEqual([
      'slipped: needs no guidance',
    ])
    expect(differences({ refused: { text, code: 'schema/async' } })).toEqual(['refused: was accepted'])
  })

  it('guidance read from the objects of a library gives the value that the JSON Schema of Zod gives', () => {
    const random = new Random(15)
    let read = 0
    for (let i = 0; i < 120; i++) {
      const { text, schemas } = randomAlike(random)
      const expected = parse(text, schemas['zod'])
      if (expected.ok && expected.repairCount > 0) read++
      for (const [library, schema] of Object.entries(schemas)) {
        const result = parse(text, schema)
        const value = result.ok ? result.value : 'refused'
        expect({ library, text, value }).toEqual({
          library,
          text,
          value: expected.ok ? expected.value : 'refused',
        })
      }
    }
    expect(read).toBeGreaterThan(60)
  })
})

describe('a schema of a library that is not known', () => {
  const schema = withoutGuidance(z.object({ age: z.number() }))

  it('is reported as unguided, on success and on failure', () => {
    expect(parse('{"age": 36}', schema)).toMatchObject({
      ok: true,
      value: { age: 36 },
      issues: [{ code: 'schema/unguided', hint: expect.stringContaining('jsonSchema') }],
    })
    expect(parse('{"age": "36"}', schema)).toMatchObject({
      ok: false,
      issues: [{ code: 'schema/standard' }, { code: 'schema/unguided' }],
    })
  })

  it('is guided by the option jsonSchema, without a note', () => {
    const jsonSchema = { type: 'object', properties: { age: { type: 'number' } } }
    expect(parse('{"age": "36"}', schema, { jsonSchema })).toMatchObject({ value: { age: 36 }, issues: [] })
  })

  it('may call itself Zod or Valibot: what it lacks is a note, never an exception', () => {
    for (const vendor of ['zod', 'valibot'])
      for (const more of [
        {},
        { _zod: 1 },
        { _zod: { def: { type: 'lazy' } } },
        { _def: { typeName: 'ZodObject' } },
      ]) {
        const fake = {
          ...more,
          '~standard': { version: 1 as const, vendor, validate: (value: unknown) => ({ value }) },
        }
        expect(parse('{"a": 1}', fake)).toMatchObject({ ok: true, value: { a: 1 } })
      }
  })
})

describe('schema objects of libraries', () => {
  it('that are shared many times over are described once', () => {
    let zod: z.ZodTypeAny = z.object({ n: z.number() })
    let valibot: v.GenericSchema = v.object({ n: v.number() })
    for (let i = 0; i < 25; i++) {
      zod = z.object({ n: z.number(), a: zod.optional(), b: zod.optional() })
      valibot = v.object({ n: v.number(), a: v.optional(valibot), b: v.optional(valibot) })
    }
    for (const schema of [zod, valibot])
      expect(parse('{"n": "1", "a": {"n": "2", "b": {"n": "3"}}}', schema)).toMatchObject({
        value: { n: 1, a: { n: 2, b: { n: 3 } } },
        issues: [],
      })
  })

  it('that are created at every access guide as deep as they are read', () => {
    const endless = (): z.ZodTypeAny => z.lazy(() => z.object({ n: z.number(), next: endless().optional() }))
    expect(parse('{"n": "1", "next": {"n": "2"}}', endless())).toMatchObject({
      value: { n: 1, next: { n: 2 } },
      issues: [],
    })
  })

  it('are described by their input: preprocessing, pipes, enums of TypeScript, catch and readonly', () => {
    const Level = { Low: 0, High: 1, 0: 'Low', 1: 'High' } as const
    for (const zod of [z, z40 as unknown as typeof z]) {
      const schema = zod.object({
        level: zod.nativeEnum(Level),
        count: zod.preprocess((value) => value, zod.number()),
        mood: zod.enum(['calm', 'glad']).catch('calm'),
        tags: zod.array(zod.string()).readonly(),
        length: zod.string().pipe(zod.string().min(1)),
        key: zod.string().or(zod.undefined()),
      })
      expect(parse('{level: "1", count: "3", mood: Glad, tags: x, length: 5, Key: k}', schema)).toMatchObject(
        {
          value: { level: 1, count: 3, mood: 'glad', tags: ['x'], length: '5', key: 'k' },
        },
      )
    }
  })
})
