/**
 * Follows runs with one stream per browser: tabs of the same user elect a leader by a Web Lock. The leader streams the run
 * that was opened last, polls the others, and broadcasts what it receives. Where locks are missing, each tab is its own
 * leader.
 */
import type { RunUpdate } from 'proviso/client'
import { getClient, getShareKey, session, setOnline } from '../session.ts'

export type OnUpdate = (update: RunUpdate) => void

type Message =
  | { readonly kind: 'watch'; readonly tab: string; readonly runId: string; readonly after: number }
  | { readonly kind: 'unwatch'; readonly tab: string; readonly runId: string }
  | { readonly kind: 'update'; readonly runId: string; readonly update: RunUpdate }
  | { readonly kind: 'online'; readonly isOnline: boolean }
  | { readonly kind: 'leader' }

const pollMs = 2_000
/** Tabs repeat what they watch; a tab that has been silent for longer was closed. */
const repeatMs = 5_000
const forgottenMs = 16_000

const tab = Math.random().toString(36).slice(2)

interface Watched {
  readonly onUpdate: OnUpdate
  /** The last event that this tab has. */
  getAfter(): number
}

interface Hub {
  watch(runId: string, watched: Watched): () => void
}

let hub: Promise<Hub> | undefined

/** Calls `onUpdate` for every event after the last one of this tab, and for partial values. Returns the way to stop. */
export function watchRun(runId: string, watched: Watched): () => void {
  hub ??= openHub()
  let stop: (() => void) | undefined
  let isStopped = false
  hub.then((opened) => {
    if (!isStopped) stop = opened.watch(runId, watched)
  })
  return () => {
    isStopped = true
    stop?.()
  }
}

/** Another user has signed in: nothing of the old connection is shared. */
export function resetHub(): void {
  hub = undefined
}

async function openHub(): Promise<Hub> {
  const key = await getShareKey()
  const watching = new Map<string, Set<Watched>>()
  const channel = key === undefined ? undefined : new BroadcastChannel(`proviso-live-${key}`)
  const send = (message: Message, isForOthers = true) => {
    if (isForOthers) channel?.postMessage(message)
    // A channel does not deliver to its sender.
    receive(message)
  }
  const leader = createLeader(send)
  const announce = () => {
    for (const [runId, each] of watching) {
      const after = Math.min(...[...each].map(({ getAfter }) => getAfter()))
      send({ kind: 'watch', tab, runId, after })
    }
  }
  const receive = (message: Message) => {
    if (message.kind === 'update')
      for (const { onUpdate } of watching.get(message.runId) ?? []) onUpdate(message.update)
    if (message.kind === 'online') setOnline(message.isOnline)
    if (message.kind === 'leader') announce()
    leader.receive(message)
  }
  channel?.addEventListener('message', ({ data }) => receive(data as Message))
  if (key === undefined) leader.begin()
  else
    navigator.locks.request(`proviso-live-${key}`, async () => {
      leader.begin()
      send({ kind: 'leader' })
      // The lock is held until the tab is closed; then the next tab leads.
      await new Promise(() => {})
    })
  setInterval(announce, repeatMs)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) announce()
  })
  window.addEventListener('pagehide', () => {
    for (const runId of watching.keys()) send({ kind: 'unwatch', tab, runId })
  })
  return {
    watch(runId, watched) {
      const each = watching.get(runId) ?? new Set()
      watching.set(runId, each.add(watched))
      send({ kind: 'watch', tab, runId, after: watched.getAfter() })
      return () => {
        each.delete(watched)
        if (each.size > 0) return
        watching.delete(runId)
        send({ kind: 'unwatch', tab, runId })
      }
    },
  }
}

interface Followed {
  readonly tabs: Map<string, number>
  after: number
  isOver: boolean
  stop?: AbortController
}

function createLeader(send: (message: Message, isForOthers?: boolean) => void) {
  const runs = new Map<string, Followed>()
  let isLeader = false
  let streamed: string | undefined

  const stream = async (runId: string, followed: Followed) => {
    const stop = new AbortController()
    followed.stop = stop
    const { signal } = stop
    while (!signal.aborted && !followed.isOver) {
      try {
        for await (const update of getClient().runs.attach(runId).updates({ after: followed.after, signal }))
          note(runId, followed, update)
        followed.isOver = true
      } catch {
        if (signal.aborted) return
        send({ kind: 'online', isOnline: session.isOnline })
        // The client has given up for now.
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
    }
  }
  const note = (runId: string, followed: Followed, update: RunUpdate) => {
    if (update.kind === 'event') {
      followed.after = Math.max(followed.after, update.event.id)
      if (update.event.type === 'complete') followed.isOver = true
    }
    // A copy of every event has a price: it is made if another tab shows the run.
    const isForOthers = [...followed.tabs.keys()].some((name) => name !== tab)
    send({ kind: 'update', runId, update }, isForOthers)
  }
  /** Reads the runs without a stream page by page. */
  const poll = async () => {
    for (const [runId, followed] of runs) {
      for (const [name, seenAt] of followed.tabs)
        if (Date.now() - seenAt > forgottenMs) followed.tabs.delete(name)
      if (followed.tabs.size === 0) drop(runId)
      else if (runId !== streamed && !followed.isOver) await pollRun(runId, followed)
    }
  }
  const pollRun = async (runId: string, followed: Followed) => {
    try {
      const { events } = await getClient().runs.attach(runId).page({ after: followed.after, limit: 500 })
      for (const event of events) note(runId, followed, { kind: 'event', event })
    } catch {
      // The next poll tries again; the connection state is shown meanwhile.
    }
  }
  const drop = (runId: string) => {
    runs.get(runId)?.stop?.abort()
    runs.delete(runId)
    if (streamed === runId) streamed = undefined
  }
  return {
    begin() {
      isLeader = true
      setInterval(() => void poll(), pollMs)
    },
    receive(message: Message) {
      if (!isLeader) return
      if (message.kind === 'unwatch') {
        const followed = runs.get(message.runId)
        followed?.tabs.delete(message.tab)
        if (followed?.tabs.size === 0) drop(message.runId)
      }
      if (message.kind !== 'watch') return
      const known = runs.get(message.runId)
      const followed: Followed = known ?? { tabs: new Map(), after: message.after, isOver: false }
      const isNew = !followed.tabs.has(message.tab)
      followed.tabs.set(message.tab, Date.now())
      runs.set(message.runId, followed)
      if (!isNew || streamed === message.runId) return
      if (streamed !== undefined) runs.get(streamed)?.stop?.abort()
      streamed = message.runId
      void stream(message.runId, followed)
    },
  }
}
