/** What an envelope may contain at a place: read from the schema that the server validates with. */
import { envelopeSchema } from '../../../src/domain/schemas/envelope-schema.ts'

interface Schema {
  readonly [keyword: string]: unknown
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
}

export interface Member {
  readonly name: string
  /** The shortest value that the schema accepts, as JSON. */
  readonly insert: string
  readonly info: string
}

/** What the object around the cursor has so far: text of single values, `undefined` of others. */
export type Given = ReadonlyMap<string, string | undefined>

/** Members that the object at the path may have and has not yet. */
export function listMembers(path: readonly string[], given: Given): readonly Member[] {
  const found = new Map<string, Schema>()
  for (const { properties = {} } of formsAt(path).filter((form) => fits(form, given)))
    for (const [name, schema] of Object.entries(properties))
      if (!given.has(name) && schema['deprecated'] !== true && !found.has(name)) found.set(name, schema)
  return [...found].map(([name, schema]) => ({
    name,
    insert: examples[name] ?? JSON.stringify(makeExample(schema)),
    info: infos[name] ?? '',
  }))
}

/** The texts among which a value at the path must be; empty if it is free. */
export function listValues(path: readonly string[]): readonly string[] {
  const texts = formsAt(path).flatMap(({ enum: some, const: one }) => [some ?? [], one ?? []].flat())
  return [...new Set(texts.filter((text): text is string => typeof text === 'string'))]
}

/** All forms of the value at a path, which leaves out positions in lists. */
function formsAt(path: readonly string[]): readonly Schema[] {
  let forms = expand(envelopeSchema as Schema)
  for (const name of path)
    forms = forms.flatMap(({ properties }) => {
      const member = properties?.[name]
      return member ? expand(member) : []
    })
  return forms
}

/** The schema itself, what it refers to, its alternatives, and the items of a list. */
function expand(schema: Schema): readonly Schema[] {
  const reference = /^#\/\$defs\/(\w+)$/.exec(String(schema['$ref'] ?? ''))?.[1]
  const inner = [
    reference && (envelopeSchema.$defs as { readonly [name: string]: unknown })[reference],
    schema['anyOf'],
    schema['allOf'],
    schema['then'],
    schema['else'],
    schema['items'],
  ]
  return [schema, ...inner.flat().flatMap((each) => (each ? expand(each as Schema) : []))]
}

/** A closed form with another member, or with another word where it has a fixed one, is not the one that is written. */
function fits({ properties = {}, additionalProperties }: Schema, given: Given): boolean {
  return [...given].every(([name, text]) => {
    const member = properties[name]
    if (member === undefined) return additionalProperties !== false
    return member['const'] === undefined || text === undefined || member['const'] === text
  })
}

function makeExample(schema: Schema): unknown {
  const forms = expand(schema)
  const find = (keyword: string) => forms.find((form) => form[keyword] !== undefined)?.[keyword]
  const { const: fixed, enum: some } = schema
  if (fixed !== undefined) return fixed
  if (Array.isArray(some)) return some[0]
  const [type] = [find('type')].flat()
  if (type === 'object') {
    const { properties = {}, required = [] } = forms.find((form) => form.required) ?? {}
    return Object.fromEntries(required.map((name) => [name, makeExample(properties[name] ?? {})]))
  }
  if (type === 'array') return schema['minItems'] ? [makeExample((schema['items'] as Schema) ?? {})] : []
  if (type === 'string') return ''
  if (type === 'boolean') return true
  return find('minimum') ?? 1
}

const schemaExample = '{ "type": "object", "properties": {}, "required": [] }'

/** Examples that say more than the shortest value. */
const examples: { readonly [name: string]: string } = {
  outputContract: `{ "schema": ${schemaExample} }`,
  schema: schemaExample,
  expr: '{ ">=": [{ "var": "rating" }, 3] }',
  condition: '{ ">=": [{ "var": "rating" }, 3] }',
  trigger: '{ "kind": "onNodeComplete" }',
  action: '{ "type": "hitl", "rationale": "" }',
  rao: '{ "autoApproveAbove": 0.9 }',
  maxTokens: '20000',
  maxCalls: '20',
  deadlineMs: '600000',
}

const infos: { readonly [name: string]: string } = {
  objective: 'what the run should achieve',
  inputs: 'values that capabilities may use',
  outputContract: 'contract of the answer',
  policies: 'rules for the plan, the run and the people who decide',
  constraints: 'conditions on the answer, or limits of the run',
  specialInstructions: 'more for the planner and the agents',
  modelSettings: 'settings of every model call',
  metadata: 'names and labels of the caller',
  schema: 'JSON Schema of the answer',
  hints: 'preferences about the form',
  mode: 'form of the contract',
  constraintId: 'name of the constraint',
  expr: 'the condition',
  level: 'hard must hold, soft lowers the score',
  planner: 'what plans may look like',
  runtime: 'policies that act while the run proceeds',
  onNodeFail: 'what follows when a node has failed',
  rejectAction: 'what follows a rejection',
  approvers: 'how many different people must approve',
  topology: 'limits of the plan',
  selection: 'capabilities to use or to avoid',
  optimisation: 'what to prefer',
  directives: 'where people are asked, and more',
  askBeforeFinish: 'a person approves the answer',
  hitlRequiredFor: 'nodes whose output a person approves',
  sideEffects: 'whether side effects ask first',
  id: 'name of the policy',
  trigger: 'when it acts',
  action: 'what it does',
  selector: 'which nodes it is about',
  rao: 'thresholds of confidence',
  enabled: 'whether it acts',
  maxAttempts: 'how often it may act',
  maxTokens: 'tokens of the whole run',
  maxCalls: 'calls of models',
  maxCostUsd: 'cost of the whole run',
  deadlineMs: 'from start to end',
  threadId: 'the conversation that the run belongs to',
}
