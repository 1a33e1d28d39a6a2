/** Checks the invariants when all runs have ended, however often their process died: in the store, and in the recorded effects. */
import { isDeepStrictEqual } from 'node:util'
import type { JournalEvent, Json, Store } from '../../src/index.ts'
import { knowCapabilities, loadAsks, loadEvents, replayRun, verifyHistory } from '../seams/engine.ts'
import type { Acknowledged, Effect } from './effects.ts'
import { capabilities, completing, notTwice } from './workload.ts'

const known = capabilities(() => {}).map((defined) => defined.capability)
const capability = knowCapabilities()({
  facets: () => [],
  capabilities: () => known,
  capability: (id) => known.find(({ capabilityId }) => capabilityId === id),
})

export interface Outside {
  readonly effects: readonly Effect[]
  readonly acknowledged: readonly Acknowledged[]
}

export interface Verdict {
  /** Every broken rule, described. */
  readonly violations: readonly string[]
  /** Nodes without a completion, acknowledged events that are gone. */
  readonly lost: number
  /** Nodes with two completions or two keys, and payments without approval. */
  readonly duplicated: number
  /** Calls whose outcome was lost with their process: repeated under the same key, or settled by a person. */
  readonly reexecuted: number
}

export async function checkRuns(
  store: Store,
  runIds: readonly string[],
  { outside, expected }: { readonly outside: Outside; readonly expected: Json },
): Promise<Verdict> {
  const violations: string[] = []
  const total = { lost: 0, duplicated: 0, reexecuted: 0 }
  const keys = new Set<string>()
  for (const runId of runIds) {
    const events = await loadEvents(store, runId)
    const head = await store.head(runId)
    const audit = await store.audit(runId)
    const asks = await loadAsks(store, runId)
    const say = (message: string) => violations.push(`${runId}: ${message}`)
    for (const issue of verifyHistory(events, { ...(head && { head }), audit, asks })) say(issue.message)
    for (const { after, recorded, instead } of replayRun(events, { capability, askMs: 0 }).differences)
      say(`decided otherwise in a replay, after ${after}: ${recorded.join('; ')} / ${instead.join('; ')}`)
    const output = (await store.output(runId))?.output
    if (head?.status !== 'completed')
      say(`ended as ${head?.status}: ${JSON.stringify(events.at(-1)?.payload)}`)
    else if (!isDeepStrictEqual(output, expected)) say(`answered ${JSON.stringify(output)}`)
    const gone = goneEvents(events, runId, outside.acknowledged)
    for (const { seq, type } of gone) say(`event ${seq} (${type}) was acknowledged and is gone`)
    const counts = countNodes(events, outside.effects, say)
    total.lost += gone.length + counts.lost
    total.duplicated += counts.duplicated
    total.reexecuted += counts.reexecuted
    for (const event of events) if (event.type === 'attempt_start') keys.add(event.payload.idempotencyKey)
  }
  for (const { nodeId, key } of outside.effects)
    if (!keys.has(key)) violations.push(`"${nodeId}" was called under a key that no journal has: ${key}`)
  return { violations, ...total }
}

function goneEvents(events: readonly JournalEvent[], runId: string, acknowledged: readonly Acknowledged[]) {
  return acknowledged.filter((line) => {
    const event = events[line.seq - 1]
    return line.runId === runId && (event?.type !== line.type || event.at !== line.at)
  })
}

function countNodes(
  events: readonly JournalEvent[],
  effects: readonly Effect[],
  say: (message: string) => void,
): Pick<Verdict, 'lost' | 'duplicated' | 'reexecuted'> {
  const counts = { lost: 0, duplicated: 0, reexecuted: 0 }
  const of = nodeCounts(events)
  const lines = new Map<string, number>()
  for (const { key } of effects) lines.set(key, (lines.get(key) ?? 0) + 1)
  const calls = (keys: ReadonlySet<string>) => [...keys].reduce((sum, key) => sum + (lines.get(key) ?? 0), 0)
  for (const [nodeId, { completions, keys, starts, knownEnds, repetitions }] of of) {
    const called = calls(keys)
    const used = [...keys].filter((key) => lines.has(key)).length
    if (called > starts) say(`"${nodeId}" was called ${called} times, but started ${starts} times`)
    counts.reexecuted += called - knownEnds
    if (!completing.includes(nodeId)) continue
    if (completions !== 1) say(`"${nodeId}" has ${completions} completions`)
    if (completions < 1) counts.lost += 1
    if (completions === 1 && used !== 1) say(`"${nodeId}" took effect under ${used} keys`)
    const unasked = nodeId === notTwice && called > 1 + repetitions
    if (unasked)
      say(`"${nodeId}" was called ${called} times, and people agreed to ${repetitions} repetitions`)
    if (completions > 1 || used > 1 || unasked) counts.duplicated += 1
  }
  return counts
}

interface NodeCount {
  completions: number
  starts: number
  /** Attempts with a known outcome. */
  knownEnds: number
  /** How often a person ordered a repetition. */
  repetitions: number
  readonly keys: Set<string>
}

function nodeCounts(events: readonly JournalEvent[]): Map<string, NodeCount> {
  const counts = new Map<string, NodeCount>(
    completing.map((id) => [
      id,
      { completions: 0, starts: 0, knownEnds: 0, repetitions: 0, keys: new Set() },
    ]),
  )
  const repeats = new Set<string>()
  for (const event of events) {
    const count = counts.get(event.nodeId ?? '')
    if (!count) continue
    if (event.type === 'node_complete') count.completions += 1
    if (event.type === 'attempt_end' && event.payload.outcome !== 'outcome_unknown') count.knownEnds += 1
    if (event.type === 'hitl_request' && event.payload.kind === 'unknown_outcome')
      repeats.add(event.payload.requestId)
    if (
      event.type === 'hitl_resolved' &&
      event.payload.decision === 'approve' &&
      repeats.has(event.payload.requestId)
    )
      count.repetitions += 1
    if (event.type !== 'attempt_start') continue
    count.starts += 1
    count.keys.add(event.payload.idempotencyKey)
  }
  return counts
}
