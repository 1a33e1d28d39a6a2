/** Compiles `kind: parallel`: concurrent branches; the output maps branch names to their outputs. */

import { mapOf } from '../../../schema/build/composite-schemas.ts'
import type { ParallelStep } from '../../parse/pipeline.ts'
import {
  addFunction,
  asBinding,
  type CompileSteps,
  type ContextEntry,
  innerScope,
  nodeValue,
  type Scope,
} from '../build.ts'
import type { Value } from '../value.ts'

export function compileBranches(scope: Scope, step: ParallelStep, compileSteps: CompileSteps): Value {
  const before = scope.tails
  const outputs: Record<string, Value> = {}
  const tails: string[] = []
  const added: ContextEntry[] = []
  for (const [name, steps] of step.branches) {
    const lane = innerScope(scope, { prefix: `${scope.prefix}${step.name}/${name}/`, tails: before })
    outputs[name] = compileSteps(lane, steps)
    tails.push(...lane.tails)
    added.push(...lane.context.slice(scope.context.length))
  }
  scope.tails = [...new Set(tails)]
  scope.context = [...scope.context, ...added]
  const output = mapOf(outputs)
  const inputs = Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, asBinding(value)]))
  return nodeValue(
    addFunction(scope, { id: `${scope.prefix}${step.name}`, name: 'pass', inputs, output }),
    output,
    scope.region,
  )
}
