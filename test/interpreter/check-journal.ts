/** What holds for the journal of every case. */
import type { Ask } from '../../src/domain/ask.ts'
import { allNodes, type Case, policyTimeoutMs } from './case.ts'
import type { Played } from './play/play.ts'
import { note } from './play/stage.ts'

export function checkJournal(given: Case, { journal, duration, planRequests }: Played): string[] {
  const found: string[] = []
  // An interrupt does not wait for a call that hangs.
  if (duration > 2 * policyTimeoutMs) found.push(`the run took ${duration} ms`)
  const accepted = new Set<string>()
  let clean = false
  let sentForPlan = false
  for (const event of journal) {
    const { nodeId = '' } = event
    if (event.type === 'plan_generated') clean = event.payload.diagnostics.status === 'accepted'
    if (event.type === 'attempt_accepted') accepted.add(nodeId)
    if (event.type === 'attempt_end') {
      const { outcome, interrupted } = event.payload
      // Its answer comes to whichever process has the run.
      if (accepted.delete(nodeId) && outcome === 'outcome_unknown' && !interrupted)
        found.push(`the result of an accepted call of ${nodeId} counts as unknown`)
    }
    if (event.type === 'attempt_start' && accepted.has(nodeId))
      found.push(`${nodeId} is called again while the answer to an accepted call is waited for`)
    if (event.type === 'hitl_request') found.push(...checkAsk(given, event.payload))
    if (event.type === 'hitl_resolved' && event.payload.rejectAction === 'replan') sentForPlan = true
    if (event.type === 'complete' && event.payload.error?.code === 'contract/unmet' && clean)
      found.push('a plan without findings ended with contract/unmet')
  }
  const isForwarded = planRequests.some(({ feedback = [] }) => feedback.some((entry) => entry.note === note))
  if (sentForPlan && planRequests.length > 0 && !isForwarded)
    found.push('the planner does not receive what a person said')
  return found
}

/** Who is asked sees what there is to see. */
function* checkAsk(given: Case, ask: Ask): Generator<string> {
  const node = allNodes(given).find(({ id }) => id === ask.nodeId?.split('.').at(-1))
  if (ask.kind === 'failure') {
    if (!ask.issues?.length) yield `${ask.requestId} does not say what is wrong`
    if (ask.schema === undefined) yield `${ask.requestId} does not say what is wanted`
    const bad = JSON.stringify(ask.value).includes('"a lot"')
    if (bad && ask.decisions.includes('approve'))
      yield `${ask.requestId} offers to approve a value that the contract does not allow`
  }
  if (ask.kind === 'approval' && node?.rao && !ask.question.includes('Because'))
    yield `${ask.requestId} does not show the reasoning`
}
