/** Table of all failure codes of runs and nodes: one row each, printed into the reference; the types make it complete. */
import type { Outcome } from '../output.ts'

interface FailureRow {
  /** What has happened. */
  readonly says: string
  /** What to do about it. */
  readonly hint: string
}

/** What a node, a plan or a run fails of besides its attempts. */
const ownTable = {
  'ask/limit': {
    says: 'a person was needed, and the run has asked as often as it may',
    hint: 'Raise `constraints.maxAsks` of the envelope (in a pipeline `limits.max_asks`), or change the policies that ask',
  },
  'ask/rejected': {
    says: 'a person refused, or no reply came in time',
    hint: 'Read the note of the reply, and start a run that heeds it; without a reply, raise `askMs`',
  },
  'budget/exhausted': {
    says: 'the budget of the run or of a node does not allow the next node to start, or its next call',
    hint: 'Raise the limit that details.limitName names: in `constraints` of the envelope, in a pipeline under `limits` (`max_calls`, `max_tokens`, `max_cost_usd`) or `usage_limits` of the step; or ask for less',
  },
  'contract/unmet': {
    says: 'everything is done, and the answer does not satisfy the contract',
    hint: 'See the issues; loosen what they name in `outputContract.schema` or its constraints, or set `policies.onNodeFail: "ask"` to let a person correct values',
  },
  'loop/limit': {
    says: 'a loop has gone as many rounds as it may, and its exit condition does not hold',
    hint: 'Start the run again, or make its inputs easier to satisfy; with a draft of your own, raise `maxRounds`, change `until` or set `onMaxRounds: accept` of the loop, in a pipeline `max_loops`',
  },
  'loop/state': {
    says: 'a round yielded something that is no state of its loop',
    hint: 'See the issues; start the run again, or change the output contract of the capability that the round ends with; with a draft of your own, change `loop.state` or the output of the body',
  },
  'map/limit': {
    says: 'the list of a map is longer than it may be',
    hint: 'Send a shorter list in `inputs` of the envelope; with a draft of your own, raise `maxItems` of the map, in a pipeline `max_items`',
  },
  'node/failed': {
    says: 'a node failed, and no edge leads on',
    hint: 'See the error of the node under `nodes` of the run',
  },
  'node/input-invalid': {
    says: 'what came in does not satisfy the contract of the node',
    hint: 'See the issues; change the inputs of the envelope that they name, or the capability that supplies the value',
  },
  'node/no-route': {
    says: 'no route of a routing node applies',
    hint: 'Change the inputs so that a route applies; with a draft of your own, set `elseTo` of the node',
  },
  'plan/rejected': {
    says: 'no plan was proved to satisfy the contract',
    hint: 'Follow the suggestion of the first diagnostic in details.diagnostics',
  },
  'plan/replan-limit': {
    says: 'a new plan was ordered, and the run has had as many as it may',
    hint: 'Raise `constraints.maxReplans` of the envelope, or change the policy that orders new plans',
  },
  'planner/throttled': {
    says: 'the planner model was turned away (429, 503) in every try, and no other planner drafts',
    hint: 'Start the run again later, or set `planner.mode` to auto or search',
  },
  'planner/unavailable': {
    says: 'the planner model was not reachable in any try, and no other planner drafts',
    hint: 'See that the provider of `planner.model` can be reached, or set `planner.mode` to auto or search',
  },
  'policy/fail': {
    says: 'a policy ended the run',
    hint: 'See when the policy that details.policyId names acts',
  },
  'rao/contract': {
    says: 'the RAO contract of a node cannot be used',
    hint: 'Correct the RAO contract that the message names, where it is declared: in `policies.runtime` of the envelope, in the registration of the capability, or in `data` of the node of your own draft',
  },
  'rao/suppressed': {
    says: 'the confidence of the output is too low',
    hint: 'Add what the capability needs to `inputs` of the envelope, or lower `suppressBelow` where the RAO contract is declared: in `policies.runtime`, in the registration, or in `data` of the node',
  },
  'run/cancelled': { says: 'the run was cancelled', hint: 'Begin a new run if it is still wanted' },
  'run/deadline': {
    says: 'the time of the run is over',
    hint: 'Raise `constraints.deadlineMs` of the envelope (in a pipeline `limits.deadline`), or use faster capabilities',
  },
} as const satisfies Record<string, FailureRow>

const againOrOtherHint =
  'Start the run again, or register another capability that supplies the same; with a draft of your own, set `retry.max` or `alternates` of the node, in a pipeline `max_retries` or `fallback` of the step'
const laterOrOtherHint =
  'Start the run again later, or register another capability that supplies the same; with a draft of your own, set `alternates` or a fail edge, in a pipeline `fallback` of the step'

/** What to do when the last attempt of a node has ended so. */
const attemptHints: Readonly<Record<Outcome, string>> = {
  ok: 'See the journal of the run: the answer came, and did not count',
  invalid:
    'See the issues; change the output contract of the capability or register another; with a draft of your own, set `retry.max`, in a pipeline `max_retries` of the step',
  truncated: 'Raise the longest answer of the model (`max_output_tokens`), or ask for less in the objective',
  refused:
    'Change the objective or the instructions, or register another capability; in a pipeline, set `fallback` of the step',
  timed_out:
    'Use a faster capability, or start the run again; with a draft of your own, raise `timeoutMs` of the node, in a pipeline `timeout` of the step or its agent',
  throttled: laterOrOtherHint,
  unavailable: laterOrOtherHint,
  provider_error: againOrOtherHint,
  cancelled: 'Begin a new run if it is still wanted',
  unclear:
    'Add what it asks for to `inputs` or `specialInstructions` of the envelope, or raise `constraints.maxAsks`',
  outcome_unknown: 'See what the call has done; declare the capability idempotent if it may be repeated',
}

/** Names that stand for the outcome of an attempt: `attempt/invalid`, `attempt/timed_out` … */
type AttemptCode = `attempt/${Outcome}`

/** A journal of an older or newer version may hold others; they are read as `unexpected_error`. */
export type FailureCode = AttemptCode | keyof typeof ownTable

export const failureTable: Readonly<Record<FailureCode, FailureRow>> = {
  ...(Object.fromEntries(
    Object.entries(attemptHints).map(([outcome, hint]) => [
      `attempt/${outcome}`,
      { says: `the last attempt of a node ended with \`${outcome}\``, hint },
    ]),
    // One row for each outcome, which the names of entries cannot express.
  ) as Record<AttemptCode, FailureRow>),
  ...ownTable,
}

/** Nothing for a code of another version. */
export function failureHint(code: string): string | undefined {
  return Object.hasOwn(failureTable, code) ? failureTable[code as FailureCode].hint : undefined
}
