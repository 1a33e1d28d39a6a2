/** Nodes settle once, start when the way to them is open, and are all settled when the run completes. */
import type { JournalEvent } from '../../domain/event.ts'
import type { Plan } from '../../domain/plan.ts'
import type { Rule } from './rule.ts'

/** The events after which a node is done with. */
export const settling: ReadonlySet<string> = new Set(['node_complete', 'node_error', 'node_skipped'])

/** Once under each plan; what a new plan takes over stays settled. */
export function nodesSettleOnce(): Rule {
  const settled = new Map<string, { readonly seq: number; readonly type: string }>()
  return (event, _before, report) => {
    const nodeId = event.nodeId ?? ''
    if (settling.has(event.type)) {
      const earlier = settled.get(nodeId)
      if (earlier?.type === 'node_complete' && event.type === 'node_complete')
        report('double-completion', `"${nodeId}" has completed before, at ${earlier.seq}`)
      else if (earlier) report('settled-twice', `"${nodeId}" was settled before, at ${earlier.seq}`)
      settled.set(nodeId, { seq: event.seq, type: event.type })
    }
    if (event.type === 'plan_updated')
      for (const { id, status } of event.payload.nodes) if (status !== 'completed') settled.delete(id)
  }
}

/** All edges to a node are settled and one of them is followed; or there is none. */
export function nodesStartWhenTheWayIsOpen(): Rule {
  let plan: Plan | undefined
  let ends = new Map<string, JournalEvent>()
  return (event, _before, report) => {
    if (event.type === 'plan_generated' && event.payload.plan && !event.payload.metadata.resumed) {
      const kept = new Set(event.payload.plan.nodes.map(({ id }) => id))
      plan = event.payload.plan
      ends = new Map([...ends].filter(([id, end]) => kept.has(id) && end.type === 'node_complete'))
    }
    if (settling.has(event.type)) ends.set(event.nodeId ?? '', event)
    if (event.type !== 'node_start' && event.type !== 'node_skipped') return
    const edges = plan?.edges.filter(({ to }) => to === event.nodeId) ?? []
    const open = edges.filter(({ from }) => !ends.has(from))
    const live = edges.filter(({ from, to, when }) => {
      const end = ends.get(from)
      if (end?.type === 'node_error') return when !== 'pass'
      if (end?.type !== 'node_complete' || when === 'fail') return false
      return end.payload.chosen === undefined || end.payload.chosen.includes(to)
    })
    if (open.length > 0) report('way', `"${event.nodeId}" is settled or started before "${open[0]?.from}"`)
    if (event.type === 'node_start' && edges.length > 0 && live.length === 0)
      report('way', `"${event.nodeId}" is started, and no edge to it is followed`)
    if (event.type === 'node_skipped' && (edges.length === 0 || live.length > 0))
      report('way', `"${event.nodeId}" is skipped, and the way to it is open`)
  }
}

/** A run completes when each node of its plan is settled. */
export function answersAreWhole(): Rule {
  return (event, before, report) => {
    if (event.type !== 'complete' || event.payload.status !== 'completed') return
    for (const [id, { status }] of before?.nodes ?? [])
      if (status !== 'completed' && status !== 'error' && status !== 'skipped')
        report('unsettled', `the run completed while "${id}" is ${status}`)
  }
}
