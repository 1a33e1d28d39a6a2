/** Events on their way into a journal and out of it: new ones get their numbers, old ones the form of today. */

import { ProvisoError } from '../../base/errors/error.ts'
import type { EventType, JournalEvent, NewEvent } from '../event.ts'
import { eventTable } from './event-table.ts'

/** The new events as the journal will hold them. */
export function numbered(runId: string, after: number, events: readonly NewEvent[]): JournalEvent[] {
  return events.map((event, index) => {
    // Member by member: this runs for every event, and spreading costs several times as much.
    const { type, version, at, planVersion, nodeId, message, payload } = event
    const numbered: Record<string, unknown> = {
      type,
      version,
      at,
      planVersion,
      payload,
      runId,
      seq: after + index + 1,
    }
    if (nodeId !== undefined) numbered['nodeId'] = nodeId
    if (message !== undefined) numbered['message'] = message
    return numbered as unknown as JournalEvent
  })
}

// Upcasts events of older versions to the current one. Events in a journal are never edited; when the payload of a type
// changes its meaning, its version is raised and a row here converts the previous version. Stores call this on every
// event they read.

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
