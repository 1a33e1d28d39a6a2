/** Partial values of a run whose server is restarted: the loop reconnects, gets those of later calls, and ends with the run. */
import { join } from 'node:path'
import { createClient } from 'proviso/client'
import { expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { Line, lineSchema, serve, serveAgent } from '../agents/agent-server.ts'
import { flexToken } from '../server/support.ts'
import { makeFolder, quick } from './support.ts'

it('continue after a restart of the server, without an end in between', async () => {
  const path = join(makeFolder(), 'runs.db')
  let store = await openSqliteStore({ path })
  onTestFinished(() => store.close())
  const first = await serve({ store })
  let reconnected = () => {}
  const isReconnected = new Promise<void>((resolve) => {
    reconnected = resolve
  })
  const calls: string[] = []
  const errors: unknown[] = []
  await serveAgent({
    ...first.options,
    idempotent: true,
    onError: (cause) => errors.push(cause),
    async *run({ topic }, { nodeId }) {
      calls.push(nodeId)
      yield '{"line": "Time for '
      await isReconnected
      yield `${topic} and `
      yield 'cake."}'
    },
  })
  let isSecond = false
  const client = createClient({
    url: first.address,
    token: flexToken,
    retry: { ...quick, attempts: 500 },
    async fetch(url, init) {
      const response = await fetch(url, init)
      if (isSecond && response.headers.get('content-type')?.includes('event-stream')) reconnected()
      return response
    },
  })
  const inputs = { topic: { envelope: '/inputs/topic' } }
  const run = await client.runs.start(
    { objective: 'One line', inputs: { topic: 'tea' }, outputContract: { schema: lineSchema } },
    {
      output: Line,
      partials: true,
      draft: {
        nodes: [
          { id: 'draft', capabilityId: 'write', inputs },
          { id: 'final', capabilityId: 'write', inputs },
        ],
        edges: [{ from: 'draft', to: 'final' }],
        output: { node: 'final' },
      },
    },
  )
  const seen: [nodeId: string, value: unknown][] = []
  for await (const { nodeId, value } of run.partials()) {
    seen.push([nodeId, value])
    if (isSecond) continue
    await first.stop()
    await store.close()
    isSecond = true
    store = await openSqliteStore({ path })
    await serve({ store, port: Number(new URL(first.address).port) })
  }
  expect(seen[0]).toEqual(['draft', { line: 'Time for ' }])
  expect(seen.some(([nodeId]) => nodeId === 'final')).toBe(true)
  for (const [, value] of seen)
    expect('Time for tea and cake.').toContain((value as { readonly line?: string }).line ?? '')
  expect(await run.output()).toEqual({ line: 'Time for tea and cake.' })
  // The repeated call has the key of the interrupted one.
  expect([...new Set(calls)]).toEqual(['draft', 'final'])
  expect(errors).toEqual([])
}, 60_000)
