/** Workers with different capabilities on one PostgreSQL: a plan needs several of them, and each attempt runs where it is served. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { createClient } from '../../src/client/index.ts'
import { root } from '../support.ts'
import { chain, envelope, useFleet } from './fleet.ts'

describe.skipIf(missingPostgres() !== undefined)(
  'workers that serve some capabilities',
  { timeout: 60_000 },
  () => {
    const fleet = useFleet()

    it('plan with all of their modules, and execute what they serve: the run moves between them', async () => {
      const api = await fleet.api()
      const [steps, flaky] = await Promise.all([
        fleet.worker({ args: ['--capabilities', 'step'] }),
        fleet.worker({ args: ['--capabilities', 'flaky,slow'] }),
      ])
      const client = createClient({ url: api.address })
      const started = Array.from({ length: 4 }, () =>
        client.runs.start(envelope, { draft: chain('step', 'slow', 'step') }),
      )
      const runs = await Promise.all(started)
      for (const run of runs) expect(await run.output()).toEqual({ text: 'Tea' })
      const pids = (said: string) =>
        new Set(fleet.effects().flatMap((each) => (each.said === said ? [each.pid] : [])))
      expect([pids('step'), pids('slow')]).toEqual([new Set([steps.child.pid]), new Set([flaky.child.pid])])
      // One has a capability that no worker serves: it is planned, and waits.
      const waiting = await client.runs.start(envelope, { draft: chain('step', 'waits') })
      await expect.poll(async () => (await waiting.get()).run.status).toBe('running')
      const third = await fleet.worker({ args: ['--capabilities', 'waits'] })
      fleet.openGate()
      expect(await waiting.output()).toEqual({ text: 'Tea' })
      expect(third.health().worker).toContain(String(third.child.pid))
      await fleet.verify()
    })

    it('refuse a draft with a capability that none of their modules has, and say where', async () => {
      const api = await fleet.api()
      await fleet.worker({ args: ['--capabilities', 'step'] })
      const run = await createClient({ url: api.address }).runs.start(envelope, {
        draft: chain('step', 'unknown'),
      })
      const result = await run.result()
      expect(result).toMatchObject({
        status: 'failed',
        error: { type: 'PLAN_REJECTED', message: expect.stringContaining('capability "unknown" is active') },
      })
    })

    it('do not start with a capability that is in no module', async () => {
      const args = ['--capabilities', 'setp', '--use', join(root, 'test/processes/agents.mjs')]
      await expect(fleet.worker({ args })).rejects.toThrow(/Capability "setp" is in no module of --use/)
    })
  },
)
