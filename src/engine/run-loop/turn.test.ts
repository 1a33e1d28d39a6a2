import { describe, expect, it } from 'vitest'
import type { Envelope } from '../../domain/envelope.ts'
import type { NewEvent } from '../../domain/event.ts'
import { begin } from '../../domain/run/fold.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import type { Decisions } from '../decide/decide-until-idle.ts'
import { fact } from '../events.ts'
import type { Ended } from './actor-state.ts'
import { type ActorState, createActorState, type Effect, type Input, isBusy } from './actor-state.ts'
import { turn } from './turn.ts'

const envelope: Envelope = {
  objective: '',
  inputs: {},
  constraints: {},
  outputContract: { schema: {}, constraints: [] },
  policies: { planner: {}, runtime: [] },
  specialInstructions: [],
  metadata: {},
}
const lease = { owner: 'p', epoch: 1 }
const startEvent = fact('start', { envelope, correlationId: 'r', schemaHash: '' }, { now: 0, planVersion: 0 })
const first = { now: 0, planVersion: 0 }
const log: NewEvent = fact('log', { event: 'x' }, first)

/** A run with a first attempt of each of these nodes in progress. */
function runWith(...running: readonly string[]): RunState {
  const nodes = running.map((id): [string, NodeState] => [id, { attempts: 1 } as NodeState])
  return { ...begin('r', startEvent), running: new Set(running), nodes: new Map(nodes) }
}

function stepWith(more: Partial<Decisions> = {}): Decisions {
  return { events: [], starts: [], plan: false, atCapacity: false, missing: [], ...more }
}

const startOf = (nodeId: string) => ({ nodeId, capabilityId: `c-${nodeId}`, inputs: {}, events: [] })
const endOf = (nodeId: string): Ended => ({
  nodeId,
  attempt: 1,
  planVersion: 0,
  logs: [],
  result: { outcome: 'ok', issues: [], usage: { calls: 1 } },
})

/** Feeds inputs one after the other; returns the last state and the effects of each input. */
function play(state: ActorState, ...inputs: readonly Input[]) {
  const effects: (readonly Effect[])[] = []
  let last = state
  for (const input of inputs) {
    const next = turn(last, input)
    last = next.state
    effects.push(next.effects)
  }
  return { state: last, effects, kinds: effects.map((each) => each.map(({ kind }) => kind)) }
}

const claimed = createActorState('r', { run: undefined, lease })
const wake: Input = { kind: 'wake' }
const failure = (isRetryable: boolean): Input => ({ kind: 'failed', cause: 'down', isRetryable, now: 1_000 })
const decided = (more: Partial<Decisions> = {}): Input => ({ kind: 'decided', step: stepWith(more), now: 7 })
const appended: Input = { kind: 'written', result: 'appended' }

/** A run whose attempts of these nodes are in flight, between two turns. */
function active(...nodeIds: readonly string[]) {
  const run = runWith(...nodeIds)
  return play(
    claimed,
    wake,
    { kind: 'read', run },
    decided({ events: [log], starts: nodeIds.map(startOf) }),
    appended,
    { kind: 'turn-ended' },
  ).state
}

describe('a turn', () => {
  it('reads, decides, appends at the sequence it has read, and only then makes the calls', () => {
    const run = runWith('a')
    const starts = [startOf('a')]
    const { kinds, effects } = play(
      claimed,
      wake,
      { kind: 'read', run },
      decided({ events: [log], starts }),
      appended,
    )
    expect(kinds).toEqual([
      ['read'],
      ['decide'],
      ['end-slot-turn', 'append'],
      ['call', 'set-timer', 'end-turn'],
    ])
    expect(effects[2]?.[1]).toMatchObject({ append: { expectedSeq: run.seq, events: [log], lease } })
    expect(effects[2]?.[1]).not.toHaveProperty('append.release')
  })

  it('lets the append be ahead of the disk only if nothing follows it but calls that may be', () => {
    const write = (more: Partial<Decisions>, given: Partial<ActorState> = {}, run = runWith('a')) => {
      const input: Input = {
        kind: 'decided',
        step: stepWith({ events: [log], ...more }),
        now: 7,
        canBeAhead: true,
      }
      const { effects } = play({ ...claimed, ...given }, wake, { kind: 'read', run }, input)
      return effects[2]?.find(({ kind }) => kind === 'append')
    }
    expect(write({ starts: [startOf('a')] })).toMatchObject({ append: { canBeAhead: true } })
    const waits = [
      write({}, {}, runWith()),
      write({ plan: true }),
      write({}, { isPlanning: true }),
      write({}, { unsaved: [log] }),
      write(
        {},
        {
          pending: {
            ...claimed.pending,
            facts: [{ id: 1, nodeId: 'a', attempt: 1, planVersion: 0, facts: [] }],
          },
        },
      ),
    ]
    for (const effect of waits) {
      expect(effect).toBeDefined()
      expect(effect).not.toHaveProperty('append.canBeAhead')
    }
  })

  it('passes the prices of the request for a plan on to the planner', () => {
    const considered = { capabilities: [] }
    const { effects } = play(
      claimed,
      wake,
      { kind: 'read', run: runWith() },
      decided({ events: [log], plan: true, considered }),
      appended,
    )
    expect(effects[3]?.[0]).toMatchObject({ kind: 'plan', considered })
  })

  it('stores a new run with its first events, and keeps the lease that comes with them', () => {
    const created = createActorState('r', { run: runWith('a'), lease: undefined, unsaved: [startEvent] })
    const { effects, state } = play(
      created,
      wake,
      decided({ events: [log] }),
      { kind: 'leased', lease },
      { kind: 'written', result: 'created' },
    )
    expect(effects[1]?.[1]).toMatchObject({ kind: 'create', events: [startEvent, log] })
    expect([state.lease, state.unsaved]).toEqual([lease, []])
  })

  it('writes nothing when nothing happened', () => {
    expect(play(active('a'), wake, decided()).kinds).toEqual([
      ['decide'],
      ['end-slot-turn', 'set-timer', 'end-turn'],
    ])
  })

  it('takes everything that happens meanwhile into one more turn', () => {
    const { kinds, state } = play(
      active('a', 'b'),
      wake,
      wake,
      { kind: 'ended', ended: endOf('a') },
      { kind: 'paced' },
      decided(),
      { kind: 'turn-ended' },
    )
    expect(kinds).toEqual([
      ['decide'],
      [],
      ['pace'],
      [],
      ['end-slot-turn', 'set-timer', 'end-turn'],
      ['decide'],
    ])
    expect(state.taken.ended).toEqual([endOf('a')])
    expect([...state.calls.keys()]).toEqual(['b'])
  })

  it('reads the run again only if the store has more than it knows', () => {
    const state = active('a')
    const seq = state.run?.seq ?? 0
    expect(play(state, { kind: 'notified', seq }).kinds).toEqual([[]])
    expect(play(state, { kind: 'notified', seq: seq + 1 }).kinds).toEqual([['read']])
  })

  it('changes no state that it was given', () => {
    const state = active('a')
    const before = structuredClone({ ...state, run: undefined })
    play(state, { kind: 'ended', ended: endOf('a') }, wake, decided({ events: [log] }), appended)
    expect({ ...state, run: undefined }).toEqual(before)
  })
})

describe('a conflict', () => {
  it('releases the slots of what was decided, and decides again with the same results', () => {
    const { kinds, state } = play(
      active('a'),
      { kind: 'ended', ended: endOf('a') },
      { kind: 'paced' },
      decided({ events: [log], starts: [startOf('b')] }),
      { kind: 'written', result: 'conflict' },
      { kind: 'turn-ended' },
      { kind: 'read', run: runWith('a') },
    )
    expect(kinds.slice(3)).toEqual([['release-slots', 'end-turn'], ['read'], ['decide']])
    expect(state.taken.ended).toEqual([endOf('a')])
  })
})

describe('a store that is unavailable', () => {
  it('is asked again after a pause that doubles, while calls continue', () => {
    const pauses: unknown[] = []
    let state = active('a')
    for (let count = 0; count < 9; count++) {
      const failed = play(state, { kind: 'notified', seq: 99 }, failure(true))
      pauses.push(failed.effects[1]?.at(-1))
      expect(failed.kinds[1]).not.toContain('abandon-calls')
      state = failed.state
    }
    expect(pauses).toEqual(
      [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000].map((ms) => ({ kind: 'set-timer', at: 1_000 + ms })),
    )
  })

  it('may have written the append: its attempts are known as never sent until one leaves', () => {
    const run = runWith('a')
    const failed = play(
      claimed,
      wake,
      { kind: 'read', run },
      decided({ events: [log], starts: [startOf('a')] }),
      failure(true),
    )
    expect([...failed.state.unsent]).toEqual([['a', 1]])
    expect(failed.kinds.at(-1)).toEqual(['end-slot-turn', 'release-slots', 'set-timer'])
    const { state } = play(
      failed.state,
      wake,
      { kind: 'read', run },
      decided({ events: [log], starts: [startOf('a')] }),
      appended,
    )
    expect(state.unsent.size).toBe(0)
  })

  it('keeps the results of a turn that failed while deciding', () => {
    const { state } = play(
      active('a'),
      { kind: 'ended', ended: endOf('a') },
      { kind: 'paced' },
      failure(true),
    )
    expect(state.pending.ended).toEqual([endOf('a')])
  })
})

describe('the end of an actor', () => {
  const finished: RunState = { ...runWith(), finished: { status: 'completed' } }

  it('releases the lease in the append that leaves nothing to do', () => {
    const { effects, kinds, state } = play(
      claimed,
      wake,
      { kind: 'read', run: finished },
      decided({ events: [log] }),
      appended,
    )
    expect(effects[2]?.[1]).toMatchObject({ append: { release: true } })
    expect(kinds[3]).toEqual(['stop-waiting', 'report-idle'])
    expect([state.isStopped, isBusy(state)]).toEqual([true, false])
  })

  it('releases the lease alone when there is nothing to write, and reports what happened meanwhile', () => {
    const { kinds, effects } = play(claimed, wake, { kind: 'read', run: finished }, decided(), wake, {
      kind: 'released',
    })
    expect(kinds[2]).toEqual(['end-slot-turn', 'release-lease'])
    expect(effects[4]?.[1]).toMatchObject({ kind: 'report-idle', idle: { more: true, missing: [] } })
  })

  it('abandons its calls when another process has the run', () => {
    const { kinds } = play(active('a'), wake, decided({ events: [log] }), {
      kind: 'written',
      result: 'fenced',
    })
    expect(kinds[2]).toEqual([
      'release-slots',
      'stop-waiting',
      'abandon-calls',
      'end-slot-turn',
      'report-lost',
    ])
  })

  it('reports a crash, or rejects the start of a run that was never stored', () => {
    expect(play(active('a'), wake, failure(false)).kinds[1]).toContain('report-crash')
    const created = createActorState('r', { run: runWith('a'), lease: undefined, unsaved: [startEvent] })
    expect(play(created, wake, decided(), failure(true)).kinds[2]?.slice(-2)).toEqual([
      'report-lost',
      'refuse',
    ])
  })

  it('writes and starts nothing after it was stopped', () => {
    const { kinds } = play(
      active('a'),
      wake,
      decided({ events: [log], starts: [startOf('b')] }),
      { kind: 'stop' },
      appended,
      wake,
    )
    expect(kinds.slice(3)).toEqual([['release-slots', 'report-lost'], []])
  })
})

describe('calls in flight', () => {
  it('are interrupted once their attempt has ended in the journal', () => {
    const moved = runWith('b')
    const { effects, state } = play(
      active('a', 'b'),
      { kind: 'notified', seq: 99 },
      { kind: 'read', run: moved },
      decided(),
    )
    expect(effects[2]?.[1]).toMatchObject({ kind: 'interrupt', calls: [{ nodeId: 'a', attempt: 1 }] })
    expect([...state.calls.keys()]).toEqual(['b'])
  })

  it('are stopped before the end of their attempt is written, so that it charges all that they spend', () => {
    const input = { kind: 'notified', seq: 99 } as const
    const settled = fact('budget_settled', { attempt: 1, calls: 2, tokens: 0 }, { ...first, nodeId: 'a' })
    const ending = decided({ events: [settled] })
    const interrupting = [input, { kind: 'read', run: runWith('b') }, ending] as const
    const conflict: Input = { kind: 'written', result: 'conflict' }
    const { effects, kinds, state } = play(active('a', 'b'), ...interrupting, conflict, {
      kind: 'turn-ended',
    })
    expect(kinds[2]).toEqual(['end-slot-turn', 'stop-calls', 'append'])
    expect(effects[2]?.[1]).toMatchObject({ calls: [{ nodeId: 'a', attempt: 1 }] })
    const again = [ending, appended] as const
    expect(play(state, { kind: 'read', run: runWith('b') }, ...again).kinds[2]).toContain('interrupt')
    // The run may decide otherwise after it was read again.
    const otherwise = play(
      state,
      { kind: 'read', run: runWith('a', 'b') },
      decided({ events: [log] }),
      appended,
    )
    expect(otherwise.effects[2]).toContainEqual(
      expect.objectContaining({
        kind: 'end-stopped-calls',
        calls: [expect.objectContaining({ nodeId: 'a' })],
      }),
    )
    const accepted: Input = {
      kind: 'accepted',
      accepted: { nodeId: 'a', attempt: 1, planVersion: 0, agent: 'x', deadlineAt: 9 },
    }
    const waiting = play(active('a', 'b'), accepted, decided(), { kind: 'turn-ended' }).state
    expect(play(waiting, ...interrupting).kinds[2]).toEqual(['end-slot-turn', 'append'])
    // Where nothing is limited, nothing is charged in the same append.
    const unlimited = play(active('a'), input, { kind: 'read', run: runWith() }, decided({ events: [log] }))
    expect(unlimited.kinds[2]).not.toContain('stop-calls')
  })

  it('bring late results when they ended while the interrupt was being written', () => {
    const { kinds, state } = play(
      active('a'),
      { kind: 'notified', seq: 99 },
      { kind: 'read', run: runWith() },
      decided({ events: [log], atCapacity: true }),
      { kind: 'ended', ended: endOf('a') },
      appended,
    )
    expect(kinds[4]).toContain('report-late')
    expect(state.pending.ended).toEqual([])
  })

  it('keep the actor busy, unless an agent has accepted them', () => {
    const state = active('a')
    expect(isBusy(state)).toBe(true)
    const accepted = { nodeId: 'a', attempt: 1, planVersion: 0, agent: 'c-a', deadlineAt: 9 }
    const waiting = play(state, { kind: 'accepted', accepted }, decided({ events: [log] }), appended, {
      kind: 'turn-ended',
    }).state
    expect(isBusy(waiting)).toBe(false)
  })

  it('that another process made and an agent accepted are awaited here', () => {
    const run = runWith('a')
    const attempt = { capabilityId: 'c-a', inputs: {}, accepted: { agent: 'c-a', deadlineAt: 9 } }
    run.nodes.set('a', { attempts: 1, attempt } as unknown as NodeState)
    const { kinds } = play(claimed, wake, { kind: 'read', run }, decided())
    expect(kinds[2]).toEqual(['end-slot-turn', 'occupy-slot', 'call', 'set-timer', 'end-turn'])
  })
})
