/** Turns the end of a tool call into what the model reads. */
import { canonicalJson } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
import type { LoopCall } from '../../../domain/loop/loop-state.ts'
import type { ToolEnd } from '../../../domain/loop-facts.ts'
import type { AttemptResult } from '../../../domain/output.ts'
import type { AgentTool } from '../../../domain/ports/agent-loop.ts'
import type { Redactor } from '../../../domain/redaction/redact.ts'

interface Shown {
  readonly redactor: Redactor
  readonly mostCharacters: number
}

type Content = Pick<ToolEnd, 'content' | 'cut'>

/** The result of a call that was made. */
export function showResult(
  result: AttemptResult,
  { tool, call }: { readonly tool: AgentTool; readonly call: LoopCall },
  shown: Shown,
): Content {
  const edited = showEdit(call)
  const { outcome, output, question, notApplied } = result
  if (outcome === 'ok' && output) return show(edited + toText(output.value), shown)
  if (question) return show(`${edited}Not done: it asks "${question.text}"`, shown)
  const why = result.issues.map(({ message }) => message).join('; ') || outcome
  const mayHaveActed = tool.sideEffect && !notApplied
  const warning = mayHaveActed ? ' It may have taken effect nevertheless.' : ''
  const bad = output ? ` It returned: ${toText(output.value)}` : ''
  return show(`${edited}The call failed (${outcome}): ${why}.${warning}${bad}`, shown)
}

/** What the model reads of a call that a person has decided without making it. */
export function showDecision(call: LoopCall, shown: Shown): Content {
  const { decision, start } = call
  const { note, value } = decision ?? {}
  if (decision?.decision === 'answer') return show(showEdit(call) + toText(value ?? null), shown)
  const said = note === undefined ? '' : ` A person said: ${note}`
  return start
    ? show(`It is not known whether this call took effect. Do not repeat it.${said}`, shown)
    : show(`Not run: a person rejected the call.${said}`, shown)
}

/** What was called, if it is not what the model wanted: only a person changes arguments. */
function showEdit({ start, input = null }: LoopCall): string {
  if (!start || canonicalJson(start.inputs) === canonicalJson(input)) return ''
  return `A person changed the arguments to ${JSON.stringify(start.inputs)}. Result: `
}

function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Redacts, and leaves out the middle of what is too long. */
function show(text: string, { redactor, mostCharacters }: Shown): Content {
  const clean = redactor.text(text)
  if (clean.length <= mostCharacters) return { content: clean }
  const head = Math.floor(mostCharacters * 0.75)
  const tail = mostCharacters - head
  const cut = clean.length - mostCharacters
  return {
    content: `${clean.slice(0, head)}\n[${cut} characters left out]\n${clean.slice(clean.length - tail)}`,
    cut,
  }
}
