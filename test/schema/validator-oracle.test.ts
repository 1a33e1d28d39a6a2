/** Our verdicts agree with those of an independent validator on random schemas and values. */
import { registerSchema, unregisterSchema, validate } from '@hyperjump/json-schema/draft-2020-12'
import { expect, it } from 'vitest'
import { randomSchema, randomValue, seeded } from '../hostile/generate.ts'
import { compileSchema, compileWithAjv, schemaGraph } from '../seams/schema.ts'

const seed = 20_260_801
const schemas = 300
const valuesEach = 8

it('accepts exactly what @hyperjump/json-schema accepts, trusted and untrusted', async () => {
  const random = seeded(seed)
  let accepted = 0
  let compiled = 0
  for (let i = 0; i < schemas; i++) {
    const schema = randomSchema(random)
    const uri = `https://oracle.example/${i}`
    registerSchema(structuredClone(schema) as never, uri, 'https://json-schema.org/draft/2020-12/schema')
    const oracle = await validate(uri)
    const trusted = compileSchema(schema)
    const bounded = boundUniqueItems(schema)
    const untrusted = compileSchema(bounded, { untrusted: true })
    const generated = compileWithAjv(trusted.schema, schemaGraph(trusted.schema), { untrusted: false })
    if (generated !== undefined) compiled++
    for (let j = 0; j < valuesEach; j++) {
      const value = randomValue(random)
      const expected = oracle(value as never).valid
      const context = `seed ${seed}, schema ${JSON.stringify(schema)}, value ${JSON.stringify(value)}`
      expect(trusted.accepts(value), context).toBe(expected)
      expect(untrusted.accepts(value), context).toBe(expected)
      expect(trusted.validate(value).length === 0, context).toBe(expected)
      expect(trusted.acceptsAt('', value), context).toBe(expected)
      // What a schema that is used often is judged by.
      if (generated !== undefined) expect(generated(value), context).toBe(expected)
      if (expected) accepted++
    }
    unregisterSchema(uri)
  }
  expect(compiled).toBeGreaterThan(schemas * 0.5)
  // A comparison in which one side always wins would prove little.
  expect(accepted).toBeGreaterThan(schemas * valuesEach * 0.2)
  expect(accepted).toBeLessThan(schemas * valuesEach * 0.8)
}, 120_000)

/** Untrusted schemas need `maxItems` beside `uniqueItems`; the random arrays are far shorter. */
function boundUniqueItems<T>(schema: T): T {
  const text = JSON.stringify(schema)
  return JSON.parse(text, (_, value) => (value?.uniqueItems === true ? { maxItems: 1_000, ...value } : value))
}
