/** What must hold after every history, with every combination of faults. */

import { canonicalJson } from '../../src/base/canonical.ts'
import { ProvisoError } from '../../src/base/errors/error.ts'
import type { Json } from '../../src/base/json.ts'
import { waitingEvents } from '../../src/domain/event/event-table.ts'
import type { JournalEvent } from '../../src/domain/event.ts'
import { applyEvent, begin } from '../../src/domain/run/fold.ts'
import type { RunState } from '../../src/domain/run.ts'
import { isWaiting } from '../../src/domain/status.ts'
import { knowCapabilities } from '../../src/engine/capabilities.ts'
import { buildRunHead } from '../../src/engine/journal/run-head.ts'
import { replayRun } from '../../src/engine/replay/replay.ts'
import { loadAsks } from '../../src/engine/verify/rules/asks.ts'
import { verifyHistory } from '../../src/engine/verify/verify.ts'
import { wronglyActivated } from './activation.ts'
import { capabilities, catalog } from './catalog.ts'
import type { Cluster } from './cluster.ts'
import type { FaultRates } from './faults.ts'
import type { People } from './people.ts'
import type { RunScenario, Scenario } from './scenario.ts'
import { toolEffectsAreAllowed } from './tool-effects.ts'

export interface Checked {
  readonly scenario: Scenario
  readonly rates: FaultRates
  readonly cluster: Cluster
  readonly people: People
  readonly epoch: number
}

export async function checkHistory(checked: Checked): Promise<string[]> {
  const { scenario, cluster, people } = checked
  const found = [...cluster.ledger.faults, ...people.faults]
  for (const { runId, cause } of cluster.crashes)
    if (!expected(cause))
      found.push(`crash: ${runId}: ${cause instanceof Error ? cause.stack : String(cause)}`)
  for (const run of scenario.runs) {
    const journal = cluster.ledger.journals.get(run.runId)
    if (!journal) continue
    const [head, audit, asks, stored] = await Promise.all([
      cluster.real.head(run.runId),
      cluster.real.audit(run.runId),
      loadAsks(cluster.real, run.runId),
      cluster.real.read(run.runId, 0, 100_000),
    ])
    if (stored.length !== journal.length)
      found.push(`lost: the store holds ${stored.length} of ${journal.length}`)
    const issues = verifyHistory(journal, { ...(head && { head }), audit, asks })
    for (const { code, message } of issues) found.push(`${run.runId} ${code}: ${message}`)
    if (issues.length === 0) for (const check of checks) found.push(...check(journal, run, checked))
  }
  return found
}

/** A store that is not there ends the work on a run for now; nothing else may. */
function expected(cause: unknown): boolean {
  return cause instanceof ProvisoError && cause.code === 'store/unavailable'
}

const capability = knowCapabilities()(catalog)

type Check = (journal: readonly JournalEvent[], run: RunScenario, checked: Checked) => Iterable<string>

const checks: readonly Check[] = [
  /** The prover has nothing against the plans; what it refuses would not be tested at all. */
  function* plansAreProven(journal) {
    for (const event of journal) {
      if (event.type !== 'plan_rejected') continue
      const [failure] = event.payload.diagnostics.failures
      if (!failure?.constraint?.includes('No idea')) yield `a plan was refused: ${JSON.stringify(failure)}`
    }
  },
  /** A reply that was acknowledged is in the journal, and it is what that person said. */
  function* repliesCount(journal, _run, { people }) {
    for (const event of journal) {
      if (event.type !== 'hitl_resolved') continue
      const { requestId, by } = event.payload
      const accepted = people.accepted.get(requestId) ?? []
      if (accepted.length > 1)
        yield `double reply: ${accepted.join(' and ')} both received an acknowledgement`
      if (accepted.length === 1 && accepted[0] !== by)
        yield `wrong reply: ${accepted[0]} received an acknowledgement, but ${by} decided`
    }
  },
  function* resumptionsCount(journal, { runId }, { people }) {
    const acknowledged = people.resumed.get(runId) ?? 0
    const resumed = journal.filter(
      (event) => event.type === 'plan_generated' && event.payload.metadata.resumed,
    )
    if (acknowledged > resumed.length)
      yield `${acknowledged} resumptions were acknowledged, but ${resumed.length} did`
  },
  function* cancellationsCount(journal, { runId }, { people }) {
    if (!people.cancelled.has(runId)) return
    const asked = journal.findIndex(({ type }) => type === 'cancel_requested')
    const end = journal.at(-1)
    if (asked >= 0 && end?.type === 'complete' && end.payload.status !== 'cancelled')
      yield `a cancelled run ended as ${end.payload.status}`
  },
  /** Where nothing goes wrong and the store is quick, only an interrupt leaves the result of an attempt unknown. */
  function* doubtsHaveReasons(journal, _run, { scenario, rates }) {
    if (rates.until > 0 || scenario.latencyMs > 30) return
    for (const event of journal)
      if (
        event.type === 'attempt_end' &&
        event.payload.outcome === 'outcome_unknown' &&
        !event.payload.interrupted &&
        // It was stopped for an end that was not written: a person replied at the same moment.
        event.payload.issues[0]?.code !== 'attempt/interrupted'
      )
        yield `event ${event.seq}: the result of "${event.nodeId}" is unknown, and nothing went wrong`
  },
  /** Once faults end, a process claims every run that can continue, when leases of dead processes have expired. */
  function* everyRunIsClaimed(journal, _run, { scenario, rates, epoch }) {
    // Where there is little room, a run may wait for others.
    if (scenario.slots < 64 || scenario.limits) return
    const calm = calmFrom(scenario, rates, epoch)
    let state: RunState | undefined
    let last = 0
    for (const event of journal) {
      const from = Math.max(last, calm)
      const wakeAt = state && buildRunHead(state, from).wakeAt
      if (state && wakeAt !== undefined) {
        const work = state.running.size > 0 || state.planning ? longestCall(scenario) : 0
        const late = event.at - Math.max(wakeAt, from)
        if (late > work + scenario.leaseMs + 2 * mostLate(scenario))
          yield `event ${event.seq}: no process claimed the run for ${late} ms`
      }
      if (state) applyEvent(state, event)
      else state = begin(event.runId, event)
      last = event.at
    }
  },
  /** Streams look for the end of a run that waits only after these events. */
  function* waitsHaveEvents(journal) {
    let state: RunState | undefined
    let mayWait = false
    for (const event of journal) {
      if (state) applyEvent(state, event)
      else state = begin(event.runId, event)
      mayWait ||= waitingEvents.has(event.type)
      const { status } = buildRunHead(state, event.at)
      if (isWaiting(status) && !mayWait)
        yield `event ${event.seq}: the run is ${status} without an event that lets it wait`
    }
  },
  /** The owner of the run sees a cancellation soon, even where the store sends no notifications. */
  function* cancellationsReachTheOwner(journal, _run, { scenario, rates, epoch }) {
    const asked = journal.find(({ type }) => type === 'cancel_requested')
    const end = journal.at(-1)
    if (!asked || end?.type !== 'complete' || asked.at < calmFrom(scenario, rates, epoch)) return
    const late = end.at - asked.at
    const { leaseMs, pollMs, latencyMs } = scenario
    if (late > Math.max(leaseMs / 3, pollMs) + 12 * latencyMs + 300)
      yield `cancelled ${late} ms after it was asked for`
  },
  /** A change of the world belongs to a completion, once per key; what a person sends back is done anew under a new one. */
  function* effectsHappenOnce(journal, { runId }, { cluster }) {
    // A node may continue a call that another has begun under an earlier plan: it is known by its key.
    const keys = new Map<string, Set<string>>()
    const given = new Map<string, { readonly inputs: string; readonly plans: number }>()
    /** How often a new plan gave a node other inputs: it then makes another call. */
    const changed = new Map<string, number>()
    let plans = 0
    for (const { type, nodeId = '', payload } of journal) {
      if (type === 'plan_updated') plans++
      if (type !== 'attempt_start' || payload.capabilityId !== 'effect') continue
      const { idempotencyKey: key } = payload
      const inputs = JSON.stringify(payload.inputs)
      const before = given.get(nodeId)
      if (before && before.plans < plans && before.inputs !== inputs)
        changed.set(nodeId, (changed.get(nodeId) ?? 0) + 1)
      given.set(nodeId, { inputs, plans })
      if (cluster.ledger.effects.get(key)?.call.runId === runId)
        keys.set(nodeId, (keys.get(nodeId) ?? new Set()).add(key))
    }
    // The nodes inside a map or loop are done anew with it.
    const isIn = (nodeId: string, other: string) =>
      nodeId === other || nodeId.startsWith(`${other}#`) || nodeId.startsWith(`${other}[`)
    const reopened = (nodeId: string) =>
      journal.filter(
        ({ type, payload }) =>
          (type === 'nodes_reopened' &&
            [...payload.nodes, ...payload.downstream].some((other) => isIn(nodeId, other))) ||
          (type === 'plan_updated' && (payload.trigger.nodeIds ?? []).length > 0),
      ).length
    for (const event of journal) {
      if (event.type !== 'node_complete' || event.payload.capabilityId !== 'effect') continue
      if (event.payload.person !== undefined) continue
      const { nodeId = '' } = event
      const done = keys.get(nodeId)?.size ?? 0
      if (done < 1 || done > 1 + reopened(nodeId) + (changed.get(nodeId) ?? 0))
        yield `"${event.nodeId}" completed, and its effect took place under ${done} keys`
    }
  },
  /** A route is the first whose condition holds; derived again here, without the engine's code. */
  function* routesAreTheFirstThatHold(journal, { draft }) {
    for (const event of journal) {
      if (event.type !== 'node_complete' || !event.payload.chosen) continue
      const routing = draft.nodes.find(({ id }) => id === event.nodeId)?.routing
      const { a } = event.payload.output.value as { a: number }
      const route = routing?.routes.find(
        ({ condition }) => a < (condition as { '<': [Json, number] })['<'][1],
      )
      const expected = [route?.to ?? routing?.elseTo ?? []].flat()
      if (String(expected) !== String(event.payload.chosen))
        yield `"${event.nodeId}" chose ${event.payload.chosen} for ${a}, and not ${expected}`
    }
  },
  /** A node runs because of its edges, and with what its sources supply. */
  function* nodesRunAsTheDraftSays(journal, { draft }) {
    yield* wronglyActivated(journal, draft)
  },
  /** The answer is made of what nodes completed with, and of all of it; or it is what a person wrote. */
  function* answersAreWhatNodesGave(journal) {
    const end = journal.at(-1)
    if (end?.type !== 'complete' || end.payload.status !== 'completed') return
    if (end.payload.provenance?.some(({ pointer, person }) => pointer === '' && person)) return
    const given: { [nodeId: string]: Json } = {}
    // What nodes of items and rounds give is in the output of their loop.
    for (const event of journal) {
      if (event.type === 'nodes_reopened')
        for (const id of [...event.payload.nodes, ...event.payload.downstream]) delete given[id]
      // A node that the new plan does not keep runs again, and counts only with its new output.
      if (event.type === 'plan_updated')
        for (const { id, status } of event.payload.nodes) if (status !== 'completed') delete given[id]
      if (event.type === 'node_complete' && event.nodeId !== undefined && !/[[#]/.test(event.nodeId)) {
        const { v, a } = event.payload.output.value as { v?: number; a?: number }
        if (v !== undefined && v < 0) yield `"${event.nodeId}" completed with ${v}`
        given[event.nodeId] = v ?? a ?? null
      }
    }
    if (canonicalJson(given) !== canonicalJson(end.payload.output ?? null))
      yield `the answer is ${canonicalJson(end.payload.output ?? null)}, the nodes gave ${canonicalJson(given)}`
  },
  /** What cannot be repeated is called again only when it is certain that nothing was done, or a person said so. */
  function* nothingIsRepeatedUnasked(journal) {
    /** The inputs of calls that were made, by node. */
    const spent = new Map<string, Set<string>>()
    const last = new Map<string, string>()
    const asks = new Map<string, JournalEvent<'hitl_request'>['payload']>()
    const permitted = new Set<string>()
    for (const event of journal) {
      const id = event.nodeId ?? ''
      const made = spent.get(id)
      if (event.type === 'attempt_start' && event.payload.capabilityId === capabilities.once.capabilityId) {
        const inputs = canonicalJson(event.payload.inputs)
        // Approving a side effect permits the call that the ask shows, not a repetition of one that was made.
        const isPermitted = permitted.has(`${id} once ${inputs}`) && !made?.has(inputs)
        if (made && made.size > 0 && !isPermitted)
          yield `event ${event.seq}: "${id}" is not repeatable, and no person permitted the repetition`
        spent.set(id, (made ?? new Set()).add(inputs))
        last.set(id, inputs)
      }
      // Known at the end of the attempt, or from its late result.
      if (event.type === 'attempt_end' || event.type === 'attempt_settled')
        if (event.payload.notApplied || event.payload.outcome === 'throttled')
          made?.delete(last.get(id) ?? '')
      if (event.type === 'hitl_request') asks.set(event.payload.requestId, event.payload)
      if (event.type !== 'hitl_resolved') continue
      const { decision, rejectAction, requestId } = event.payload
      const { kind, capabilityId, value = null } = asks.get(requestId) ?? {}
      if (decision === 'approve' && kind === 'side_effect')
        permitted.add(`${id} ${capabilityId} ${canonicalJson(value)}`)
      if (decision === 'approve' && kind === 'unknown_outcome') made?.delete(canonicalJson(value))
      // A rejected failure with "retry" permits the repetition.
      if (kind === 'failure' && rejectAction === 'retry') made?.clear()
    }
  },
  /** After untrusted outputs, a side effect is the call that a person was shown and approved. */
  function* sideEffectsAreApprovedAsShown(journal, { envelope }) {
    if (envelope.policies.planner.directives?.sideEffects === 'allow') return
    const unchecked = new Set<string>()
    const asks = new Map<string, JournalEvent<'hitl_request'>['payload']>()
    const approved = new Set<string>()
    for (const event of journal) {
      const id = event.nodeId ?? ''
      if (event.type === 'hitl_request') asks.set(event.payload.requestId, event.payload)
      if (event.type === 'hitl_resolved' && event.payload.decision === 'approve') {
        const { kind, capabilityId, value = null } = asks.get(event.payload.requestId) ?? {}
        if (kind === 'side_effect') approved.add(`${id} ${capabilityId} ${canonicalJson(value)}`)
      }
      if (event.type === 'node_complete' && event.payload.person === undefined)
        if (untrustedCapabilities.has(event.payload.capabilityId ?? '')) unchecked.add(id)
      if (event.type === 'nodes_reopened' || event.type === 'plan_generated' || event.type === 'plan_updated')
        for (const each of unchecked) if (!isKept(event, each)) unchecked.delete(each)
      if (event.type !== 'attempt_start' || !event.payload.sideEffect) continue
      const { capabilityId, inputs } = event.payload
      const isUnchecked = [...unchecked].some((each) => each !== id && !areItemsApart(each, id))
      if (isUnchecked && !approved.has(`${id} ${capabilityId} ${canonicalJson(inputs)}`))
        yield `event ${event.seq}: "${id}" makes a call with a side effect that no person was shown`
    }
  },
  /** What tools did in the world, a person or a policy has allowed. */
  function* toolsActAsAllowed(journal, { envelope }, { cluster }) {
    yield* toolEffectsAreAllowed(journal, envelope, cluster.ledger)
  },
  /** The budget holds for what was really used, not only for what was written down. */
  function* budgetsHold(_journal, { runId, draft }, { cluster }) {
    const { maxTokens, maxCalls } = draft.limits ?? {}
    let tokens = cluster.ledger.turnTokens.get(runId) ?? 0
    let calls = 0
    for (const call of cluster.ledger.calls) {
      if (call.runId !== runId) continue
      tokens += call.tokens
      calls += call.cost
    }
    if (maxTokens !== undefined && tokens > maxTokens) yield `${tokens} tokens were used of ${maxTokens}`
    if (maxCalls !== undefined && calls > maxCalls) yield `${calls} calls were made of ${maxCalls}`
  },
  /** An attempt under a limit pays at least for what it used, also where its end was not seen or not counted. */
  function* attemptsPayForWhatTheyUse(journal, { runId }, { cluster }) {
    const keys = new Map<string, string>()
    const paid = new Map<string, { calls: number; tokens: number }>()
    for (const event of journal) {
      const id = event.nodeId ?? ''
      if (event.type === 'attempt_start') keys.set(id, event.payload.idempotencyKey)
      if (event.type !== 'budget_settled') continue
      const { attempt, calls, tokens } = event.payload
      // A later plan may begin to count the attempts of a node anew, under the same key.
      const name = `${id}\n${attempt}\n${keys.get(id)}`
      const before = paid.get(name) ?? { calls: 0, tokens: 0 }
      paid.set(name, { calls: before.calls + calls, tokens: before.tokens + tokens })
    }
    const used = new Map<string, { calls: number; tokens: number }>()
    for (const { nodeId, attempt, key, cost, tokens, runId: other } of cluster.ledger.calls) {
      if (other !== runId) continue
      const name = `${nodeId}\n${attempt}\n${key}`
      const before = used.get(name) ?? { calls: 0, tokens: 0 }
      used.set(name, { calls: before.calls + cost, tokens: before.tokens + tokens })
    }
    for (const [name, { calls, tokens }] of used) {
      const settled = paid.get(name)
      if (settled && (settled.calls < calls || settled.tokens < tokens))
        yield `attempt ${name.split('\n', 2).join(' ')} used ${calls} calls and ${tokens} tokens, and paid for ${settled.calls} and ${settled.tokens}`
    }
  },
  /** Of an attempt whose end was not seen it is known that nothing was done only if its call was never made. */
  function* callsThatWereMadeAreNotUnsent(journal, { runId }, { cluster }) {
    const starts = new Map<string, JournalEvent<'attempt_start'>>()
    for (const event of journal) {
      const id = event.nodeId ?? ''
      if (event.type === 'attempt_start') starts.set(id, event)
      if (event.type !== 'attempt_end') continue
      const { attempt, outcome, notApplied } = event.payload
      if (outcome !== 'outcome_unknown' || !notApplied) continue
      const start = starts.get(id)
      // A later plan counts the attempts of a node anew, under the same key.
      const next = journal.find(
        (later) =>
          later.seq > event.seq &&
          later.type === 'attempt_start' &&
          later.nodeId === id &&
          later.payload.attempt === attempt &&
          later.payload.idempotencyKey === start?.payload.idempotencyKey,
      )
      const isMade = cluster.ledger.calls.some(
        (call) =>
          call.runId === runId &&
          call.nodeId === id &&
          call.attempt === attempt &&
          call.key === start?.payload.idempotencyKey &&
          call.at >= start.at &&
          call.at < (next?.at ?? Number.POSITIVE_INFINITY),
      )
      if (isMade) yield `event ${event.seq}: attempt ${attempt} of "${id}" was made, and counts as not sent`
    }
  },
  /** An accepted call is made once, however many processes come and go while its answer is awaited. */
  function* acceptedCallsAreMadeOnce(journal, { runId }, { cluster }) {
    const starts = new Map<string, number>()
    for (const { type, nodeId = '' } of journal)
      if (type === 'attempt_start') starts.set(nodeId, (starts.get(nodeId) ?? 0) + 1)
    const calls = new Map<string, number>()
    for (const call of cluster.ledger.calls)
      if (call.runId === runId && (call.capabilityId === 'courier' || call.capabilityId === 'careful'))
        calls.set(call.nodeId, (calls.get(call.nodeId) ?? 0) + 1)
    for (const [nodeId, made] of calls)
      if (made > (starts.get(nodeId) ?? 0))
        yield `"${nodeId}" was called ${made} times in ${starts.get(nodeId)} attempts`
  },
  /** What was decided is decided again from the journal alone, with zero calls. */
  function* replaysAreTheSame(journal, _run, { scenario }) {
    for (const { after, recorded, instead } of replayRun(journal, { capability, askMs: scenario.askMs })
      .differences)
      yield `decided otherwise in a replay, after ${after}: ${recorded.join('; ')} / ${instead.join('; ')}`
  },
  /** Once nothing goes wrong any more, timers fire when they are due. */
  function* timersAreOnTime(journal, _run, { scenario, rates, epoch }) {
    const due = new Map<string, number>()
    const calm = calmFrom(scenario, rates, epoch)
    for (const event of journal) {
      if (event.type === 'timer_set') due.set(event.payload.timerId, event.payload.dueAt)
      if (event.type !== 'timer_fired') continue
      const dueAt = due.get(event.payload.timerId) ?? Number.POSITIVE_INFINITY
      const late = event.at - dueAt
      if (dueAt > calm && late > mostLate(scenario))
        yield `event ${event.seq}: ${event.payload.timerId} fired ${late} ms late`
    }
  },
]

/** Capabilities whose outputs are untrusted. */
const untrustedCapabilities: ReadonlySet<string> = new Set([
  'model',
  'costly',
  'climber',
  'researcher',
  'leader',
])

/** Whether what a node has done still counts after it, or the plan, was begun anew. */
/** Items of one map know nothing of each other: the first difference between the ids is the number of an item. */
function areItemsApart(one: string, other: string): boolean {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const mapOf = (id: string) => {
    const open = id.lastIndexOf('[', at)
    return open < 0 || id.slice(open, at).includes(']') ? undefined : id.slice(0, open)
  }
  return one !== other && mapOf(one) !== undefined && mapOf(one) === mapOf(other)
}

function isKept(
  event: JournalEvent<'nodes_reopened'> | JournalEvent<'plan_generated'> | JournalEvent<'plan_updated'>,
  id: string,
): boolean {
  if (event.type === 'nodes_reopened')
    return ![...event.payload.nodes, ...event.payload.downstream].some(
      (again) => id === again || id.startsWith(`${again}[`) || id.startsWith(`${again}#`),
    )
  if (event.type === 'plan_generated' && event.payload.metadata.resumed) return true
  return (event.payload.nodes ?? []).some((node) => node.id === id && node.status === 'completed')
}

/** When the last trouble is over: no process is suspended, and leases of dead processes have expired. */
function calmFrom({ leaseMs }: Scenario, { until }: FaultRates, epoch: number): number {
  return epoch + until + (until > 0 ? 4 * leaseMs + 2000 : 0)
}

/** A call that is turned away is tried five times, with pauses of 7.5 s together. */
function longestCall({ answers }: Scenario): number {
  return answers.hangs ? 30_000 : 5 * 2_000 + 7_500
}

/** A look for work costs a few calls of the store, and one may be under way already. */
function mostLate({ pollMs, latencyMs }: Scenario): number {
  return 12 * latencyMs + 500 + pollMs
}
