/** Parses a condition of a pipeline file: JSON-Logic, or a text that is an expression and means the same. */
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { Condition } from '../../domain/contract.ts'
import { parseCondition } from '../../schema/condition/condition.ts'
import { compileExpression } from '../expressions/compile-expression.ts'
import type { Reading } from './reading.ts'

/** A condition that cannot be read is reported, and is `true` for the checks of the rest. */
export function readCondition(reading: Reading, given: Json, at: Pointer): Condition {
  if (typeof given === 'string') return readExpression(reading, given, at)
  const parsed = parseCondition(given)
  if (parsed.ok) return given as Condition
  for (const issue of parsed.issues) {
    const inside = 'pointer' in issue.at ? issue.at.pointer : ''
    const { code, message, hint } = issue
    reading.issues.push(reading.complain(at + inside, { code, message, ...(hint !== undefined && { hint }) }))
  }
  return true
}

function readExpression(reading: Reading, text: string, at: Pointer): Condition {
  const compiled = compileExpression(text)
  if (compiled.ok) return compiled.condition
  for (const { range, message, ...said } of compiled.issues)
    reading.issues.push(
      reading.complain(at, {
        ...said,
        message: `Cannot read the expression at character ${range[0] + 1}: ${message}`,
        part: { text, range },
      }),
    )
  return true
}
