/** Beginning a run from a body: an envelope alone, or with a draft and names beside it. Both routes that start runs do it here. */
import { ProvisoError } from '../../base/error.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { closed, map, text } from '../../domain/schemas/parts.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Call } from '../route.ts'
import type { ServedApp } from '../served.ts'

/** What is wrong inside an envelope or a draft is said by their own parsers, with better words. */
export const startBody: JsonSchema = {
  type: 'object',
  description:
    'An envelope; or an object with the envelope in it, and a draft, a thread or a correlation id beside',
  if: { required: ['envelope'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: closed({ envelope: map, draft: map, threadId: text, correlationId: text }, ['envelope']),
}

export interface Start {
  readonly envelope: { readonly [key: string]: Json }
  readonly draft?: Json
  readonly threadId?: string
  readonly correlationId?: string
}

/** The body has passed `startBody`. */
export function readStart(body: Json): Start {
  const given = body as { readonly [key: string]: Json }
  const whole = own(given, 'envelope') === undefined ? { envelope: given } : given
  const start = whole as unknown as Start
  const threadId = start.threadId ?? constraintOf(start, 'threadId')
  return { ...start, ...(threadId !== undefined && { threadId }) }
}

/** A fact of the request that may stand in the envelope's constraints. */
export function constraintOf({ envelope }: Start, name: string): string | undefined {
  const constraints = own(envelope, 'constraints')
  const value = isObject(constraints) ? own(constraints, name) : undefined
  return typeof value === 'string' ? value : undefined
}

/** The run's id. With an `Idempotency-Key` it comes from the key: a run that was begun before and not answered is found again. */
export async function startRun(app: ServedApp, call: Call, { envelope, ...rest }: Start): Promise<string> {
  const { tenant } = call.caller
  const runId = call.onceId === undefined ? undefined : `flex_${call.onceId.slice(0, 32)}`
  try {
    return await app.start(envelope, { ...rest, tenant, ...(runId !== undefined && { runId }) })
  } catch (cause) {
    const begun = runId !== undefined && cause instanceof ProvisoError && cause.code === 'run/exists'
    if (begun && (await app.store.head(runId))?.tenant === tenant) return runId
    throw cause
  }
}
