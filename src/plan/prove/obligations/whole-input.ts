/**
 * The whole input of a node: each keyword at the root of its input schema is proved, refuted in every run that starts
 * the node, or reported as checked before it starts.
 */
import { child } from '../../../base/pointer.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved, ResolvedNode, Slot } from '../proof-request.ts'
import { judgeWhole, reasonFor } from './whole.ts'

/** Runs for nodes whose inputs are valid one by one. */
export function wholeInput(node: ResolvedNode, resolved: Resolved): readonly Diagnostic[] {
  const { id: nodeId, input: schema, inputs, capability } = node
  const slots = Object.entries(inputs).map(
    ([name, sources]): Slot => ({ prefix: [name], sources, inAnswer: false }),
  )
  const verdict = judgeWhole({ schema, slots, nodeId }, resolved)
  if (verdict === undefined) return []
  const where = (keyword: string) => ({
    constraint: `the input of "${nodeId}" as a whole satisfies "${keyword}" of its schema`,
    nodeId,
    capabilityId: capability?.capabilityId,
  })
  if (verdict.kind === 'depends')
    return verdict.keywords.map((keyword) =>
      createDiagnostic('plan/input-unproven', {
        ...where(keyword),
        suggestion: `It is checked at run time only, before the node starts. Change "${keyword}", or bind the inputs that it needs in every run`,
        details: { pointer: '', keyword, schemaPointer: child('', keyword) },
      }),
    )
  const { object } = verdict
  return verdict.broken.map(({ keyword, pointer }) =>
    createDiagnostic('plan/input-mismatch', {
      ...where(keyword),
      suggestion: `${reasonFor('The input', { keyword, schema, object })}: change the input schema at ${pointer}, or which inputs are bound`,
      details: { pointer: '', keyword, schemaPointer: pointer, properties: [...object.keys()] },
    }),
  )
}
