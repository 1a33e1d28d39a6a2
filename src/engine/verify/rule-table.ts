/**
 * What must hold of every event of a history, one rule each. A rule reads the event, the state before it, and what
 * it has noted itself; it does not ask the code that decided, so that a mistake there is not repeated here.
 */
import {
  asksAreAnsweredOnceInTimeAndAsShown,
  labelledNodesHaveAPerson,
  questionsAreAnsweredFirst,
  reworkFollowsARejection,
  theAnswerIsTheOneThatWasApproved,
  theAuditIsAChain,
  whatIsDeniedDoesNotHappen,
} from './rules/asks.ts'
import {
  acceptedCallsAreWaitedFor,
  attemptsStartOnceAndEndOnce,
  lateResultsSettleTheirAsk,
  outputsAreOfTheirAttempt,
  triesAreCounted,
} from './rules/attempts.ts'
import { budgetsAreKept } from './rules/budgets.ts'
import {
  aKeyNamesOneCall,
  doubtsAreNamedAtTheEnd,
  keysStayWhileInDoubt,
  nothingInDoubtIsRepeatedUnasked,
} from './rules/doubt.ts'
import { attemptsEndWhenTheRunMovesOn, nothingAfterTheEnd, nothingStartsWhileHeld } from './rules/holding.ts'
import { iterationsAreWhatTheyYield } from './rules/iterations.ts'
import { answersAreWhole, nodesSettleOnce, nodesStartWhenTheWayIsOpen } from './rules/nodes.ts'
import { plansAnswerTheirRequest } from './rules/plans.ts'
import {
  policiesKnowTheirLimits,
  timersFireInTheirOrder,
  timersFireOnceAndNotEarly,
} from './rules/policies-and-timers.ts'
import type { Rule } from './rules/rule.ts'

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
  aKeyNamesOneCall,
  nothingInDoubtIsRepeatedUnasked,
  doubtsAreNamedAtTheEnd,
  nothingStartsWhileHeld,
  attemptsEndWhenTheRunMovesOn,
  triesAreCounted,
  budgetsAreKept,
  asksAreAnsweredOnceInTimeAndAsShown,
  labelledNodesHaveAPerson,
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
