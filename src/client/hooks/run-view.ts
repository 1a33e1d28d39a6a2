/**
 * Follows one run for a user interface: a store with a snapshot and listeners, which the hooks of React and Vue subscribe to.
 * It follows the run while there is a listener, and continues after the last event when a new one comes.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Ask, type OpenAsk, toOpenAsk, trackAsks } from '../asks.ts'
import { ClientError } from '../client-error.ts'
import { RunError, type RunResult } from '../client-run.ts'
import type { Client, OutputOption } from '../create-client.ts'
import type { RunEvent } from '../types.ts'

/** A node of the run, as of the events so far. */
export interface NodeView {
  readonly id: string
  readonly status: 'running' | 'completed' | 'failed' | 'skipped'
  /** The output of a completed node. */
  readonly output?: unknown
  /** Why it failed or was skipped. */
  readonly message?: string
}

interface ViewFields {
  /** Every event so far, once and in order. */
  readonly events: readonly RunEvent[]
  /** The nodes that have begun or ended, in the order in which they first appeared. */
  readonly nodes: readonly NodeView[]
  /** Asks that wait for a person, with the ways to decide them. */
  readonly asks: readonly OpenAsk[]
  /** Why the run continues only when it is resumed; absent unless it is paused. */
  readonly paused?: { readonly reason: string }
  /** Follows the run again, after `disconnected`. */
  readonly reconnect: () => void
}

/** What a user interface shows of a run: a union on `status`. */
export type RunView<Output> = ViewFields & Ending<Output>

type Ending<Output> =
  | {
      /** `idle`: no run; `connecting`: no event yet; `waiting`: an ask is open, or the run is paused. */
      readonly status: 'idle' | 'connecting' | 'running' | 'waiting'
      readonly output?: undefined
      readonly error?: undefined
    }
  | { readonly status: 'completed'; readonly output: Output; readonly error?: undefined }
  | { readonly status: 'failed' | 'cancelled'; readonly output?: undefined; readonly error: RunError }
  /** The client has given up, or the output does not satisfy the schema. The run itself continues on the server. */
  | { readonly status: 'disconnected'; readonly output?: undefined; readonly error: ClientError }

interface RunViewStore<Output> {
  /** The same object until something changes. */
  readonly getSnapshot: () => RunView<Output>
  /** What a server renders: the run is followed in the browser only. */
  readonly getServerSnapshot: () => RunView<Output>
  /** Returns the way to end it. */
  readonly subscribe: (listener: () => void) => () => void
}

export type OutputOf<Schema extends StandardSchemaV1> = StandardSchemaV1.InferOutput<Schema>

/** Makes the store of a run; without an id it stays `idle`. */
export function createRunView<Output>(
  client: Client,
  runId: string | undefined,
  options: Partial<OutputOption<StandardSchemaV1>> = {},
): RunViewStore<Output> {
  const folded = createFold(client)
  const listeners = new Set<() => void>()
  let end: RunResult<Output> | ClientError | undefined
  let following: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const initial: RunView<Output> = {
    events: [],
    nodes: [],
    asks: [],
    reconnect,
    status: runId === undefined ? 'idle' : 'connecting',
  }
  let snapshot: RunView<Output> = initial

  function publish(): void {
    clearTimeout(timer)
    timer = undefined
    snapshot = { ...folded.read(), reconnect, ...toEnding<Output>(end, folded) }
    for (const listener of [...listeners]) listener()
  }

  /** Events that arrive together are shown together: a snapshot copies the list of events. */
  const publishSoon = () => {
    timer ??= setTimeout(publish, 0)
  }

  async function follow(id: string, { signal }: AbortController): Promise<void> {
    const run = options.output ? client.runs.attach(id, { output: options.output }) : client.runs.attach(id)
    try {
      for await (const event of run.events({ after: folded.last(), signal })) {
        if (signal.aborted) return
        folded.add(event)
        publishSoon()
      }
      // The schema of the caller types what it validates; without one the caller has named the type.
      const result = (await run.result({ until: 'end', signal })) as RunResult<Output>
      if (signal.aborted) return
      end = result
    } catch (error) {
      if (signal.aborted) return
      end = error instanceof ClientError ? error : toClientError(error)
    }
    publish()
  }

  function start(): void {
    if (runId === undefined || following || end !== undefined) return
    following = new AbortController()
    void follow(runId, following)
  }

  function stop(): void {
    following?.abort()
    following = undefined
    clearTimeout(timer)
    timer = undefined
  }

  function reconnect(): void {
    if (!(end instanceof ClientError)) return
    stop()
    end = undefined
    publish()
    if (listeners.size > 0) start()
  }

  return {
    getSnapshot: () => snapshot,
    getServerSnapshot: () => initial,
    subscribe(listener) {
      listeners.add(listener)
      start()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stop()
      }
    },
  }
}

function toClientError(cause: unknown): ClientError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new ClientError('client/unreachable', `Cannot follow the run: ${message}`, { cause })
}

interface Fold {
  add(event: RunEvent): void
  /** Sequence number of the last event. */
  last(): number
  isWaiting(): boolean
  read(): Pick<ViewFields, 'events' | 'nodes' | 'asks' | 'paused'>
}

/** Folds the events of a run into what is shown. */
function createFold(client: Client): Fold {
  const events: RunEvent[] = []
  const nodes = new Map<string, NodeView>()
  const open = new Map<string, Ask>()
  let paused: ViewFields['paused']
  return {
    add(event) {
      events.push(event)
      trackAsks(open, event)
      paused = trackPause(paused, event)
      if (event.type === 'nodes_reopened' || event.type === 'plan_generated') reopen(nodes, event)
      const node = toNode(event)
      if (node) nodes.set(node.id, node)
    },
    last: () => events.at(-1)?.id ?? 0,
    isWaiting: () => open.size > 0 || paused !== undefined,
    read: () => ({
      events: [...events],
      nodes: [...nodes.values()],
      asks: [...open.values()].map((ask) => toOpenAsk(ask, client.asks)),
      ...(paused && { paused }),
    }),
  }
}

/** A policy or a quarantine pauses a run until it is resumed or ends. */
function trackPause(paused: ViewFields['paused'], { type, payload }: RunEvent): ViewFields['paused'] {
  if (type === 'quarantined') return { reason: (payload as { readonly reason: string }).reason }
  if (type === 'policy_triggered') {
    const { policyId, actionDetails } = payload as {
      readonly policyId: string
      readonly actionDetails: { readonly type: string; readonly reason?: string }
    }
    if (actionDetails.type !== 'pause') return paused
    return { reason: actionDetails.reason ?? `Policy "${policyId}" paused the run` }
  }
  return type === 'complete' || (type === 'plan_generated' && isResumed(payload)) ? undefined : paused
}

function isResumed(payload: RunEvent['payload']): boolean {
  const { metadata } = payload as { readonly metadata?: { readonly resumed?: unknown } }
  return Boolean(metadata?.resumed)
}

/** Nodes that run again are not completed any more; a new plan may not have them at all. */
function reopen(nodes: Map<string, NodeView>, { type, payload }: RunEvent): void {
  if (type === 'plan_generated') {
    if (!isResumed(payload))
      for (const [id, { status }] of nodes) if (status !== 'completed') nodes.delete(id)
    return
  }
  const { nodes: ids } = payload as { readonly nodes?: readonly string[] }
  for (const id of ids ?? []) nodes.delete(id)
}

const nodeStatuses: { readonly [type: string]: NodeView['status'] } = {
  node_start: 'running',
  node_complete: 'completed',
  node_error: 'failed',
  node_skipped: 'skipped',
}

function toNode({ type, nodeId, payload, message }: RunEvent): NodeView | undefined {
  const status = nodeStatuses[type]
  if (status === undefined || nodeId === undefined) return undefined
  const { output, reason } = payload as {
    readonly output?: { readonly value?: unknown }
    readonly reason?: string
  }
  const said = message ?? reason
  return {
    id: nodeId,
    status,
    ...(status === 'completed' && { output: output?.value }),
    ...(said !== undefined && status !== 'completed' && { message: said }),
  }
}

function toEnding<Output>(end: RunResult<Output> | ClientError | undefined, folded: Fold): Ending<Output> {
  if (end instanceof ClientError) return { status: 'disconnected', error: end }
  if (end?.status === 'completed') return { status: 'completed', output: end.output }
  if (end?.status === 'failed' || end?.status === 'cancelled')
    return { status: end.status, error: new RunError(end) }
  if (folded.last() === 0) return { status: 'connecting' }
  return { status: folded.isWaiting() ? 'waiting' : 'running' }
}
