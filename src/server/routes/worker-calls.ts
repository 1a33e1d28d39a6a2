/** Routes for workers: agents that cannot be called, such as behind NAT, take their calls here and renew them. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { CallProgress } from '../../domain/ports/callbacks.ts'
import { anyText, closed, text } from '../../domain/schemas/parts.ts'
import type { Route } from '../route.ts'
import { requireAgents } from './capabilities.ts'
import { api, ok, refusals } from './parts.ts'

const path = `${api}/capabilities/:capabilityId/calls`
const capabilityId = { ...text, maxLength: 200 } as const
const idempotencyKey = { ...text, maxLength: 200 } as const
/** Longest wait of one request. */
const mostWaitMs = 30_000

export const takeCall: Route = {
  method: 'POST',
  path,
  operation: 'takeCall',
  summary: 'Take the next call of an agent that polls; waits until there is one, or the time is over',
  roles: ['agent'],
  isControl: true,
  takesLong: true,
  params: closed({ capabilityId }, ['capabilityId']),
  body: closed({ waitMs: { type: 'integer', minimum: 0, maximum: mostWaitMs } }),
  replies: {
    200: ok(
      'A call: begin it with a renewal, then post the signed answer to the path of its callback',
      closed(
        {
          idempotencyKey,
          delivery: { type: 'integer', minimum: 1 },
          leaseMs: { type: 'integer', minimum: 1 },
          signingKey: { ...text, description: 'Signs the answer of this call' },
          callbackPath: text,
          body: { type: 'object' },
        },
        ['idempotencyKey', 'delivery', 'leaseMs', 'signingKey', 'callbackPath', 'body'],
      ),
    ),
    204: { description: 'No call in time' },
    ...refusals(404, 409, 415, 422),
  },
  async handle({ caller, params, body, signal }, served) {
    const { registrar, workers } = requireAgents(served)
    const agent = { tenant: caller.tenant, capabilityId: params['capabilityId'] ?? '' }
    await registrar.authoriseWorker(caller, agent.capabilityId)
    // Validated by the schema of the body.
    const { waitMs = mostWaitMs } = body as { readonly waitMs?: number }
    const call = await workers.take(agent, { waitMs, signal })
    return call ? { status: 200, body: { ...call } } : { status: 204 }
  },
}

export const renewCall: Route = {
  method: 'POST',
  path: `${path}/:idempotencyKey`,
  operation: 'renewCall',
  summary: 'Begin a call that was taken, renew it while it is executed, and send new text of a stream',
  roles: ['agent'],
  isControl: true,
  params: closed({ capabilityId, idempotencyKey }, ['capabilityId', 'idempotencyKey']),
  body: closed(
    {
      delivery: { type: 'integer', minimum: 1, description: 'As in the call' },
      text: { ...anyText, description: 'New text of a stream, for partial values' },
      offset: { type: 'integer', minimum: 0, description: 'Where it begins in the whole text' },
    },
    ['delivery'],
  ),
  replies: {
    200: ok('Renewed', closed({ status: { const: 'renewed' } }, ['status'])),
    ...refusals(404, 409, 413, 415, 422),
  },
  async handle({ caller, params, body }, served) {
    const { registrar, workers } = requireAgents(served)
    const agent = { tenant: caller.tenant, capabilityId: params['capabilityId'] ?? '' }
    await registrar.authoriseWorker(caller, agent.capabilityId)
    // Validated by the schema of the body.
    const progress = { ...(body as object), idempotencyKey: params['idempotencyKey'] } as CallProgress
    if ((await workers.renew(agent, progress)) === 'renewed')
      return { status: 200, body: { status: 'renewed' } }
    throw new ProvisoError('callback/settled', 'The call is over, or another worker has it')
  },
}
