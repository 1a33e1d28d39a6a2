/** Compiles a step that calls an agent, a built-in or a registered capability. */

import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { CallStep } from '../../parse/pipeline.ts'
import { didYouMean } from '../../parse/reading.ts'
import { asBinding, complain, type Scope } from '../build.ts'
import { agentId } from '../capabilities.ts'
import { promisedOver, saidSchema } from '../fields.ts'
import { resolveStepInput } from '../names.ts'
import { unknownValue, type Value } from '../value.ts'
import { compileBuiltin } from './builtin.ts'
import { backed } from './fallback.ts'
import { addModelNode } from './model-node.ts'
import { addOwnNode, declaredOutput, ownInputs } from './own-node.ts'

const plainText: JsonSchema = { type: 'string' }

export function compileCall(scope: Scope, step: CallStep): Value | undefined {
  if (step.worker.kind === 'capability') return compileOwn(scope, step)
  const input = resolveStepInput(scope, step) ?? unknownValue
  if (step.worker.kind === 'builtin') return compileBuiltin(scope, step, input)
  return compileAgent(scope, step, input)
}

function compileAgent(scope: Scope, step: CallStep, input: Value): Value | undefined {
  const agent = scope.pipeline.agents.get(step.worker.name)
  if (agent === undefined) return undefined
  const id = `${scope.prefix}${step.name}`
  const schema = saidSchema(step) ?? agent.outputSchema ?? agent.processing.schema ?? plainText
  const capabilityId = agentId(scope.pipeline, step.worker.name)
  const inputs = { input: asBinding(input) }
  const value = addModelNode(scope, { id, step, agent, inputs, schema, capabilityId })
  return backed(scope, step, { node: id, value, asked: schema, inputs, input })
}

function compileOwn(scope: Scope, step: CallStep): Value | undefined {
  const capability = scope.build.known.get(step.worker.name)
  if (capability === undefined) {
    const names = [...scope.build.known.keys()]
    complain(scope, `${step.at}/uses`, {
      code: 'pipeline/unknown',
      message: `capability "${step.worker.name}" not found`,
      hint: didYouMean(step.worker.name, names, 'Bring it with --use FILE'),
    })
    return undefined
  }
  const id = `${scope.prefix}${step.name}`
  const inputs = ownInputs(scope, step, capability)
  const schema = promisedOver(scope, step, declaredOutput(capability))
  const value = addOwnNode(scope, { id, step, capability, inputs, schema })
  return backed(scope, step, { node: id, value, inputs })
}
