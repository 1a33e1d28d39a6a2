/** What a conformance suite needs of a test runner: vitest, jest and their like fit as they are. */
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

/** A store made for one test, with what the suite must do from outside. */
export interface SuiteStore {
  readonly store: Store
  /** Lets time pass by the clock that the store goes by. */
  elapse(ms: number): Promise<void>
  /** How many large values the store keeps apart from the events; absent if it keeps none apart. */
  countValues?(): Promise<number>
}

/** What a file of the suite gets: a test runner, and `test`, whose store is new each time and closed after it. */
export interface Suite {
  readonly expect: TestApi['expect']
  /** Whether the long forms run. */
  readonly long: boolean
  test(promise: string, body: (made: SuiteStore) => Promise<void>): void
}
