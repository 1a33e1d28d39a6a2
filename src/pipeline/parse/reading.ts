/**
 * Shared state and checks of the pipeline parsers: reporting issues, and validating a part of the file
 * against its schema.
 */

import { closest } from '../../base/closest.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import { checkNoun, checkSchema } from '../../domain/parse/parsed.ts'
import { type ModelSettings, modelSettingsIssues } from '../../domain/settings/model-settings.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { type SourceIssue, toFileCode } from '../text/source.ts'
import { snakeKeys } from '../yaml/snake-keys.ts'
import type { Agent, Complain, StepProcessing } from './pipeline.ts'

type Data = { readonly [key: string]: Json }

/** State of a parse: how to report, and what was found so far. */
export interface Reading {
  readonly complain: Complain
  readonly issues: SourceIssue[]
  readonly agents: ReadonlyMap<string, unknown>
  readonly imports: ReadonlyMap<string, unknown>
  /** The agents of the file, and the agents that steps define in place. */
  readonly parsedAgents: Map<string, Agent>
}

/** Validates a part of the file against its schema; unknown keys are reported with the closest known key. */
export function check(reading: Reading, schema: JsonSchema, value: Json, at: Pointer): boolean {
  const found = checkNoun(schema, value, 'Remove it: nothing reads it here')
  for (const issue of found) {
    const pointer = 'pointer' in issue.at ? issue.at.pointer : ''
    const isKey = issue.code === 'schema/additionalProperties'
    const { code, message } = issue
    reading.issues.push(
      reading.complain(at + pointer, {
        code: toFileCode('pipeline', code),
        message,
        hint: getHint(issue),
        ...(isKey && { key: true as const }),
      }),
    )
  }
  return found.length === 0
}

/** The hint for a part of the file that violates its schema. */
function getHint({ code, hint, expected, actual }: Issue): string {
  if (hint !== undefined) return hint
  if (code === 'schema/required') return 'Add it'
  const names = Array.isArray(expected) ? expected.filter((each) => typeof each === 'string') : []
  const otherwise =
    names.length > 0
      ? `Use one of ${names.join(', ')}`
      : 'Correct the value; `proviso schema pipeline` prints what every key takes'
  return typeof actual === 'string' ? didYouMean(actual, names, otherwise) : otherwise
}

/** Checks that a JSON Schema in the file is valid. */
export function checkInside(reading: Reading, schema: Json | undefined, at: Pointer): boolean {
  if (schema === undefined || typeof schema === 'boolean') return true
  if (!isObject(schema)) return false
  const found = checkSchema(schema, at)
  for (const { at: inside, code, message, hint } of found) {
    const pointer = 'pointer' in inside ? inside.pointer : at
    reading.issues.push(reading.complain(pointer, { code, message, ...(hint !== undefined && { hint }) }))
  }
  return found.length === 0
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

/**
 * Reports unknown precheck agents: they could not check any plan, and the precheck would silently do nothing.
 * A disabled precheck may name any agent.
 */
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
        message: `agent "${name}" not found`,
        hint: didYouMean(name, [...reading.agents.keys()], 'Add it under agents:, or name a model'),
      }),
    )
  }
}

/** Reads `model_settings`, whose shape was checked with what holds them. */
export function parseModelSettings(
  reading: Reading,
  given: Json | undefined,
  at: Pointer,
): ModelSettings | undefined {
  if (!isObject(given)) return undefined
  const said = snakeKeys(given as Json) as Data
  const settings: { [name: string]: Json } = {}
  for (const [key, value] of Object.entries(said)) settings[camelNames[key] ?? key] ??= value
  for (const { at: inside, message, hint } of modelSettingsIssues(settings))
    if ('pointer' in inside && inside.pointer.startsWith('/providerOptions/'))
      reading.issues.push(
        reading.complain(at + inside.pointer.replace('/providerOptions', '/provider_options'), {
          code: 'pipeline/settings',
          key: true,
          message,
          ...(hint !== undefined && { hint }),
        }),
      )
  return settings as ModelSettings
}

const camelNames: Readonly<Record<string, string>> = {
  top_p: 'topP',
  max_output_tokens: 'maxOutputTokens',
  max_tokens: 'maxOutputTokens',
  reasoning_effort: 'reasoningEffort',
  provider_options: 'providerOptions',
}

/** Keeps schemas and lists of conversions as written: they are data of the author. */
export function snakeProcessing(given: Json): Json {
  return snakeKeys(given, { deep: true, except: ['schema', 'allow'] })
}

/** A hint with the closest known name. */
export function didYouMean(name: string, names: readonly string[], otherwise: string): string {
  const meant = closest(name, names)
  return meant === undefined ? otherwise : `Did you mean ${meant}?`
}
