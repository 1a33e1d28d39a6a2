/** Compiles a node that calls a model: an agent of the file, or the model of a built-in. */
import type { Json } from '../../../base/json.ts'
import type { Binding, DraftNode } from '../../../domain/plan.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Agent, CallStep } from '../../parse/pipeline.ts'
import { didYouMean } from '../../parse/reading.ts'
import { addNode, complain, nodeValue, type Scope } from '../build.ts'
import { settingsOf, withFields } from '../fields.ts'
import { decideProcessing, isHeld } from '../step-processing.ts'
import type { Value } from '../value.ts'
import { preparePrecheck } from './precheck.ts'

interface ModelNode {
  readonly id: string
  readonly kind?: DraftNode['kind']
  readonly step: CallStep
  readonly agent: Agent
  readonly inputs: Record<string, Binding>
  /** The required schema of the answer. */
  readonly schema: JsonSchema
  readonly capabilityId: string
}

const takesInput: JsonSchema = { type: 'object', properties: { input: true }, required: ['input'] }

/** Settings of the step override those of its agent. */
export function addModelNode(scope: Scope, given: ModelNode): Value {
  const { id, kind, step, agent, inputs, schema: asked, capabilityId } = given
  const { build } = scope
  const { processing, promoted } = decideProcessing({
    aros: build.aros,
    agent: agent.processing,
    step: step.processing,
    schema: asked,
  })
  checkStages(scope, { step, agent, names: processing['stages'] })
  const held = isHeld(processing)
  const schema = withFields(scope, step, held ? asked : true)
  if (promoted) notePromotion(scope, given)
  const retries = step.maxRetries ?? agent.maxRetries
  const { data, timeoutMs = agent.timeoutMs, ...rest } = settingsOf(scope, step)
  const prepared = preparePrecheck(scope, processing, step.at)
  const node = addNode(scope, {
    id,
    ...(kind && { kind }),
    label: step.name,
    capabilityId,
    inputs: { ...inputs, ...prepared.inputs },
    contracts: { ...('input' in inputs && { input: takesInput }), output: schema },
    ...rest,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retries !== undefined && { retry: { max: retries } }),
    data: {
      ...data,
      processing: held ? prepared.processing : { ...prepared.processing, schema: asked as Json },
    },
  })
  return nodeValue(node, schema, scope.region)
}

function notePromotion({ build, pipeline }: Scope, { kind, step }: ModelNode): void {
  build.notes.push(
    pipeline.issue(step.at, {
      code: 'pipeline/promoted',
      message: `structured_output: openai_json for ${kind === 'fallback' ? 'the fallback of ' : ''}${step.name}, because its schema is an object or an array and nothing sets structured_output`,
      hint: 'Set processing: { structured_output: off } on the step, or auto_promote = false under [aros], to leave it off',
    }),
  )
}

/** Rejects unknown stages, which would fail the step at run time. */
export function checkStages(
  scope: Scope,
  given: { readonly step: CallStep; readonly agent?: Agent; readonly names: Json | undefined },
): void {
  const { step, agent, names = [] } = given
  const known = scope.build.stages
  const isOwn = step.processing?.said['stages'] !== undefined || agent === undefined
  for (const [index, name] of (names as readonly string[]).entries()) {
    if (known.includes(name)) continue
    complain(scope, `${isOwn ? step.at : agent?.at}/processing/stages/${index}`, {
      code: 'pipeline/unknown',
      message: `stage "${name}" not found`,
      hint: didYouMean(name, known, 'Bring it with --use FILE, or pass its name as stages'),
    })
  }
}
