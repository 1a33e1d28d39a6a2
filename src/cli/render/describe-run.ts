/** Loads a run with everything that its store has about it, and renders it as a page of text for `proviso show`. */
import type { ErrorEnvelope } from '../../domain/errors/error-envelope.ts'
import { storedError } from '../../domain/errors/failure-error.ts'
import type { CallInDoubt, Provenance } from '../../domain/event.ts'
import type { RecordedFeedback } from '../../domain/feedback.ts'
import type { AskRow, MessageRow, NodeRow, Store } from '../../domain/ports/store.ts'
import { currentNodes } from '../../domain/run/current-nodes.ts'
import { loadState } from '../../engine/journal/journal.ts'
import { oneLine, spell } from '../one-line.ts'
import { table } from './table.ts'

/** Renders the calls whose effect is unknown. */
export function describeDoubts(calls: readonly CallInDoubt[]): string {
  const names = calls.map(
    ({ nodeId, capabilityId, planVersion }) => `"${nodeId}" (${capabilityId}, plan ${planVersion})`,
  )
  return `the call of ${names.join(', ')} may have taken effect, and no node made it again`
}

export function describeRun(shown: ShownRun): string {
  const { run, plan, nodes, asks, messages, feedback, output, error, provenance, paused, degraded, inDoubt } =
    shown
  const sources = provenance as unknown as readonly Provenance[]
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['run', run?.runId],
    ['status', run?.status],
    ['objective', run && oneLine(run.objective, 200)],
    ['created', run && new Date(run.createdAt).toISOString()],
    ['updated', run && new Date(run.updatedAt).toISOString()],
    ['plan', plan ? `version ${plan.version}, satisfaction ${plan.diagnostics.satisfactionScore}` : 'none'],
    ['paused', paused && oneLine(paused.reason, 200)],
    ['continue', paused && run && `proviso resume ${run.runId}, or proviso cancel ${run.runId}`],
    ['degraded', degraded && `a text stands in for the answer of ${degraded.join(', ')}`],
    ['in doubt', inDoubt && describeDoubts(inDoubt)],
    ['error', error && `${error.details['code']}: ${oneLine(error.message, 300)}`],
  ]
  const sections = [
    facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(9)}  ${value}`])).join('\n'),
    nodes.length > 0 &&
      table(
        nodeHeads,
        withoutItems(shown).map((row) => nodeCells(withFallback(row, shown), shown.iterations[row.nodeId])),
      ),
    asks.length > 0 && table(askHeads, asks.map(askCells)),
    messages.length > 0 && table(messageHeads, messages.map(messageCells)),
    feedback.length > 0 && table(feedbackHeads, feedback.map(feedbackCells)),
    output !== undefined && `answer\n${JSON.stringify(output, null, 2)}`,
    sources.length > 0 && table(sourceHeads, sources.map(sourceCells)),
  ]
  return sections.filter((section) => section !== false).join('\n\n')
}

/** Counts items and rounds at their map or loop; failed ones and ones waiting for a person get a line each, up to a limit. */
function withoutItems({ nodes, plan }: ShownRun): readonly ShownNode[] {
  const planned = (plan?.nodes ?? []).filter(({ body }) => body).map(({ id }) => id)
  const findMap = (nodeId: string) =>
    planned.find((id) => nodeId.startsWith(`${id}[`) || nodeId.startsWith(`${id}#`))
  const isNotable = ({ status, nodeId }: ShownNode) =>
    (status === 'error' || status === 'awaiting_hitl') && !/(\]|#\d+)$/.test(nodeId)
  const inside = nodes.filter((row) => findMap(row.nodeId) !== undefined && isNotable(row))
  const shown = new Set(inside.slice(0, mostItems))
  return nodes.filter((row) => shown.has(row) || findMap(row.nodeId) === undefined)
}

const mostItems = 20

const nodeHeads = ['NODE', 'STATUS', 'CAPABILITY', 'ATTEMPTS', 'TIME', 'ERROR']

/** Marks a node that an alternate or a fallback node has answered. */
function withFallback(row: ShownNode, { plan }: ShownRun): ShownNode {
  const { nodeId, capabilityId = '' } = row
  const { alternates = [], kind } = plan?.nodes.find(({ id }) => id === nodeId) ?? {}
  const isFallback = alternates.includes(capabilityId) || (kind === 'fallback' && capabilityId !== '')
  return isFallback ? { ...row, capabilityId: `${capabilityId} (fallback)` } : row
}

function nodeCells(node: ShownNode, count: ShownRun['iterations'][string] | undefined): string[] {
  const { nodeId, status, capabilityId, attempts, startedAt, endedAt, error } = node
  const time = startedAt !== undefined && endedAt !== undefined ? spell(endedAt - startedAt) : '-'
  const failed = count && count.failed > 0 ? `, ${count.failed} failed` : ''
  const progress = count ? ` ${count.ended}/${count.total}${failed}` : ''
  return [nodeId, status + progress, capabilityId ?? '-', String(attempts), time, error?.message ?? '']
}

const askHeads = ['ASK', 'KIND', 'STATUS', 'DECISION', 'BY', 'QUESTION']

function askCells({ requestId, kind, status, decision, by, question }: AskRow): string[] {
  return [requestId, kind, status, decision ?? '-', by ?? '-', question]
}

const messageHeads = ['SAID AT', 'ROLE', 'BY', 'MESSAGE']

function messageCells({ at, role, body }: MessageRow): string[] {
  const { question, decision, note, value, by } = body
  const words = [question ?? decision, note, value === undefined ? undefined : JSON.stringify(value)]
  const said = words.filter((word) => word !== undefined).map((word) => oneLine(String(word), 100))
  return [new Date(at).toISOString(), role, typeof by === 'string' ? by : '-', said.join(' · ')]
}

const feedbackHeads = ['FEEDBACK', 'ABOUT', 'BY', 'SAYS']

function feedbackCells({ source, nodes, by, note, issues = [] }: RecordedFeedback): string[] {
  const says = [note, ...issues.map(({ message }) => message)].filter((word) => word !== undefined)
  return [source, nodes?.join(', ') ?? 'the plan', by ?? '-', oneLine(says.join(' · ') || '-', 200)]
}

const sourceHeads = ['ANSWER AT', 'NODE', 'CAPABILITY', 'ATTEMPT', 'PERSON', 'REPAIRS']

function sourceCells({
  pointer,
  nodeId,
  capabilityId,
  attempt,
  person,
  approvedBy,
  repairs,
}: Provenance): string[] {
  const changes = (repairs ?? []).map(({ rule }) => rule).join(' ')
  return [
    pointer || '(all)',
    nodeId ?? '-',
    capabilityId ?? '-',
    String(attempt ?? '-'),
    [...new Set([person, approvedBy])].filter((name) => name !== undefined).join(', ') || '-',
    changes,
  ]
}

type ShownRun = Awaited<ReturnType<typeof loadRun>>

/** Loads everything that a store has about one run. */
export async function loadRun(store: Store, runId: string) {
  const { plan, envelope, paused, finished, nodes, feedback } = await loadState(store, runId)
  const { output, provenance, error } = (await store.output(runId)) ?? {}
  return {
    run: await store.head(runId),
    envelope,
    plan: plan ?? null,
    nodes: currentNodes(await store.nodes(runId)).map(nodeView),
    asks: await store.asks({ runId }),
    messages: await store.messages(runId),
    /** For active maps and loops: ended items or rounds, their total, and how many failed. */
    iterations: Object.fromEntries(
      [...nodes].flatMap(([id, { iterations }]) =>
        iterations
          ? [[id, { ended: iterations.ended, total: iterations.total, failed: iterations.failed }]]
          : [],
      ),
    ),
    feedback,
    ...(paused && { paused }),
    ...(finished?.degraded && { degraded: finished.degraded }),
    ...(finished?.inDoubt && { inDoubt: finished.inDoubt }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: storedError(error) }),
    provenance: provenance ?? [],
  }
}

/** A node's row, with its error in public form. */
type ShownNode = Omit<NodeRow, 'error'> & { readonly error?: ErrorEnvelope }

function nodeView({ error, ...row }: NodeRow): ShownNode {
  return { ...row, ...(error !== undefined && { error: storedError(error) }) }
}
