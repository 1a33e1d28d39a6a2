/** Two processes on one PostgreSQL store share a thread: its messages run once each, one after another. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { local, open } from '../journeys/support.ts'

const key = { tenant: 'default', threadId: 'shared' }
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const envelope = { objective: 'Answer', outputContract: { schema: text } }
const draft = {
  nodes: [{ id: 'write', capabilityId: 'write', inputs: { message: { envelope: '/inputs/message' } } }],
}

describe.skipIf(missingPostgres() !== undefined)('on PostgreSQL', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  }, 60_000)
  afterAll(() => cluster?.stop())

  it('starts the messages of two processes in turn', async () => {
    const store = cluster.url
    let active = 0
    let most = 0
    const called: string[] = []
    const write = local('write', async ({ message }) => {
      most = Math.max(most, ++active)
      called.push(String(message))
      await new Promise((next) => setTimeout(next, 5))
      active--
      return { text: String(message) }
    })
    const apps = [
      await open({ env: {}, store, capabilities: [write] }),
      await open({ env: {}, store, capabilities: [write] }),
    ]
    const said = await Promise.all(
      Array.from({ length: 12 }, (_, n) => {
        const app = apps[n % 2] as (typeof apps)[number]
        return app.threads.say(key, { message: `m${n}`, envelope, draft })
      }),
    )
    const [app] = apps
    for (;;) {
      const thread = await app?.threads.get(key)
      const over = thread?.turns.filter(({ status }) => status === 'completed') ?? []
      if (over.length === said.length) {
        expect(thread?.queued).toEqual([])
        break
      }
      await new Promise((next) => setTimeout(next, 20))
    }
    expect(most).toBe(1)
    expect(called.sort()).toEqual(said.map((_, n) => `m${n}`).sort())
  }, 60_000)
})
