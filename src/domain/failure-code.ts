/** Every name under which a run or a node fails, one row each: printed into the reference, and complete because the types are. */
import type { Outcome } from './output.ts'

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
    hint: 'Allow more asks (limits.maxAsks of the draft), or fewer occasions for them',
  },
  'ask/rejected': {
    says: 'a person refused, or nobody replied in time',
    hint: 'Read the note of the reply, and begin a run that heeds it; if nobody replied, give people longer (askMs)',
  },
  'budget/exhausted': {
    says: 'the budget of the run or of a node does not allow the next node to start, or its next call',
    hint: 'Raise the limit that details.limitName names, ask for less, or let fewer nodes work',
  },
  'contract/unmet': {
    says: 'everything is done, and the answer does not satisfy the contract',
    hint: 'Look at the issues; ask for less, or let a node check the answer before the end',
  },
  'loop/limit': {
    says: 'a loop has gone as many rounds as it may, and its exit condition does not hold',
    hint: 'Raise maxRounds of the loop, change its exit condition, or accept the last state (onMaxRounds)',
  },
  'loop/state': {
    says: 'a round yielded something that is no state of its loop',
    hint: 'See the issues; change what the body yields, or the schema of the state (loop.state)',
  },
  'map/limit': {
    says: 'the list of a map is longer than it may be',
    hint: 'Raise maxItems of the map, or bind a shorter list',
  },
  'node/failed': { says: 'a node failed, and no edge leads on', hint: 'Look at the error of the node' },
  'node/input-invalid': {
    says: 'what came in does not satisfy the contract of the node',
    hint: 'Look at the issues; bind other values to its inputs, or narrow what supplies them',
  },
  'node/no-route': {
    says: 'no route of a routing node applies',
    hint: 'Give the node an elseTo',
  },
  'plan/rejected': {
    says: 'no plan was proved to satisfy the contract',
    hint: 'Mend the first finding of details.diagnostics: its suggestion says how',
  },
  'plan/replan-limit': {
    says: 'a new plan was ordered, and the run has had as many as it may',
    hint: 'Allow more (limits.maxReplans of the draft), or change the policy that orders them',
  },
  'policy/fail': {
    says: 'a policy ended the run',
    hint: 'See when the policy that details.policyId names acts',
  },
  'rao/contract': {
    says: 'the RAO contract of a node cannot be used',
    hint: 'Correct what is named in the data of the node',
  },
  'rao/suppressed': {
    says: 'the confidence of the output is too low',
    hint: 'Give the node a better basis, or lower the threshold under which its output is suppressed',
  },
  'run/cancelled': { says: 'somebody cancelled the run', hint: 'Begin a new run if it is still wanted' },
  'run/deadline': {
    says: 'the time of the run is over',
    hint: 'Give it more (limits.deadlineMs of the draft), or quicker capabilities',
  },
} as const satisfies Record<string, FailureRow>

const again = 'Try again later, allow retries (retry.max of the node), or name an alternate'
const elsewhere =
  'Name an alternate (alternates of the node, fallback of a pipeline step) or a fail edge, or start the run again later'

/** What to do when the last attempt of a node has ended so. */
const attemptHints: Readonly<Record<Outcome, string>> = {
  ok: 'Look at the journal of the run: the answer came, and did not count',
  invalid: 'Look at the issues; allow retries, or ask the capability for less',
  truncated: 'Allow longer answers (max_output_tokens), or ask for less',
  refused: 'Ask otherwise, or name an alternate that does it',
  timed_out: 'Give the node more time (timeoutMs), or a quicker capability',
  throttled: elsewhere,
  unavailable: elsewhere,
  provider_error: again,
  cancelled: 'Begin a new run if it is still wanted',
  unclear:
    'Say what it asks for in the inputs or instructions of the node, or let people answer more questions',
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
