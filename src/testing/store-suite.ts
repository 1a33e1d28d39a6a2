/**
 * What every store must do, as tests that a third party can run on its own: hand in a way to make an empty store and the
 * functions of a test runner.
 */
import { journalSuite } from './stores/journal.ts'
import { leaseSuite } from './stores/leases.ts'
import { projectionSuite } from './stores/projections.ts'
import { pruneSuite } from './stores/prune.ts'
import { recordSuite } from './stores/records.ts'
import type { Suite, SuiteStore, TestApi } from './stores/test-api.ts'
import { valueSuite } from './stores/values.ts'

export interface StoreSuiteOptions extends TestApi {
  /** Run the long forms (100,000 events in one run instead of 5,000). Default false. */
  readonly long?: boolean
}

/**
 * Declares the tests. `makeStore` gives an empty store each time; the suite closes it.
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
  const suite: Suite = {
    expect,
    long,
    test(promise, body) {
      const run = async () => {
        const made = await makeStore()
        try {
          await body(made)
        } finally {
          await made.store.close()
        }
      }
      it(promise, run, long ? 600_000 : 60_000)
    },
  }
  describe(`${name} as a store`, () => {
    journalSuite(suite)
    leaseSuite(suite)
    projectionSuite(suite)
    valueSuite(suite)
    recordSuite(suite)
    pruneSuite(suite)
  })
}
