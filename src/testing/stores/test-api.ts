/** The functions of a test runner that the conformance tests need: those of vitest and jest fit. */
import type { Store } from '../../domain/ports/store.ts'

export interface TestApi {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>, timeoutMs?: number) => unknown
  readonly expect: (value: unknown, message?: string) => Expectation
}

export interface Expectation {
  toBe(value: unknown): void
  toEqual(value: unknown): void
  toBeLessThan(value: number): void
  toBeGreaterThan(value: number): void
}

/** A store for one test, with the operations that the suite needs from outside. */
export interface SuiteStore {
  readonly store: Store
  /** Advances the clock of the store. */
  elapse(ms: number): Promise<void>
  /** Returns the number of large values stored apart from the events; absent if the store does not do so. */
  countValues?(): Promise<number>
}

/** Passed to each part of the suite: the test runner, and `test`, which creates a new store for each test and closes it. */
export interface Suite {
  readonly expect: TestApi['expect']
  /** Whether to run the long tests. */
  readonly long: boolean
  test(promise: string, body: (made: SuiteStore) => Promise<void>): void
}
