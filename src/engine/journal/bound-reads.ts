/**
 * Bounds how long callers wait for reads of a store: a database may accept a query and never answer it. Writes have no such
 * bound here: a write that was given up may still take effect, so each caller of one decides what that means.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { type Clock, settleWithin } from '../../base/time/clock.ts'
import type { Store } from '../../domain/ports/store.ts'

const reads = [
  'read',
  'head',
  'runs',
  'threads',
  'asks',
  'ask',
  'nodes',
  'snapshots',
  'output',
  'spans',
  'audit',
  'messages',
  'sample',
  'usage',
] as const satisfies readonly (keyof Store)[]

type Call = (...given: readonly unknown[]) => Promise<unknown>

/** Returns the store with reads that reject with `store/unavailable` after so many milliseconds. */
export function boundReads(
  store: Store,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Store {
  const bounded = new Map<PropertyKey, Call>(
    reads
      .filter((name) => store[name] !== undefined)
      .map((name) => [
        name,
        (...given) =>
          settleWithin((store[name] as Call)(...given), {
            clock,
            until: clock.now() + ms,
            late: () => unanswered(ms),
          }),
      ]),
  )
  return new Proxy(store, { get: (target, name) => bounded.get(name) ?? Reflect.get(target, name) })
}

function unanswered(ms: number): ProvisoError {
  return new ProvisoError('store/unavailable', `The store has not answered a read within ${ms} ms`, {
    hint: 'Read again; if it is not answered either, check the database: `proviso doctor`, or GET /readyz',
  })
}
