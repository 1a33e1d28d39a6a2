/** The queue on Restate: sends messages to its ingress, and takes deliveries at an endpoint that it registers. */
import { ProvisoError } from '../../../base/errors/error.ts'
import type { Queue } from '../../../domain/ports/queue/queue.ts'
import { type Endpoint, openEndpoint } from './endpoint.ts'
import { loadSdk } from './load-sdk.ts'
import { createRestateApi } from './restate-api.ts'
import type { RestateOptions } from './restate-options.ts'

export function createRestateQueue(options: RestateOptions): Queue {
  const api = createRestateApi(options)
  let endpoint: Endpoint | undefined
  const register = async () => {
    if (endpoint) await api.register(options.address ?? endpoint.address)
  }
  return {
    name: 'restate',
    async open(receive) {
      const sdk = receive && (await loadSdk())
      await api.checkIngress()
      if (!sdk || !receive) return
      endpoint = await openEndpoint(sdk, options, receive)
      try {
        await register()
      } catch (cause) {
        endpoint.close()
        await endpoint.end()
        throw cause
      }
    },
    async send(message) {
      if ((await api.send(message)) === 'sent') return
      // The server was set up anew, and has forgotten its workers.
      await register()
      if (endpoint && (await api.send(message)) === 'sent') return
      throw new ProvisoError('queue/unavailable', 'Cannot send runs: no worker is registered at Restate', {
        hint: 'Start `proviso worker --queue restate`',
      })
    },
    close: async () => endpoint?.close(),
    end: async () => endpoint?.end(),
  }
}
