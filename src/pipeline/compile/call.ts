/** A step that calls somebody: an agent, a built-in, a capability of the user's own, or another pipeline. */
import { closest } from '../../base/closest.ts'
import { isObject, type Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Binding } from '../../domain/plan.ts'
import { both } from '../../schema/combine.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { mapOf } from '../../schema/made-schemas.ts'
import { membersOf } from '../../schema/members.ts'
import { isVacant } from '../../schema/vacant.ts'
import { builtinParams } from '../builtin-params.ts'
import type { Agent, BuiltinName, CallStep, Worker } from '../pipeline.ts'
import { didYouMean } from '../reading.ts'
import { addFunction, addNode, asBinding, complain, type Data, nodeValue, type Scope } from './build.ts'
import { agentId, extractId } from './capabilities.ts'
import { templateValue } from './names.ts'
import { type PreparedPrecheck, preparePrecheck } from './precheck.ts'
import { decideProcessing, isHeld, isStructured } from './step-processing.ts'
import { bring, constant, inside, unknownValue, type Value } from './value.ts'

const takesInput: JsonSchema = { type: 'object', properties: { input: true }, required: ['input'] }
const plainText: JsonSchema = { type: 'string' }

export function compileCall(scope: Scope, step: CallStep): Value | undefined {
  if (step.worker.kind === 'capability') return compileOwn(scope, step)
  const input = inputOf(scope, step) ?? unknownValue
  if (step.worker.kind === 'builtin') return compileBuiltin(scope, step, input)
  return compileAgent(scope, step, input)
}

/** What the step is given: its `input` filled in, else the output before. */
export function inputOf(
  scope: Scope,
  step: { readonly name: string; readonly at: string; readonly input?: Json },
): Value | undefined {
  const id = `${scope.prefix}${step.name}.input`
  const given = step.input
  if (given !== undefined) return templateValue(scope, given, { at: `${step.at}/input`, id })
  const value = bring(scope.previous, scope.region)
  return value.certain ? value : templateValue(scope, '{{ previous_step }}', { at: step.at, id })
}

function compileAgent(scope: Scope, step: CallStep, input: Value): Value | undefined {
  const agent = scope.pipeline.agents.get(step.worker.name)
  if (agent === undefined) return undefined
  const schema =
    step.outputSchema ?? step.processing?.schema ?? agent.outputSchema ?? agent.processing.schema ?? plainText
  return addModelNode(scope, {
    step,
    input,
    agent,
    schema,
    capabilityId: agentId(scope.pipeline, step.worker.name),
  })
}

interface ModelNode {
  readonly step: CallStep
  readonly input: Value
  readonly agent: Agent
  readonly schema: JsonSchema
  readonly capabilityId: string
}

function addModelNode(scope: Scope, { step, input, agent, schema: asked, capabilityId }: ModelNode): Value {
  const { build, pipeline } = scope
  const { processing, promoted } = decideProcessing({
    aros: build.aros,
    agent: agent.processing,
    step: step.processing,
    schema: asked,
  })
  checkStages(scope, { step, agent, names: processing['stages'] })
  const held = isHeld(processing)
  const schema = withFields(scope, step, held ? asked : true)
  if (promoted)
    build.notes.push(
      pipeline.issue(step.at, {
        code: 'pipeline/promoted',
        message: `structured_output: openai_json for ${step.name}, because its schema is an object or an array and nothing sets structured_output`,
        hint: 'Set processing: { structured_output: off } on the step, or auto_promote = false under [aros], to leave it off',
      }),
    )
  const retries = step.maxRetries ?? agent.maxRetries
  const timeoutMs = step.node.timeoutMs ?? agent.timeoutMs
  const fallback = step.fallback && workerId(scope, step, step.fallback)
  const { data, ...rest } = step.node
  const prepared = preparePrecheck(scope, processing, step.at)
  const node = addNode(scope, {
    id: `${scope.prefix}${step.name}`,
    label: step.name,
    capabilityId,
    inputs: { input: asBinding(input), ...prepared.inputs },
    contracts: { input: takesInput, output: schema },
    ...rest,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retries !== undefined && { retry: { max: retries } }),
    ...(fallback !== undefined && { alternates: [fallback] }),
    data: {
      ...data,
      processing: held ? prepared.processing : { ...prepared.processing, schema: asked as Json },
    },
  })
  return nodeValue(node, schema, scope.region)
}

/** Stages must be brought along; a misspelled one would fail the step when it runs. */
function checkStages(
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
      message: `there is no stage ${name}`,
      hint: didYouMean(name, known, 'Bring it with --use FILE, or pass its name as stages'),
    })
  }
}

function workerId(scope: Scope, step: CallStep, worker: Worker): string | undefined {
  if (worker.kind === 'agent') return agentId(scope.pipeline, worker.name)
  if (worker.kind === 'capability' && scope.build.known.has(worker.name)) return worker.name
  complain(scope, `${step.at}/fallback`, {
    code: 'pipeline/fallback',
    message: `${worker.name} cannot stand in for a step`,
    hint: 'Name an agent (agents.NAME) or a capability of your own; it gets the input of the step',
  })
  return undefined
}

/** `validate_fields`: members that the answer must have. */
function withFields(scope: Scope, { validateFields, at }: CallStep, schema: JsonSchema): JsonSchema {
  if (validateFields === undefined) return schema
  const required = validateFields === true ? membersOf(schema).map(({ name }) => name) : validateFields
  if (required.length === 0) return schema
  checkFields(scope, `${at}/validate_fields`, { required, schema })
  const wanted = both(schema, { type: 'object', required: [...required] })
  if (isVacant(wanted))
    complain(scope, `${at}/validate_fields`, {
      code: 'pipeline/fields',
      message: `the schema of the answer rules out a member that validate_fields names`,
      hint: 'Take it out of validate_fields, or let the schema have it',
    })
  return wanted
}

/** A field that is nearly a member of the schema would be asked for, missing in every answer, and fail the step. */
function checkFields(
  scope: Scope,
  at: string,
  { required, schema }: { readonly required: readonly string[]; readonly schema: JsonSchema },
): void {
  const members = membersOf(schema).map(({ name }) => name)
  for (const [index, field] of required.entries()) {
    const meant = members.includes(field) ? undefined : closest(field, members)
    if (meant === undefined) continue
    complain(scope, child(at, index), {
      code: 'pipeline/fields',
      message: `the schema of the answer has no member ${field}`,
      hint: `Did you mean ${meant}?`,
    })
  }
}

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
  const output =
    step.worker.name === 'wrap_dict'
      ? mapOf({ [key]: { schema: input.schema, certain: true } })
      : objectOf(input.schema)
  return nodeValue(
    addFunction(scope, { id, name: step.worker.name as 'wrap_dict', inputs, output }),
    output,
    scope.region,
  )
}

function objectOf(schema: JsonSchema): JsonSchema {
  return isObject(schema) && schema['type'] === 'object' ? schema : { type: 'object' }
}

/** The value out of a text, by a model; what is no object comes under the key `result`. */
function compileExtract(scope: Scope, step: CallStep, input: Value): Value | undefined {
  const wanted = step.params['schema'] ?? step.processing?.schema ?? step.outputSchema
  if (!isObject(wanted)) {
    complain(scope, step.at, {
      code: 'pipeline/params',
      message: 'extract_from_text needs the schema of what is to be extracted',
      hint: 'Write params: { schema: { type: object, … } }',
    })
    return undefined
  }
  const schema =
    isStructured(wanted) && wanted['type'] !== 'array'
      ? wanted
      : mapOf({ result: { schema: wanted, certain: true } })
  const capabilityId = extractId(scope.pipeline, step)
  const agent: Agent = {
    at: step.at,
    systemPrompt: '',
    processing: { said: { structured_output: 'auto', aop: 'full' } },
  }
  return addModelNode(scope, { step, input, agent, schema, capabilityId })
}

/** A capability of the user's own: a map as input gives its properties, anything else goes in as `input`. */
function compileOwn(scope: Scope, step: CallStep): Value | undefined {
  const capability = scope.build.known.get(step.worker.name)
  if (capability === undefined) {
    const names = [...scope.build.known.keys()]
    complain(scope, `${step.at}/uses`, {
      code: 'pipeline/unknown',
      message: `there is no capability ${step.worker.name}`,
      hint: didYouMean(step.worker.name, names, 'Bring it with --use FILE'),
    })
    return undefined
  }
  const inputs = ownInputs(scope, step, namesOf(capability.inputContract))
  const declared: JsonSchema = Array.isArray(capability.outputContract)
    ? true
    : (capability.outputContract as JsonSchema)
  const said = step.outputSchema ?? step.processing?.schema
  const schema = withFields(scope, step, said === undefined ? declared : both(declared, said))
  const fallback = step.fallback && workerId(scope, step, step.fallback)
  const { data, ...rest } = step.node
  const prepared = ownProcessing(scope, step, capability)
  const node = addNode(scope, {
    id: `${scope.prefix}${step.name}`,
    label: step.name,
    capabilityId: capability.capabilityId,
    inputs: { ...prepared?.inputs, ...inputs },
    contracts: said === undefined && step.validateFields === undefined ? {} : { output: schema },
    ...rest,
    ...(step.maxRetries !== undefined && { retry: { max: step.maxRetries } }),
    ...(fallback !== undefined && { alternates: [fallback] }),
    ...((data || prepared) && {
      data: { ...data, ...(prepared && { processing: prepared.processing }) } as Data,
    }),
  })
  return nodeValue(node, schema, scope.region)
}

/** The step's block; a precheck needs inputs of its own, which a contract without further properties does not take. */
function ownProcessing(
  scope: Scope,
  step: CallStep,
  { kind, inputContract }: Capability,
): PreparedPrecheck | undefined {
  const { processing, at } = step
  if (processing === undefined) return undefined
  checkStages(scope, { step, names: processing.said['stages'] })
  const isOpen = isObject(inputContract) && inputContract['additionalProperties'] !== false
  return kind === 'model' && isOpen
    ? preparePrecheck(scope, processing.said, at)
    : { processing: processing.said, inputs: {} }
}

function ownInputs(scope: Scope, step: CallStep, names: readonly string[]): Record<string, Binding> {
  const given = step.input
  if (isObject(given)) {
    const inputs: Record<string, Binding> = {}
    for (const [name, part] of Object.entries({ ...step.params, ...given } as Data)) {
      const at = child(`${step.at}/input`, name)
      const value = templateValue(scope, part, { at, id: `${scope.prefix}${step.name}.${name}` })
      inputs[name] = asBinding(value ?? unknownValue)
    }
    return inputs
  }
  const value = inputOf(scope, step) ?? unknownValue
  const params = Object.fromEntries(
    Object.entries(step.params).map(([name, part]) => [name, asBinding(constant(part))]),
  )
  if (given !== undefined || names.length === 0 || names.includes('input'))
    return { ...params, input: asBinding(value) }
  // Without an input of its own the capability finds its properties in the output before.
  const found = names.flatMap((name) => {
    const member = inside(value, [name])
    return 'absent' in member ? [] : [[name, asBinding(member)] as const]
  })
  return { ...params, ...Object.fromEntries(found) }
}

function namesOf(side: JsonSchema | readonly string[]): readonly string[] {
  return Array.isArray(side) ? side : membersOf(side as JsonSchema).map(({ name }) => name)
}
