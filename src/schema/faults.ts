/** Known faults of Ajv 8.20, and how we live with them. Each has a test that fails when its workaround is taken away. */
import { isObject, own } from '../base/json.ts'
import type { JsonSchema } from './json-schema.ts'
import { partsOf, type SchemaObject } from './keywords.ts'
import type { SchemaGraph } from './references.ts'

/**
 * After a `prefixItems` longer than the array, the code skips `contains`, so that it accepts an empty array.
 * A copy of `contains` in `allOf` is not skipped. The schema must be a copy of our own: it is changed in place,
 * by appending only, so that pointers into it stay valid.
 */
export function avoidFaults(schema: JsonSchema): JsonSchema {
  const stack: SchemaObject[] = isObject(schema) ? [schema] : []
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const part of partsOf(node, '')) stack.push(part.schema)
    if (!Object.hasOwn(node, 'contains')) continue
    if (!Object.hasOwn(node, 'prefixItems') && !Array.isArray(own(node, 'items'))) continue
    const counting = ['contains', 'minContains', 'maxContains'].filter((keyword) =>
      Object.hasOwn(node, keyword),
    )
    const copy = Object.fromEntries(counting.map((keyword) => [keyword, node[keyword]]))
    const before = own(node, 'allOf')
    node['allOf'] = Array.isArray(before) ? [...before, copy] : [copy]
  }
  return schema
}

/** Code for `unevaluated*` below unions can throw a TypeError on some values; such a schema needs a guard around it. */
export function mayThrow(graph: SchemaGraph): boolean {
  for (const schema of graph.keys()) {
    if (Object.hasOwn(schema, 'unevaluatedProperties') || Object.hasOwn(schema, 'unevaluatedItems'))
      return true
  }
  return false
}

/** Answers no where the code throws: a value that cannot be judged is not accepted. */
export function guarded(accepts: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => {
    try {
      return accepts(value)
    } catch (cause) {
      if (cause instanceof TypeError) return false
      throw cause
    }
  }
}
