/** People look every now and then, and decide as the case says. */
import { ProvisoError } from '../../../src/base/errors/error.ts'
import type { Ask } from '../../../src/domain/ask.ts'
import type { Case, CaseNode, Value } from '../case.ts'
import {
  decideEffect,
  decisionAt,
  editedAnswer,
  editedOutput,
  editedShown,
  isInterrupted,
  mayEdit,
  unknownDecisionAt,
} from '../values.ts'
import { listNodes } from './capabilities.ts'
import { note, runId, type Stage } from './stage.ts'

export function answerAsks(stage: Stage): { leave(): void } {
  const { world, given } = stage
  const answered = new Map<string, Set<string>>()
  let gone = false
  const look = async () => {
    if (gone) return
    world.after(100, () => void look())
    const { app } = stage
    if (!app) return
    const head = await stage.store.head(runId)
    if (head?.status === 'awaiting_human')
      await app.resume(runId, { by: 'ann' }).catch((cause: unknown) => ignoreLate(cause))
    for (const ask of await stage.store.asks({ runId, status: 'pending' })) {
      // The same question again: what was said of the earlier ones counts.
      const subject = `${ask.kind} ${ask.nodeId ?? ''}`
      const before = answered.get(subject) ?? new Set()
      answered.set(subject, before.add(ask.requestId))
      const reply = replyTo(given, ask, before.size)
      if (reply === undefined) continue
      await app
        .reply(runId, { requestId: ask.requestId, valueHash: ask.valueHash, by: 'ann', ...reply } as never)
        .catch((cause: unknown) => ignoreLate(cause))
    }
  }
  world.after(50, () => void look())
  return {
    leave() {
      gone = true
    },
  }
}

/** Someone else was faster, or the process died: the next look shows what is left. */
function ignoreLate(cause: unknown): void {
  if (!(cause instanceof ProvisoError)) throw cause
}

/** The reply to the nth ask of its kind about its node; undefined where no person answers. */
function replyTo(given: Case, ask: Ask, nth: number): object | undefined {
  const node = listNodes(given).find(({ id }) => id === ask.nodeId?.split('.').at(-1))
  const subject = ask.kind === 'final' ? 'final' : ask.kind === 'policy' ? ask.policyId : ask.nodeId
  const decision = decisionAt(given, subject ?? '')
  const reject = { decision: 'reject', note }
  const inDoubt = ask.kind === 'unknown_outcome' && isInterrupted(given)
  if (decision === 'ignore' && ask.kind !== 'side_effect' && !inDoubt) return undefined
  switch (ask.kind) {
    case 'failure':
      if (decision === 'reject') return { decision }
      return decision === 'retry' && nth === 1
        ? { ...reject, rejectAction: 'retry' }
        : { decision: 'answer', value: editedOutput(node!) }
    case 'task':
      return decision === 'reject' ? { decision } : { decision: 'answer', value: editedOutput(node!) }
    case 'clarify':
      return decision === 'reject' ? { decision } : { decision: 'answer', value: 'A lot' }
    case 'unknown_outcome': {
      const said = unknownDecisionAt(given, ask.nodeId ?? '', nth)
      if (said === 'edit') return { decision: 'answer', value: editedOutput(node!) }
      return { decision: said === 'reject' ? said : 'approve' }
    }
    case 'side_effect':
      return { decision: node ? decideEffect(given, node) : 'approve' }
    case 'policy':
      return { decision: decision === 'reject' ? 'reject' : 'approve' }
    case 'final':
      if (decision === 'edit') return { decision, value: editedAnswer(given) }
      if (decision === 'reject') return reject
      return sentBack(ask, decision, nth) ?? { decision: 'approve' }
    case 'approval':
      // Without another way, an edited value may choose no route at all.
      if (decision === 'edit' && node && !mayEdit(node)) return { decision: 'approve' }
      if (decision === 'edit') return { decision, value: editedShown(node as CaseNode, ask.value as Value) }
      if (decision === 'reject') return reject
      return (node?.labelled ? sentBack(ask, decision, nth) : undefined) ?? { decision: 'approve' }
  }
}

/** The first time, work is sent back or a new plan is ordered. */
function sentBack({ rejectActions = [] }: Ask, decision: string, nth: number): object | undefined {
  if (nth > 1) return undefined
  if (decision === 'replan') return { decision: 'reject', note, rejectAction: 'replan' }
  const retries = decision === 'retry' && rejectActions.includes('retry')
  return retries ? { decision: 'reject', note, rejectAction: 'retry' } : undefined
}
