/** Agents that answer later post their answer here. No token: the signature says who it is. */
import { type ErrorCode, ProvisoError } from '../../base/error.ts'
import type { Delivery } from '../../domain/ports/callbacks.ts'
import { anyText, closed, flag } from '../../domain/schemas/parts.ts'
import type { Route } from '../route.ts'
import { agentsOf } from './capabilities.ts'
import { api, ok, refusals } from './parts.ts'

/** What every delivery without an effect is called. */
const ends: Readonly<Record<Exclude<Delivery, 'delivered'>, readonly [code: ErrorCode, message: string]>> = {
  unknown: ['callback/unknown', 'There is no such call'],
  forged: ['callback/forged', 'The signature is not that of the agent that was called'],
  stale: ['callback/forged', 'The timestamp is more than 300 seconds from now'],
  replayed: ['callback/replayed', 'This nonce was used before'],
  settled: ['callback/settled', 'The attempt is over, or was answered before'],
}

const error = closed(
  {
    message: anyText,
    outcome: { enum: ['refused', 'timed_out', 'throttled', 'unavailable', 'provider_error'] },
    notApplied: { ...flag, description: 'Nothing was done: calling again is safe' },
  },
  ['message'],
)

const alone = { maxProperties: 1 }

export const postCallback: Route = {
  method: 'POST',
  path: `${api}/callbacks/:callId`,
  operation: 'postCallback',
  summary: 'The answer of an agent that said 202: an output, a text to be read, a question, or an error',
  roles: 'anyone',
  params: closed({ callId: { type: 'string', minLength: 1, maxLength: 500 } }, ['callId']),
  body: {
    type: 'object',
    properties: {
      output: {},
      text: anyText,
      question: { type: 'string', minLength: 1, description: 'What a person has to answer first' },
      schema: { type: ['object', 'boolean'], description: 'What the answer to the question must satisfy' },
      error,
    },
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 2,
    // One answer; only a question may have something beside it.
    dependentRequired: { schema: ['question'] },
    dependentSchemas: { output: alone, text: alone, error: alone },
  },
  bodyLimit: 1_048_576,
  replies: {
    200: ok('Taken', closed({ status: { const: 'taken' } }, ['status'])),
    ...refusals(404, 409, 413, 415, 422),
  },
  async handle({ params, headers, body, rawBody }, served) {
    const delivery = await agentsOf(served).callbacks.deliver({
      callId: params['callId'] ?? '',
      timestamp: headers['proviso-timestamp'],
      nonce: headers['proviso-nonce'],
      signature: headers['proviso-signature'],
      rawBody,
      body,
    })
    if (delivery === 'delivered') return { status: 200, body: { status: 'taken' } }
    const [code, message] = ends[delivery]
    throw new ProvisoError(code, message)
  },
}
