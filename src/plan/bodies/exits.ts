/** The exit condition of a loop can be read, and some state that the loop may have satisfies it. */
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { parseCondition } from '../../schema/condition.ts'
import { valuesOf } from '../../schema/schema-values.ts'
import { decide } from '../../schema/solve.ts'
import { worldOf } from '../../schema/world.ts'
import { finding } from '../findings.ts'
import type { ResolvedNode } from '../request.ts'

export function exits({ draft, id, output }: ResolvedNode): Diagnostic[] {
  const until = draft.loop?.until
  if (until === undefined) return []
  const parsed = parseCondition(until)
  if (!parsed.ok)
    return [
      finding('plan/condition', {
        constraint: `loop.until of "${id}" can be read`,
        nodeId: id,
        suggestion: parsed.issues
          .map(({ message, hint }) => (hint ? `${message}. ${hint}` : message))
          .join('\n'),
      }),
    ]
  if (decide(parsed.condition, worldOf(valuesOf(output))) !== 'false') return []
  return [
    finding('plan/loop-exit', {
      constraint: `loop.until of "${id}" can hold`,
      nodeId: id,
      suggestion: 'Compare with something that the state has, or change what the body yields',
    }),
  ]
}
