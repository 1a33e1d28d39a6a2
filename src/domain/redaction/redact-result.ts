/** What an attempt brought, before anybody keeps or shows it: known secrets go out of the value, all others out of the evidence. */
import type { AttemptResult } from '../output.ts'
import type { Redactor } from './redact.ts'

export interface RedactResultOptions {
  /** For data that other nodes go on with. */
  readonly redactor: Redactor
  /** For what only tells how it came about: it may know more, such as what the call was given. Default: the same. */
  readonly evidence?: Redactor
  /** Keep the raw text. Default true. */
  readonly raw?: boolean
}

export function redactResult(
  result: AttemptResult,
  { redactor, evidence = redactor, raw: keepRaw = true }: RedactResultOptions,
): AttemptResult {
  const { output, issues, model, question } = result
  return {
    ...result,
    // A redacted copy has the shape of what it was made from.
    issues: evidence.value(issues) as AttemptResult['issues'],
    ...(model !== undefined && { model: evidence.text(model) }),
    ...(question && { question: { ...question, text: evidence.text(question.text) } }),
    ...(output && { output: redactOutput(output, { redactor, evidence, keepRaw }) }),
  }
}

function redactOutput(
  { raw, reasoning, ...output }: NonNullable<AttemptResult['output']>,
  { redactor, evidence, keepRaw }: { redactor: Redactor; evidence: Redactor; keepRaw: boolean },
): NonNullable<AttemptResult['output']> {
  return {
    ...redactor.known(output),
    ...(raw !== undefined && keepRaw && { raw: evidence.text(raw) }),
    ...(reasoning !== undefined && { reasoning: evidence.text(reasoning) }),
  }
}
