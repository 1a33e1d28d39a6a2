/** Resolves the paths in templates and conditions in a scope. */
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import { listMembers } from '../../schema/build/project.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { getValueLookup } from '../../schema/values/schema-values.ts'
import { isAbsent } from '../../schema/values/value-set.ts'
import { didYouMean } from '../parse/reading.ts'
import { expressionsIn, onlyExpression } from '../templates/templates.ts'
import { addFunction, asBinding, complain, nodeValue, type Scope } from './build.ts'
import { heldTo, renderedSchema } from './rendered-schema.ts'
import { bring, constant, either, inside, type Value } from './value.ts'

/** The location of a reference, for messages. */
interface Mention {
  readonly at: Pointer
  readonly words: string
  /** The reference has a default, so the value may be absent. */
  readonly optional?: boolean
}

const roots = ['input', 'initial_input', 'previous_step', 'steps', 'context', 'item', 'index', 'iteration']

/**
 * Returns the value at a path, bound for nodes of the scope; reports an issue and returns `undefined` if it
 * cannot exist.
 */
function lookUp(scope: Scope, path: readonly string[], mention: Mention): Value | undefined {
  const based = resolveRoot(scope, path, mention)
  return based && followPath(scope, based.value, { path: based.rest, mention })
}

/** The root value of a path, and the rest of the path. */
export function resolveRoot(
  scope: Scope,
  path: readonly string[],
  mention: Mention,
): { readonly value: Value; readonly rest: readonly string[] } | undefined {
  const [root = '', ...rest] = path
  if (root === 'previous_step') return based(scope, scope.previous, rest)
  if (root === 'steps') return stepNamed(scope, rest, mention)
  if (root === 'context') return contextAt(scope, rest, mention)
  const local = scope.locals.get(root === 'initial_input' ? 'input' : root)
  if (local) return based(scope, local, rest)
  const message = roots.includes(root)
    ? `${root} is known only inside of a map or a loop`
    : `nothing here is called ${root}`
  return unknown(scope, mention, {
    message,
    hint: didYouMean(root, roots, `Paths begin with ${roots.join(', ')}`),
  })
}

function based(scope: Scope, value: Value, rest: readonly string[]) {
  return { value: bring(value, scope.region), rest }
}

function unknown(scope: Scope, { at, words }: Mention, said: { message: string; hint: string }): undefined {
  complain(scope, at, { code: 'pipeline/unknown', words, ...said })
  return undefined
}

function stepNamed(scope: Scope, [name = '', ...rest]: readonly string[], mention: Mention) {
  const value = scope.steps.get(name)
  if (value) return based(scope, value, rest[0] === 'output' ? rest.slice(1) : rest)
  const names = [...scope.steps.keys()]
  const otherwise =
    names.length > 0
      ? `Known here: ${names.join(', ')}; steps inside of others are not seen from outside`
      : 'No step comes before this one'
  return unknown(scope, mention, {
    message: `no step called ${name} comes before this one`,
    hint: didYouMean(name, names, otherwise),
  })
}

function contextAt(scope: Scope, [key, ...rest]: readonly string[], mention: Mention) {
  if (key === undefined) return based(scope, wholeContext(scope), [])
  const value = contextValue(scope, key)
  if (value !== undefined) return { value, rest }
  return unknown(scope, mention, {
    message: `nothing puts ${key} into the context before this`,
    hint: 'Set updates_context or sink_to on a step before, or add it under context:',
  })
}

/** The value under a key of the context, from all entries that may have written it; `undefined` if none did. */
export function contextValue(scope: Scope, key: string): Value | undefined {
  const found: Value[] = []
  for (const entry of [...scope.context].reverse()) {
    const value =
      entry.key === undefined ? inside(entry.value, [key]) : entry.key === key ? entry.value : undefined
    if (value === undefined || 'absent' in value) continue
    found.push(bring(value, scope.region))
    if (value.certain) break
  }
  return found.length > 0 ? either(found, scope.region) : undefined
}

/** The whole context as one map. */
function wholeContext(scope: Scope): Value {
  const parts = scope.context.map(({ key, value }) =>
    key === undefined ? bring(value, scope.region) : wrapped(scope, key, value),
  )
  const inputs = Object.fromEntries(parts.map((value, index) => [`m${index}`, asBinding(value)]))
  const id = fresh(scope, 'context')
  return nodeValue(
    addFunction(scope, { id, name: 'merge', inputs, output: { type: 'object' } }),
    { type: 'object' },
    scope.region,
  )
}

function wrapped(scope: Scope, key: string, value: Value): Value {
  const id = fresh(scope, `context.${key}`)
  const inputs = { input: asBinding(bring(value, scope.region)), key: { value: key } }
  return nodeValue(
    addFunction(scope, { id, name: 'entry', inputs, output: { type: 'object' } }),
    { type: 'object' },
    scope.region,
  )
}

/** Returns an unused node id. */
function fresh({ build, prefix }: Scope, name: string): string {
  const taken = new Set(build.nodes.map(({ id }) => id))
  let id = `${prefix}${name}`
  for (let n = 2; taken.has(id); n++) id = `${prefix}${name}_${n}`
  return id
}

function followPath(
  scope: Scope,
  value: Value,
  { path, mention }: { readonly path: readonly string[]; readonly mention: Mention },
): Value | undefined {
  const found = inside(value, path)
  if (!('absent' in found)) return found
  // An optional value may be absent in this input; a path that the schema rules out is still an error.
  if (mention.optional && value.known && !cannotBe(value, path)) return undefined
  return unknown(scope, mention, {
    message: `${mention.words} leads nowhere: "${path.join('.')}" not found`,
    hint: membersHint(value, path),
  })
}

/** Hint that lists the members that do exist. */
export function membersHint({ schema, known }: Value, [name = '']: readonly string[]): string {
  const names = known ? [] : listMembers(schema).map((each) => each.name)
  return didYouMean(name, names, names.length > 0 ? `It has ${names.join(', ')}` : 'It has no members')
}

/** Does the schema rule out a value at the path? */
export function cannotBe(value: Value, path: readonly string[]): boolean {
  return path.length > 0 && isAbsent(getValueLookup(value.schema)(path))
}

interface Rendering {
  readonly at: Pointer
  readonly id: string
  /** What the capability that takes the value accepts. */
  readonly wanted?: JsonSchema
}

/** Compiles a value with templates: binds it directly where possible, else adds a node that renders it. */
export function templateValue(scope: Scope, given: Json, { at, id, wanted }: Rendering): Value | undefined {
  const used = expressionsIn(given)
  if (used.length === 0) return constant(given)
  const before = scope.build.issues.length
  const found = new Map<string, Value>()
  for (const expr of used) {
    if (expr.path === undefined) continue
    const optional = expr.filters[0]?.name === 'default'
    const value = lookUp(scope, expr.path, { at, words: expr.source, optional })
    if (value) found.set(JSON.stringify(expr.path), value)
  }
  if (scope.build.issues.length > before) return undefined
  const whole = onlyPath(given)
  const direct = whole && found.get(JSON.stringify(whole))
  if (direct?.certain) return direct
  const inputs: Record<string, ReturnType<typeof asBinding>> = { template: { value: given } }
  const paths: Record<string, string> = {}
  for (const [path, value] of found) {
    paths[path] = `v${Object.keys(paths).length}`
    inputs[paths[path]] = asBinding(value)
  }
  inputs['paths'] = { value: paths }
  const rendered = direct ? direct.schema : renderedSchema(given, found)
  const output = wanted === undefined ? rendered : heldTo(rendered, wanted)
  return nodeValue(addFunction(scope, { id, name: 'render', inputs, output }), output, scope.region)
}

/** The input of a step: its rendered `input`, else the previous output. */
export function resolveStepInput(
  scope: Scope,
  step: { readonly name: string; readonly at: string; readonly input?: Json },
  wanted?: JsonSchema,
): Value | undefined {
  const made = { id: `${scope.prefix}${step.name}.input`, ...(wanted !== undefined && { wanted }) }
  const given = step.input
  if (given !== undefined) return templateValue(scope, given, { at: `${step.at}/input`, ...made })
  const value = bring(scope.previous, scope.region)
  return value.certain ? value : templateValue(scope, '{{ previous_step }}', { at: step.at, ...made })
}

function onlyPath(given: Json): readonly string[] | undefined {
  const expr = onlyExpression(given)
  return expr?.filters.length === 0 ? expr.path : undefined
}
