/** Sort orders of lists, for stores that sort themselves; databases use the same orders. */
import type { AskRow, ThreadRow } from '../../../domain/ports/store.ts'
import type { RunHead } from '../../../domain/run.ts'

/** Default row limits of queries. */
export const defaultLimits = { events: 1_000, runs: 100, threads: 100, asks: 100, messages: 200 } as const

type Created<T extends { readonly createdAt: number }, K extends keyof T> = Pick<T, 'createdAt' | K>

export function newestFirst(one: Created<RunHead, 'runId'>, other: Created<RunHead, 'runId'>): number {
  return other.createdAt - one.createdAt || order(other.runId, one.runId)
}

type Priced = Created<RunHead, 'runId'> & { readonly costUsd?: number | undefined }

export function dearestFirst(one: Priced, other: Priced): number {
  return (other.costUsd ?? 0) - (one.costUsd ?? 0) || newestFirst(one, other)
}

export function oldestFirst(one: Created<AskRow, 'requestId'>, other: Created<AskRow, 'requestId'>): number {
  return one.createdAt - other.createdAt || order(one.requestId, other.requestId)
}

/** Last changed first. */
export function lastChangedFirst(one: ChangedThread, other: ChangedThread): number {
  return other.updatedAt - one.updatedAt || order(other.threadId, one.threadId)
}

type ChangedThread = Pick<ThreadRow, 'updatedAt' | 'threadId'>

/** By code unit, not by language. */
export function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
