/** Clients and people of the campaign: keep runs going, and approve every ask, twice at once, however often the API dies. */
import type { Store } from '../../src/index.ts'
import type { Api } from './fleet.ts'

export interface Load {
  /** Acknowledged runs. */
  readonly started: ReadonlySet<string>
  /** How many replies to each ask were accepted. */
  readonly accepted: ReadonlyMap<string, number>
  /** Starts no more runs, and waits for the others; returns the ones that have not completed. */
  finish(limitMs: number): Promise<readonly string[]>
}

interface LoadOptions {
  readonly api: () => Api
  readonly store: Store
  readonly seed: number
}

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }
const draft = {
  nodes: [
    { id: 'one', capabilityId: 'step' },
    { id: 'two', capabilityId: 'slow' },
    { id: 'compose', capabilityId: 'compose', data: { contract: true } },
    { id: 'publish', capabilityId: 'publish', inputs: { text: { node: 'compose', pointer: '/text' } } },
  ],
  edges: [
    { from: 'one', to: 'two' },
    { from: 'two', to: 'compose' },
  ],
  output: { node: 'publish' },
  limits: { maxAsks: 1_000 },
}

/** Runs at a time. */
const clients = 8
const lookMs = 100

export function createLoad({ api, store, seed }: LoadOptions): Load {
  const started = new Set<string>()
  const accepted = new Map<string, number>()
  const open = new Set<string>()
  let [isStopping, isOver, next] = [false, false, 0]
  const pause = () => new Promise((resolve) => setTimeout(resolve, lookMs))

  /** An API that is killed answers nothing: the request is repeated under its key, and starts the run once. */
  const begin = async () => {
    const key = { 'idempotency-key': `kill-${seed}-${next++}` }
    for (;;) {
      const run = await api()
        .call<{ runId: string }>('/runs', { envelope, draft }, key)
        .catch(() => undefined)
      if (run) {
        open.add(run.runId)
        started.add(run.runId)
        return
      }
      await pause()
    }
  }

  const replyTo = async (requestId: string, valueHash: string) => {
    const decision = { requestId, valueHash, decision: 'approve' }
    const reply = () =>
      api()
        .call('/hitl/resolve', decision)
        .then(
          () => void accepted.set(requestId, (accepted.get(requestId) ?? 0) + 1),
          // Resolved by the other reply, or the API is down: asked again if it is still open.
          () => {},
        )
    await Promise.all([reply(), reply()])
  }

  const operate = async () => {
    while (!isOver) {
      await pause()
      const asks = await store.asks({ status: 'pending', limit: 200 }).catch(() => [])
      await Promise.all(asks.map(({ requestId, valueHash }) => replyTo(requestId, valueHash)))
      for (const runId of open) {
        const head = await store.head(runId).catch(() => undefined)
        if (head?.status === 'completed') open.delete(runId)
      }
      while (!isStopping && open.size < clients) await begin()
    }
  }
  const operating = operate()

  return {
    started,
    accepted,
    async finish(limitMs) {
      isStopping = true
      const until = Date.now() + limitMs
      while (open.size > 0 && Date.now() < until) await pause()
      isOver = true
      await operating
      return [...open]
    },
  }
}
