/** Compiles a node that calls a model: an agent of the file, or the model of a built-in. */
import type { Json } from '../../../base/json.ts'
import type { Binding, DraftNode } from '../../../domain/plan.ts'
import { mergeModelSettings } from '../../../domain/settings/model-settings.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Agent, CallStep } from '../../parse/pipeline.ts'
import { didYouMean } from '../../parse/reading.ts'
import { addNode, complain, nodeValue, type Scope } from '../build.ts'
import { mergeStepSettings, withFields } from '../fields.ts'
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
  checkTools(scope, agent)
  const held = isHeld(processing)
  const schema = withFields(scope, step, held ? asked : true)
  if (promoted) notePromotion(scope, given)
  const retries = step.maxRetries ?? agent.maxRetries
  const { data, timeoutMs = agent.timeoutMs, ...rest } = mergeStepSettings(scope, step)
  const prepared = preparePrecheck(scope, processing, step.at)
  const settings = mergeModelSettings(scope.pipeline.modelSettings, agent.modelSettings, step.modelSettings)
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
      ...(Object.keys(settings).length > 0 && { modelSettings: settings as Json }),
      processing: held ? prepared.processing : { ...prepared.processing, schema: asked as Json },
    },
  })
  return nodeValue(node, schema, scope.region)
}

/**
 * Rejects tools that no capability is registered for, of the agent and of the agents it calls: their calls would fail at run
 * time.
 */
function checkTools(scope: Scope, agent: Agent, checked = new Set<Agent>()): void {
  if (checked.has(agent)) return
  checked.add(agent)
  const { tools = [], handoffs = [] } = agent
  const { known } = scope.build
  for (const { worker } of [...tools, ...handoffs]) {
    const called = worker.kind === 'agent' ? scope.pipeline.agents.get(worker.name) : undefined
    if (called) checkTools(scope, called, checked)
  }
  for (const { at, worker } of [...tools, ...handoffs]) {
    if (worker.kind !== 'capability' || known.has(worker.name)) continue
    complain(scope, at, {
      code: 'pipeline/tool',
      message: `capability "${worker.name}" not found`,
      hint: didYouMean(
        worker.name,
        [...known.keys()],
        'Bring it with --use FILE, or add its MCP server under [mcp]',
      ),
    })
  }
  for (const { at, worker } of handoffs)
    if (worker.kind === 'builtin' || (known.get(worker.name)?.kind ?? 'model') !== 'model')
      complain(scope, at, {
        code: 'pipeline/tool',
        message: `${worker.name} cannot continue a conversation`,
        hint: 'Name an agent: agents.NAME',
      })
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
