/**
 * Redacts the result of an attempt before it is stored or shown. The value stays whole. For the journal, evidence (the raw
 * text, the reasoning, what issues quote) is cut as well: it gets into several rows and frames on the main loop, and may have
 * a megabyte.
 */
import { setOwn } from '../../base/json.ts'
import { type AttemptResult, withoutRanges } from '../output.ts'
import type { Redactor } from './redact.ts'

interface RedactResultOptions {
  /** For the value, which other nodes read. */
  readonly redactor: Redactor
  /** For the evidence (raw text, reasoning, issues): may know more secrets, such as the inputs of the call. Default: the same. */
  readonly evidence?: Redactor
  /** Keep the raw text. Default true. */
  readonly raw?: boolean
  /** Cut long evidence. Default false. */
  readonly cut?: boolean
}

/** Redacts the result of an attempt before it is stored or shown: known secrets in the value, all secrets in the evidence. */
export function redactResult(
  result: AttemptResult,
  { redactor, evidence = redactor, raw: keepRaw = true, cut = false }: RedactResultOptions,
): AttemptResult {
  const { raw, prompts, ...rest } = result
  const { output, issues, model, question } = rest
  const redact = cut ? (text: string) => redactAndCut(text, evidence) : evidence.text
  return {
    ...rest,
    ...(raw !== undefined && keepRaw && { raw: redact(raw) }),
    ...(prompts !== undefined &&
      keepRaw && {
        prompts: prompts.map(({ step, system, prompt }) => ({
          step,
          system: redact(system),
          prompt: redact(prompt),
        })),
      }),
    // A redacted copy has the shape of the original.
    issues: evidence.value(cut ? issues.map(cutIssue) : issues) as AttemptResult['issues'],
    ...(model !== undefined && { model: evidence.text(model) }),
    ...(question && { question: { ...question, text: evidence.text(question.text) } }),
    ...(output && { output: redactOutput(output, { redactor, redact, keepRaw }) }),
  }
}

function redactOutput(
  { raw, reasoning, ...output }: NonNullable<AttemptResult['output']>,
  { redactor, redact, keepRaw }: { redactor: Redactor; redact: (text: string) => string; keepRaw: boolean },
): NonNullable<AttemptResult['output']> {
  const shown = raw !== undefined && keepRaw ? redact(raw) : undefined
  const repairs = shown === raw ? output.repairs : output.repairs && withoutRanges(output.repairs)
  return {
    ...redactor.known({ ...output, ...(repairs && { repairs }) }),
    ...(shown !== undefined && { raw: shown }),
    ...(reasoning !== undefined && { reasoning: redact(reasoning) }),
  }
}

/** Characters of a text that are kept, of its beginning and of its end. */
const [keptAtStart, keptAtEnd] = [48 * 1024, 16 * 1024]
/** Redacted beyond the cut, and dropped: a secret that is cut in two would not be recognised. */
const margin = 8 * 1024

function redactAndCut(text: string, { text: redact }: Redactor): string {
  if (text.length <= keptAtStart + keptAtEnd + 2 * margin) return redact(text)
  const start = redact(text.slice(0, keptAtStart + margin)).slice(0, -margin)
  const end = redact(text.slice(-keptAtEnd - margin)).slice(margin)
  const left = text.length - keptAtStart - keptAtEnd
  return `${start}\n[… ${left} characters left out …]\n${end}`
}

/** Characters and parts of a value that an issue quotes. */
const mostQuoted = 4 * 1024

function cutIssue(issue: AttemptResult['issues'][number]): AttemptResult['issues'][number] {
  return issue.actual === undefined ? issue : { ...issue, actual: quote(issue.actual, { left: mostQuoted }) }
}

/** Returns the beginning of a value, of the same type: later items and members are left out, and a text ends with `…`. */
function quote(value: unknown, budget: { left: number }): unknown {
  budget.left -= 1
  if (typeof value === 'string') {
    const most = Math.max(0, budget.left)
    budget.left -= value.length
    return value.length <= most ? value : `${value.slice(0, most)}…`
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      if (budget.left <= 0) break
      items.push(quote(item, budget))
    }
    return items
  }
  const members = {}
  for (const [name, member] of Object.entries(value)) {
    if (budget.left <= 0) break
    budget.left -= name.length
    setOwn(members, name, quote(member, budget))
  }
  return members
}
