/** Sort orders of lists, for stores that sort themselves; databases use the same orders. */
import type { AskRow } from '../../../domain/ports/store.ts'
import type { RunHead } from '../../../domain/run.ts'

/** Default row limits of queries. */
export const defaultLimits = { events: 1_000, runs: 100, asks: 100, messages: 200 } as const

type Created<T extends { readonly createdAt: number }, K extends keyof T> = Pick<T, 'createdAt' | K>

export function newestFirst(one: Created<RunHead, 'runId'>, other: Created<RunHead, 'runId'>): number {
  return other.createdAt - one.createdAt || order(other.runId, one.runId)
}

export function oldestFirst(one: Created<AskRow, 'requestId'>, other: Created<AskRow, 'requestId'>): number {
  return one.createdAt - other.createdAt || order(one.requestId, other.requestId)
}

/** By code unit, not by language. */
export function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
