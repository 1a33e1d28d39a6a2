/**
 * Mistakes that engines make, put into ours one at a time: a simulation that does not see them proves nothing. `seed` is the
 * first one that shows the mistake (`npm run sim -- --mutants` finds it anew).
 */
export interface Mutant {
  readonly name: string
  readonly file: string
  /** Must occur exactly once. */
  readonly find: string
  readonly replace: string
  readonly seed: number
}

const engine = (file: string) => `src/engine/${file}.ts`
const fold = 'src/domain/fold.ts'
const graph = 'src/domain/fold-graph.ts'
const heads = 'src/adapters/stores/heads.ts'
const memory = 'src/adapters/stores/memory.ts'

export const mutants: readonly Mutant[] = [
  {
    name: 'torn transaction: the head without the last event',
    file: memory,
    find: 'for (const event of events) run.journal.push(event)',
    replace: 'for (const event of events.slice(0, Math.max(events.length - 1, 1))) run.journal.push(event)',
    seed: 1,
  },
  {
    name: 'no fencing',
    file: heads,
    find: "if (append.lease !== undefined && !holds(head, append.lease)) return { kind: 'fenced' }",
    replace: '',
    seed: 34,
  },
  {
    name: 'no expected sequence',
    file: heads,
    find: "if (head.seq !== append.expectedSeq) return { kind: 'conflict', seq: head.seq }",
    replace: '',
    seed: 10,
  },
  {
    name: 'blind append: a conflict is taken for success',
    file: engine('actor'),
    find: "if (written === 'conflict') {",
    replace: "if ((written as string) === 'never') {",
    seed: 12,
  },
  {
    name: 'another idempotency key for each attempt',
    file: engine('starts'),
    find: 'node.key.logical}`)',
    replace: 'node.key.logical + attempt}`)',
    seed: 1,
  },
  {
    name: 'timers in memory only: no time to wake in the store',
    file: engine('head'),
    find: 'for (const { dueAt } of state.timers.values()) if (first === undefined || dueAt < first) first = dueAt',
    replace: '',
    seed: 14,
  },
  {
    name: 'timers fire late',
    file: engine('decide'),
    find: 'if (timer.dueAt > moment.now) continue',
    replace: 'if (timer.dueAt + 20_000 > moment.now) continue',
    seed: 1,
  },
  {
    name: 'timers fire early',
    file: engine('decide'),
    find: 'if (timer.dueAt > moment.now) continue',
    replace: 'if (timer.dueAt > moment.now + 300) continue',
    seed: 3,
  },
  {
    name: 'timers wait for attempts in flight',
    file: engine('actor'),
    find: 'takeBackAlarm = due === undefined ? () => {} : clock.timer(due, poke)',
    replace: 'takeBackAlarm = due === undefined ? () => {} : clock.timer(due + 1e9, poke)',
    seed: 69,
  },
  {
    name: 'check-then-act reply: a lost race counts as won',
    file: engine('replies'),
    find: "if (result.kind === 'appended') return state",
    replace: 'if (result.kind) return state',
    seed: 10,
  },
  {
    name: 'started attempts are skipped on recovery',
    file: engine('decide'),
    find: "if (where === 'here') continue",
    replace: 'if (where) continue',
    seed: 1,
  },
  {
    name: 'started attempts count as done on recovery',
    file: engine('decide'),
    find: "outcome: 'outcome_unknown',",
    replace: "outcome: 'ok', output: { value: { v: 0 } },",
    seed: 1,
  },
  {
    name: 'orphans are repeated although that is not safe',
    file: engine('judge'),
    find: '!result.notApplied && !node.attempt?.idempotent',
    replace: 'result.notApplied && !node.attempt?.idempotent',
    seed: 20,
  },
  {
    name: 'what may have taken effect is called again unasked',
    file: engine('starts'),
    find: 'if (node.unsure !== undefined && (',
    replace: "if (node.unsure === 'nothing' && (",
    seed: 61,
  },
  {
    name: 'calls leave before they are in the journal',
    file: engine('actor'),
    find: 'const writing = {',
    replace: 'for (const start of done.starts.splice(0)) launch(current, start)\n    const writing = {',
    seed: 1,
  },
  {
    name: 'late results of settled attempts are applied',
    file: engine('actor'),
    find: 'if (!current.running.has(nodeId) || current.nodes.get(nodeId)?.attempts !== attempt) continue',
    replace: '',
    seed: 7,
  },
  {
    name: 'results are lost in a conflict',
    file: engine('actor'),
    find: 'ended = [...from.ended, ...ended]',
    replace: '',
    seed: 12,
  },
  {
    name: 'lost release: the lease is kept',
    file: engine('actor'),
    find: '...(at.idle && { release: true }),',
    replace: '',
    seed: 3,
  },
  {
    name: 'lost wake-up between two turns',
    file: engine('actor'),
    find: 'would be lost.\n    busy = false',
    replace: 'would be lost.\n    for (let n = 0; n < 5; n++) await undefined\n    busy = false',
    seed: 11,
  },
  {
    name: 'a plan answers the next request as well',
    file: engine('actor'),
    find: 'from.planned.request === openRequest(current)',
    replace: 'openRequest(current) !== undefined',
    seed: 2247,
  },
  {
    name: 'places are not given back',
    file: engine('actor'),
    find: 'for (const start of done.starts) slots.give(start.capabilityId)',
    replace: '',
    seed: 7,
  },
  {
    name: 'newcomers wait for a gift that never comes',
    file: engine('slots'),
    find: 'refusals.get(runId) ?? -1',
    replace: 'gifts',
    seed: 367,
  },
  {
    name: 'cancellations from elsewhere are not looked for',
    file: engine('lookout'),
    find: 'for (const [index, actor] of kept.entries()) actor.heard(heads[index]?.seq ?? 0)',
    replace: '',
    seed: 197,
  },
  {
    name: 'a run that waits is claimed for ever',
    file: engine('head'),
    find: 'if (state.paused || policyAskOpen(state)) return false',
    replace: '',
    seed: 10,
  },
  {
    name: 'double completion',
    file: engine('judge'),
    find: '  return [\n    complete,\n',
    replace: '  return [\n    complete,\n    complete,\n',
    seed: 1,
  },
  {
    name: 'cancellations are ignored',
    file: engine('decide'),
    find: 'if (state.cancel) {',
    replace: 'if (state.cancel && state.unsettled < 0) {',
    seed: 12,
  },
  {
    name: 'nothing is reserved',
    file: engine('budget'),
    find: "if (!fits) return state.reserved.size > 0 ? 'later' : 'exhausted'",
    replace: 'if (fits || state) return undefined',
    seed: 22,
  },
  {
    name: 'reservations leak',
    file: engine('budget'),
    find: 'if (!state.reserved.has(end.nodeId)) return []',
    replace: 'if (!state.reserved.has(end.nodeId) || end.usage.calls === 1) return []',
    seed: 22,
  },
  {
    name: 'what nobody counted costs nothing',
    file: engine('budget'),
    find: 'return { ...usage, outputTokens: tokens }',
    replace: 'return usage',
    seed: 510,
  },
  {
    name: 'dead branches are not skipped',
    file: graph,
    find: 'else state.dead.add(edge.to)',
    replace: '',
    seed: 2,
  },
  {
    name: 'routing takes all targets',
    file: graph,
    find: '(chosen === undefined || chosen.includes(edge.to))',
    replace: '(chosen === undefined || chosen.length > 0)',
    seed: 25,
  },
  {
    name: 'the last route that holds is taken',
    file: engine('starts'),
    find: 'const route = routes.find(',
    replace: 'const route = [...routes].reverse().find(',
    seed: 36,
  },
  {
    name: 'asks are not bound to what they show',
    file: engine('asks'),
    find: 'if (reply.valueHash !== ask.valueHash)',
    replace: "if (reply.valueHash === '')",
    seed: 17,
  },
  {
    name: 'two asks of one moment share a name',
    file: engine('ladder'),
    find: 'afterAsks(state, facts)',
    replace: 'state',
    seed: 398,
  },
  {
    name: 'expiry approves',
    file: fold,
    find: "const agreed = reply.decision !== 'reject' && reply.decision !== 'expired'",
    replace: "const agreed = reply.decision !== 'reject'",
    seed: 153,
  },
  {
    name: 'late replies are taken',
    file: engine('asks'),
    find: 'if (now >= ask.expiresAt)',
    replace: 'if (now >= ask.expiresAt * 2)',
    seed: 172,
  },
  {
    name: 'a run is resumed twice',
    file: engine('replies'),
    find: 'if (!state.paused || state.finished)',
    replace: 'if (state.finished)',
    seed: 78,
  },
  {
    name: 'attempts start while the run is paused',
    file: engine('head'),
    find: 'if (state.paused || state.failing ||',
    replace: 'if (state.failing ||',
    seed: 10,
  },
  {
    name: 'policies act without limit',
    file: engine('policies'),
    find: 'return (state.policyFired.get(policy.id) ?? 0) < limitOf(policy)',
    replace: 'return (state.policyFired.get(policy.id) ?? 0) < limitOf(policy) + 5',
    seed: 7,
  },
  {
    name: 'failures are not counted',
    file: fold,
    find: "else if (outcome !== 'ok') node.failures++",
    replace: '',
    seed: 8,
  },
  {
    name: 'failed conditions are not counted',
    file: fold,
    find: 'node.failures++\n    node.feedback = payload',
    replace: 'node.feedback = payload',
    seed: 165,
  },
  {
    name: 'answers that fail their conditions are taken',
    file: engine('judge'),
    find: 'if (broken.length === 0)',
    replace: 'if (broken.length >= 0)',
    seed: 159,
  },
  {
    name: 'the key changes although an earlier call is in doubt',
    file: fold,
    find: '(notApplied && !isInDoubt(node.key, capabilityId))',
    replace: 'notApplied',
    seed: 53,
  },
  {
    name: 'a new plan forgets the key of a call in doubt',
    file: graph,
    find: "key: before ? turnTo(before.key, node.capabilityId ?? '') : firstKey(version),",
    replace: 'key: firstKey(version),',
    seed: 22,
  },
]
