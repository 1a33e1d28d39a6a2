/** However often the connection is cut, every event arrives once and in order; also when the server is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, it } from 'vitest'
import { createClient, type RunEvent } from '../../src/client/index.ts'
import { local } from '../server/support.ts'
import { requireBuild, root } from '../support.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { chain, findFaults, makeFolder, quick, serveSqlite, tea } from './support.ts'

const isLong = process.env['PROVISO_LONG'] === '1'
const cuts = isLong ? 1_000 : 50

describe('a proxy that cuts connections at random places', () => {
  it(
    `${cuts} times: no gap, no duplicate`,
    async () => {
      const slow = local('write', () => new Promise((resolve) => setTimeout(resolve, 2, { text: 'Tea' })))
      const { client, connect, app, address } = await serveSqlite(
        { capabilities: [slow] },
        { limits: { rate: false } },
      )
      const proxy = await startCuttingProxy(address, 17)
      const cut = connect({ url: proxy.url })
      let [runs, events] = [0, 0]
      while (proxy.cuts < cuts) {
        // Half of the way the run is being written, then it is read again from the store.
        const { id } = await client.runs.start(tea, { draft: chain(12) })
        for (const _ of ['live', 'again']) {
          const seen: RunEvent[] = []
          for await (const event of cut.runs.attach(id).events()) seen.push(event)
          expect(findFaults(seen)).toEqual([])
          expect(seen).toHaveLength((await app.store.head(id))?.seq ?? 0)
          events += seen.length
        }
        runs++
      }
      console.log(`${proxy.cuts} cuts in ${runs} runs: ${events} events, 0 gaps, 0 duplicates`)
      await proxy.close()
    },
    isLong ? 600_000 : 60_000,
  )
})

const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** A server in a process of its own: 30 nodes of 40 ms each. Prints its address once it listens. */
const program = `
import { createApp, defineCapability } from 'proviso'
import { createServer } from 'proviso/server'
const [store, port] = process.argv.slice(1)
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const write = defineCapability({
  capabilityId: 'write', inputContract: { type: 'object' }, outputContract: text, idempotent: true,
  run: () => new Promise((resolve) => setTimeout(resolve, 40, { text: 'Tea' })),
})
const app = await createApp({ store, capabilities: [write], env: { leaseMs: '500' }, pollMs: 50 })
const server = createServer({ app, auth: { token: 'token-of-a-server-that-dies' } })
console.log(await server.listen({ port: Number(port) }))
`

async function startChild(store: string, port: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, store, port], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  const [address] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, address }
}

describe('a server that is killed and restarted', () => {
  it('mid-stream: the events continue where they were', async () => {
    requireBuild()
    const store = `sqlite:${join(makeFolder(), 'runs.db')}`
    const first = await startChild(store, '0')
    const client = createClient({
      url: first.address,
      token: 'token-of-a-server-that-dies',
      retry: { ...quick, maxMs: 500, attempts: 60 },
    })
    const run = await client.runs.start<{ text: string }>(tea, { draft: chain(30) })
    const seen: RunEvent[] = []
    let second: ReturnType<typeof startChild> | undefined
    for await (const event of run.events()) {
      seen.push(event)
      if (second === undefined && seen.length === 20) {
        first.child.kill('SIGKILL')
        second = startChild(store, new URL(first.address).port)
      }
    }
    const { child } = (await second) ?? expect.fail('The server was not killed')
    expect(findFaults(seen)).toEqual([])
    expect(seen.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
    expect(await run.output()).toEqual({ text: 'Tea' })
    child.kill('SIGKILL')
  })
})
