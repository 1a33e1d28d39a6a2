/** What the paths in templates and conditions mean at a place of a pipeline. */
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import { membersOf } from '../../schema/members.ts'
import { valuesOf } from '../../schema/schema-values.ts'
import { isAbsent } from '../../schema/value-set.ts'
import { didYouMean } from '../reading.ts'
import { type Expression, expressionsIn, parseTemplate } from '../templates.ts'
import { addFunction, asBinding, complain, nodeValue, type Scope } from './build.ts'
import { bring, constant, either, inside, type Value } from './value.ts'

/** Where somebody names something, for messages. */
export interface Mention {
  readonly at: Pointer
  readonly words: string
  /** There is a default for it, so that it need not be there. */
  readonly optional?: boolean
}

const roots = ['input', 'initial_input', 'previous_step', 'steps', 'context', 'item', 'index', 'iteration']

/** The value at a path as nodes of the scope can be bound to it; complains and returns nothing if there cannot be one. */
export function lookUp(scope: Scope, path: readonly string[], mention: Mention): Value | undefined {
  const based = baseOf(scope, path, mention)
  return based && step(scope, based.value, { path: based.rest, mention })
}

/** The whole value that a path starts from, and the way from there on. */
export function baseOf(
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

/** What stands under a key of the context, from all who may have put it there; nothing if no one did. */
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

/** All of the context as one map. */
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
    addFunction(scope, { id, name: 'wrap_dict', inputs, output: { type: 'object' } }),
    { type: 'object' },
    scope.region,
  )
}

/** An id that no node has yet. */
export function fresh({ build, prefix }: Scope, name: string): string {
  const taken = new Set(build.nodes.map(({ id }) => id))
  let id = `${prefix}${name}`
  for (let n = 2; taken.has(id); n++) id = `${prefix}${name}_${n}`
  return id
}

function step(
  scope: Scope,
  value: Value,
  { path, mention }: { readonly path: readonly string[]; readonly mention: Mention },
): Value | undefined {
  const found = inside(value, path)
  if (!('absent' in found)) return found
  // What this run is given lacks it; what the schema rules out is a mistake all the same.
  if (mention.optional && value.known && !cannotBe(value, path)) return undefined
  return unknown(scope, mention, {
    message: `${mention.words} leads nowhere: there is no ${path.join('.')}`,
    hint: membersHint(value, path),
  })
}

/** What stands there instead of a member that does not. */
export function membersHint({ schema, known }: Value, [name = '']: readonly string[]): string {
  const names = known ? [] : membersOf(schema).map((each) => each.name)
  return didYouMean(name, names, names.length > 0 ? `It has ${names.join(', ')}` : 'It has no members')
}

/** Whether a schema rules out that something stands at a path. */
export function cannotBe(value: Value, path: readonly string[]): boolean {
  return path.length > 0 && isAbsent(valuesOf(value.schema)(path))
}

/** What a value with templates in it becomes: bound as it is where that is possible, else rendered by a node of its own. */
export function templateValue(
  scope: Scope,
  given: Json,
  { at, id }: { readonly at: Pointer; readonly id: string },
): Value | undefined {
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
  const output = direct ? direct.schema : renderedSchema(given)
  return nodeValue(addFunction(scope, { id, name: 'render', inputs, output }), output, scope.region)
}

function onlyPath(given: Json): readonly string[] | undefined {
  const expr = onlyExpression(given)
  return expr?.filters.length === 0 ? expr.path : undefined
}

function onlyExpression(given: Json): Expression | undefined {
  if (typeof given !== 'string') return undefined
  const parsed = parseTemplate(given)
  const [only] = parsed.ok ? parsed.parts : []
  return parsed.ok && parsed.parts.length === 1 && only && 'expr' in only ? only.expr : undefined
}

function renderedSchema(given: Json) {
  if (typeof given === 'string') return onlyExpression(given) === undefined ? { type: 'string' } : true
  if (Array.isArray(given)) return { type: 'array' }
  return { type: 'object', required: Object.keys(given as object) }
}
