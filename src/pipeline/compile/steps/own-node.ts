/**
 * Compiles a node that calls a registered capability: a map as input supplies its properties, any other value
 * becomes `input`.
 */
import { isObject, type Json } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { Binding, DraftNode } from '../../../domain/plan.ts'
import { mergeModelSettings } from '../../../domain/settings/model-settings.ts'
import { buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import { listMembers, project } from '../../../schema/build/project.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { CallStep } from '../../parse/pipeline.ts'
import { addNode, asBinding, complain, type Data, nodeValue, type Scope } from '../build.ts'
import { hasPromise, mergeStepSettings } from '../fields.ts'
import { resolveStepInput, templateValue } from '../names.ts'
import { constant, inside, mayBeObject, unknownValue, type Value } from '../value.ts'
import { checkStages } from './model-node.ts'
import { type PreparedPrecheck, preparePrecheck } from './precheck.ts'

interface OwnNode {
  readonly id: string
  readonly kind?: DraftNode['kind']
  readonly step: CallStep
  readonly capability: Capability
  readonly inputs: Record<string, Binding>
  /** The required schema of the answer. */
  readonly schema: JsonSchema
}

export function addOwnNode(scope: Scope, given: OwnNode): Value {
  const { id, kind, step, capability, inputs, schema } = given
  const { data, ...rest } = mergeStepSettings(scope, step)
  const prepared = ownProcessing(scope, given)
  const settings = ownModelSettings(scope, given)
  const isHeld = kind === 'fallback' || hasPromise(step)
  const node = addNode(scope, {
    id,
    ...(kind && { kind }),
    label: step.name,
    capabilityId: capability.capabilityId,
    inputs: { ...prepared?.inputs, ...inputs },
    contracts: isHeld ? { output: schema } : {},
    ...rest,
    ...(step.maxRetries !== undefined && { retry: { max: step.maxRetries } }),
    ...((data || prepared || settings) && {
      data: { ...data, ...(prepared && { processing: prepared.processing }), ...settings } as Data,
    }),
  })
  return nodeValue(node, schema, scope.region)
}

/** The settings of the file and of the step, for a capability that is a model. */
function ownModelSettings(scope: Scope, { kind: node, step, capability }: OwnNode): Data | undefined {
  const { kind, capabilityId } = capability
  if (kind !== 'model') {
    if (node !== 'fallback' && step.modelSettings)
      complain(scope, `${step.at}/model_settings`, {
        code: 'pipeline/unread',
        key: true,
        message: `model_settings has no effect on ${capabilityId}, which calls no model`,
        hint: 'Remove it',
      })
    return undefined
  }
  const settings = mergeModelSettings(scope.pipeline.modelSettings, step.modelSettings)
  return Object.keys(settings).length > 0 ? { modelSettings: settings as Json } : undefined
}

/** The output schema that a capability declares. */
export function declaredOutput({ outputContract }: Capability): JsonSchema {
  return Array.isArray(outputContract) ? true : (outputContract as JsonSchema)
}

/** The `processing` of the step. A precheck needs additional inputs, which a closed input contract does not accept. */
function ownProcessing(
  scope: Scope,
  { kind: node, step, capability }: OwnNode,
): PreparedPrecheck | undefined {
  const { processing, at } = step
  const { kind, inputContract, capabilityId } = capability
  if (processing === undefined) return undefined
  if (kind !== 'model') {
    // Settings for the model of the step do not apply to a capability used as its fallback.
    if (node !== 'fallback') reportUnusedKeys(scope, step, capabilityId)
    return undefined
  }
  checkStages(scope, { step, names: processing.said['stages'] })
  const isOpen = isObject(inputContract) && inputContract['additionalProperties'] !== false
  return isOpen ? preparePrecheck(scope, processing.said, at) : { processing: processing.said, inputs: {} }
}

function reportUnusedKeys(scope: Scope, { processing, at }: CallStep, capabilityId: string): void {
  for (const key of Object.keys(processing?.said ?? {}))
    complain(scope, `${at}/processing/${key}`, {
      code: 'pipeline/unread',
      key: true,
      message: `processing.${key} has no effect on ${capabilityId}, which calls no model`,
      hint: 'Remove it; output_schema says what the step must answer',
    })
}

/** The inputs of the capability: one binding per member of a map, else a single value. */
export function ownInputs(scope: Scope, step: CallStep, capability: Capability): Record<string, Binding> {
  const given = step.input
  if (isObject(given)) {
    const inputs: Record<string, Binding> = {}
    for (const [name, part] of Object.entries({ ...step.params, ...given } as Data)) {
      const at = child(`${step.at}/input`, name)
      const wanted = acceptedAt(capability, name)
      const value = templateValue(scope, part, { at, id: `${scope.prefix}${step.name}.${name}`, wanted })
      inputs[name] = asBinding(value ?? unknownValue)
    }
    return inputs
  }
  const value = resolveStepInput(scope, step, acceptedWhole(capability))
  return inputsFrom(value ?? unknownValue, { step, capability })
}

/** The schema of one input of the capability. */
function acceptedAt({ inputContract }: Capability, name: string): JsonSchema {
  if (Array.isArray(inputContract)) return true
  return project(inputContract as JsonSchema, child('', name)).schema
}

/** What a single value must be: `input`, or a map of the inputs, whose other members are omitted. */
function acceptedWhole(capability: Capability): JsonSchema {
  const names = getNames(capability.inputContract)
  if (takesWhole(names)) return acceptedAt(capability, 'input')
  const { inputContract } = capability
  const members = Array.isArray(inputContract) ? [] : listMembers(inputContract as JsonSchema)
  return buildMapSchema(
    Object.fromEntries(
      members.map(({ name, required }) => [
        name,
        { schema: acceptedAt(capability, name), certain: required },
      ]),
    ),
  )
}

const takesWhole = (names: readonly string[]): boolean => names.length === 0 || names.includes('input')

/**
 * A value that is a map supplies the properties that the capability accepts; members without a counterpart
 * are omitted.
 */
export function inputsFrom(
  value: Value,
  { step, capability }: { readonly step: CallStep; readonly capability: Capability },
): Record<string, Binding> {
  const names = getNames(capability.inputContract)
  const params = Object.fromEntries(
    Object.entries(step.params).map(([name, part]) => [name, asBinding(constant(part))]),
  )
  if (takesWhole(names) || (step.input !== undefined && !mayBeObject(value)))
    return { ...params, input: asBinding(value) }
  const found = names.flatMap((name) => {
    const member = inside(value, [name])
    return 'absent' in member ? [] : [[name, asBinding(member)] as const]
  })
  return { ...params, ...Object.fromEntries(found) }
}

function getNames(side: JsonSchema | readonly string[]): readonly string[] {
  return Array.isArray(side) ? side : listMembers(side as JsonSchema).map(({ name }) => name)
}
