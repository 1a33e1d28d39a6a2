/** Judging a value costs a number of steps that is polynomial in its size, also where every branch of a union recurses. */
import { describe, expect, it } from 'vitest'
import { compileSchema, type JsonSchema } from '../../../src/schema/compile/compile.ts'

const branches = ['a', 'b', 'c', 'd'].map((tag) => ({
  type: 'object',
  properties: { next: { $ref: '#/$defs/node' }, tag: { const: tag } },
  required: ['tag'],
}))
const recursive: JsonSchema = {
  $ref: '#/$defs/node',
  $defs: { node: { anyOf: [{ type: 'null' }, ...branches] } },
}
const exclusive: JsonSchema = {
  $ref: '#/$defs/node',
  $defs: { node: { oneOf: [{ type: 'null' }, ...branches] } },
}

/** A chain whose innermost member is right or wrong. */
function chain(depth: number, right: boolean): unknown {
  let value: unknown = right ? null : 7
  for (let i = 0; i < depth; i++) value = { next: value, tag: 'd' }
  return value
}

function judged(schema: JsonSchema, value: unknown): number {
  const session = compileSchema(schema).openSession()
  session.accepts(value)
  return session.judged ?? 0
}

describe('a union whose branches all recurse', () => {
  it.each([
    ['anyOf', recursive],
    ['oneOf', exclusive],
  ])('is judged in linear time: %s', (_, schema) => {
    for (const right of [true, false]) {
      expect(compileSchema(schema).accepts(chain(60, right))).toBe(right)
      expect(judged(schema, chain(200, right)) / judged(schema, chain(100, right))).toBeLessThan(2.2)
    }
  })

  it('is explained in bounded time', () => {
    const issues = compileSchema(recursive).validate(chain(60, false))
    expect(issues.length).toBeGreaterThan(0)
    expect(issues.length).toBeLessThanOrEqual(100)
    expect(issues[0]).toMatchObject({ code: 'schema/anyOf', at: { pointer: '' } })
  })

  it('is judged once when it is asked about at every level', () => {
    const value = chain(100, true)
    const session = compileSchema(recursive).openSession()
    expect(session.accepts(value)).toBe(true)
    const once = session.judged ?? 0
    for (let inner = value; inner !== null; inner = (inner as { next: unknown }).next)
      expect(session.acceptsAt('/$defs/node', inner)).toBe(true)
    expect(session.judged).toBeLessThan(once * 1.5)
  })
})

describe('definitions that use each other twice', () => {
  it('are judged once for each value', () => {
    const levels = 40
    const $defs: Record<string, JsonSchema> = { d0: { required: ['missing'] } }
    for (let i = 1; i <= levels; i++)
      $defs[`d${i}`] = { anyOf: [{ $ref: `#/$defs/d${i - 1}` }, { allOf: [{ $ref: `#/$defs/d${i - 1}` }] }] }
    const compiled = compileSchema({ $ref: `#/$defs/d${levels}`, $defs })
    expect(compiled.accepts({})).toBe(false)
    expect(compiled.validate({})[0]).toMatchObject({ code: 'schema/anyOf' })
  })
})
