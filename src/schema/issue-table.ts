/**
 * Codes of the issues that validation against a schema and the evaluation of conditions report, one row each. The types
 * of the entry points and the reference are derived from it.
 */

/** Notes on a schema, and what a validator of another library reports. */
const ownTable = {
  'schema/unknown-dialect': 'note: the schema declares an unknown `$schema` and is read as 2020-12',
  'schema/unguided':
    'note: the schema of another library has no JSON Schema, so nothing is converted toward it',
  'schema/standard': 'a schema of another library rejects the value',
  'schema/threw': 'the validator of another library threw',
  'schema/async': 'the validator of another library returned a promise',
} as const

/** What a value violates: `schema/` and the keyword. */
export const violationTable = {
  'schema/type': 'the value has another type',
  'schema/enum': 'the value is not one of the listed values',
  'schema/const': 'the value differs from the only one allowed',
  'schema/required': 'a required property is missing',
  'schema/dependentRequired': 'a property is missing that another property requires',
  'schema/additionalProperties': 'the property is not declared',
  'schema/unevaluatedProperties': 'no part of the schema declares the property',
  'schema/minProperties': 'the object has too few properties',
  'schema/maxProperties': 'the object has too many properties',
  'schema/minLength': 'the text is too short',
  'schema/maxLength': 'the text is too long',
  'schema/pattern': 'the text does not match the pattern',
  'schema/format': 'the text does not have the format',
  'schema/minimum': 'the number is too small',
  'schema/maximum': 'the number is too large',
  'schema/exclusiveMinimum': 'the number is not above the limit',
  'schema/exclusiveMaximum': 'the number is not below the limit',
  'schema/multipleOf': 'the number is not a multiple',
  'schema/items': 'the array has more items than allowed',
  'schema/unevaluatedItems': 'no part of the schema allows the item',
  'schema/minItems': 'the array has too few items',
  'schema/maxItems': 'the array has too many items',
  'schema/uniqueItems': 'two items are equal',
  'schema/contains': 'too few or too many items match `contains`',
  'schema/anyOf': 'the value matches no alternative',
  'schema/oneOf': 'the value matches no alternative, or several',
  'schema/not': 'the value matches what `not` excludes',
  'schema/false': 'the value must be absent',
  'schema/$ref': 'the value is not a valid schema, which `$ref` to a meta-schema requires',
  'schema/$dynamicRef': 'the value is not a valid schema, which `$dynamicRef` to a meta-schema requires',
} as const

/** Why a schema cannot be used: an issue of the value that holds it, an error where the caller passes it. */
export const refusedSchemaTable = {
  'schema/invalid': 'the schema cannot be used',
  'schema/limit': 'an untrusted schema exceeds a limit',
} as const

export const schemaIssueTable = { ...violationTable, ...ownTable } as const

export const conditionIssueTable = {
  'condition/form': 'a condition is a boolean or an object with one operator',
  'condition/operator': 'the operator is not known',
  'condition/arity': 'the operator takes another number of operands',
  'condition/operand': 'the operand has the wrong form',
  'condition/path': 'the path cannot be read',
  'condition/limit': 'the condition is too large or nested too deeply',
  'condition/missing': 'a value that the condition reads is missing',
  'condition/type': 'a value that the condition reads has the wrong type',
  'condition/fuel': 'evaluating the condition takes more steps than allowed',
} as const

export type ViolationCode = keyof typeof violationTable

/** A keyword as validators name it: `schema/` before it gives the code, and `false schema` stands for `schema/false`. */
export type ViolatedKeyword =
  | Exclude<ViolationCode extends `schema/${infer Keyword}` ? Keyword : never, 'false'>
  | 'false schema'

export type RefusedSchemaCode = keyof typeof refusedSchemaTable

export type SchemaIssueCode = keyof typeof schemaIssueTable

export type ConditionIssueCode = keyof typeof conditionIssueTable
