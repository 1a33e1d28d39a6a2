/** The answer as a whole: what the root of the caller's schema says is proved, refuted in every run, or reported as checked at run time only. */
import { child } from '../../base/pointer.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { finding } from '../findings.ts'
import type { Resolved } from '../request.ts'
import { judgeWhole, reasonFor } from './whole.ts'

/** Asked when every property has its producers; an answer that is one node's whole output is judged elsewhere. */
export function wholeAnswer(resolved: Resolved): readonly Diagnostic[] {
  const { callerSchema: schema } = resolved
  const slots = resolved.slots.filter(({ inAnswer }) => inAnswer)
  if (slots.some(({ prefix }) => prefix.length === 0)) return []
  const verdict = judgeWhole({ schema, slots }, resolved)
  if (verdict === undefined) return []
  const constraint = (keyword: string) =>
    `the answer as a whole satisfies "${keyword}" of the caller's schema`
  if (verdict.kind === 'depends')
    return verdict.keywords.map((keyword) =>
      finding('plan/output-unproven', {
        constraint: constraint(keyword),
        suggestion: `It is checked at run time only, when the answer is complete. Change "${keyword}", or supply the properties that it needs in every run`,
        details: { pointer: '', keyword, schemaPointer: child('', keyword) },
      }),
    )
  const { object } = verdict
  return verdict.broken.map(({ keyword, pointer }) =>
    finding('plan/output-mismatch', {
      constraint: constraint(keyword),
      suggestion: `${reasonFor('The answer', { keyword, schema, object })}: change outputContract.schema${pointer}, or which properties the plan supplies`,
      details: { pointer: '', keyword, schemaPointer: pointer, properties: [...object.keys()] },
    }),
  )
}
