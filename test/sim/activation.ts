/**
 * Which nodes run: control activates, data only supplies. Derived a second time from the draft and the ends of the nodes,
 * without the engine's words.
 */
import type { JournalEvent } from '../../src/domain/event.ts'
import type { Binding, Draft, DraftNode, Edge, Source } from '../../src/domain/plan.ts'

type End = 'completed' | 'failed' | 'skipped'

const ends: { readonly [type: string]: End } = {
  node_complete: 'completed',
  node_error: 'failed',
  node_skipped: 'skipped',
}

/** What is wrong with the choice of nodes that ran; nothing is said of runs that did not complete, or had another plan. */
export function* wronglyActivated(journal: readonly JournalEvent[], draft: Draft): Iterable<string> {
  const plans = journal.filter((event) => event.type === 'plan_generated' && !event.payload.metadata.resumed)
  const end = journal.at(-1)
  yield* startedTooEarly(journal, draft)
  if (plans.length !== 1 || end?.type !== 'complete' || end.payload.status !== 'completed') return
  const settled = new Map<string, End>()
  const chosen = new Map<string, readonly string[]>()
  for (const event of journal) {
    const { type, nodeId } = event
    if (nodeId === undefined || ends[type] === undefined) continue
    settled.set(nodeId, ends[type])
    if (event.type === 'node_complete') chosen.set(nodeId, event.payload.chosen ?? [])
  }
  for (const node of draft.nodes) {
    const control = (draft.edges ?? []).filter(({ to }) => to === node.id)
    const activated = control.length === 0 || control.some((edge) => isLive(edge, { draft, settled, chosen }))
    const runs = activated && isSupplied(node, settled)
    const ran = settled.get(node.id) !== 'skipped'
    if (runs !== ran) yield `"${node.id}" ${ran ? 'ran' : 'was skipped'}, against its edges and bindings`
  }
}

interface Ends {
  readonly draft: Draft
  readonly settled: ReadonlyMap<string, End>
  readonly chosen: ReadonlyMap<string, readonly string[]>
}

/** An edge to a target of its own routing node is live if the target was chosen. */
function isLive({ from, to, when = 'pass' }: Edge, { draft, settled, chosen }: Ends): boolean {
  const end = settled.get(from)
  if (end === 'failed') return when !== 'pass'
  if (end !== 'completed' || when === 'fail') return false
  const routing = draft.nodes.find(({ id }) => id === from)?.routing
  const targets = [...(routing?.routes.map((route) => route.to) ?? []), routing?.elseTo ?? []].flat()
  return !targets.includes(to) || (chosen.get(from) ?? []).includes(to)
}

/** `a` is required of every node; what is bound of a map or loop is, too, and has a literal. */
function isSupplied({ inputs = {} }: DraftNode, settled: ReadonlyMap<string, End>): boolean {
  return sourcesOf(inputs['a']).some(
    (source) => !('node' in source) || settled.get(source.node) === 'completed',
  )
}

/** Data order is always respected: a node starts when all that it reads is settled. */
function* startedTooEarly(journal: readonly JournalEvent[], { nodes }: Draft): Iterable<string> {
  const settled = new Set<string>()
  for (const { type, nodeId = '', seq } of journal) {
    if (ends[type] !== undefined) settled.add(nodeId)
    if (type !== 'node_start') continue
    const read = Object.values(nodes.find(({ id }) => id === nodeId)?.inputs ?? {}).flatMap(sourcesOf)
    const open = read.find((source) => 'node' in source && !settled.has(source.node))
    if (open) yield `event ${seq}: "${nodeId}" started before ${JSON.stringify(open)} was settled`
  }
}

function sourcesOf(binding: Binding = []): readonly Source[] {
  return Array.isArray(binding) ? (binding as readonly Source[]) : [binding as Source]
}
