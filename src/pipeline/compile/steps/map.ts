/** Compiles `kind: map`: a map node whose body runs once per item of a list; the output is the list of outputs. */
import { child } from '../../../base/pointer.ts'
import type { Binding } from '../../../domain/plan.ts'
import { collectedSchema } from '../../../plan/index.ts'
import { buildListSchema, buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import type { MapStep } from '../../parse/pipeline.ts'
import { asTemplate } from '../../templates/templates.ts'
import {
  addFunction,
  addNode,
  asBinding,
  type CompileSteps,
  complain,
  nodeValue,
  type Scope,
} from '../build.ts'
import { templateValue } from '../names.ts'
import { inside, type Value } from '../value.ts'
import { bodyDraft, bodyInput, type CompiledBody, closeBody, compileBody } from './body.ts'

export function compileMap(scope: Scope, step: MapStep, compileSteps: CompileSteps): Value | undefined {
  const id = `${scope.prefix}${step.name}`
  const at = `${step.at}/map/iterable_input`
  const over = templateValue(scope, asTemplate(step.over), { at, id: `${id}.items` })
  if (over === undefined) return undefined
  const element = inside(over, ['0'])
  if ('absent' in element && !isEmptyList(over)) {
    complain(scope, at, {
      code: 'pipeline/map',
      message: `${step.over} is no list`,
      hint: 'A map goes over a list',
    })
    return undefined
  }
  // A known input describes this run only, not the items in general.
  const schema = 'absent' in element || element.known ? true : element.schema
  const item = { sources: [{ input: '/item' }], schema, certain: true }
  const index = { sources: [{ input: '/index' }], schema: { type: 'integer', minimum: 0 }, certain: true }
  const locals = new Map<string, Value>([
    ['item', item],
    ['index', index],
  ])
  const compiled = compileBody(scope, { steps: step.body, previous: item, locals }, compileSteps)
  if (!closeBody(scope, compiled)) return undefined
  return addMap(scope, step, { id, over, compiled })
}

interface Parts {
  readonly id: string
  readonly over: Value
  readonly compiled: CompiledBody
}

function addMap(scope: Scope, step: MapStep, { id, over, compiled }: Parts): Value {
  const { body, value, added } = compiled
  const { maxItems, concurrency, onItemFail } = step
  const entries = added.map((entry, n): [string, Value] => [`c${n}`, entry.value])
  const output =
    entries.length === 0 ? asBinding(value) : { properties: toBindings([['value', value], ...entries]) }
  const node = addNode(scope, {
    id,
    label: step.name,
    kind: 'map',
    map: { maxItems, onItemFail, ...(concurrency !== undefined && { concurrency }) },
    inputs: { items: asBinding(over), ...body.inputs },
    contracts: { input: bodyInput(body, 'items') },
    body: bodyDraft(body, output),
  })
  const schema = buildListSchema(
    onItemFail === 'collect' ? collectedSchema(value.schema) : value.schema,
    maxItems,
  )
  if (entries.length === 0) return nodeValue(node, schema, scope.region)
  const gathered = addFunction(scope, {
    id: `${id}.context`,
    name: 'gather',
    inputs: { items: { node: id } },
    output: buildMapSchema({
      values: { schema, certain: true },
      ...Object.fromEntries(entries.map(([name, entry]) => [name, { schema: entry.schema, certain: false }])),
    }),
  })
  const at = (name: string, entry: Pick<Value, 'schema' | 'certain'>): Value => ({
    sources: [{ node: gathered.id, pointer: child('', name) }],
    schema: entry.schema,
    certain: entry.certain,
    home: scope.region,
  })
  // The last item that writes an entry wins.
  scope.context = [
    ...scope.context,
    ...added.map((entry, n) => ({ ...entry, value: at(`c${n}`, { ...entry.value, certain: false }) })),
  ]
  return at('values', { schema, certain: true })
}

export function toBindings(values: readonly (readonly [string, Value])[]): { [name: string]: Binding } {
  return Object.fromEntries(values.map(([name, value]) => [name, asBinding(value)]))
}

function isEmptyList({ known }: Value): boolean {
  return Array.isArray(known?.value) && known.value.length === 0
}
