/**
 * What must hold of every event of a history, one rule each. A rule looks at the event, at the state before it, and at what
 * it has noted itself; it does not ask the code that decided, so that a mistake there is not repeated here.
 */
import {
  asksAreAnsweredOnceInTimeAndAsShown,
  questionsAreAnsweredFirst,
  reworkFollowsARejection,
  theAnswerIsTheOneThatWasApproved,
  theAuditIsAChain,
  whatIsDeniedDoesNotHappen,
} from './history-rules/asks.ts'
import {
  acceptedCallsAreWaitedFor,
  attemptsStartOnceAndEndOnce,
  lateResultsSettleTheirAsk,
  outputsAreOfTheirAttempt,
  triesAreCounted,
} from './history-rules/attempts.ts'
import { budgetsAreKept } from './history-rules/budgets.ts'
import {
  doubtsAreNamedAtTheEnd,
  keysStayWhileInDoubt,
  nothingInDoubtIsRepeatedUnasked,
} from './history-rules/doubt.ts'
import {
  attemptsEndWhenTheRunMovesOn,
  nothingAfterTheEnd,
  nothingStartsWhileHeld,
} from './history-rules/holding.ts'
import { iterationsAreWhatTheyYield } from './history-rules/iterations.ts'
import { answersAreWhole, nodesSettleOnce, nodesStartWhenTheWayIsOpen } from './history-rules/nodes.ts'
import { plansAnswerTheirRequest } from './history-rules/plans.ts'
import {
  policiesKnowTheirLimits,
  timersFireInTheirOrder,
  timersFireOnceAndNotEarly,
} from './history-rules/policies-and-timers.ts'
import type { Rule } from './history-rules/rule.ts'

/** Fresh rules for one history: each keeps its own notes. */
export function createRules(): readonly Rule[] {
  return makers.map((make) => make())
}

const makers: readonly (() => Rule)[] = [
  nothingAfterTheEnd,
  nodesSettleOnce,
  nodesStartWhenTheWayIsOpen,
  plansAnswerTheirRequest,
  attemptsStartOnceAndEndOnce,
  outputsAreOfTheirAttempt,
  lateResultsSettleTheirAsk,
  acceptedCallsAreWaitedFor,
  keysStayWhileInDoubt,
  nothingInDoubtIsRepeatedUnasked,
  doubtsAreNamedAtTheEnd,
  nothingStartsWhileHeld,
  attemptsEndWhenTheRunMovesOn,
  triesAreCounted,
  budgetsAreKept,
  asksAreAnsweredOnceInTimeAndAsShown,
  questionsAreAnsweredFirst,
  whatIsDeniedDoesNotHappen,
  reworkFollowsARejection,
  theAnswerIsTheOneThatWasApproved,
  policiesKnowTheirLimits,
  timersFireOnceAndNotEarly,
  timersFireInTheirOrder,
  theAuditIsAChain,
  answersAreWhole,
  iterationsAreWhatTheyYield,
]
