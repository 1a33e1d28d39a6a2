/** Compiles `kind: router`: an agent selects the branches to run; the output maps branch names to their outputs. */

import { mapOf } from '../../../schema/build/composite-schemas.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { RouterStep } from '../../parse/pipeline.ts'
import {
  addFunction,
  asBinding,
  type CompileSteps,
  type ContextEntry,
  nodeValue,
  type Scope,
} from '../build.ts'
import { functionId } from '../functions.ts'
import { addGate, addRouter } from '../gate.ts'
import type { Value } from '../value.ts'
import { compileCall } from './call.ts'
import { compileBranch } from './conditional.ts'

/** Describes the answer of the router's agent, for the message about another one. */
function expectedChoice({ name, agent }: RouterStep, branches: readonly string[]) {
  const example = JSON.stringify(branches.slice(0, 1))
  return {
    answer: `a JSON list of the branches of router "${name}" to run (${branches.join(', ')}), such as ${example}`,
    change: `State in \`system_prompt\` of agents.${agent} that it must answer with such a list, such as ${example}`,
  }
}

export function compileRouter(scope: Scope, step: RouterStep, compileSteps: CompileSteps): Value | undefined {
  const id = `${scope.prefix}${step.name}`
  const names = [...step.branches.keys()]
  const choice: JsonSchema = {
    type: 'array',
    items: { enum: names },
    minItems: 1,
    maxItems: names.length,
    uniqueItems: true,
  }
  const chosen = compileCall(scope, {
    kind: 'step',
    name: `${step.name}.choose`,
    at: step.at,
    worker: { kind: 'agent', name: step.agent },
    params: {},
    processing: { said: { structured_output: 'auto', aop: 'full' } },
    outputSchema: choice,
    updatesContext: false,
    node: { data: { expectedAnswer: expectedChoice(step, names) } },
  })
  if (chosen === undefined) return undefined
  const before = scope.tails
  const outputs: Record<string, Value> = {}
  const tails: string[] = []
  const added: ContextEntry[] = []
  for (const [name, steps] of step.branches) {
    scope.tails = before
    const router = addRouter(scope, `${id}/${name}.if`)
    const gate = addGate(scope, router, `${id}/${name}`)
    const skip = `${id}/${name}.skip`
    scope.build.nodes.push({
      id: skip,
      kind: 'branch',
      capabilityId: functionId('pass'),
      inputs: {},
      contracts: { output: { type: 'object' } },
    })
    router.route({ in: [name, { var: router.see(chosen) }] }, [gate.begin], name)
    router.otherwise([skip])
    const branch = compileBranch(scope, { gate, prefix: `${id}/${name}/`, steps }, compileSteps)
    outputs[name] = { ...branch.value, certain: false }
    tails.push(...branch.tails, skip)
    added.push(...branch.added)
  }
  scope.tails = tails
  scope.context = [...scope.context, ...added]
  const output = mapOf(outputs)
  const inputs = Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, asBinding(value)]))
  return nodeValue(addFunction(scope, { id, name: 'pass', inputs, output }), output, scope.region)
}
