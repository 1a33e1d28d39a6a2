/** Items and rounds begin once, end once, no more at a time than allowed, and are what their map or loop yields. */
import { canonicalJson } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import type { PlanNode } from '../../../domain/plan.ts'
import { type Rule, reopenedIn } from './rule.ts'

type End = JournalEvent<'iteration_end'>['payload']

/** Written from the events alone: what the state counts is not asked. */
export function iterationsAreWhatTheyYield(): Rule {
  const open = new Map<string, string>()
  /** By map or loop, then by index or round. */
  const ends = new Map<string, Map<number, End & { readonly planVersion: number }>>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'iteration_start') {
      const { of, index } = event.payload
      const node = before?.nodes.get(of)?.node
      if (open.has(nodeId)) report('iteration', `"${nodeId}" has begun before, and has not ended`)
      const earlier = ends.get(of)?.get(index)
      if (earlier?.status === 'completed' && earlier.planVersion === event.planVersion)
        report('iteration', `"${nodeId}" begins again after it has completed`)
      if (node?.loop && index > 1 && ends.get(of)?.get(index - 1)?.status !== 'completed')
        report('iteration', `round ${index} of "${of}" begins before round ${index - 1} has completed`)
      const most = node?.map ? (node.map.concurrency ?? before?.plan?.limits.concurrency ?? 16) : 1
      const active = [...open.values()].filter((each) => each === of).length
      if (active >= most) report('iteration', `more than ${most} iterations of "${of}" are under way`)
      open.set(nodeId, of)
    }
    if (event.type === 'iteration_end') {
      const { of, index } = event.payload
      if (!open.delete(nodeId)) report('iteration', `"${nodeId}" ends, and has not begun`)
      const known = ends.get(of) ?? new Map<number, End & { readonly planVersion: number }>()
      ends.set(of, known.set(index, { ...event.payload, planVersion: event.planVersion }))
    }
    if (event.type === 'plan_updated') open.clear()
    if (event.type === 'nodes_reopened')
      for (const of of [...ends.keys()].filter(reopenedIn(event))) ends.delete(of)
    if (event.type !== 'node_complete' && event.type !== 'node_error') return
    const node = before?.nodes.get(nodeId)?.node
    if (!node?.body) return
    for (const [id, of] of open)
      if (of === nodeId) report('iteration', `"${nodeId}" is settled while "${id}" is under way`)
    // A person who was asked about its output may have given another.
    if (event.type === 'node_complete' && event.payload.person === undefined) {
      const wanted = yieldOf(node, ends.get(nodeId) ?? new Map())
      if (canonicalJson(wanted) !== canonicalJson(event.payload.output.value))
        report('iteration', `"${nodeId}" completes with something else than its iterations yielded`)
    }
    ends.delete(nodeId)
  }
}

/** What the node's settings make of the ends of its iterations. */
function yieldOf({ map }: PlanNode, ends: ReadonlyMap<number, End>): Json {
  const inOrder = [...ends].sort(([a], [b]) => a - b).map(([, end]) => end)
  if (!map) return inOrder.at(-1)?.output ?? null
  if (map.onItemFail !== 'collect')
    return inOrder.flatMap(({ output }) => (output === undefined ? [] : [output]))
  return inOrder.map(({ output, error }) => {
    if (output !== undefined) return { status: 'completed', value: output }
    const { code = '', message = '', details } = error ?? {}
    return { status: 'failed', error: { code, message, ...(details && { details }) } }
  })
}
