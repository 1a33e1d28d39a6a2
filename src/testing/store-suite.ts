/**
 * The contract of a store as tests that a third party can run on its own store: pass a function that creates an empty store, and the
 * functions of a test runner.
 */
import type { Store } from '../domain/ports/store.ts'
import { documentSuite } from './stores/documents.ts'
import { eraseSuite, pruneSuite } from './stores/erase.ts'
import { handoverSuite } from './stores/handover.ts'
import { journalSuite, messageSuite } from './stores/journal.ts'
import { leaseSuite } from './stores/leases.ts'
import { projectionSuite } from './stores/projections.ts'
import { recordSuite } from './stores/records.ts'
import { sampleSuite } from './stores/sampling.ts'
import type { Suite, SuiteStore, TestApi } from './stores/test-api.ts'
import { valueSuite } from './stores/values.ts'

export interface StoreSuiteOptions extends TestApi {
  /** Run the long tests (100,000 events in one run instead of 1,000). Default false. */
  readonly long?: boolean
}

/**
 * Declares the tests. `makeStore` returns a new empty store for each test; the suite closes it.
 *
 * ```ts
 * import { describe, expect, it } from 'vitest'
 * import { storeSuite } from 'proviso/testing'
 *
 * storeSuite('my store', async () => ({ store: openMyStore(), elapse: (ms) => clock.advance(ms) }), { describe, it, expect })
 * ```
 */
export function storeSuite(
  name: string,
  makeStore: () => Promise<SuiteStore>,
  { describe, it, expect, long = false }: StoreSuiteOptions,
): void {
  const suiteOn = (prepare: (store: Store) => Store): Suite => ({
    expect,
    long,
    test(promise, body) {
      const run = async () => {
        const made = await makeStore()
        try {
          await body({ ...made, store: prepare(made.store) })
        } finally {
          await made.store.close()
        }
      }
      it(promise, run, long ? 600_000 : 60_000)
    },
  })
  const suite = suiteOn((store) => store)
  describe(`${name} as a store`, () => {
    journalSuite(suite)
    leaseSuite(suite)
    handoverSuite(suite)
    projectionSuite(suite)
    messageSuite(suite)
    valueSuite(suite)
    recordSuite(suite)
    documentSuite(suite)
    pruneSuite(suite)
    eraseSuite(suite)
    sampleSuite(suite)
    describe('of claimed runs, which it may cache,', () => {
      const held = suiteOn(holding)
      projectionSuite(held)
      messageSuite(held)
      valueSuite(held)
      sampleSuite(held)
    })
  })
}

/** Claims every run at its creation, as an engine does. */
function holding(store: Store): Store {
  const claim = { owner: 'holder', leaseMs: 3_600_000 }
  return {
    ...store,
    async create(run) {
      const created = await store.create({ claim, ...run })
      return typeof created === 'object' && run.claim === undefined ? true : created
    },
  }
}
