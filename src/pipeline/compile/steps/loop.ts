/**
 * Compiles `kind: loop`: a loop node whose body runs until its condition holds; the output is that of the
 * last round. State passed between rounds: the output, the context entries, and the values that the condition
 * reads.
 */
import { jsonEqual } from '../../../base/json.ts'
import type { Condition } from '../../../domain/contract.ts'
import { buildAnyOf, buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { LoopStep } from '../../parse/pipeline.ts'
import {
  addFunction,
  addNode,
  asBinding,
  type CompileSteps,
  type ContextEntry,
  type Scope,
} from '../build.ts'
import { bring, type Value } from '../value.ts'
import { bodyDraft, bodyInput, type CompiledBody, closeBody, compileBody } from './body.ts'
import { conditionAt } from './conditional.ts'
import { toBindings } from './map.ts'

/** One compilation of the body, for rounds that start with a value of this schema and this context. */
interface Pass extends CompiledBody {
  readonly before: JsonSchema
  readonly until: Condition | undefined
  /** Values that the condition reads, by name. */
  readonly seen: ReadonlyMap<string, Value>
}

export function compileLoop(scope: Scope, step: LoopStep, compileSteps: CompileSteps): Value | undefined {
  const pass = settledPass(scope, step, compileSteps)
  if (!closeBody(scope, pass)) {
    // Later steps are still checked, and may read the context entries of the body.
    scope.context = [...scope.context, ...pass.added]
    return undefined
  }
  return addLoop(scope, step, pass)
}

const mostPasses = 3

/**
 * Fixed-point iteration: compiles the body until its output schema equals the schema it was compiled for;
 * widens to `true` after a few passes.
 */
function settledPass(scope: Scope, step: LoopStep, compileSteps: CompileSteps): Pass {
  const first = scope.previous.known ? true : scope.previous.schema
  let before: JsonSchema = first
  let context: readonly ContextEntry[] = []
  for (let n = 1; ; n++) {
    const pass = compileRound(scope, step, { before, context, compileSteps })
    const after = n < mostPasses ? buildAnyOf([first, pass.value.schema]) : true
    const entries = pass.added.map((entry, index) => toNextRound(entry, index, n < mostPasses))
    if (pass.body.build.issues.length > 0 || n > mostPasses) return pass
    if (jsonEqual(after, before) && jsonEqual(entries, context)) return pass
    before = after
    context = entries
  }
}

/** Binds a context entry to the state, from which the next round reads it. */
function toNextRound({ key, value }: ContextEntry, index: number, known: boolean): ContextEntry {
  const bound: Value = {
    sources: [{ input: `/state/c${index}` }],
    schema: known ? value.schema : true,
    certain: false,
  }
  return { ...(key !== undefined && { key }), value: bound }
}

interface Round {
  readonly before: JsonSchema
  readonly context: readonly ContextEntry[]
  readonly compileSteps: CompileSteps
}

function compileRound(scope: Scope, step: LoopStep, { before, context, compileSteps }: Round): Pass {
  const previous: Value = { sources: [{ input: '/state/value' }], schema: before, certain: true }
  const round = { sources: [{ input: '/round' }], schema: { type: 'integer', minimum: 1 }, certain: true }
  const locals = new Map<string, Value>([['iteration', round]])
  const compiled = compileBody(scope, { steps: step.body, previous, locals, context }, compileSteps)
  const seen = new Map<string, Value>()
  const see = (value: Value) => {
    for (const [name, known] of seen) if (jsonEqual(known.sources, value.sources)) return name
    const name = `s${seen.size}`
    seen.set(name, value)
    return name
  }
  const until =
    step.exitCondition === undefined
      ? undefined
      : conditionAt(compiled.end, { see }, { json: step.exitCondition, at: `${step.at}/loop/exit_condition` })
  return { ...compiled, before, until, seen }
}

function addLoop(scope: Scope, step: LoopStep, pass: Pass): Value {
  const { body, value, added, seen } = pass
  const id = `${scope.prefix}${step.name}`
  const entries = added.map((entry, index): [string, Value] => [`c${index}`, orBefore(entry.value, index)])
  const yielded: [string, Value][] = [['value', value], ...entries, ...seen]
  const member = (each: Value) => ({ schema: each.schema, certain: each.certain })
  const output = buildMapSchema(Object.fromEntries(yielded.map(([name, each]) => [name, member(each)])))
  const state = buildMapSchema({
    ...Object.fromEntries(yielded.map(([name, each]) => [name, { ...member(each), certain: false }])),
    value: { schema: pass.before, certain: true },
  })
  const first = bring(scope.previous, scope.region)
  const begin = addFunction(scope, {
    id: `${id}.begin`,
    name: 'pass',
    inputs: { value: asBinding(first) },
    // Closed: in the first round only the value exists, not the other state of later rounds.
    output: { ...(buildMapSchema({ value: member(first) }) as object), additionalProperties: false },
  })
  addNode(scope, {
    id,
    label: step.name,
    kind: 'loop',
    loop: {
      maxRounds: step.maxLoops,
      onMaxRounds: step.onMaxLoops,
      state,
      ...(pass.until !== undefined && { until: pass.until }),
    },
    inputs: { state: { node: begin.id }, ...body.inputs },
    contracts: { input: bodyInput(body, 'state'), output },
    body: bodyDraft(body, { properties: toBindings(yielded) }),
  })
  const at = (name: string, each: Value): Value => ({
    sources: [{ node: id, pointer: `/${name}` }],
    schema: each.schema,
    certain: each.certain,
    home: scope.region,
  })
  scope.context = [
    ...scope.context,
    ...added.map((entry, index) => ({ ...entry, value: at(`c${index}`, entry.value) })),
  ]
  return at('value', value)
}

/** Falls back to the entry of the previous round if this round does not write it. */
function orBefore(value: Value, index: number): Value {
  return value.certain ? value : { ...value, sources: [...value.sources, { input: `/state/c${index}` }] }
}
