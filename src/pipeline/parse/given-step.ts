/** A raw step of the file: the settings common to all kinds of steps, and error recovery for a step that is rejected. */

import { closest } from '../../base/closest.ts'
import { isObject, type Json } from '../../base/json.ts'
import { type Pointer, tokens } from '../../base/pointer.ts'
import { checkNoun } from '../../domain/parse/parsed.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

/**
 * Keys of a contract of Reasoning-Augmented Orchestration (RAO), from the spelling in files to the spelling
 * in the journal.
 */
export const raoKeys = {
  contract: 'contract',
  contract_version: 'contractVersion',
  auto_approve_above: 'autoApproveAbove',
  review_low: 'reviewLow',
  review_high: 'reviewHigh',
  suppress_below: 'suppressBelow',
  confidence_type: 'confidenceType',
  max_inference_ms: 'maxInferenceMs',
} as const

export type Data = { readonly [key: string]: Json }

export interface Given {
  readonly data: Data
  readonly at: Pointer
  readonly name: string
}

export function common({ data, at, name }: Given) {
  const sink = data['sink_to']
  return {
    name,
    at,
    ...(data['input'] !== undefined && { input: data['input'] }),
    updatesContext: data['updates_context'] === true,
    ...(typeof data['mergeable_output'] === 'boolean' && { mergeableOutput: data['mergeable_output'] }),
    ...(typeof sink === 'string' && { sinkTo: sink.replace(/^context\./, '') }),
  }
}

/**
 * Keys that are guessed: without them nothing can be checked in later or nested steps. For all other keys,
 * reporting the typo is enough.
 */
const structuralKeys: ReadonlySet<string> = new Set([
  ...['agent', 'uses', 'name', 'input', 'updates_context', 'sink_to', 'message', 'branches', 'condition'],
  ...['condition_expression', 'map', 'loop', 'router', 'body', 'iterable_input', 'max_loops', 'router_agent'],
])

/**
 * Error recovery: reads a rejected part as it was probably meant, so that further issues are found in the same pass.
 * Misspelled structural keys are read as the closest known key, and unreadable keys are dropped. The part stays rejected.
 * Returns `undefined` if the rest still does not match the schema.
 */
export function guessKeys(schema: JsonSchema, given: Data): Data | undefined {
  const guessed = structuredClone(given) as { [key: string]: Json }
  for (const issue of checkNoun(schema, given as Json, '')) {
    const path = tokens('pointer' in issue.at ? issue.at.pointer : '')
    const key = path.pop()
    const part = path.reduce<Json | undefined>(
      (at, name) => (at as Data | undefined)?.[name],
      guessed as Json,
    )
    if (key === undefined || !isObject(part)) continue
    const holder = part as { [key: string]: Json }
    const value = holder[key]
    delete holder[key]
    const names = issue.code === 'schema/additionalProperties' ? namesIn(schema, path) : []
    const meant = closest(key, names)
    if (meant === undefined || value === undefined || !structuralKeys.has(meant)) continue
    if (!Object.hasOwn(holder, meant)) holder[meant] = value
  }
  return checkNoun(schema, guessed as Json, '').length === 0 ? guessed : undefined
}

function namesIn(schema: JsonSchema, path: readonly string[]): string[] {
  const at = path.reduce<unknown>(
    (part, name) => (isObject(part) && isObject(part['properties']) ? part['properties'][name] : undefined),
    schema,
  )
  return isObject(at) && isObject(at['properties']) ? Object.keys(at['properties']) : []
}
