/**
 * A process that is used for long, from the built package in development mode: argv has its role (`serve`, `api` or `worker`),
 * the store and the share of calls that fail. Answers each line of its input with a line of JSON about itself. Needs `--expose-gc`.
 */
import { Session } from 'node:inspector'
import { createInterface } from 'node:readline'
import { createApp, defineCapability } from 'proviso'
import { createServer } from 'proviso/server'
import { openStore } from 'proviso/stores'

const [role = 'serve', address = '', faults = '0.05'] = process.argv.slice(2)
const every = Math.round(1 / Number(faults))

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
const store = await openStore(address)
const app = await createApp({
  store,
  env: {},
  providers: [],
  claim: role === 'api' ? 'none' : 'all',
  capabilities: [
    agent('small', () => {
      if (++calls % every === 0) throw new Error('One call in so many fails')
      return { text: `Tea ${calls}` }
    }),
    agent('large', () => ({ text: `${++calls} `.padEnd(400 * 1024, 'x') })),
  ],
})
const server = role === 'worker' ? undefined : createServer({ app }, { auth: { open: true } })
const url = server ? await server.listen({ host: '127.0.0.1', port: 0 }) : 'ready'

/**
 * Sums the sizes of all maps and sets of the process, wherever they are, with those of Node itself; and describes the largest by
 * their size and first entry.
 */
function countEntries() {
  const session = new Session()
  session.connect()
  const post = (method, params) => {
    let answer
    session.post(method, params, (error, found) => {
      if (error) throw error
      answer = found
    })
    return answer
  }
  try {
    const found = ['Map', 'Set'].map((name) => {
      const { result: prototype } = post('Runtime.evaluate', { expression: `${name}.prototype` })
      const { objects } = post('Runtime.queryObjects', { prototypeObjectId: prototype.objectId })
      const { result } = post('Runtime.callFunctionOn', {
        objectId: objects.objectId,
        // The prototype itself has no size.
        functionDeclaration: `function () {
          const all = []
          for (const each of this) try { if (each.size > 0) all.push(each) } catch {}
          const largest = all.sort((one, other) => other.size - one.size).slice(0, 5)
          return {
            entries: all.reduce((sum, each) => sum + each.size, 0),
            largest: largest.map((each) => {
              const [key, value] = each.entries().next().value
              const about = value !== null && typeof value === 'object' ? Object.keys(value).slice(0, 4) : typeof value
              return each.size + ' × ' + String(key).slice(0, 40) + ' (' + about + ')'
            }),
          }
        }`,
        returnByValue: true,
      })
      return result.value
    })
    return {
      entries: found.reduce((sum, { entries }) => sum + entries, 0),
      largest: found.flatMap(({ largest }) => largest),
    }
  } finally {
    session.disconnect()
  }
}

function measureLoad() {
  const counted = countEntries()
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  return {
    heap: heapUsed,
    held: heapUsed + external,
    resident: rss,
    ...counted,
    handles: resources.length,
    streams: server?.streams ?? 0,
    active: app.active,
    sockets: resources.filter((name) => name === 'TCPSocketWrap').length,
    timers: resources.filter((name) => name === 'Timeout').length,
  }
}

process.stdout.write(`${url}\n`)
for await (const _ of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(measureLoad())}\n`)
await server?.close({ graceMs: 0 })
await app.close({ graceMs: 0 })
await store.close()
