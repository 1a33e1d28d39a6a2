/** Redacts the result of an attempt before it is stored or shown: known secrets in the value, all secrets in the evidence. */
import type { AttemptResult } from '../output.ts'
import type { Redactor } from './redact.ts'

interface RedactResultOptions {
  /** For the value, which other nodes read. */
  readonly redactor: Redactor
  /** For the evidence (raw text, reasoning, issues): may know more secrets, such as the inputs of the call. Default: the same. */
  readonly evidence?: Redactor
  /** Keep the raw text. Default true. */
  readonly raw?: boolean
}

export function redactResult(
  result: AttemptResult,
  { redactor, evidence = redactor, raw: keepRaw = true }: RedactResultOptions,
): AttemptResult {
  const { raw, ...rest } = result
  const { output, issues, model, question } = rest
  return {
    ...rest,
    ...(raw !== undefined && keepRaw && { raw: evidence.text(raw) }),
    // A redacted copy has the shape of the original.
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
