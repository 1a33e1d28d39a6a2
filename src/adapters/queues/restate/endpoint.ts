/**
 * The HTTP/2 endpoint of a worker, which Restate calls. A run is a virtual object whose key is the run id: its handler
 * `advance` is exclusive, so that Restate delivers a run to one worker at a time; `late` is for runs whose delivery is lost or
 * stuck. The result of a delivery is a step in Restate's journal, and a timer is a delayed message to the same object.
 */
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { ObjectContext, ObjectSharedContext } from '@restatedev/restate-sdk'
import { ProvisoError, toErrorMessage } from '../../../base/errors/error.ts'
import type { Receive } from '../../../domain/ports/queue/queue.ts'
import type { RestateSdk } from './load-sdk.ts'
import { type RestateOptions, restateDefaults } from './restate-options.ts'

export interface Endpoint {
  /** Where it listens. */
  readonly address: string
  /** Accepts no more deliveries; Restate sends them to other workers. */
  close(): void
  /** Waits a moment for the answers under way, and closes the connections. */
  end(): Promise<void>
}

/** How long a delayed message is at least worth a check for duplicates: there is one for each delivery of a waiting run. */
const longDelayMs = 10_000
const endMs = 500

export async function openEndpoint(
  sdk: RestateSdk,
  options: RestateOptions,
  receive: Receive,
): Promise<Endpoint> {
  const { identityKeys = [], host = restateDefaults.host, port = restateDefaults.port } = options
  const handler = sdk.createEndpointHandler({
    services: [createRunObject(sdk, options, receive)],
    ...(identityKeys.length > 0 && { identityKeys: [...identityKeys] }),
    // The engine reports what fails.
    logger: () => {},
  })
  // One delivery per connection, which ends with it: balancers spread connections over the workers, also over new ones.
  const server = createServer({ settings: { maxConcurrentStreams: 1 } }, handler)
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('stream', () => session.close())
    session.on('close', () => sessions.delete(session))
  })
  await listen(server, host, port)
  const { port: bound } = server.address() as AddressInfo
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close() {
      server.close()
      for (const session of sessions) session.close()
    },
    async end() {
      const until = Date.now() + endMs
      while (sessions.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
      for (const session of sessions) session.destroy()
    },
  }
}

/** Messages have no content: the key says everything. */
const noInput = {
  contentType: 'application/json',
  serialize: () => new TextEncoder().encode('{}'),
  deserialize: () => ({}),
}

function createRunObject(
  sdk: RestateSdk,
  { service = restateDefaults.service }: RestateOptions,
  receive: Receive,
) {
  const deliver = async (ctx: ObjectContext | ObjectSharedContext, isLate: boolean) => {
    const { attemptCompletedSignal: signal } = ctx.request()
    const delayMs = await ctx.run('execute', async () => {
      const { again } = await receive({ runId: ctx.key, isLate, signal })
      return again === undefined ? null : { at: again, inMs: Math.max(0, again - Date.now()) }
    })
    if (delayMs === null) return
    const { at, inMs } = delayMs
    ctx.genericSend({
      service,
      method: 'advance',
      key: ctx.key,
      parameter: {},
      inputSerde: noInput,
      delay: inMs,
      ...(inMs > longDelayMs && { idempotencyKey: `timer-${at}` }),
    })
  }
  const settings = {
    // An attempt may be silent for as long as its own deadline allows.
    inactivityTimeout: { days: 365 },
    idempotencyRetention: { minutes: 1 },
    journalRetention: 0,
    // Never given up: the run is not over.
    retryPolicy: {
      initialInterval: 50,
      exponentiationFactor: 2,
      maxInterval: 1_000,
      maxAttempts: 1_000_000_000,
    },
  }
  return sdk.object({
    name: service,
    handlers: {
      advance: sdk.handlers.object.exclusive(settings, (ctx: ObjectContext) => deliver(ctx, false)),
      late: sdk.handlers.object.shared(settings, (ctx: ObjectSharedContext) => deliver(ctx, true)),
    },
  })
}

function listen(server: Http2Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new ProvisoError(
          'option/invalid',
          `Cannot listen for Restate on ${host}:${port}: ${toErrorMessage(cause)}`,
          {
            hint: 'Set `queue.host` (--restate-host) and `queue.port` (--restate-port) to a free address of this machine',
            cause,
          },
        ),
      ),
    )
    server.listen(port, host, resolve)
  })
}
