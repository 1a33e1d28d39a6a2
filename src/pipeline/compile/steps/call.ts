/** Compiles a step that calls an agent, a built-in or a registered capability. */

import { isObject } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import { mapOf } from '../../../schema/build/composite-schemas.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { type Agent, type BuiltinName, builtinParams, type CallStep } from '../../parse/pipeline.ts'
import { didYouMean } from '../../parse/reading.ts'
import { addFunction, asBinding, complain, nodeValue, type Scope } from '../build.ts'
import { agentId, extractId } from '../capabilities.ts'
import { hasPromise, promisedOver, saidSchema, settingsOf } from '../fields.ts'
import { inputOf } from '../names.ts'
import { isStructured } from '../step-processing.ts'
import { unknownValue, type Value } from '../value.ts'
import { backed } from './fallback.ts'
import { addModelNode } from './model-node.ts'
import { addOwnNode, declaredOutput, ownInputs } from './own-node.ts'

const plainText: JsonSchema = { type: 'string' }

export function compileCall(scope: Scope, step: CallStep): Value | undefined {
  if (step.worker.kind === 'capability') return compileOwn(scope, step)
  const input = inputOf(scope, step) ?? unknownValue
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

// Compiles the built-ins: functions that make a map of a value, and a model that extracts a value from a text.

function compileBuiltin(scope: Scope, step: CallStep, input: Value): Value | undefined {
  const id = `${scope.prefix}${step.name}`
  const key = typeof step.params['key'] === 'string' ? step.params['key'] : 'value'
  const names = builtinParams[step.worker.name as BuiltinName]
  const unknown = Object.keys(step.params).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    complain(scope, child(`${step.at}/params`, unknown), {
      code: 'pipeline/params',
      key: true,
      message: `${step.worker.name} has no parameter ${unknown}`,
      hint: didYouMean(unknown, names, `It takes ${names.join(', ')}`),
    })
    return undefined
  }
  if (step.worker.name === 'extract_from_text') return compileExtract(scope, step, input)
  const inputs = { input: asBinding(input), key: { value: key } }
  const made =
    step.worker.name === 'wrap_dict'
      ? mapOf({ [key]: { schema: input.schema, certain: true } })
      : objectOf(input.schema)
  // The output has no further members; this decides whether it can satisfy the declared schema.
  const exact =
    step.worker.name === 'wrap_dict' && isObject(made) ? { ...made, additionalProperties: false } : made
  const output = hasPromise(step) ? promisedOver(scope, step, exact) : made
  const settings = settingsOf(scope, step)
  const name = step.worker.name as 'wrap_dict'
  const node = addFunction(scope, { id, name, inputs, output, settings })
  return backed(scope, step, { node: id, value: nodeValue(node, output, scope.region), input })
}

function objectOf(schema: JsonSchema): JsonSchema {
  return isObject(schema) && schema['type'] === 'object' ? schema : { type: 'object' }
}

/** Extracts a value from a text with a model; a value that is not an object is wrapped under the key `result`. */
function compileExtract(scope: Scope, step: CallStep, input: Value): Value | undefined {
  const wanted = step.params['schema'] ?? saidSchema(step)
  if (!isObject(wanted)) {
    complain(scope, step.at, {
      code: 'pipeline/params',
      message: 'extract_from_text needs the schema of what is to be extracted',
      hint: 'Write params: { schema: { type: object, … } }',
    })
    return undefined
  }
  const extracted =
    isStructured(wanted) && wanted['type'] !== 'array'
      ? wanted
      : mapOf({ result: { schema: wanted, certain: true } })
  // With a schema in `params`, the schema of the step applies to its output.
  const schema =
    step.params['schema'] === undefined ? extracted : promisedOver(scope, step, extracted as JsonSchema)
  const capabilityId = extractId(scope.pipeline, step)
  const agent: Agent = {
    at: step.at,
    systemPrompt: '',
    processing: { said: { structured_output: 'auto', aop: 'full' } },
  }
  const id = `${scope.prefix}${step.name}`
  const inputs = { input: asBinding(input) }
  const value = addModelNode(scope, { id, step, inputs, agent, schema, capabilityId })
  return backed(scope, step, { node: id, value, asked: schema, inputs, input })
}
