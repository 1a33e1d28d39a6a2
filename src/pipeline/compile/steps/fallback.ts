/**
 * Compiles `fallback`: a separate node that runs after the step has failed permanently. It uses the settings
 * of the fallback agent; its output must satisfy both the schema of the step and the agent's own.
 */
import type { Binding } from '../../../domain/plan.ts'
import { both } from '../../../schema/build/combine.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isVacant } from '../../../schema/values/schema-values.ts'
import type { CallStep, Worker } from '../../parse/pipeline.ts'
import { asBinding, complain, type Scope } from '../build.ts'
import { agentId } from '../capabilities.ts'
import { unknownValue, type Value } from '../value.ts'
import { addModelNode } from './model-node.ts'
import { addOwnNode, declaredOutput, inputsFrom } from './own-node.ts'

interface Primary {
  /** The node whose failure triggers the fallback. */
  readonly node: string
  readonly value: Value
  /** Schema requested from the model, if stricter than the enforced one. */
  readonly asked?: JsonSchema
  /** The input of the step: one value, or a binding for each member. */
  readonly input?: Value
  readonly inputs?: Record<string, Binding>
}

/** Returns the output of a step, from its fallback if it has one and the step fails. */
export function backed(scope: Scope, step: CallStep, primary: Primary): Value {
  if (step.fallback === undefined) return primary.value
  const { tails } = scope
  scope.tails = []
  const value = addFallback(scope, step, { worker: step.fallback, primary })
  scope.tails = [...tails, ...scope.tails]
  if (value === undefined) return primary.value
  for (const source of value.sources)
    if ('node' in source) scope.build.edges.push({ from: primary.node, to: source.node, when: 'fail' })
  return { ...primary.value, sources: [...primary.value.sources, ...value.sources] }
}

interface Fallback {
  readonly worker: Worker
  readonly primary: Primary
}

function addFallback(scope: Scope, step: CallStep, { worker, primary }: Fallback): Value | undefined {
  const id = `${scope.prefix}${step.name}.fallback`
  const { value, asked, input = unknownValue, inputs } = primary
  if (worker.kind === 'agent') {
    const agent = scope.pipeline.agents.get(worker.name)
    if (agent === undefined) return undefined
    const own = agent.outputSchema ?? agent.processing.schema
    const promised = value.schema === true ? (asked ?? true) : value.schema
    const schema = own === undefined ? promised : both(value.schema, own)
    if (!canAnswer(scope, step, { worker, schema })) return undefined
    const capabilityId = agentId(scope.pipeline, worker.name)
    const given = inputs ?? { input: asBinding(input) }
    return addModelNode(scope, { id, kind: 'fallback', step, agent, inputs: given, schema, capabilityId })
  }
  const capability = worker.kind === 'capability' ? scope.build.known.get(worker.name) : undefined
  if (capability === undefined) {
    complain(scope, `${step.at}/fallback`, {
      code: 'pipeline/fallback',
      message: `${worker.name} cannot be the fallback of a step`,
      hint: 'Name an agent (agents.NAME) or a capability of your own; it gets the input of the step',
    })
    return undefined
  }
  const schema = both(value.schema, declaredOutput(capability))
  if (!canAnswer(scope, step, { worker, schema })) return undefined
  const given = primary.input === undefined ? (inputs ?? {}) : inputsFrom(input, { step, capability })
  return addOwnNode(scope, { id, kind: 'fallback', step, capability, inputs: given, schema })
}

/** Rejects a fallback whose output can never satisfy the schema of the step. */
function canAnswer(
  scope: Scope,
  step: CallStep,
  { worker, schema }: { readonly worker: Worker; readonly schema: JsonSchema },
): boolean {
  if (!isVacant(schema)) return true
  complain(scope, `${step.at}/fallback`, {
    code: 'pipeline/fallback',
    message: `the answers of ${worker.name} never satisfy what ${step.name} promises: their schemas have no value in common`,
    hint:
      worker.kind === 'agent'
        ? `Give ${worker.name} the output schema of the step, or none: an agent without one is asked for what the step promises`
        : 'Name an agent, or a capability whose output contract allows what the step promises',
  })
  return false
}
