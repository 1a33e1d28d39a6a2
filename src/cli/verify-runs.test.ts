import { expect, it } from 'vitest'
import { createApp } from '../app.ts'
import type { Store } from '../domain/ports/store.ts'
import { verifyRuns } from './verify-runs.ts'

async function storeOf(runs: number) {
  const app = await createApp()
  const schema = { type: 'object' }
  for (let run = 0; run < runs; run++)
    await app.run(
      { objective: 'x', outputContract: { schema } },
      { runId: `r${run}`, draft: { nodes: [routing] } },
    )
  return app
}

const routing = { id: 'only', kind: 'routing', routing: { routes: [], elseTo: ['nowhere'] } }

async function verify(store: Store, runIds: readonly string[] = []) {
  const found = []
  for await (const run of verifyRuns(store, runIds)) found.push(run)
  return found
}

it('looks at every run once, page by page', async () => {
  const app = await storeOf(3)
  const small: Store = { ...app.store, runs: (query) => app.store.runs({ ...query, limit: 2 }) }
  expect((await verify(small)).map(({ runId, issues }) => [runId, issues.length]).sort()).toEqual([
    ['r0', 0],
    ['r1', 0],
    ['r2', 0],
  ])
  expect(await verify(app.store, ['r1'])).toHaveLength(1)
  await expect(verify(app.store, ['none'])).rejects.toMatchObject({ code: 'run/missing' })
  await app.close()
})

it('says where a journal has lost an event', async () => {
  const app = await storeOf(1)
  const lossy: Store = {
    ...app.store,
    read: async (runId, after, limit) =>
      (await app.store.read(runId, after, limit)).filter(({ seq }) => seq !== 2),
  }
  const [run] = await verify(lossy)
  expect(run?.issues[0]).toMatchObject({ code: 'history/gap', at: { pointer: '/3' } })
  await app.close()
})
