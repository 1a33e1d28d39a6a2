/**
 * Obligation on loops: the exit condition parses, the state has the paths it reads, and some possible state satisfies
 * it.
 */
import { closest } from '../../../base/closest.ts'
import { child } from '../../../base/pointer.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { project } from '../../../schema/build/project.ts'
import { conditionVars, parseCondition, testedForAbsence } from '../../../schema/condition/condition.ts'
import type { ParsedCondition } from '../../../schema/condition/expr.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { worldOf } from '../../../schema/values/known-values.ts'
import { declares, valuesOf } from '../../../schema/values/schema-values.ts'
import { decide } from '../../../schema/values/solve.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { ResolvedNode } from '../proof-request.ts'

export function exits({ draft, id, output }: ResolvedNode): Diagnostic[] {
  const until = draft.loop?.until
  if (until === undefined) return []
  const parsed = parseCondition(until)
  if (!parsed.ok)
    return [
      createDiagnostic('plan/condition', {
        constraint: `loop.until of "${id}" can be read`,
        nodeId: id,
        suggestion: parsed.issues
          .map(({ message, hint }) => (hint ? `${message}. ${hint}` : message))
          .join('\n'),
      }),
    ]
  const unknown = unknownPaths(parsed.condition, output, id)
  if (unknown.length > 0) return unknown
  if (decide(parsed.condition, worldOf(valuesOf(output))) !== 'false') return []
  return [
    createDiagnostic('plan/loop-exit', {
      constraint: `loop.until of "${id}" can hold`,
      nodeId: id,
      suggestion: 'Compare with something that the state has, or change what the body yields',
    }),
  ]
}

/**
 * Returns paths that the state lacks, or that its schema does not name among others; paths tested with `missing` are
 * intended.
 */
function unknownPaths(condition: ParsedCondition, output: JsonSchema, id: string): Diagnostic[] {
  const tested = new Set(testedForAbsence(condition))
  return conditionVars(condition).flatMap((path) => {
    const steps = path.split('.')
    if (path === '' || tested.has(path) || declares(output, steps)) return []
    const isNever = isAbsent(valuesOf(output)(steps))
    const names = namesAround(output, steps)
    // A schema that names nothing at this level allows any name.
    if (!isNever && names.length === 0) return []
    const inState = steps[0] === 'state' && declares(output, steps.slice(1)) ? steps.slice(1) : []
    const meant = inState.length > 0 ? inState.join('.') : closest(steps.at(-1) ?? '', names)
    const known =
      names.length === 0 ? 'Compare with what the state has.' : `The state has ${names.join(', ')}.`
    return [
      createDiagnostic(isNever ? 'plan/exit-unknown' : 'plan/exit-undeclared', {
        constraint: `loop.until of "${id}" finds "${path}" in the state`,
        nodeId: id,
        suggestion: `${meant === undefined ? known : `Did you mean "${meant}"?`} Paths begin at the state itself`,
        details: { path },
      }),
    ]
  })
}

/** Returns the property names at the level of the first step that the schema does not declare. */
function namesAround(output: JsonSchema, steps: readonly string[]): string[] {
  const known = steps.findIndex((_, at) => !declares(output, steps.slice(0, at + 1)))
  const parent = project(output, steps.slice(0, known).reduce<string>(child, '')).schema
  return membersOf(parent).map(({ name }) => name)
}
