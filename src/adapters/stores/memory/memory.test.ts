import { describe, expect, it } from 'vitest'
import { storeSuite } from '../../../testing/store-suite.ts'
import { createMemoryStore } from './memory.ts'

const long = process.env['PROVISO_LONG'] === '1'

storeSuite(
  'memory',
  async () => {
    let now = 1_700_000_000_000
    return {
      store: createMemoryStore({ clock: { now: () => now } }),
      elapse: async (ms) => {
        now += ms
      },
    }
  },
  { describe, it, expect, long },
)
