/**
 * Wraps the store of an app: measures the calls of the engine to it, for metrics (without a listener, calls are passed on
 * unmeasured), and adds heads of runs that have not started.
 */
import type { Store } from '../domain/ports/store.ts'

const operations = ['create', 'append', 'read', 'head', 'runs', 'claim', 'renew', 'release', 'asks'] as const

/** One call of the engine to its store. */
interface StoreCall {
  readonly operation: (typeof operations)[number]
  readonly ms: number
  readonly ok: boolean
}

type StoreCallListener = (call: StoreCall) => void

/** Returns the way to end it. */
export type SubscribeToStoreCalls = (listener: StoreCallListener) => () => void

export function measureStore(store: Store): {
  readonly store: Store
  readonly subscribe: SubscribeToStoreCalls
} {
  const listeners = new Set<StoreCallListener>()
  const measured = new Map<PropertyKey, unknown>(
    operations.map((operation) => [
      operation,
      (...given: readonly unknown[]) => {
        // The store is read on every call: its functions may be replaced.
        const call = () => (store[operation] as (...given: readonly unknown[]) => Promise<unknown>)(...given)
        return listeners.size === 0 ? call() : measure(operation, call)
      },
    ]),
  )
  const measure = async (operation: StoreCall['operation'], call: () => Promise<unknown>) => {
    const begun = performance.now()
    let ok = false
    try {
      const result = await call()
      ok = true
      return result
    } finally {
      const ms = performance.now() - begun
      for (const listener of listeners) listener({ operation, ms, ok })
    }
  }
  return {
    store: new Proxy(store, {
      get: (target, name) => measured.get(name) ?? Reflect.get(target, name),
    }),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** The store with heads of runs that it does not hold. */
export function withHeads(store: Store, find: Store['head']): Store {
  const head: Store['head'] = async (runId) => (await store.head(runId)) ?? find(runId)
  return new Proxy(store, { get: (target, name) => (name === 'head' ? head : Reflect.get(target, name)) })
}
