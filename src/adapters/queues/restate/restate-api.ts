/** Requests to a Restate server: messages to its ingress, and the registration of a worker at its admin API. */
import { ProvisoError, toErrorMessage } from '../../../base/errors/error.ts'
import type { QueueMessage } from '../../../domain/ports/queue/queue.ts'
import { type RestateOptions, restateDefaults } from './restate-options.ts'

export interface RestateApi {
  /** Waits until the ingress answers; throws `queue/unavailable` after some time. */
  checkIngress(): Promise<void>
  /** Makes the server call the worker at this address; throws `queue/unavailable` after some time. */
  register(address: string): Promise<void>
  /** Resolves to `unknown` if the server knows no worker. */
  send(message: QueueMessage): Promise<'sent' | 'unknown'>
}

/** How long a server that starts at the same time may take. */
const patienceMs = 10_000
const requestMs = 5_000
const pauseMs = 200
/** A message that cannot be sent by then is sent again by the sweep. */
const sendTries = 5

export function createRestateApi(options: RestateOptions): RestateApi {
  const { token, service = restateDefaults.service } = options
  const ingress = trim(options.ingress ?? restateDefaults.ingress)
  const admin = trim(options.admin ?? restateDefaults.admin)
  const request = (
    url: string,
    init: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ) =>
    fetch(url, {
      method: init.body === undefined ? 'GET' : 'POST',
      headers: {
        ...(init.body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...init.headers,
      },
      ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
      signal: AbortSignal.timeout(requestMs),
    })

  /** Repeats the request until it succeeds: server, worker and balancer may start at the same time. */
  const insist = async (act: string, hint: string, attempt: () => Promise<Response>) => {
    const until = Date.now() + patienceMs
    for (;;) {
      const problem = await attempt().then(describeRefusal, (cause: unknown) => toReason(cause))
      if (problem === undefined) return
      if (Date.now() >= until)
        throw new ProvisoError('queue/unavailable', `Cannot ${act}: ${problem}`, { hint })
      await pause(pauseMs)
    }
  }

  return {
    checkIngress: () =>
      insist(
        `use Restate at ${ingress}`,
        'Start the Restate server, or set `queue.ingress` (--restate-ingress) to its ingress',
        () => request(`${ingress}/restate/health`),
      ),
    register: (address) =>
      insist(
        `register this worker at ${admin} under ${address}`,
        'Set `queue.admin` (--restate-admin) to the admin API of the Restate server, and `queue.address` (--restate-address) to a URL where that server reaches this worker',
        () => request(`${admin}/deployments`, { body: { uri: address } }),
      ),
    async send({ runId, id, isLate }) {
      const url = `${ingress}/${service}/${encodeURIComponent(runId)}/${isLate ? 'late' : 'advance'}/send`
      const headers: Readonly<Record<string, string>> = id === undefined ? {} : { 'idempotency-key': id }
      for (let left = sendTries; ; left--) {
        const problem = await request(url, { body: {}, headers }).then(
          async (response) => (response.status === 404 ? 'unknown' : await describeRefusal(response)),
          (cause: unknown) => toReason(cause),
        )
        if (problem === undefined) return 'sent'
        if (problem === 'unknown') return 'unknown'
        if (left <= 1)
          throw new ProvisoError(
            'queue/unavailable',
            `Cannot send run "${runId}" to Restate at ${ingress}: ${problem}`,
          )
        await pause(pauseMs)
      }
    },
  }
}

/** Why the server has refused the request; `undefined` if it has not. */
async function describeRefusal(response: Response): Promise<string | undefined> {
  const text = await response.text()
  if (response.ok) return undefined
  return `it answered ${response.status} ${text.slice(0, 300)}`.trim()
}

/** The reason of a failed request: `fetch` hides it in the cause. */
function toReason(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  return toErrorMessage(inner) || 'no answer'
}

const trim = (url: string) => url.replace(/\/+$/, '')

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
