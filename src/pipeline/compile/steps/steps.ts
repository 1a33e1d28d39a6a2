/**
 * Compiles a sequence of steps: each sees the outputs before it, and its context entries are visible to later
 * steps.
 */
import { buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import {
  type CallStep,
  type ConditionalStep,
  type HitlStep,
  type LoopStep,
  type MapStep,
  type ParallelStep,
  type RouterStep,
  type Step,
  type UnreadableStep,
  wrongSink,
} from '../../parse/pipeline.ts'
import {
  addFunction,
  addNode,
  asBinding,
  type CompileSteps,
  type ContextEntry,
  complain,
  innerScope,
  isFull,
  nodeValue,
  type Scope,
} from '../build.ts'
import { hitlId } from '../capabilities.ts'
import { functionId } from '../functions.ts'
import { addGate, addRouter } from '../gate.ts'
import { resolveStepInput, templateValue } from '../names.ts'
import { mayBeObject, unknownValue, type Value } from '../value.ts'
import { compileCall } from './call.ts'
import { compileBranch, compileConditional } from './conditional.ts'
import { compileImport } from './imports.ts'
import { compileLoop } from './loop.ts'
import { compileMap } from './map.ts'
import { mergeBranches } from './merge-branches.ts'

type Compiler<K extends Step['kind']> = (scope: Scope, step: Extract<Step, { kind: K }>) => Value | undefined

const compilers: { readonly [K in Step['kind']]: Compiler<K> } = {
  step: (scope, step: CallStep) =>
    step.worker.kind === 'import' ? compileImport(scope, step, compileSteps) : compileCall(scope, step),
  parallel: (scope, step: ParallelStep) =>
    within(scope, step, (at) => compileBranches(at, step, compileSteps)),
  conditional: (scope, step: ConditionalStep) =>
    within(scope, step, (at) => compileConditional(at, step, compileSteps)),
  map: (scope, step: MapStep) => within(scope, step, (at) => compileMap(at, step, compileSteps)),
  loop: (scope, step: LoopStep) => within(scope, step, (at) => compileLoop(at, step, compileSteps)),
  router: (scope, step: RouterStep) => within(scope, step, (at) => compileRouter(at, step, compileSteps)),
  hitl: compileHitl,
  unreadable: lookInside,
}

export function compileSteps(scope: Scope, steps: readonly Step[]): Value {
  for (const step of steps) {
    if (isFull(scope.build)) break
    const compile = compilers[step.kind] as Compiler<Step['kind']>
    const { build, pipeline } = scope
    const first = build.nodes.length
    // A step that cannot be compiled has reported its issue; later steps are still checked.
    const compiled = compile(scope, step as never) ?? unknownValue
    const value = step.isDamaged ? unknownValue : compiled
    for (const node of build.nodes.slice(first))
      if (!build.origins.has(node)) build.origins.set(node, { pipeline, at: step.at })
    scope.steps.set(step.name, value)
    scope.previous = value
    scope.context = [...scope.context, ...toEntries(scope, step, value)]
  }
  return scope.previous
}

/**
 * The context entries of a step. Reports a write that is not possible, because later steps would silently
 * miss the value.
 */
function toEntries(scope: Scope, step: Step, value: Value): ContextEntry[] {
  const isUnknown = step.isDamaged || step.kind === 'unreadable'
  if (isUnknown) {
    const writes = step.updatesContext || step.sinkTo !== undefined
    return writes || (step.kind === 'unreadable' && step.mayWrite) ? [{ value: unknownValue }] : []
  }
  const entries: ContextEntry[] = []
  const isMap = mayBeObject(value)
  if (step.updatesContext && step.mergeableOutput !== false) {
    if (step.mergeableOutput === true || isMap) entries.push({ value })
    else
      complain(scope, `${step.at}/updates_context`, {
        code: 'pipeline/not-mergeable',
        key: true,
        message: `the output of ${step.name} is no map, so that nothing of it goes into the context`,
        hint: 'Say sink_to: KEY, wrap it with uses: wrap_dict, or set mergeable_output: true if it is a map after all',
      })
  }
  if (step.sinkTo === undefined) return entries
  const wrong = wrongSink(step.sinkTo, { given: scope.pipeline.context, isMap })
  if (wrong !== undefined)
    complain(scope, `${step.at}/sink_to`, {
      code: 'pipeline/sink',
      message: wrong,
      hint: 'Name one member of its own, such as sink_to: draft',
    })
  return [...entries, { key: step.sinkTo, value }]
}

/** Compiles a step with nested steps: its `input` becomes the previous value of the first nested step. */
function within(scope: Scope, step: Step, compile: (scope: Scope) => Value | undefined): Value | undefined {
  if (step.input === undefined) return compile(scope)
  const input = resolveStepInput(scope, step) ?? unknownValue
  const before = scope.previous
  scope.previous = input
  const value = compile(scope)
  scope.previous = before
  return value
}

/** Compiles a human-in-the-loop step: the run waits for the answer. */
function compileHitl(scope: Scope, step: HitlStep): Value | undefined {
  const { pipeline } = scope
  const filled = templateValue(scope, step.message, {
    at: `${step.at}/message`,
    id: `${scope.prefix}${step.name}.message`,
  })
  const message = filled ?? unknownValue
  const input = resolveStepInput(scope, step) ?? unknownValue
  const capabilityId = hitlId(pipeline)
  const said = message.known?.value
  const node = addNode(scope, {
    id: `${scope.prefix}${step.name}`,
    label: step.name,
    capabilityId,
    inputs: { message: asBinding(message), input: asBinding(input) },
    contracts: { output: step.inputSchema },
    ...(typeof said === 'string' && { instructions: said }),
  })
  return nodeValue(node, step.inputSchema, scope.region)
}

/** Checks the templates and nested steps of a rejected step, whose output is unknown. */
function lookInside(scope: Scope, step: UnreadableStep): undefined {
  resolveStepInput(scope, step)
  const locals = new Map([
    ...scope.locals,
    ...['item', 'index', 'iteration'].map((name) => [name, unknownValue] as const),
  ])
  for (const [index, steps] of step.inside.entries()) {
    const prefix = `${scope.prefix}${step.name}/${index}/`
    compileSteps(innerScope(scope, { prefix, previous: unknownValue, locals }), steps)
  }
}

// Compiles `kind: parallel`: concurrent branches; the output maps branch names to their outputs.

function compileBranches(scope: Scope, step: ParallelStep, compileSteps: CompileSteps): Value {
  const before = scope.tails
  const outputs: Record<string, Value> = {}
  const tails: string[] = []
  const added: ContextEntry[] = []
  for (const [name, steps] of step.branches) {
    const lane = innerScope(scope, { prefix: `${scope.prefix}${step.name}/${name}/`, tails: before })
    outputs[name] = compileSteps(lane, steps)
    tails.push(...lane.tails)
    added.push(...lane.context.slice(scope.context.length))
  }
  scope.tails = [...new Set(tails)]
  scope.context = [...scope.context, ...added]
  return mergeBranches(scope, step, outputs)
}

/** Describes the answer of the router's agent, for the message about another one. */
function expectedChoice({ name, agent }: RouterStep, branches: readonly string[]) {
  const example = JSON.stringify(branches.slice(0, 1))
  return {
    answer: `a JSON list of the branches of router "${name}" to run (${branches.join(', ')}), such as ${example}`,
    change: `State in \`system_prompt\` of agents.${agent} that it must answer with such a list, such as ${example}`,
  }
}

/** Compiles `kind: router`: an agent selects the branches to run; the output maps branch names to their outputs. */
function compileRouter(scope: Scope, step: RouterStep, compileSteps: CompileSteps): Value | undefined {
  const id = `${scope.prefix}${step.name}`
  const names = [...step.branches.keys()]
  const choice: JsonSchema = {
    type: 'array',
    items: { enum: names },
    minItems: 1,
    maxItems: names.length,
    uniqueItems: true,
  }
  const chosen = compileCall(scope, {
    kind: 'step',
    name: `${step.name}.choose`,
    at: step.at,
    worker: { kind: 'agent', name: step.agent },
    params: {},
    processing: { said: { structured_output: 'auto', aop: 'full' } },
    outputSchema: choice,
    updatesContext: false,
    node: { data: { expectedAnswer: expectedChoice(step, names) } },
  })
  if (chosen === undefined) return undefined
  const before = scope.tails
  const outputs: Record<string, Value> = {}
  const tails: string[] = []
  const added: ContextEntry[] = []
  for (const [name, steps] of step.branches) {
    scope.tails = before
    const router = addRouter(scope, `${id}/${name}.if`)
    const gate = addGate(scope, router, `${id}/${name}`)
    const skip = `${id}/${name}.skip`
    scope.build.nodes.push({
      id: skip,
      kind: 'branch',
      capabilityId: functionId('pass'),
      inputs: {},
      contracts: { output: { type: 'object' } },
    })
    router.route({ in: [name, { var: router.see(chosen) }] }, [gate.begin], name)
    router.otherwise([skip])
    const branch = compileBranch(scope, { gate, prefix: `${id}/${name}/`, steps }, compileSteps)
    outputs[name] = { ...branch.value, certain: false }
    tails.push(...branch.tails, skip)
    added.push(...branch.added)
  }
  scope.tails = tails
  scope.context = [...scope.context, ...added]
  const output = buildMapSchema(outputs)
  const inputs = Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, asBinding(value)]))
  return nodeValue(addFunction(scope, { id, name: 'pass', inputs, output }), output, scope.region)
}
