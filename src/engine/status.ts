/**
 * The state of a whole installation for operators: due runs and how long they wait, leases by owner, stuck runs, open asks, and
 * the processes that execute runs. Each process keeps a small document in the store that says so, and renews it.
 */
import { ProvisoError } from '../base/errors/error.ts'
import { type Json, pick } from '../base/json.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Labels } from '../domain/placement.ts'
import { type DocumentRow, type Documents, processAliveMs } from '../domain/ports/documents.ts'
import type { QueueStatus, Store } from '../domain/ports/store.ts'
import type { RunHead } from '../domain/run.ts'
import type { OpenCircuit } from './limits/circuits.ts'
import type { Shared } from './limits/share-permits.ts'

/** What a process says about itself. */
export interface ProcessInfo {
  readonly role: 'serve' | 'api' | 'worker'
  readonly host: string
  readonly pid: number
  readonly version: string
  /** It executes also the runs whose placement has no other labels. Absent: none. */
  readonly labels?: Labels
  /** Runs that it executes. */
  readonly active: number
  /** Capabilities and models that it does not call for a while; absent: none. */
  readonly circuits?: readonly OpenCircuit[]
}

export interface SeenProcess extends ProcessInfo {
  /** Its name on leases. */
  readonly owner: string
  readonly startedAt: number
  readonly seenAt: number
  /** It has renewed its entry within 45 s. */
  readonly isAlive: boolean
}

export interface SystemStatus {
  /** By the store's clock, like all times here. */
  readonly now: number
  readonly store: string
  /** Runs that are not over, by status. */
  readonly runs: QueueStatus['runs']
  readonly queue: {
    readonly due: number
    /** How long the oldest due run waits. */
    readonly lagMs: number
    readonly oldest: QueueStatus['oldestDue']
  }
  readonly leases: QueueStatus['leases']
  /** Runs that do not continue by themselves: due for more than a minute, or quarantined. At most 20. */
  readonly stuck: readonly {
    readonly runId: string
    readonly tenant: string
    readonly why: 'due' | 'quarantined'
    /** The labels that a process needs to execute it, such as `region=eu`. */
    readonly placement?: string
    readonly since: number
  }[]
  readonly oldestAsk?: {
    readonly requestId: string
    readonly runId: string
    readonly tenant: string
    readonly createdAt: number
  }
  readonly processes: readonly SeenProcess[]
  /** Limits of the fleet that are in use: attempts under way or waiting, of all processes. */
  readonly limits: readonly {
    readonly name: string
    readonly concurrency?: number
    readonly rate?: { readonly count: number; readonly perMs: number }
    readonly held: number
    readonly wanted: number
  }[]
  readonly schedules: { readonly active: number; readonly inactive: number; readonly nextAt?: number }
}

const kind = 'process'
/** Processes belong to no tenant. */
const tenant = ''
const renewMs = processAliveMs / 3
/** Circuits that open or close are announced sooner. */
const lookMs = 1_000
/** Entries of dead processes are deleted after this time. */
const forgetMs = 3_600_000
/** A due run that waits longer is stuck: no process has its capabilities, or none runs. */
const stuckMs = 60_000
const mostStuck = 10

/** Announces this process in the store until it is closed. */
export async function announceProcess(
  documents: Documents,
  {
    owner: id,
    clock,
    onError,
    ...info
  }: Omit<ProcessInfo, 'active' | 'circuits'> & {
    readonly owner: string
    readonly clock: Clock
    readonly active: () => number
    readonly circuits?: () => readonly OpenCircuit[]
    readonly onError: (cause: unknown) => void
  },
): Promise<{ close(): Promise<void> }> {
  const { active, circuits = () => [], ...rest } = info
  let announced: readonly OpenCircuit[] = []
  const write = () => {
    announced = circuits()
    const open = announced.length > 0 && { circuits: announced }
    // Plain data.
    return { kind, tenant, id, body: { ...rest, active: active(), ...open } as unknown as Json } as const
  }
  const isChanged = () => {
    const now = circuits()
    return now.length !== announced.length || now.some(({ name }, nth) => announced[nth]?.name !== name)
  }
  let row = await documents.add(write())
  let isClosed = false
  let cancelTimer = () => {}
  let renewing: Promise<void> = Promise.resolve()
  const renew = async () => {
    // Deleted by another process after a long pause of this one.
    row =
      (row && (await documents.replace(write(), { version: row.version }))) ??
      (await documents.add(write())) ??
      row
  }
  let renewAt = clock.now() + renewMs
  const schedule = () => {
    if (isClosed) return
    cancelTimer = clock.timer(clock.now() + lookMs, () => {
      if (clock.now() < renewAt && !isChanged()) return schedule()
      renewAt = clock.now() + renewMs
      renewing = renew().catch(onError).finally(schedule)
    })
  }
  schedule()
  await forgetDead(documents, row?.updatedAt ?? 0)
  return {
    async close() {
      isClosed = true
      cancelTimer()
      await renewing
      // A store that is not available does not block the shutdown: then the entry grows old.
      await documents.remove({ kind, tenant, id }).catch(() => {})
    },
  }
}

async function forgetDead(documents: Documents, now: number): Promise<void> {
  for (const { id, updatedAt } of await documents.list({ kind, tenant }))
    if (now - updatedAt > forgetMs) await documents.remove({ kind, tenant, id })
}

/** Reads the state. Throws if the store cannot count its runs. */
export async function readStatus(store: Store): Promise<SystemStatus> {
  if (store.inspectQueue === undefined)
    throw new ProvisoError('option/invalid', `The store ${store.name} does not count its runs`, {
      hint: 'Implement `inspectQueue` of the store',
    })
  const { documents } = store.records
  const { now, runs, due, oldestDue, leases } = await store.inspectQueue()
  const quarantined = await store.runs({ status: ['quarantined'], limit: mostStuck })
  const [ask] = await store.asks({ status: 'pending', limit: 1 })
  const processes = await documents.list({ kind, tenant })
  const schedules = await documents.list({ kind: 'schedule' })
  const limits = await documents.list({ kind: 'limit', tenant })
  const late = oldestDue.filter(({ dueAt }) => now - dueAt > stuckMs)
  const heads = await Promise.all(late.map(({ runId }) => store.head(runId)))
  const fires = schedules.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]))
  return {
    now,
    store: store.name,
    runs,
    queue: { due, lagMs: Math.max(0, now - (oldestDue[0]?.dueAt ?? now)), oldest: oldestDue },
    leases,
    stuck: [
      ...late.map(({ dueAt: since, ...run }, nth) => ({
        ...{ ...run, why: 'due' as const, since },
        ...pick<Partial<RunHead>, 'placement'>(heads[nth] ?? {}, ['placement']),
      })),
      ...quarantined.map(({ runId, tenant, updatedAt: since }) => ({
        ...{ runId, tenant, why: 'quarantined' as const, since },
      })),
    ],
    ...(ask && {
      oldestAsk: { requestId: ask.requestId, runId: ask.runId, tenant: ask.tenant, createdAt: ask.createdAt },
    }),
    processes: processes.map(({ id, body, createdAt, updatedAt }) => ({
      owner: id,
      // Written by `announceProcess` alone.
      ...(body as unknown as ProcessInfo),
      startedAt: createdAt,
      seenAt: updatedAt,
      isAlive: now - updatedAt <= processAliveMs,
    })),
    limits: limits
      .map((row) => toLimit(row, now))
      .filter(({ wanted }) => wanted > 0)
      .sort((one, other) => (one.name < other.name ? -1 : 1)),
    schedules: {
      active: fires.length,
      inactive: schedules.length - fires.length,
      ...(fires.length > 0 && { nextAt: Math.min(...fires) }),
    },
  }
}

function toLimit({ id: name, body }: DocumentRow, now: number): SystemStatus['limits'][number] {
  // Written by the gate of attempts alone.
  const { rule, holders } = body as unknown as Shared
  const alive = Object.values(holders).filter(({ until }) => until > now)
  const sum = (count: 'held' | 'wanted') => alive.reduce((total, holder) => total + holder[count], 0)
  return { name, ...rule, held: sum('held'), wanted: sum('wanted') }
}
