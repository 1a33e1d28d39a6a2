/** Agents that answer later post their answer here. No token: the signature says who it is. */
import { type ErrorCode, ProvisoError } from '../../base/error.ts'
import type { Delivery } from '../../domain/ports/callbacks.ts'
import { anyText, closed, flag } from '../../domain/schemas/parts.ts'
import type { Route } from '../route.ts'
import { agentsOf } from './capabilities.ts'

/** What every delivery without an effect is called. */
const refusals: Readonly<
  Record<Exclude<Delivery, 'delivered'>, readonly [code: ErrorCode, message: string]>
> = {
  unknown: ['callback/unknown', 'There is no such call'],
  forged: ['callback/forged', 'The signature is not that of the agent that was called'],
  stale: ['callback/forged', 'The timestamp is more than 300 seconds from now'],
  replayed: ['callback/replayed', 'This nonce was used before'],
  settled: ['callback/settled', 'The attempt is over, or was answered before'],
}

const error = closed(
  {
    message: anyText,
    outcome: { enum: ['refused', 'timed_out', 'throttled', 'provider_error'] },
    notApplied: { ...flag, description: 'Nothing was done: calling again is safe' },
  },
  ['message'],
)

export const callbackRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/flex/callbacks/:callId',
    operation: 'postCallback',
    summary: 'The answer of an agent that said 202: an output, a text to be read, or an error',
    roles: 'anyone',
    params: closed({ callId: { type: 'string', minLength: 1, maxLength: 2_000 } }, ['callId']),
    body: {
      type: 'object',
      properties: { output: {}, text: anyText, error },
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
    },
    bodyLimit: 1_048_576,
    replies: {
      200: { description: 'Taken', schema: closed({ status: { const: 'taken' } }, ['status']) },
      401: { description: 'The signature or the timestamp is wrong' },
      404: { description: 'There is no such call' },
      409: { description: 'The attempt is over or answered, or the nonce was used; nothing has happened' },
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
      const [code, message] = refusals[delivery]
      throw new ProvisoError(code, message)
    },
  },
]
