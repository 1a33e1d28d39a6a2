/** What the readers of pipeline files share: where to complain, and how a part of the file is held to its schema. */
import { closest } from '../base/closest.ts'
import type { Issue } from '../base/issue.ts'
import { isObject, type Json } from '../base/json.ts'
import type { Pointer } from '../base/pointer.ts'
import { checkNoun, checkSchema } from '../domain/check-noun.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Complain, StepProcessing } from './pipeline.ts'
import { snakeKeys } from './snake-keys.ts'
import type { SourceIssue } from './source.ts'

type Data = { readonly [key: string]: Json }

/** What is being read: where to complain, and what has been found so far. */
export interface Reading {
  readonly complain: Complain
  readonly issues: SourceIssue[]
  readonly agents: ReadonlyMap<string, unknown>
  readonly imports: ReadonlyMap<string, unknown>
}

/** Holds a part of the file to its schema; keys that are not known are named with the one that was probably meant. */
export function check(reading: Reading, schema: JsonSchema, value: Json, at: Pointer): boolean {
  const found = checkNoun(schema, value, 'Remove it: nothing reads it here')
  for (const issue of found) {
    const pointer = 'pointer' in issue.at ? issue.at.pointer : ''
    const isKey = issue.code === 'schema/additionalProperties'
    const { code, message } = issue
    reading.issues.push(
      reading.complain(at + pointer, {
        code: code.replace('schema/', 'pipeline/'),
        message,
        hint: hintOf(issue),
        ...(isKey && { key: true as const }),
      }),
    )
  }
  return found.length === 0
}

/** What to do about a part of the file that its schema does not allow. */
function hintOf({ code, hint, expected, actual }: Issue): string {
  if (hint !== undefined) return hint
  if (code === 'schema/required') return 'Add it'
  const names = Array.isArray(expected) ? expected.filter((each) => typeof each === 'string') : []
  const otherwise =
    names.length > 0
      ? `Use one of ${names.join(', ')}`
      : 'Correct the value; `proviso schema pipeline` prints what every key takes'
  return typeof actual === 'string' ? didYouMean(actual, names, otherwise) : otherwise
}

/** A JSON Schema inside the file must be one. */
export function checkInside(reading: Reading, schema: Json | undefined, at: Pointer): void {
  if (schema === undefined || (typeof schema !== 'boolean' && !isObject(schema))) return
  for (const { at: inside, code, message, hint } of checkSchema(schema, at)) {
    const pointer = 'pointer' in inside ? inside.pointer : at
    reading.issues.push(reading.complain(pointer, { code, message, ...(hint !== undefined && { hint }) }))
  }
}

export function parseProcessing(
  reading: Reading,
  given: Json | undefined,
  at: Pointer,
): StepProcessing | undefined {
  if (!isObject(given)) return undefined
  const { schema, ...said } = snakeProcessing(given as Json) as Data
  checkInside(reading, schema, `${at}/schema`)
  checkPrecheck(reading, said['reasoning_precheck'], `${at}/reasoning_precheck`)
  const empty =
    schema === undefined || schema === true || (isObject(schema) && Object.keys(schema).length === 0)
  return { said, ...(!empty && { schema: schema as JsonSchema }) }
}

/** An agent that is not there could not look at any plan, and nobody would notice; one that is switched off may be named all the same. */
function checkPrecheck(reading: Reading, given: Json | undefined, at: Pointer): void {
  if (!isObject(given) || given['enabled'] === false) return
  for (const key of ['validator_agent', 'consensus_agent']) {
    const said = given[key]
    if (typeof said !== 'string' || !said.startsWith('agents.')) continue
    const name = said.slice('agents.'.length)
    if (reading.agents.has(name)) continue
    reading.issues.push(
      reading.complain(`${at}/${key}`, {
        code: 'pipeline/unknown',
        message: `there is no agent ${name}`,
        hint: didYouMean(name, [...reading.agents.keys()], 'Add it under agents:, or name a model'),
      }),
    )
  }
}

/** Schemas and lists of conversions are the author's own words. */
export function snakeProcessing(given: Json): Json {
  return snakeKeys(given, { deep: true, except: ['schema', 'allow'] })
}

/** The name that was probably meant, as a hint. */
export function didYouMean(name: string, names: readonly string[], otherwise: string): string {
  const meant = closest(name, names)
  return meant === undefined ? otherwise : `Did you mean ${meant}?`
}
