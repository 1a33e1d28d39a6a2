/** What may have taken effect is repeated under its key, and only where it may be, whatever plans came between. */
import { canonicalJson } from '../../../base/canonical.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import { listDownstream } from '../../../domain/plan/downstream.ts'
import { isInside } from '../../../domain/run/body-instance.ts'
import type { RunState } from '../../../domain/run.ts'
import { nodeEndEvents } from './nodes.ts'
import { type Rule, reopenedIn } from './rule.ts'

type Started = JournalEvent<'attempt_start'>
type AttemptName = NonNullable<Started['payload']['continues']>

/** The calls of nodes, as long as something holds of them; a node of a later plan may continue one. */
function createCalls() {
  const calls = new Map<string, Started>()
  const toKey = (nodeId: string, capabilityId: string) => `${nodeId}\n${capabilityId}`
  return {
    add: (call: Started, nodeId = call.nodeId ?? '') =>
      void calls.set(toKey(nodeId, call.payload.capabilityId), call),
    delete: (nodeId: string, capabilityId: string) => void calls.delete(toKey(nodeId, capabilityId)),
    of: (nodeId: string, capabilityId: string) => calls.get(toKey(nodeId, capabilityId)),
    ofNode: (nodeId: string) => [...calls].filter(([key]) => key.split('\n')[0] === nodeId).map(([, c]) => c),
    /** A call of an earlier plan that this one makes again, although its node is not there any more. */
    repeatedBy(start: Started, before: RunState | undefined): Started | undefined {
      if (start.planVersion < 2) return undefined
      const inputs = canonicalJson(start.payload.inputs)
      for (const [key, call] of calls) {
        if (call.planVersion >= start.planVersion || before?.nodes.has(key.split('\n')[0] ?? '')) continue
        if (call.payload.capabilityId !== start.payload.capabilityId) continue
        if (canonicalJson(call.payload.inputs) === inputs) return call
      }
      return undefined
    },
    /** From now on the call is that of no node. */
    setAside(call: Started, nodeId: string): void {
      const { capabilityId, idempotencyKey } = call.payload
      calls.delete(toKey(nodeId, capabilityId))
      calls.set(toKey(`aside ${idempotencyKey}`, capabilityId), call)
    },
    /** From now on the call is that of another node. */
    move(name: AttemptName, nodeId: string): Started | undefined {
      for (const [key, call] of calls) {
        if (!isNamed(call, name)) continue
        calls.delete(key)
        calls.set(toKey(nodeId, call.payload.capabilityId), call)
        return call
      }
      return undefined
    },
  }
}

/** A call whose outcome is in doubt is repeated under its key, whatever plans came between, and no two nodes share one. */
export function keysStayWhileInDoubt(): Rule {
  const called = new Map<string, Started>()
  const inDoubt = createCalls()
  const owner = new Map<string, string>()
  const ended = new Map<string, { readonly outcome: string; readonly capabilityId: string }>()
  const forget = (id: string) => {
    const last = ended.get(id)
    if (last?.outcome === 'ok') inDoubt.delete(id, last.capabilityId)
  }
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if ((event.type === 'attempt_start' || event.type === 'hitl_request') && event.payload.continues) {
      const { continues } = event.payload
      const taken = inDoubt.move(continues, nodeId)
      // What was rejected is asked about, and then made under a new key.
      if (event.type === 'attempt_start' && taken?.payload.idempotencyKey !== event.payload.idempotencyKey)
        report('key', `"${nodeId}" continues a call of "${continues.nodeId}" that is not in doubt`)
      if (taken) {
        owner.set(taken.payload.idempotencyKey, nodeId)
        called.set(nodeId, taken)
      }
    }
    if (event.type === 'attempt_start') {
      const { idempotencyKey: key, capabilityId } = event.payload
      const own = inDoubt.of(nodeId, capabilityId)
      if (own && !hasSameInputs(own, event)) inDoubt.setAside(own, nodeId)
      const doubted = inDoubt.of(nodeId, capabilityId) ?? inDoubt.repeatedBy(event, before)
      if (doubted && doubted.payload.idempotencyKey !== key)
        report('key', `"${nodeId}" is called under another key, although it may have taken effect`)
      if ((owner.get(key) ?? nodeId) !== nodeId)
        report('key', `"${nodeId}" has the key of "${owner.get(key)}"`)
      owner.set(key, nodeId)
      called.set(nodeId, event)
    }
    // What was rejected is made by a new call: the one before has ended well.
    if (event.type === 'nodes_reopened') {
      const { nodes, downstream, requestId } = event.payload
      // A map or a loop that failed is tried again: what ended well in it is repeated under its key.
      const isFailure = before?.asks.get(requestId)?.kind === 'failure'
      const isReopened = isFailure
        ? (id: string) => [...nodes, ...downstream].includes(id)
        : reopenedIn(event)
      for (const id of [...ended.keys()].filter(isReopened)) forget(id)
    }
    if (event.type === 'plan_generated' && before?.plan && !event.payload.metadata.resumed) {
      const rejected = before.planning?.trigger.nodeIds ?? []
      for (const id of [...rejected, ...listDownstream(before.plan, rejected)]) {
        if (before.nodes.get(id)?.status !== 'completed') continue
        for (const each of [...ended.keys()]) if (each === id || isInside(each, id)) forget(each)
      }
    }
    const call = called.get(nodeId)
    if ((event.type !== 'attempt_end' && event.type !== 'attempt_settled') || !call) return
    const { capabilityId, sideEffect } = call.payload
    ended.set(nodeId, { outcome: event.payload.outcome, capabilityId })
    const { outcome, notApplied } = event.payload
    if (answered.has(outcome) && !sideEffect) inDoubt.delete(nodeId, capabilityId)
    else if (!notApplied && outcome !== 'throttled') inDoubt.add(call, nodeId)
  }
}

const answered: ReadonlySet<string> = new Set(['ok', 'invalid', 'truncated', 'refused'])

/** A key is that of one call: of one capability, with the same inputs each time. */
export function aKeyNamesOneCall(): Rule {
  const calls = new Map<string, Started>()
  return (event, _before, report) => {
    if (event.type !== 'attempt_start') return
    const { idempotencyKey, capabilityId } = event.payload
    const known = calls.get(idempotencyKey)
    if (known && (known.payload.capabilityId !== capabilityId || !hasSameInputs(known, event)))
      report('key', `"${event.nodeId}" makes another call under the key of a call of "${known.nodeId}"`)
    calls.set(idempotencyKey, event)
  }
}

function hasSameInputs(one: Started, other: Started): boolean {
  return canonicalJson(one.payload.inputs) === canonicalJson(other.payload.inputs)
}

/** After a crash or an interrupt, what was not declared safe to repeat waits for a person, under this plan and every later one. */
export function nothingInDoubtIsRepeatedUnasked(): Rule {
  const calls = new Map<string, Started>()
  const waits = createCalls()
  const release = (nodeId: string) => {
    for (const { payload } of waits.ofNode(nodeId)) waits.delete(nodeId, payload.capabilityId)
  }
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'hitl_request' && event.payload.continues) waits.move(event.payload.continues, nodeId)
    if (event.type === 'attempt_start') {
      const { capabilityId, alternates = [] } = before?.nodes.get(nodeId)?.node ?? {}
      for (const call of waits.ofNode(nodeId)) {
        const isOwn = [capabilityId, ...alternates].includes(call.payload.capabilityId)
        if (!isOwn || !hasSameInputs(call, event)) waits.setAside(call, nodeId)
      }
      // A node that repeats its own call, as a person allowed, does not repeat an equal one of another node.
      const isOwnAgain = calls.get(nodeId)?.payload.idempotencyKey === event.payload.idempotencyKey
      if (waits.ofNode(nodeId).length > 0 || (!isOwnAgain && waits.repeatedBy(event, before)))
        report('repeated-unasked', `"${nodeId}" is called again without a reply that allows it`)
      calls.set(nodeId, event)
    }
    if (event.type === 'attempt_end' && event.payload.outcome === 'outcome_unknown') {
      const call = calls.get(nodeId)
      if (!event.payload.notApplied && call?.payload.idempotent === false) waits.add(call, nodeId)
    }
    // A late result says what was done.
    if (event.type === 'attempt_settled') release(nodeId)
    if (event.type === 'hitl_resolved' && event.payload.decision === 'approve')
      if (!callKinds.has(before?.asks.get(event.payload.requestId)?.kind ?? '')) release(nodeId)
    if (event.type === 'nodes_reopened' && before?.asks.get(event.payload.requestId)?.kind === 'failure')
      for (const id of event.payload.nodes) release(id)
  }
}

/** Kinds of asks that allow another call than the one in doubt. */
const callKinds: ReadonlySet<string> = new Set(['side_effect', 'tool'])

/** What may have changed something under an earlier plan, and was left open since, is named at the end. */
export function doubtsAreNamedAtTheEnd(): Rule {
  const calls = new Map<string, Started>()
  /** By the node that has to account for it. */
  const open = new Map<string, Started>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (nodeEndEvents.has(event.type)) open.delete(nodeId)
    if (event.type === 'attempt_start' || event.type === 'hitl_request') {
      const { continues } = event.payload
      for (const [id, call] of open) if (continues && isNamed(call, continues)) open.delete(id)
      const own = open.get(nodeId)
      if (event.type === 'attempt_start' && own && !hasSameInputs(own, event)) {
        open.delete(nodeId)
        open.set(`aside ${own.payload.idempotencyKey}`, own)
      }
      if (event.type === 'attempt_start') calls.set(nodeId, event)
    }
    if (event.type === 'attempt_end') {
      const call = calls.get(nodeId)
      const mayAct = call?.payload.sideEffect || call?.payload.idempotent === false
      open.delete(nodeId)
      if (call && mayAct && event.payload.outcome === 'outcome_unknown' && !event.payload.notApplied)
        open.set(nodeId, call)
    }
    // A late result says what was done.
    if (event.type === 'attempt_settled' && event.payload.outcome !== 'outcome_unknown') open.delete(nodeId)
    if (event.type !== 'complete') return
    const { inDoubt = [] } = event.payload
    for (const [id, call] of open)
      if (call.planVersion < event.planVersion && !before?.nodes.has(id))
        if (!inDoubt.some((each) => isNamed(call, each)))
          report('doubt', `the outcome of "${id}" is unknown, and the end of the run does not report it`)
  }
}

function isNamed({ nodeId, planVersion, payload }: Started, name: AttemptName): boolean {
  return nodeId === name.nodeId && planVersion === name.planVersion && payload.attempt === name.attempt
}
