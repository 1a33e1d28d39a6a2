/**
 * T5: whatever operation of a store fails during a run of twelve nodes, before or after it took effect, the run ends as it
 * should: every caller gets a clear error or the result, nothing acknowledged is lost, and the next run is served.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { type App, createApp, type Store } from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'
import { checkRuns } from '../kill/check.ts'
import type { Effect } from '../kill/effects.ts'
import { expected } from '../kill/trial.ts'
import { capabilities, draft, envelope, model, notTwice, paid } from '../kill/workload.ts'
import { type Fault, failingStore } from './faults/failing-store.ts'

const long = process.env['PROVISO_LONG'] === '1'
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-store-faults-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
// No power fails here: the disk is not waited for.
const stores: Record<string, () => Promise<Store>> = {
  memory: async () => createMemoryStore(),
  SQLite: () => openSqliteStore({ path: join(folder, `${++files}.db`), synchronous: 'NORMAL' }),
}

/** Side by side: most of a trial is waiting for a lease. */
const atOnce = 8

const reported = [
  ['before', 'reported'],
  ['after', 'reported'],
] as const
const raw = [
  ['before', 'raw'],
  ['after', 'raw'],
] as const

/** The form of an error makes no difference to the store behind it: SQLite gets the other one in the long form. */
const forms = (store: string) => (store === 'memory' || long ? [...reported, ...raw] : reported)

describe.each(Object.entries(stores))('the %s store', (name, openStore) => {
  it.each(forms(name))(
    'whose every operation fails once %s it took effect (%s) loses nothing, and the service continues',
    async (when, form) => {
      const failed = new Set<string>()
      const judge = ({ fault, failed: what, violations }: Awaited<ReturnType<typeof trial>>) => {
        expect(violations, `operation ${fault.at}: ${what}`).toEqual([])
        if (what !== undefined) failed.add(what.split(' ')[0] ?? '')
        return what !== undefined
      }
      for (let first = 1, more = true; more; first += atOnce) {
        const trials = Array.from({ length: atOnce }, (_, index) =>
          trial(openStore(), { at: first + index, when, form }),
        )
        more = (await Promise.all(trials)).map(judge).every(Boolean)
      }
      // Each kind of operation that a run needs has its turn: no two runs have theirs in the same order.
      const kinds = ['create', 'append', 'claim', 'head', 'read', 'asks']
      for (const of of kinds.filter((kind) => !failed.has(kind)))
        judge(await trial(openStore(), { at: 1, of, when, form }))
      expect([...failed]).toEqual(expect.arrayContaining(kinds))
    },
    300_000,
  )
})

async function trial(opening: Promise<Store>, fault: Fault) {
  const real = await opening
  const failing = failingStore(real, fault)
  const { store, acknowledged } = failing
  const effects: Effect[] = []
  const mark = (effect: Effect) => effects.push(effect)
  const crashes: unknown[] = []
  const app = await createApp({
    store,
    capabilities: capabilities(mark),
    providers: [model(mark)],
    pollMs: 100,
    // Long enough for a busy machine: a run that loses its lease twice is quarantined.
    leaseMs: 1_500,
    onCrash: (_, cause) => crashes.push(cause),
  })
  const runIds = ['first', 'next']
  await executeRun(app, 'first', effects)
  const failed = failing.failed()
  await executeRun(app, 'next', effects)
  await app.close()
  const verdict = await checkRuns(real, runIds, { outside: { effects, acknowledged }, expected })
  const unexpected = crashes.filter((cause) => !isFault(cause)).map(String)
  await real.close()
  return { fault, failed, violations: [...verdict.violations, ...unexpected] }
}

/** Starts a run and stays with it as its caller and its operator, trying again what the store did not do. */
async function executeRun(app: App, runId: string, effects: readonly Effect[]): Promise<void> {
  await patiently(() =>
    app.start(envelope, { runId, draft }).catch((error) => {
      // The first try got through, and only its answer was lost.
      if (!(error instanceof ProvisoError && error.code === 'run/exists')) throw error
    }),
  )
  for (;;) {
    const { status } = await patiently(() => app.result(runId))
    if (status !== 'waiting') return
    for (const { requestId, valueHash, kind } of await patiently(() =>
      app.store.asks({ runId, status: 'pending' }),
    )) {
      const given = { requestId, valueHash, by: 'ann', ...(await decide(app, runId, { kind, effects })) }
      await patiently(() =>
        app.reply(runId, given).catch((error) => {
          if (!(error instanceof ProvisoError && error.code === 'ask/resolved')) throw error
        }),
      )
    }
  }
}

/** A person who is asked about a payment looks whether it was made. */
async function decide(app: App, runId: string, about: { kind: string; effects: readonly Effect[] }) {
  if (about.kind !== 'unknown_outcome') return { decision: 'approve' } as const
  const { nodes } = await patiently(() => app.state(runId))
  const key = nodes.get(notTwice)?.attempt?.idempotencyKey
  const made = about.effects.some((effect) => effect.key === key)
  return made ? ({ decision: 'answer', value: paid } as const) : ({ decision: 'approve' } as const)
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isFault(error)) throw error
    return await work()
  }
}

/** Only what the store said itself, or its own error around it, or that a run could not continue because of it. */
function isFault(error: unknown): boolean {
  if (error instanceof ProvisoError && error.code === 'run/crashed') return isFault(error.cause)
  if (error instanceof ProvisoError) return error.code === 'store/unavailable' && error.fate === 'retry'
  return ['EIO', 'ENOSPC', 'EBUSY'].includes(String((error as { code?: unknown }).code))
}
