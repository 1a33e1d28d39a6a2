/** Replaces `events.ts` in the light reader: the same events, without the types and branches of the values. */
import { rules } from '../../rules.ts'
import type { ParseResult, ReaderEvent, Stage } from '../../types.ts'
import type { Made } from '../repairs.ts'

/** Reports the stages that changed something, in the order of their first change, and the failed stage. */
export function sendEvents(
  send: (event: ReaderEvent) => void,
  made: Made,
  result: ParseResult,
  shadow: boolean,
): void {
  const mark = shadow ? { shadow: true as const } : {}
  const byStage = new Map<Stage, Set<string>>()
  const add = (stage: Stage, name: string) =>
    byStage.set(stage, (byStage.get(stage) ?? new Set<string>()).add(name))
  for (const { rule } of made.edits) add(rules[rule].stage, rule)
  for (const { rule } of made.changes) add(rules[rule].stage, rule)
  for (const { name } of made.custom) add('custom', name)
  for (const [stage, names] of byStage) {
    const transforms = [...names]
    send({ type: 'output.coercion.attempt', stage, reason: transforms[0] as string, ...mark })
    if (result.ok) send({ type: 'output.coercion.success', stage, transforms, ...mark })
  }
  if (result.ok) return
  const stage = 'candidate' in result ? 'semantic' : 'extract'
  const error_preview = (result.issues[0]?.message ?? '').slice(0, 200)
  send({ type: 'output.coercion.fail', stage, error_preview, ...mark })
}
