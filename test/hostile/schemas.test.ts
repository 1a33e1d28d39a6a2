/** Hostile contracts are bounded (T9): refused by name, or compiled and then quick, whatever the value. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'
import { type CompiledSchema, compileSchema } from '../seams/schema.ts'
import { hostileContracts } from './corpus.ts'

/** The goal is one second for each contract; the machine that runs the tests may be ten times busier. */
const timeOut = 10_000

const contracts = hostileContracts()
const deep = JSON.parse(`${'{"a":'.repeat(400)}1${'}'.repeat(400)}`)
const values = [deep, 'x'.repeat(100_000), Array.from({ length: 5_000 }, (_, i) => ({ i }))]

describe('a hostile contract', () => {
  it('has a corpus of at least 300', () => {
    expect(new Set(contracts.map(({ name }) => name)).size).toBe(contracts.length)
    expect(contracts.length).toBeGreaterThanOrEqual(300)
  })

  it('is refused by name or compiled, and judged in bounded time', () => {
    const slowest = { name: '', ms: 0 }
    for (const contract of contracts) {
      const start = performance.now()
      const outcome = attempt(contract.schema)
      if (outcome instanceof ProvisoError) {
        expect(outcome.code, contract.name).toMatch(/^schema\/(limit|invalid)$/)
        if (outcome.code === 'schema/limit')
          expect(outcome.message, contract.name).toMatch(/\(limit: [$\w]+\)$/)
        expect(outcome.message.length, contract.name).toBeLessThan(600)
      } else {
        expect(contract.refused, `${contract.name} should be refused`).toBeUndefined()
        for (const value of 'value' in contract ? [contract.value, ...values] : values) {
          outcome.accepts(value)
          outcome.validate(value)
        }
      }
      const ms = performance.now() - start
      expect(ms, contract.name).toBeLessThan(timeOut)
      if (ms > slowest.ms) Object.assign(slowest, { name: contract.name, ms })
    }
    console.info(
      `${contracts.length} hostile contracts, the slowest ${Math.round(slowest.ms)} ms: ${slowest.name}`,
    )
  }, 120_000)

  it('is never answered with the code that was generated for it', () => {
    for (const contract of contracts) {
      const outcome = attempt(contract.schema)
      if (outcome instanceof ProvisoError)
        expect(`${outcome.message} ${outcome.hint}`).not.toMatch(/function validate|vErrors/)
    }
  }, 120_000)

  it('does not see the schemas of others', () => {
    const secret = { $id: 'https://tenant.example/secret', const: 'their secret' }
    compileSchema(secret)
    const probe = { properties: { a: { $ref: 'https://tenant.example/secret' } } }
    expect(attempt(probe)).toMatchObject({ code: 'schema/limit' })
    expect(() => compileSchema(probe)).toThrow('which is not in it')
  })
})

function attempt(schema: unknown): CompiledSchema | ProvisoError {
  try {
    // The corpus also holds what is no schema at all.
    return compileSchema(schema as JsonSchema, { untrusted: true })
  } catch (error) {
    if (error instanceof ProvisoError) return error
    throw error
  }
}
