/** Compiles the built-ins: functions of one value, a model that extracts a value from a text, and the request of a URL. */
import { isObject, type Json } from '../../../base/json.ts'
import { checkNoun } from '../../../domain/parse/parsed.ts'
import type { Binding } from '../../../domain/plan.ts'
import { buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { type BuiltinName, getBuiltin, paramsSchema } from '../../parse/builtins.ts'
import type { Agent, CallStep } from '../../parse/pipeline.ts'
import { didYouMean } from '../../parse/reading.ts'
import { addFunction, addNode, asBinding, complain, nodeValue, type Scope } from '../build.ts'
import { extractId } from '../capabilities.ts'
import { hasPromise, mergeStepSettings, promisedOver, saidSchema } from '../fields.ts'
import { httpGet } from '../functions.ts'
import { isStructured } from '../step-processing.ts'
import { inside, type Value } from '../value.ts'
import { backed } from './fallback.ts'
import { addModelNode } from './model-node.ts'

export function compileBuiltin(scope: Scope, step: CallStep, input: Value): Value | undefined {
  const name = step.worker.name as BuiltinName
  if (!checkParams(scope, step, name)) return undefined
  if (name === 'extract_from_text') return compileExtract(scope, step, input)
  if (name === 'http_get') return compileHttpGet(scope, step, input)
  return compileFunction(scope, step, { name, input })
}

function checkParams(scope: Scope, step: CallStep, name: BuiltinName): boolean {
  const names = Object.keys(getBuiltin(name).params)
  const issues = checkNoun(paramsSchema(name), step.params as Json, '')
  for (const { code, at, message } of issues) {
    const pointer = 'pointer' in at ? at.pointer : ''
    const isUnknown = code === 'schema/additionalProperties'
    const param = pointer.slice(1)
    complain(scope, `${step.at}/params${pointer}`, {
      code: 'pipeline/params',
      ...(isUnknown && { key: true as const }),
      message: isUnknown ? `${name} has no parameter ${param}` : `params of ${name}: ${message}`,
      hint: isUnknown
        ? didYouMean(param, names, `It takes ${names.join(', ') || 'no parameters'}`)
        : 'See the built-ins in docs/reference/pipelines.md',
    })
  }
  return issues.length === 0
}

type Made = {
  readonly inputs: Record<string, Binding>
  /** What every output satisfies, and nothing more. */
  readonly exact: JsonSchema
}

type Maker = (scope: Scope, step: CallStep, input: Value) => Made | undefined

const plainText: JsonSchema = { type: 'string' }

function toText(_scope: Scope, { params }: CallStep): Made {
  return { inputs: toConstants(params), exact: plainText }
}

const makers: { readonly [name in Exclude<BuiltinName, 'extract_from_text' | 'http_get'>]: Maker } = {
  wrap_dict(_scope, step, { schema }) {
    const key = getKey(step)
    const made = buildMapSchema({ [key]: { schema, certain: true } })
    return {
      inputs: { key: { value: key } },
      exact: isObject(made) ? { ...made, additionalProperties: false } : made,
    }
  },
  ensure_object: (_scope, step, { schema }) => ({
    inputs: { key: { value: getKey(step) } },
    exact: isObject(schema) && schema['type'] === 'object' ? schema : { type: 'object' },
  }),
  passthrough: (_scope, _step, { schema }) => ({ inputs: {}, exact: schema }),
  stringify: toText,
  join: (scope, step, input) => (isList(scope, step, input) ? toText(scope, step) : undefined),
  to_csv: (scope, step, input) => (isList(scope, step, input) ? toText(scope, step) : undefined),
  flatten: (scope, step, input) =>
    isList(scope, step, input) ? { inputs: {}, exact: { type: 'array' } } : undefined,
  select_fields: selectFields,
}

function compileFunction(
  scope: Scope,
  step: CallStep,
  { name, input }: { readonly name: keyof typeof makers; readonly input: Value },
): Value | undefined {
  const made = makers[name](scope, step, input)
  if (made === undefined) return undefined
  const id = `${scope.prefix}${step.name}`
  const inputs = { input: asBinding(input), ...made.inputs }
  const settings = mergeStepSettings(scope, step)
  // The output has no members but these; this decides whether it can satisfy the declared schema.
  const output = hasPromise(step) ? promisedOver(scope, step, made.exact) : openAgain(made.exact)
  const node = addFunction(scope, { id, name, inputs, output, settings })
  return backed(scope, step, { node: id, value: nodeValue(node, output, scope.region), input })
}

/** Without a declared schema, later steps may name members that are not there behind `default`. */
function openAgain(schema: JsonSchema): JsonSchema {
  if (!isObject(schema) || schema['additionalProperties'] !== false) return schema
  const { additionalProperties: _, ...open } = schema
  return open as JsonSchema
}

function getKey({ params }: CallStep): string {
  return typeof params['key'] === 'string' ? params['key'] : 'value'
}

function toConstants(params: CallStep['params']): Record<string, Binding> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, { value }]))
}

/** Reports an input that can never be a list. */
function isList(scope: Scope, step: CallStep, { schema, known }: Value): boolean {
  const type = isObject(schema) ? schema['type'] : undefined
  const cannot = known ? !Array.isArray(known.value) : type !== undefined && ![type].flat().includes('array')
  if (cannot)
    complain(scope, step.input === undefined ? step.at : `${step.at}/input`, {
      code: 'pipeline/params',
      message: `${step.worker.name} takes a list, and its input is not a list`,
      hint: 'Set input to a list, such as "{{ steps.each.output }}"',
    })
  return !cannot
}

/** `fields` is a list of members, or a map from new names to paths. */
function selectFields(scope: Scope, step: CallStep, input: Value): Made | undefined {
  const given = step.params['fields'] as readonly string[] | { readonly [name: string]: string }
  const fields = Array.isArray(given)
    ? Object.fromEntries(given.map((path: string) => [path.split('.').at(-1) ?? path, path]))
    : (given as { readonly [name: string]: string })
  const members: Record<string, { schema: JsonSchema; certain: boolean }> = {}
  let isWhole = true
  for (const [name, path] of Object.entries(fields)) {
    const found = inside(input, path.split('.'))
    if ('absent' in found) {
      // A member that this input lacks is left out; one that the schema rules out is a mistake.
      const names = input.known && isObject(input.known.value) ? Object.keys(input.known.value) : found.absent
      isWhole = false
      complain(scope, `${step.at}/params/fields`, {
        code: 'pipeline/params',
        words: path,
        message: `the input of ${step.name} has no member ${path}`,
        hint: didYouMean(path, names, names.length > 0 ? `It has ${names.join(', ')}` : 'It is no map'),
      })
    } else members[name] = { schema: found.known ? true : found.schema, certain: found.certain }
  }
  if (!isWhole) return undefined
  const made = buildMapSchema(members)
  return {
    inputs: { fields: { value: fields } },
    exact: isObject(made) ? { ...made, additionalProperties: false } : made,
  }
}

/** The input is the URL. Its answer is untrusted content. */
function compileHttpGet(scope: Scope, step: CallStep, input: Value): Value | undefined {
  const id = `${scope.prefix}${step.name}`
  const schema = promisedOver(scope, step, httpGet.outputContract as JsonSchema)
  const node = addNode(scope, {
    ...mergeStepSettings(scope, step),
    id,
    label: step.name,
    capabilityId: httpGet.capabilityId,
    inputs: { url: asBinding(input) },
    contracts: { output: schema },
    ...(step.maxRetries !== undefined && { retry: { max: step.maxRetries } }),
  })
  return backed(scope, step, { node: id, value: nodeValue(node, schema, scope.region), input })
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
      : buildMapSchema({ result: { schema: wanted, certain: true } })
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
