/**
 * Turns questions of MCP servers (elicitation) into questions to people. The call ends with the question, and is made again
 * with the answer. Servers up to 2025-11-25 ask during the call; from 2026-07-28 on the question is the result of the call.
 */
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { AttemptResult, ElicitedAnswer } from '../../domain/output.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

type Members = { readonly [name: string]: Json }

/** The questions of one round by their keys, and what the server wants back with the answers. */
export interface AskedRound {
  readonly requests: { readonly [key: string]: Members }
  readonly requestState?: string
}

/** Parses an `input_required` result; returns the reason if it asks for something else than answers of people. */
export function readRound(result: unknown): AskedRound | string {
  const { inputRequests = {}, requestState } = result as {
    readonly inputRequests?: { readonly [key: string]: unknown }
    readonly requestState?: unknown
  }
  const requests: { [key: string]: Members } = {}
  for (const [key, request] of Object.entries(inputRequests)) {
    const { method, params } = isObject(request) ? (request as Members) : {}
    if (method !== 'elicitation/create' || !isObject(params))
      return `it asks for ${JSON.stringify(method ?? null)}, which is not supported`
    requests[key] = params as Members
  }
  return { requests, ...(typeof requestState === 'string' && { requestState }) }
}

/** The question to a person, with the state that the next call needs. */
export function toQuestion(round: AskedRound): NonNullable<AttemptResult['question']> {
  const asked = Object.entries(round.requests)
  const [first] = asked
  const state = round as unknown as Json
  if (first === undefined) return { text: 'Continue?', schema: {}, state }
  const text = asked.map(([, params]) => getMessage(params)).join('\n')
  if (asked.length === 1) return { text, schema: getSchema(first[1]), state }
  const properties = Object.fromEntries(asked.map(([key, params]) => [key, getSchema(params)]))
  return { text, schema: { type: 'object', properties, required: asked.map(([key]) => key) }, state }
}

const longestMessage = 3_000

function getMessage(params: Members): string {
  const message = own(params, 'message')
  return typeof message === 'string' && message.trim() !== ''
    ? message.slice(0, longestMessage)
    : 'More is needed'
}

function getSchema(params: Members): JsonSchema {
  const schema = own(params, 'requestedSchema')
  return isObject(schema) ? (schema as JsonSchema) : {}
}

/** The answers to a round, as the server wants them. */
export function toResponses({ requests }: AskedRound, value: Json): { [key: string]: Json } {
  const keys = Object.keys(requests)
  return Object.fromEntries(
    keys.map((key) => {
      const content = keys.length === 1 ? value : isObject(value) ? (own(value, key) ?? null) : null
      return [key, { action: 'accept', content: isObject(content) ? (content as Json) : {} }]
    }),
  )
}

/** The last round of a server from 2026-07-28 on, with its answer. */
export function lastRound(
  answers: readonly ElicitedAnswer[] = [],
): { round: AskedRound; value: Json } | undefined {
  const last = answers.at(-1)
  return last && { round: last.state as unknown as AskedRound, value: last.value }
}

/** Key of a question that is asked during a call: an answer is given to exactly the question that a person read. */
export function questionKey(params: Json): string {
  const { message, requestedSchema } = isObject(params) ? (params as Members) : {}
  return sha256Hex(canonicalJson({ message: message ?? null, requestedSchema: requestedSchema ?? null }))
}

/** Finds the recorded answer to a question that is asked during a call. */
export function findAnswer(answers: readonly ElicitedAnswer[] = [], key: string): Members | undefined {
  for (const { state, value } of answers) {
    const { requests = {} } = isObject(state) ? (state as unknown as AskedRound) : {}
    if (Object.hasOwn(requests, key) && isObject(value)) return value as Members
  }
  return undefined
}
