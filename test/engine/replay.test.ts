/** Replay on histories of the simulation: no difference where nothing is changed, and else exactly the decisions that change. */
import { describe, expect, it } from 'vitest'
import type { JournalEvent } from '../../src/index.ts'
import type { ReplayChanges, RuntimePolicy } from '../../src/types.ts'
import { listTriggers } from '../seams/domain.ts'
import { knowCapabilities, replayRun } from '../seams/engine.ts'
import { catalog } from '../sim/catalog.ts'
import { simulate } from '../sim/history.ts'
import { drawScenario, type Scenario } from '../sim/scenario.ts'

const capability = knowCapabilities()(catalog)

interface Recorded {
  readonly scenario: Scenario
  readonly journal: readonly JournalEvent[]
}

const seeds = process.env['PROVISO_LONG'] === '1' ? 300 : 120

/** Every finished run of the first seeds, with all that went wrong on the way. */
const histories: Promise<readonly Recorded[]> = (async () => {
  const found: Recorded[] = []
  for (let seed = 1; seed <= seeds; seed++) {
    const scenario = drawScenario(seed)
    const { journals } = await simulate(scenario, scenario.faults)
    for (const journal of journals.values())
      if (journal.at(-1)?.type === 'complete') found.push({ scenario, journal })
  }
  return found
})()

function replay({ scenario, journal }: Recorded, changes: ReplayChanges = {}) {
  return replayRun(journal, { ...changes, capability, askMs: scenario.askMs })
}

describe('a replay', () => {
  it('of an unchanged run has no difference, for any history', async () => {
    const all = await histories
    for (const recorded of all) expect(replay(recorded).differences).toEqual([])
    expect(all.length).toBeGreaterThan(seeds)
    const kinds = new Set(all.flatMap(({ journal }) => journal.flatMap(kindsOf)))
    for (const kind of ['manual', 'follow_up', 'onTimeout', 'resumed', 'cancelled', 'unknown'])
      expect(kinds).toContain(kind)
  })

  it('under other thresholds names exactly the outputs that would have gone another way', async () => {
    const thresholds = { autoApproveAbove: 0.9, suppressBelow: 0.25 }
    let changed = 0
    let exhausted = 0
    for (const recorded of await histories) {
      if (recorded.journal.some(isExhausted)) exhausted++
      const nodes = planned(recorded.journal).filter(({ data }) => data?.['contract'] === true)
      const nodeData = Object.fromEntries(nodes.map(({ id }) => [id, thresholds]))
      const { differences } = replay(recorded, { nodeData })
      expect(differences.map(({ after }) => after)).toEqual(reroutedAt(recorded.journal, thresholds))
      changed += differences.length
    }
    expect(changed).toBeGreaterThan(seeds / 15)
    // Policies that have used up their acts are among them.
    expect(exhausted).toBeGreaterThan(seeds / 60)
  })

  it('under one more policy names exactly where it would have acted, and no more often than it may', async () => {
    const policy: RuntimePolicy = {
      id: 'notice',
      enabled: true,
      trigger: { kind: 'onMetricBelow', metric: 'v', threshold: 500 },
      action: { type: 'emit', event: 'low' },
      maxAttempts: 2,
    }
    let acts = 0
    for (const recorded of await histories) {
      if (policiesOf(recorded.journal).length > 0) continue
      const { differences } = replay(recorded, { policies: [policy] })
      expect(differences.map(({ after }) => after)).toEqual(lowAt(recorded.journal, 500).slice(0, 2))
      for (const { recorded: was, instead } of differences)
        expect(instead).toEqual([
          ...was,
          expect.stringContaining('notice, emit'),
          expect.stringContaining('low'),
        ])
      acts += differences.length
    }
    expect(acts).toBeGreaterThan(100)
  })

  it('without any policy names exactly the acts of the removed policies', async () => {
    let acts = 0
    for (const recorded of await histories) {
      if (policiesOf(recorded.journal).length === 0) continue
      const { differences } = replay(recorded, { policies: [] })
      const named = differences.flatMap(({ recorded: was }) =>
        was.filter((line) => line.startsWith('policy')),
      )
      const acted = recorded.journal.filter(
        (event) => event.type === 'policy_triggered' && event.payload.trigger !== 'follow_up',
      )
      expect(named).toHaveLength(acted.length)
      acts += acted.length
    }
    expect(acts).toBeGreaterThan(100)
  })

  it('says where a journal holds a decision that this engine would not make, or lacks one', async () => {
    const recorded = (await histories).find(({ journal }) => simple(journal))!
    const { journal } = recorded
    const at = journal.findIndex(({ type }) => type === 'node_complete')
    const done = journal[at] as JournalEvent<'node_complete'>
    const other = { ...done, payload: { ...done.payload, output: { value: { v: 7 } } } }
    const forged = replay({ ...recorded, journal: journal.with(at, other) }).differences
    // What follows in the same decision, such as the next starts, is part of the difference.
    expect(forged[0]).toMatchObject({ after: done.seq - 1 })
    expect(forged[0]?.recorded[0]).toContain('"v":7')
    const cut = replay({ ...recorded, journal: journal.slice(0, at) }).differences
    expect(cut).toHaveLength(1)
    expect(cut[0]).toMatchObject({ after: done.seq - 1, recorded: [] })
    expect(cut[0]?.instead[0]).toContain('node_complete')
  })
})

/** No person interfered, and nothing went wrong. */
function simple(journal: readonly JournalEvent[]): boolean {
  const end = journal.at(-1)
  const quiet = journal.every(({ type }) => type !== 'policy_triggered' && type !== 'hitl_request')
  return quiet && end?.type === 'complete' && end.payload.status === 'completed'
}

function isExhausted(event: JournalEvent): boolean {
  return event.type === 'log' && event.payload.event === 'policy.exhausted'
}

function kindsOf(event: JournalEvent): string[] {
  if (event.type === 'policy_triggered') return [event.payload.trigger]
  if (event.type === 'plan_generated' && event.payload.metadata.resumed) return ['resumed']
  if (event.type === 'cancel_requested') return ['cancelled']
  return event.type === 'attempt_end' && event.payload.outcome === 'outcome_unknown' ? ['unknown'] : []
}

function planned(journal: readonly JournalEvent[]) {
  return journal.flatMap((event) =>
    event.type === 'plan_generated' ? (event.payload.plan?.nodes ?? []) : [],
  )
}

function envelopeOf([start]: readonly JournalEvent[]) {
  if (start?.type !== 'start') throw new Error('A journal begins with start')
  return start.payload.envelope
}

function policiesOf(journal: readonly JournalEvent[]): readonly RuntimePolicy[] {
  return listTriggers(envelopeOf(journal).policies)
}

interface Band {
  readonly autoApproveAbove: number
  readonly suppressBelow: number
}

/** Derived again without the engine's code: after which events an output of a RAO node goes another way. */
function reroutedAt(journal: readonly JournalEvent[], thresholds: Band): number[] {
  const nodes = new Map(planned(journal).map((node) => [node.id, node]))
  return journal
    .flatMap((event, at) => {
      if (event.type !== 'attempt_end' || event.payload.outcome !== 'ok') return []
      const { nodeId = '' } = event
      const data = nodes.get(nodeId)?.data
      const { confidence = 0, escalate = false } = event.payload.output ?? {}
      if (data?.['contract'] !== true) return []
      const judged = journal.slice(at).find((next) => next.nodeId === nodeId && next.type !== 'attempt_end')
      // It came too late for anything: the run is ending.
      if (judged?.type === 'node_error' && judged.payload.outcome === 'ok') return []
      const route = ({ autoApproveAbove, suppressBelow }: Band) => {
        if (confidence < suppressBelow) return 'suppress'
        if (escalate || confidence <= autoApproveAbove) return 'ask'
        // The decision is recorded, whether or not the caller wants a person at the node as well.
        return 'complete'
      }
      if (route(data as unknown as Band) === route(thresholds)) return []
      const later = journal.slice(at + 1).filter((next) => next.nodeId === nodeId)
      const next = later.findIndex(({ type }) => type === 'attempt_start')
      // A new plan that has the same node asks about the same output again.
      const again = later
        .slice(0, next < 0 ? later.length : next)
        .filter(({ type, seq }) => type === 'rao_decision' && seq !== judged?.seq)
      return [judged, ...again].map((event) => (event?.seq ?? 0) - 1)
    })
    .sort((one, other) => one - other)
}

/** After which events a node completes with a `v` below this. */
function lowAt(journal: readonly JournalEvent[], threshold: number): number[] {
  return journal.flatMap((event) => {
    if (event.type !== 'node_complete') return []
    const { v } = event.payload.output.value as { v?: number }
    // A node under a RAO contract completes in one decision with what the contract decided.
    const before = journal[event.seq - 2]
    const decided = before?.type === 'rao_decision' && before.nodeId === event.nodeId ? 1 : 0
    return v !== undefined && v < threshold ? [event.seq - 1 - decided] : []
  })
}
