/** Receives the answers of asynchronous agents. The route needs no token: the signature authenticates the agent. */
import { type ErrorCode, ProvisoError } from '../../base/errors/error.ts'
import type { CallbackHead, Delivery } from '../../domain/ports/callbacks.ts'
import { anyText, closed, flag } from '../../domain/schemas/parts.ts'
import { refusal } from '../problem.ts'
import type { CallHead, Route } from '../route.ts'
import { requireAgents } from './capabilities.ts'
import { api, ok, refusals } from './parts.ts'

/** Error code and message of each delivery that had no effect. */
const ends: Readonly<Record<Exclude<Delivery, 'delivered'>, readonly [code: ErrorCode, message: string]>> = {
  unknown: ['callback/unknown', 'Call not found'],
  forged: ['callback/forged', 'The signature does not match the agent that was called'],
  stale: ['callback/forged', 'The timestamp must be within 300 seconds of the current time'],
  replayed: ['callback/replayed', 'This nonce was already used'],
  settled: ['callback/settled', 'The attempt is over, or was already answered'],
}

const error = closed(
  {
    message: anyText,
    outcome: { enum: ['refused', 'timed_out', 'throttled', 'unavailable', 'provider_error'] },
    notApplied: { ...flag, description: 'The call changed nothing, so a retry is safe' },
  },
  ['message'],
)

const alone = { maxProperties: 1 }

export const postCallback: Route = {
  method: 'POST',
  path: `${api}/callbacks/:callId`,
  operation: 'postCallback',
  summary:
    'Deliver the answer of an agent that returned 202: an output, a text to parse, a question, or an error',
  roles: 'anyone',
  params: closed({ callId: { type: 'string', minLength: 1, maxLength: 500 } }, ['callId']),
  body: {
    type: 'object',
    properties: {
      output: {},
      text: anyText,
      question: { type: 'string', minLength: 1, description: 'A question that a person must answer first' },
      schema: { type: ['object', 'boolean'], description: 'JSON Schema of the answer to the question' },
      error,
    },
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 2,
    // Exactly one kind of answer; only a question may have further members.
    dependentRequired: { schema: ['question'] },
    dependentSchemas: { output: alone, text: alone, error: alone },
  },
  bodyLimit: 1_048_576,
  replies: {
    200: ok('Accepted', closed({ status: { const: 'taken' } }, ['status'])),
    ...refusals(404, 409, 413, 415, 422),
  },
  async checkHead(head, served) {
    const wrong = await requireAgents(served).callbacks.checkHead(readHead(head))
    if (wrong === undefined) return undefined
    const [code, message] = ends[wrong]
    return refusal(code, message)
  },
  async handle({ params, headers, body, rawBody }, served) {
    const post = { ...readHead({ params, headers }), rawBody, body }
    const delivery = await requireAgents(served).callbacks.deliver(post)
    if (delivery === 'delivered') return { status: 200, body: { status: 'taken' } }
    const [code, message] = ends[delivery]
    throw new ProvisoError(code, message)
  },
}

function readHead({ params, headers }: CallHead): CallbackHead {
  return {
    callId: params['callId'] ?? '',
    timestamp: headers['proviso-timestamp'],
    nonce: headers['proviso-nonce'],
    signature: headers['proviso-signature'],
  }
}
