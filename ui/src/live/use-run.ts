/** The live state of one run for a page: loads its history, follows it, and refreshes the page a few times per second. */
import type { RunEvent, RunPartial, RunUpdate } from 'proviso/client'
import { onScopeDispose, type ShallowRef, shallowRef, watch } from 'vue'
import { createFold, type Fold, fold } from '../fold/fold.ts'
import { emptyRun, type NodeView, type RunState, type TimelineEntry } from '../fold/run-state.ts'
import { describeEvent } from '../fold/timeline.ts'
import { describeError, getClient } from '../session.ts'
import { watchRun } from './watch-run.ts'

export interface LiveRun {
  /** As of the last event, or of the position in the past. */
  readonly state: ShallowRef<RunState>
  readonly events: readonly RunEvent[]
  readonly isLoaded: ShallowRef<boolean>
  /** The last events of a long run as sentences, while the events before them are still being read. */
  readonly tail: ShallowRef<readonly TimelineEntry[] | undefined>
  readonly error: ShallowRef<string>
  /** Shows the run as of an event; `undefined`: as it is now. */
  showAt(id: number | undefined): void
}

const pageSize = 500
/** Time between two updates of the page: at most one frame in twenty is late, however long an update takes. */
const pace = { leastMs: 60, mostMs: 400, perCost: 20 } as const
/** Events of a long run that are shown first. */
const tailSize = 200

export function useLiveRun(getRunId: () => string): LiveRun {
  const state = shallowRef(emptyRun())
  const isLoaded = shallowRef(false)
  const tail = shallowRef<readonly TimelineEntry[] | undefined>()
  const error = shallowRef('')
  let events: RunEvent[] = []
  let current: Fold = createFold()
  let position: number | undefined
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let shownAt = 0
  let updateMs: number = pace.leastMs
  let stop = () => {}

  const refresh = () => {
    frame = 0
    shownAt = performance.now()
    if (position === undefined) {
      // Another object with the same parts: the fold changes in place, which components do not see.
      state.value = { ...current.state }
      // A task that is queued in a frame runs after the frame is painted.
      setTimeout(noteCost)
    }
  }
  const noteCost = () => {
    const cost = performance.now() - shownAt
    updateMs = Math.min(pace.mostMs, Math.max(pace.leastMs, cost * pace.perCost))
  }
  const draw = () => {
    timer = undefined
    frame ||= requestAnimationFrame(refresh)
  }
  // However many events arrive, the frames between two updates are free for what the reader does. A hidden tab has no frames.
  const schedule = () => {
    if (document.hidden) return refresh()
    const waitMs = shownAt + updateMs - performance.now()
    if (waitMs <= 0) draw()
    else if (frame === 0) timer ??= setTimeout(draw, waitMs)
  }
  const add = (event: RunEvent) => {
    if (event.id === (events.at(-1)?.id ?? 0) + 1) events.push(event)
    return current.add(event)
  }

  const open = (runId: string) => {
    events = []
    current = createFold(runId)
    position = undefined
    state.value = current.state
    isLoaded.value = false
    tail.value = undefined
    error.value = ''
    const leave = new AbortController()
    const { signal } = leave
    let reading: Promise<void> | undefined
    const onTail = (last: readonly RunEvent[]) => {
      tail.value = last.flatMap((event) => describeEvent(event, current.state.nodes) ?? [])
    }
    const readMissing = () => {
      reading ??= readHistory(runId, signal, { add, getAfter: () => current.state.events, onTail })
        .then(schedule)
        .finally(() => {
          reading = undefined
        })
      return reading
    }
    const onUpdate = (update: RunUpdate) => {
      if (update.kind === 'partial') {
        const node = current.state.nodes.get(update.partial.nodeId)
        if (node) notePartial(node, update.partial)
        return schedule()
      }
      add(update.event)
      // A gap: this tab was behind the one that follows the run.
      if (update.event.id > current.state.events) void readMissing().catch(() => {})
      schedule()
    }
    let unwatch = () => {}
    readMissing().then(
      () => {
        if (signal.aborted) return
        isLoaded.value = true
        tail.value = undefined
        refresh()
        if (!current.state.endedAt)
          unwatch = watchRun(runId, { onUpdate, getAfter: () => current.state.events })
      },
      (cause) => {
        if (!signal.aborted) error.value = describeError(cause)
      },
    )
    return () => {
      leave.abort()
      unwatch()
    }
  }

  watch(
    getRunId,
    (runId) => {
      stop()
      stop = open(runId)
    },
    { immediate: true },
  )
  onScopeDispose(() => {
    stop()
    clearTimeout(timer)
    cancelAnimationFrame(frame)
  })
  return {
    state,
    isLoaded,
    tail,
    error,
    get events() {
      return events
    },
    showAt(id) {
      position = id
      if (id === undefined) refresh()
      else state.value = fold(events, id)
    },
  }
}

/** An agent has no value until it writes the answer: until then, the words of its turn. */
function notePartial(node: NodeView, { value, turn }: RunPartial): void {
  node.partial = value ?? undefined
  node.partialText = value === null && turn?.text ? turn.text : undefined
}

interface Reading {
  readonly add: (event: RunEvent) => void
  readonly getAfter: () => number
  readonly onTail: (last: readonly RunEvent[]) => void
}

/** Reads all events after those that are known. If there are many, the last ones are read first, to be shown meanwhile. */
async function readHistory(
  runId: string,
  signal: AbortSignal,
  { add, getAfter, onTail }: Reading,
): Promise<void> {
  const run = getClient().runs.attach(runId)
  const isFirst = getAfter() === 0
  for (;;) {
    const begin = getAfter()
    const { events, next } = await run.page({ after: begin, limit: pageSize, signal })
    for (const event of events) add(event)
    if (isFirst && begin === 0 && events.length === pageSize)
      onTail((await run.page({ last: tailSize, signal })).events)
    if (events.length === 0 || next === undefined) return
  }
}
