/** Foretells what collecting every violation would cost, so that a huge wrong value is answered with the first one only. */
import { isRecursive, type SchemaGraph } from './references.ts'

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

/**
 * How deep a value may be for every violation to be collected: in a recursive schema each level of the value multiplies the
 * work by the branches of its union, because collecting goes into the branches that have failed already.
 */
export function collectableDepth(graph: SchemaGraph): number {
  let branches = 1
  for (const [schema] of graph) {
    for (const keyword of ['anyOf', 'oneOf']) {
      const union = schema[keyword]
      if (Array.isArray(union)) branches = Math.max(branches, union.length)
    }
  }
  if (branches < 2 || !isRecursive(graph)) return Number.POSITIVE_INFINITY
  return Math.log(collectUpTo) / Math.log(branches)
}

/** Whether a value is nested deeper than `most`. */
export function isDeeperThan(value: unknown, most: number): boolean {
  if (most === Number.POSITIVE_INFINITY) return false
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((held) => (typeof held === 'object' && held !== null ? Object.values(held) : []))
  }
  return false
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
