/**
 * The server that is used for long: the built package on a SQLite file, in development mode, with agents of which one call in
 * twenty fails. Answers each line of its input with a line of JSON about itself. Needs `--expose-gc`.
 */
import { createInterface } from 'node:readline'
import { createApp, defineCapability } from 'proviso'
import { createServer } from 'proviso/server'
import { openStore } from 'proviso/stores'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const agent = (capabilityId, run) =>
  defineCapability({
    capabilityId,
    inputContract: { type: 'object' },
    outputContract: text,
    idempotent: true,
    run,
  })

let calls = 0
const store = await openStore(`sqlite:${process.argv[2]}`)
const app = await createApp({
  store,
  providers: [],
  capabilities: [
    agent('small', () => {
      if (++calls % 20 === 0) throw new Error('One call in twenty fails')
      return { text: `Tea ${calls}` }
    }),
    agent('large', () => ({ text: `${++calls} `.padEnd(400 * 1024, 'x') })),
  ],
})
const server = createServer({ app }, { auth: { open: true } })
const url = await server.listen({ host: '127.0.0.1', port: 0 })

function measureLoad() {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  return {
    held: heapUsed + external,
    resident: rss,
    streams: server.streams,
    active: app.active,
    sockets: resources.filter((name) => name === 'TCPSocketWrap').length,
    timers: resources.filter((name) => name === 'Timeout').length,
  }
}

process.stdout.write(`${url}\n`)
for await (const _ of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(measureLoad())}\n`)
await server.close({ graceMs: 0 })
await app.close({ graceMs: 0 })
await store.close()
