/** Reads a thread from the store: its runs with their messages, answers and asks, and the approvals that count for all of it. */
import { isObject, type Json } from '../../base/json.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { ToolGrant } from '../../domain/loop-facts.ts'
import type { MessageRow, Store } from '../../domain/ports/store.ts'
import { fold } from '../../domain/run/fold.ts'
import type { RunHead } from '../../domain/run.ts'
import {
  fitThread,
  type Summarise,
  type ThreadAsk,
  type ThreadContext,
  type ThreadSummary,
  type ThreadTurn,
  writeSummary,
} from '../../domain/thread/thread-context.ts'

export interface ThreadKey {
  readonly tenant: string
  readonly threadId: string
}

type Reading = Pick<Store, 'runs' | 'read' | 'output' | 'messages'>

/** Most runs of a thread that are read for a context. */
const mostRuns = 200

/** The context of the next run of a thread; undefined for the first one. `tokens`: the budget. */
export async function readThreadContext(
  store: Reading,
  key: ThreadKey,
  {
    tokens,
    except,
    summarise,
  }: { readonly tokens: number; readonly except?: string; readonly summarise?: Summarise | undefined },
): Promise<ThreadContext | undefined> {
  const heads = (await store.runs({ ...key, limit: mostRuns }))
    .filter(({ runId }) => runId !== except)
    .reverse()
  if (heads.length === 0) return undefined
  const turns: ThreadTurn[] = []
  for (const head of heads) turns.push(await readTurn(store, head))
  const last = heads.at(-1)
  const grants = last ? await readGrants(store, last.runId) : []
  const fitted = { ...fitThread(turns, tokens), ...(grants.length > 0 && { grants }) }
  if (!summarise || !last) return fitted
  return writeSummary(turns, fitted, { tokens, summarise, previous: await readSummary(store, last.runId) })
}

/** The summary that a run began with. */
async function readSummary(store: Pick<Store, 'read'>, runId: string): Promise<ThreadSummary | undefined> {
  const [start] = await store.read(runId, 0, 1)
  return start?.type === 'start' ? start.payload.thread?.summary : undefined
}

export async function readTurn(store: Omit<Reading, 'runs'>, head: RunHead): Promise<ThreadTurn> {
  const { runId, status } = head
  const [[start], output, messages] = await Promise.all([
    store.read(runId, 0, 1),
    store.output(runId),
    store.messages(runId),
  ])
  const asks = toAsks(messages)
  const error = isObject(output?.error) ? output.error['message'] : undefined
  return {
    runId,
    status,
    message: start?.type === 'start' ? readMessage(start) : '',
    ...(output?.output !== undefined && { output: output.output }),
    ...(typeof error === 'string' && { error }),
    ...(asks.length > 0 && { asks }),
  }
}

/** `inputs.message` where a run was started by a message. */
function readMessage({ payload }: Extract<JournalEvent, { type: 'start' }>): string {
  const { inputs, objective } = payload.envelope
  const said = (inputs as { readonly [name: string]: Json } | undefined)?.['message']
  return typeof said === 'string' ? said : objective
}

function toAsks(messages: readonly MessageRow[]): ThreadAsk[] {
  const asks = new Map<string, ThreadAsk>()
  for (const { role, requestId, body } of messages) {
    const before = asks.get(requestId) ?? { question: '' }
    const { question, decision, note, value } = body
    asks.set(
      requestId,
      role === 'agent'
        ? { ...before, question: String(question ?? '') }
        : {
            ...before,
            ...(typeof decision === 'string' && { decision }),
            ...(typeof note === 'string' && { note }),
            ...(value !== undefined && { value }),
          },
    )
  }
  return [...asks.values()]
}

/** The grants that a run began with, and the grants that were given in it for the thread. */
async function readGrants(store: Pick<Store, 'read'>, runId: string): Promise<readonly ToolGrant[]> {
  const events: JournalEvent[] = []
  for (;;) {
    const page = await store.read(runId, events.at(-1)?.seq ?? 0)
    if (page.length === 0) break
    events.push(...page)
  }
  return (fold(events)?.grants ?? []).filter(({ scope }) => scope === 'thread')
}
