/** What a pipeline means, said a second time: a plain walk over its steps, one after the other, that shares no code with the compiler. */
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../../src/index.ts'
import type { Condition, RandomPipeline, RandomStep } from './random-pipeline.ts'

/** The pipeline ends here, and its run fails. */
export class Ended extends Error {}

type Names = { readonly [name: string]: Json }

interface Scope {
  readonly previous: Json
  readonly steps: Names
  readonly context: Names
  readonly locals: Names
}

/** What steps leave behind: an output, and what they put into the context, in order. */
interface Left {
  readonly output: Json
  readonly put: readonly (readonly [key: string, value: Json])[]
}

export interface Outside {
  calc(input: Json): Json
  pick(input: Json, names: readonly string[]): readonly string[]
}

export function interpret({ context, steps }: RandomPipeline, input: Json, outside: Outside): Json {
  const scope = { previous: input, steps: {}, context, locals: { input } }
  return goThrough(steps, scope, outside).output
}

function goThrough(list: readonly RandomStep[], start: Scope, outside: Outside): Left {
  let scope = start
  const put: (readonly [string, Json])[] = []
  for (const step of list) {
    const { output, put: inside } = goInto(step, scope, outside)
    const members = step.updates_context ? Object.entries(output as object) : []
    const own = [...inside, ...members, ...(step.sink_to ? [[step.sink_to, output] as const] : [])]
    put.push(...own)
    scope = {
      ...scope,
      previous: output,
      steps: { ...scope.steps, [step.name]: output },
      context: { ...scope.context, ...Object.fromEntries(own) },
    }
  }
  return { output: scope.previous, put }
}

function goInto(step: RandomStep, around: Scope, outside: Outside): Left {
  const given = step.input === undefined ? around.previous : fill(String(step.input), around)
  const scope = { ...around, previous: given }
  if (step.kind === undefined) return { output: work(step, given, outside), put: [] }
  if (step.kind === 'parallel') return allOf(step.branches ?? {}, scope, outside)
  if (step.kind === 'conditional') return goThrough(chosenBranch(step, scope), scope, outside)
  if (step.kind === 'map') return mapOver(step, scope, outside)
  if (step.kind === 'loop') return goRound(step, scope, outside)
  const branches = step.router?.branches ?? {}
  const picked = outside.pick(given, Object.keys(branches))
  return allOf(
    Object.fromEntries(Object.entries(branches).filter(([name]) => picked.includes(name))),
    scope,
    outside,
  )
}

function work({ uses, params: { key } = { key: 'value' } }: RandomStep, input: Json, outside: Outside): Json {
  if (uses === 'calc') return outside.calc(input)
  if (uses === 'wrap_dict') return { [key]: input }
  return asMap(input) ?? { [key]: input }
}

function asMap(input: Json): Json | undefined {
  const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isMap(input)) return input
  if (typeof input !== 'string') return undefined
  try {
    const read = JSON.parse(input) as Json
    return isMap(read) ? read : undefined
  } catch {
    return undefined
  }
}

function allOf(
  branches: { readonly [name: string]: readonly RandomStep[] },
  scope: Scope,
  outside: Outside,
): Left {
  const left = Object.entries(branches).map(
    ([name, steps]) => [name, goThrough(steps, scope, outside)] as const,
  )
  return {
    output: Object.fromEntries(left.map(([name, { output }]) => [name, output])),
    put: left.flatMap(([, { put }]) => put),
  }
}

function chosenBranch(step: RandomStep, scope: Scope): readonly RandomStep[] {
  const branches = step.branches ?? {}
  if (step.condition) return branches[String(holds(step.condition, scope))] ?? []
  const name = String(fill(step.condition_expression ?? '', scope))
  const found = Object.hasOwn(branches, name) ? branches[name] : branches[step.default_branch ?? '']
  if (found === undefined) throw new Ended('no branch')
  return found
}

function mapOver({ map }: RandomStep, scope: Scope, outside: Outside): Left {
  const items = at(map?.iterable_input.replace(/[{} ]/g, '') ?? '', scope) as readonly Json[]
  if (items.length > (map?.max_items ?? 0)) throw new Ended('too many items')
  const left = items.map((item, index) =>
    goThrough(
      map?.body ?? [],
      { ...scope, previous: item, locals: { ...scope.locals, item, index } },
      outside,
    ),
  )
  return { output: left.map(({ output }) => output), put: left.flatMap(({ put }) => put) }
}

function goRound({ loop }: RandomStep, start: Scope, outside: Outside): Left {
  let scope = start
  const put: (readonly [string, Json])[] = []
  for (let iteration = 1; ; iteration++) {
    scope = { ...scope, locals: { ...scope.locals, iteration } }
    const left = goThrough(loop?.body ?? [], scope, outside)
    put.push(...left.put)
    scope = {
      ...scope,
      previous: left.output,
      context: { ...scope.context, ...Object.fromEntries(left.put) },
    }
    const isDone = loop?.exit_condition !== undefined && holds(loop.exit_condition, scope)
    if (isDone) break
    if (iteration < (loop?.max_loops ?? 1)) continue
    if (loop?.exit_condition !== undefined && loop.on_max_loops !== 'accept')
      throw new Ended('too many rounds')
    break
  }
  return { output: scope.previous, put }
}

function holds(condition: Condition, scope: Scope): boolean {
  const [[operator, [{ var: path }, limit]]] = Object.entries(condition) as [
    [string, [{ var: string }, number]],
  ]
  const value = at(path, scope)
  if (operator === '==') return isDeepStrictEqual(value, limit)
  if (typeof value !== 'number') return false
  return operator === '<' ? value < limit : value >= limit
}

/** A text that is one expression is what it stands for; in others, values become text. */
function fill(text: string, scope: Scope): Json {
  const whole = /^\{\{ ([^{}]+) \}\}$/.exec(text)
  if (whole) return at(whole[1] ?? '', scope)
  return text.replace(/\{\{ ([^{}]+) \}\}/g, (_, path: string) => {
    const value = at(path, scope)
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

function at(path: string, { previous, steps, context, locals }: Scope): Json {
  const [root = '', ...rest] = path.split('.')
  if (root === 'steps') return follow(steps[rest[0] ?? ''] as Json, rest.slice(2))
  const from = root === 'previous_step' ? previous : root === 'context' ? context : locals[root]
  return follow(from as Json, rest)
}

function follow(value: Json, path: readonly string[]): Json {
  return path.reduce<Json>((inner, name) => (inner as { [key: string]: Json })[name] as Json, value)
}
