/** A store whose Nth operation fails: before it took effect, or after it did, without an answer. */

import type { Store } from '../../../src/index.ts'
import { ProvisoError } from '../../../src/output/index.ts'
import type { Acknowledged } from '../../kill/effects.ts'
import type { Append, NewRun } from '../../seams/stores.ts'

export interface Fault {
  /** Which operation fails, counted from 1. */
  readonly at: number
  /** Only operations of this name count. */
  readonly of?: string
  readonly when: 'before' | 'after'
  /** `reported`: as our stores report it, to be tried again. `raw`: as a store that does not know our errors would. */
  readonly form: 'reported' | 'raw'
}

export interface FailingStore {
  readonly store: Store
  /** The operation that failed; nothing if there were not so many. */
  readonly failed: () => string | undefined
  readonly acknowledged: readonly Acknowledged[]
}

/** What disks and databases say, in turn. */
const codes = ['EIO', 'ENOSPC', 'EBUSY']

const operations = [
  'create',
  'append',
  'read',
  'head',
  'runs',
  'claim',
  'renew',
  'release',
  'nextWake',
  'asks',
  'ask',
  'output',
] as const

export function failingStore(real: Store, fault: Fault): FailingStore {
  const acknowledged: Acknowledged[] = []
  let count = 0
  let failed: string | undefined

  const failure = (name: string) => {
    const code = codes[fault.at % codes.length] ?? 'EIO'
    failed = `${name} ${fault.when}, ${code}`
    const cause = Object.assign(new Error(`${code}: ${name} failed`), { code })
    return fault.form === 'raw'
      ? cause
      : new ProvisoError('store/unavailable', `The store failed: ${code}`, { cause })
  }
  const failing = <A extends unknown[], T>(name: string, work: (...args: A) => Promise<T>) => {
    return async (...args: A): Promise<T> => {
      if (fault.of === undefined || fault.of === name) count++
      const fails = count === fault.at && (fault.of ?? name) === name && failed === undefined
      if (fails && fault.when === 'before') throw failure(name)
      const result = await work(...args)
      if (fails) throw failure(name)
      note(name, args[0], result)
      return result
    }
  }
  const note = (name: string, given: unknown, result: unknown) => {
    const isNew = name === 'create' && result !== false
    if (!isNew && !(name === 'append' && (result as { kind: string }).kind === 'appended')) return
    const { runId, events, expectedSeq = 0 } = given as NewRun & Partial<Append>
    for (const [index, { type, at }] of events.entries())
      acknowledged.push({ runId, seq: expectedSeq + index + 1, type, at })
  }

  const store: Record<string, unknown> = { ...real }
  for (const name of operations)
    store[name] = failing(name, real[name].bind(real) as (...args: unknown[]) => Promise<unknown>)
  return { store: store as unknown as Store, failed: () => failed, acknowledged }
}
