/** Finds where a path leaves the members that a schema declares. */
import { isObject } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { project } from '../../../schema/build/project.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { declares, valuesOf } from '../../../schema/values/schema-values.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'

interface UndeclaredMember {
  /** The first part of the path that the schema does not declare. */
  readonly member: string
  /** The members that the schema declares there. */
  readonly names: readonly string[]
  /** The schema explicitly allows other members, so naming one is not wrong. */
  readonly allowsMore: boolean
}

/** Returns `undefined` where the schema rules out any value at the path: `leadsNowhere` reports that. */
export function openAt(schema: JsonSchema, path: readonly string[]): UndeclaredMember | undefined {
  if (leadsNowhere(schema, path)) return undefined
  const count = path.findIndex((_, index) => !declares(schema, path.slice(0, index + 1)))
  const member = path[count]
  if (member === undefined) return undefined
  const pointer = path.slice(0, count).reduce<string>(child, '')
  const parent = project(schema, pointer).schema
  return {
    member,
    names: membersOf(parent).map(({ name }) => name),
    allowsMore: allowsMore(parent),
  }
}

export function leadsNowhere(schema: JsonSchema, path: readonly string[]): boolean {
  return path.length > 0 && isAbsent(valuesOf(schema)(path))
}

const saysMore = ['additionalProperties', 'patternProperties', 'unevaluatedProperties', 'propertyNames']
/** Keywords that are not analysed. */
const says = ['$ref', '$dynamicRef', 'if', 'not', 'dependentSchemas']

function allowsMore(schema: JsonSchema): boolean {
  return isObject(schema) && [...saysMore, ...says].some((keyword) => Object.hasOwn(schema, keyword))
}
