/** Compiles `kind: conditional`: one branch runs, and its output is the output of the step. */
import { isObject, type Json } from '../../../base/json.ts'
import type { Pointer } from '../../../base/pointer.ts'
import type { Condition } from '../../../domain/contract.ts'
import { buildAnyOf } from '../../../schema/build/composite-schemas.ts'
import type { ConditionalStep, Step } from '../../parse/pipeline.ts'
import { type CompileSteps, type ContextEntry, complain, innerScope, type Scope } from '../build.ts'
import { functionId } from '../functions.ts'
import { addGate, addRouter, type Gate, type Router } from '../gate.ts'
import { cannotBe, membersHint, resolveRoot, templateValue } from '../names.ts'
import { bring, unknownValue, type Value } from '../value.ts'

export function compileConditional(
  scope: Scope,
  step: ConditionalStep,
  compileSteps: CompileSteps,
): Value | undefined {
  const id = `${scope.prefix}${step.name}`
  const over =
    step.expression === undefined
      ? undefined
      : (templateValue(scope, step.expression, {
          at: `${step.at}/condition_expression`,
          id: `${id}.expression`,
        }) ?? unknownValue)
  const branches = new Map<string, readonly Step[]>(step.branches)
  // If the condition is false and there is no such branch, the pipeline continues without one.
  if (step.condition !== undefined)
    for (const name of ['true', 'false']) if (!branches.has(name)) branches.set(name, [])
  const router = addRouter(scope, id)
  const gates = new Map(
    [...branches.keys()].map((name) => [name, addGate(scope, router, `${id}/${name}`)] as const),
  )
  const begin = (name: string) => [(gates.get(name) as Gate).begin]
  if (step.condition !== undefined) {
    const condition = conditionAt(scope, router, { json: step.condition, at: `${step.at}/condition` })
    router.route(condition, begin('true'), 'true')
    router.otherwise(begin('false'))
  } else if (over) {
    const name = router.see(over)
    for (const branch of branches.keys()) router.route(equals(name, branch), begin(branch), branch)
    if (step.defaultBranch !== undefined) router.otherwise(begin(step.defaultBranch))
  }
  const ends = [...branches].map(([name, steps]) =>
    compileBranch(scope, { gate: gates.get(name) as Gate, prefix: `${id}/${name}/`, steps }, compileSteps),
  )
  const schema = buildAnyOf(ends.map(({ value }) => value.schema))
  const tails = ends.flatMap((end) => end.tails)
  const sources = ends.flatMap(({ value }) => value.sources)
  if (router.node.routing?.elseTo === undefined) {
    const message = `No branch of ${step.name} is for this value: there are ${[...branches.keys()].join(', ')}`
    const hint = 'Add a branch for it, or a default_branch'
    const refusal = addRefusal(scope, router, { id: `${id}/none`, message, hint, output: schema })
    sources.push({ node: refusal })
    tails.push(refusal)
  }
  scope.tails = tails
  scope.context = [...scope.context, ...ends.flatMap(({ added }) => added)]
  return { sources, schema, certain: ends.every(({ value }) => value.certain), home: scope.region }
}

interface Branch {
  readonly gate: Gate
  readonly prefix: string
  readonly steps: readonly Step[]
  readonly locals?: ReadonlyMap<string, Value>
  readonly previous?: Value
}

/** Compiles the steps behind a gate. Returns their output, the nodes to wait for, and the context entries they add. */
export function compileBranch(
  scope: Scope,
  { gate, prefix, steps, locals, previous }: Branch,
  compileSteps: CompileSteps,
): {
  readonly value: Value
  readonly tails: readonly string[]
  readonly added: readonly ContextEntry[]
  readonly inner: Scope
} {
  const inner = innerScope(scope, {
    prefix,
    region: gate.region,
    tails: [gate.begin],
    ...(previous && { previous }),
    ...(locals && { locals: new Map([...scope.locals, ...locals]) }),
  })
  const value = settled(compileSteps(inner, steps), gate)
  const added = inner.context.slice(scope.context.length).map((entry) => ({
    ...entry,
    value: { ...settled(entry.value, gate), certain: false, home: scope.region },
  }))
  return { value, tails: inner.tails, added, inner }
}

/** Routes an outer value through the gate, so that it exists only if the branch was taken. */
function settled(value: Value, { region }: Gate): Value {
  if (value.home === region || region.rebind === undefined) return value
  // Passes through every enclosing gate: a nested router bound directly to an outer value would run without
  // being reached.
  return region.rebind(region.parent === undefined ? value : bring(value, region.parent))
}

/** Adds a node that fails the run with a message and a hint, for values that no route matches. */
function addRefusal(
  scope: Scope,
  router: Router,
  { id, message, hint, output }: { id: string; message: string; hint: string; output: Value['schema'] },
): string {
  scope.build.nodes.push({
    id,
    kind: 'transformation',
    capabilityId: functionId('refuse'),
    inputs: { message: { value: message }, hint: { value: hint } },
    contracts: { output },
  })
  router.otherwise([id])
  return id
}

/** Matches a value to a branch name: as text, or as the JSON literal that the name spells. */
function equals(name: string, branch: string): Condition {
  const same = (value: Json): Condition => ({ '==': [{ var: name }, value] })
  const literals: Readonly<Record<string, Json>> = { true: true, false: false, null: null }
  if (Object.hasOwn(literals, branch)) return { or: [same(branch), same(literals[branch] as Json)] }
  return /^-?\d+(\.\d+)?$/.test(branch) ? { or: [same(branch), same(Number(branch))] } : same(branch)
}

/** Rewrites a condition over pipeline paths to one over the inputs of the router. */
export function conditionAt(
  scope: Scope,
  router: Pick<Router, 'see'>,
  { json, at }: { readonly json: Json; readonly at: Pointer },
): Condition {
  const named = (path: string): string => {
    const parts = path.split('.')
    const based = resolveRoot(scope, parts, { at, words: path })
    if (based === undefined) return path
    const { value, rest } = based
    const looked = rest.at(-1) === 'length' ? rest.slice(0, -1) : rest
    if (cannotBe(value, looked)) {
      const message = `${path} leads nowhere: "${looked.join('.')}" not found`
      complain(scope, at, {
        code: 'pipeline/unknown',
        message,
        hint: membersHint(value, looked),
        words: path,
      })
    }
    return [router.see(value), ...rest].join('.')
  }
  const change = (part: Json, inItem = false): Json => {
    const name = (path: string) => (inItem && /^(item(\.|$)|$)/.test(path) ? path : named(path))
    if (Array.isArray(part)) return part.map((each) => change(each, inItem))
    if (!isObject(part)) return part
    return Object.fromEntries(
      Object.entries(part as { [key: string]: Json }).map(([operator, args]) => {
        if (operator === 'var')
          return [
            operator,
            typeof args === 'string'
              ? name(args)
              : Array.isArray(args)
                ? [name(String(args[0])), ...args.slice(1)]
                : args,
          ]
        if (operator === 'missing')
          return [
            operator,
            [args].flat().map((path) => (isObject(path) ? change(path as Json, inItem) : name(String(path)))),
          ]
        // In the body of a quantifier, `item` is the element; all other paths begin at the root.
        if (['some', 'all', 'none'].includes(operator) && Array.isArray(args))
          return [operator, [change(args[0] as Json, inItem), change(args[1] as Json, true)]]
        return [operator, change(args, inItem)]
      }),
    )
  }
  return change(json)
}
