/**
 * Codes of the issues that the engine and the executors report of attempts and answers, besides those of the reader and
 * of failures, one row each. Capabilities may report codes of their own.
 */
export const attemptIssueTable = {
  'address/refused': 'the address of an agent is not allowed',
  'answer/limit': 'the answer of an agent is too large',
  'ask/invalid': 'the reply to an ask does not fit it',
  'attempt/interrupted': 'the run moved on, and the call was aborted',
  'budget/exhausted': 'the budget does not allow the next call',
  'budget/unknown-price': 'the run limits its cost, and the price of the model is not known',
  'grammar/mismatch': 'the text does not match the grammar of the capability',
  'model/no-provider': 'no provider is configured for the model',
  'model/no-stage': 'a custom stage that the node names is not registered',
  'output/constraint': 'the answer does not satisfy a constraint',
  'output/missing': 'the plan yields no answer',
  'output/post-condition': 'the output does not satisfy a post-condition of the node',
  'rao/contract': 'the RAO contract of the node cannot be used',
  'rao/schema-violation': 'the output does not have the form that a RAO contract requires',
  'rao/suppressed': 'the confidence of the output is too low',
} as const satisfies Record<string, string>
