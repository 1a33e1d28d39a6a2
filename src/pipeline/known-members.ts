/** Where a path leaves what a schema spells out. */
import { isObject } from '../base/json.ts'
import { child } from '../base/pointer.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { membersOf } from '../schema/members.ts'
import { project } from '../schema/project.ts'
import { declares, valuesOf } from '../schema/schema-values.ts'
import { isAbsent } from '../schema/value-set.ts'

export interface OpenPlace {
  /** The first part of the path that the schema does not name. */
  readonly member: string
  /** The members that it names there. */
  readonly names: readonly string[]
  /** It says of its own accord that others may come: nothing is wrong with naming one. */
  readonly allowsMore: boolean
}

/** Nothing where the schema rules out that anything stands there: that is said by `leadsNowhere`. */
export function openAt(schema: JsonSchema, path: readonly string[]): OpenPlace | undefined {
  if (leadsNowhere(schema, path)) return undefined
  const count = path.findIndex((_, index) => !declares(schema, path.slice(0, index + 1)))
  const member = path[count]
  if (member === undefined) return undefined
  const pointer = path.slice(0, count).reduce<string>(child, '')
  const place = project(schema, pointer).schema
  return {
    member,
    names: membersOf(place).map(({ name }) => name),
    allowsMore: allowsMore(place),
  }
}

export function leadsNowhere(schema: JsonSchema, path: readonly string[]): boolean {
  return path.length > 0 && isAbsent(valuesOf(schema)(path))
}

const saysMore = ['additionalProperties', 'patternProperties', 'unevaluatedProperties', 'propertyNames']
/** What is not looked into. */
const says = ['$ref', '$dynamicRef', 'if', 'not', 'dependentSchemas']

function allowsMore(schema: JsonSchema): boolean {
  return isObject(schema) && [...saysMore, ...says].some((keyword) => Object.hasOwn(schema, keyword))
}
