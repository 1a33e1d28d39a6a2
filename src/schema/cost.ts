/** Foretells what collecting every violation would cost, so that a huge wrong value is answered with the first one only. */
import type { SchemaGraph } from './references.ts'

/** How many errors may be collected at worst: Ajv cannot be told to stop after some. Measured at 2 µs each. */
const collectUpTo = 200_000

/** What comparing every item with every other may cost for each item, counted in errors. */
const comparing = 100

/** How many values a value may hold for every violation of a schema to be collected. */
export function collectableValues(graph: SchemaGraph): number {
  return collectUpTo / errorsPerValue(graph)
}

/** The most errors that one value inside a value can cause: one per branch of a union, one per missing property. */
function errorsPerValue(graph: SchemaGraph): number {
  let branches = 0
  let required = 0
  let unique = 0
  for (const [schema, { leadsTo }] of graph) {
    for (const part of leadsTo) if (part.applies === 'here') branches++
    if (Array.isArray(schema['required'])) required = Math.max(required, schema['required'].length)
    // Where every violation is wanted, uniqueItems is checked also after maxItems has failed.
    if (schema['uniqueItems'] === true) unique = comparing
  }
  return 1 + branches + required + unique
}

/** Whether a value holds more than `most` values. */
export function holdsMoreThan(value: unknown, most: number): boolean {
  let left = most
  const stack = [value]
  while (stack.length > 0) {
    const held = stack.pop()
    if (typeof held !== 'object' || held === null) continue
    const members = Object.values(held)
    left -= members.length
    if (left < 0) return true
    for (const member of members) stack.push(member)
  }
  return false
}
