/**
 * Reports conditions of nodes (post-conditions, routes, loop exits) that order a value that is never a number: they are
 * always false.
 */
import type { Json } from '../../../base/json.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { parseCondition } from '../../../schema/condition/condition.ts'
import { type World, worldOf } from '../../../schema/values/known-values.ts'
import { type Path, valuesOf } from '../../../schema/values/schema-values.ts'
import { join, meet, nothing, onlyMissing, type ValueSet } from '../../../schema/values/value-set.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { neverNumber, neverNumbers } from '../goals/non-number-comparisons.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'
import { valuesAt } from '../sources.ts'

export function unlikeConditions(resolved: Resolved): readonly Diagnostic[] {
  return resolved.nodes.flatMap((node) => {
    const { id, draft, postConditions } = node
    const { until } = draft.loop ?? {}
    const onOutput = [
      ...postConditions
        .filter((json) => json !== until)
        .map((json, i) => ({ json, what: `post-condition ${i + 1} of "${id}"` })),
      ...(until === undefined ? [] : [{ json: until, what: `loop.until of "${id}"` }]),
    ]
    const onInput = (draft.routing?.routes ?? []).map(({ condition: json }, i) => ({
      json,
      what: `route ${i + 1} of "${id}"`,
    }))
    if (onOutput.length === 0 && onInput.length === 0) return []
    const output = worldOf(valuesOf(node.output))
    const input = worldOf(inputsOf(node, resolved))
    return [
      ...onOutput.flatMap((each) => unlike(each, node, output)),
      ...onInput.flatMap((each) => unlike(each, node, input)),
    ]
  })
}

function unlike(
  { json, what }: { readonly json: Json; readonly what: string },
  { id, capability }: ResolvedNode,
  world: World,
): Diagnostic[] {
  const parsed = parseCondition(json)
  const vars = parsed.ok ? neverNumbers(parsed.condition.expr, [world]) : []
  if (vars.length === 0) return []
  return [
    createDiagnostic('plan/unlike-types', {
      constraint: `${what} orders numbers`,
      nodeId: id,
      capabilityId: capability?.capabilityId,
      suggestion: neverNumber(vars),
      details: { note: 'ordering_without_number', vars: [...vars] },
    }),
  ]
}

/** Returns the possible values at an input path: the join over all sources of the property, met with the input schema. */
function inputsOf({ input, inputs }: ResolvedNode, resolved: Resolved): (path: Path) => ValueSet {
  const allowed = valuesOf(input)
  return (path) => {
    const [name, ...rest] = path
    if (name === undefined) return allowed(path)
    const sources = inputs[name] ?? []
    const found = sources.map((source) => valuesAt(source, rest, resolved)).reduce(join, nothing)
    return sources.length === 0 ? onlyMissing : meet(found, allowed(path))
  }
}
