/**
 * Upcasts events of older versions to the current one. Events in a journal are never edited; when the payload of a type
 * changes its meaning, its version is raised and a row here converts the previous version. Stores call this on every
 * event they read.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { EventType, JournalEvent } from '../event.ts'
import { eventTable } from './event-table.ts'

/** An event as it was written: its payload may be of an older version. */
export type WrittenEvent = Omit<JournalEvent, 'payload'> & { readonly payload: unknown }

/** From the payload of one version to that of the next. */
type Upcaster = (payload: unknown, event: WrittenEvent) => unknown

/** By type, then by the version that the upcaster reads. */
type Upcasters = { readonly [T in EventType]?: { readonly [version: number]: Upcaster } }

const upcasters: Upcasters = {
  // Version 1 did not distinguish control from data: each edge activated its target.
  plan_generated: { 1: withControlEdges },
}

function withControlEdges(payload: unknown): unknown {
  const { plan, ...rest } = payload as { readonly plan?: WrittenPlan }
  if (plan === undefined) return payload
  const edges = plan.edges.map((edge) => ({ ...edge, kind: 'control' }))
  const nodes = plan.nodes.map((node) => ({ ...node, needs: [] }))
  return { ...rest, plan: { ...plan, nodes, edges } }
}

interface WrittenPlan {
  readonly nodes: readonly object[]
  readonly edges: readonly object[]
}

export function upcast(event: WrittenEvent, table: Upcasters = upcasters): JournalEvent {
  const steps = table[event.type]
  let { version, payload } = event
  for (let step = steps?.[version]; step !== undefined; step = steps?.[version]) {
    payload = step(payload, event)
    version += 1
  }
  if (version > latestVersion(steps) || !Object.hasOwn(eventTable, event.type)) throw fromTheFuture(event)
  // The chain of upcasters ends at the payload of today.
  return { ...event, version, payload } as JournalEvent
}

function latestVersion(steps: Upcasters[EventType]): number {
  return steps === undefined ? 1 : Math.max(...Object.keys(steps).map(Number)) + 1
}

/** Read as one of today it would mean something else, and be decided on. */
function fromTheFuture({ type, version, runId, seq }: WrittenEvent): ProvisoError {
  const what = `event ${seq} of the run "${runId}" is "${type}" in version ${version}`
  return new ProvisoError('store/newer', `Cannot read the journal with this version of proviso: ${what}`)
}
