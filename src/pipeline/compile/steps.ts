/** A list of steps, one after the other: each sees the outputs before it, and what it puts into the context is there for those after it. */
import { isObject } from '../../base/json.ts'
import type {
  CallStep,
  ConditionalStep,
  HitlStep,
  LoopStep,
  MapStep,
  ParallelStep,
  RouterStep,
  Step,
} from '../pipeline.ts'
import { wrongSink } from '../wrong-sink.ts'
import { compileBranches } from './branches.ts'
import {
  addNode,
  asBinding,
  type ContextEntry,
  complain,
  innerScope,
  isFull,
  nodeValue,
  type Scope,
} from './build.ts'
import { compileCall, inputOf } from './call.ts'
import { hitlId, importedAs } from './capabilities.ts'
import { compileConditional } from './conditional.ts'
import { compileLoop } from './loop.ts'
import { compileMap } from './map.ts'
import { templateValue } from './names.ts'
import { compileRouter } from './router.ts'
import { constant, unknownValue, type Value } from './value.ts'

type Compiler<K extends Step['kind']> = (scope: Scope, step: Extract<Step, { kind: K }>) => Value | undefined

const compilers: { readonly [K in Step['kind']]: Compiler<K> } = {
  step: (scope, step: CallStep) =>
    step.worker.kind === 'import' ? compileImport(scope, step) : compileCall(scope, step),
  parallel: (scope, step: ParallelStep) =>
    within(scope, step, (at) => compileBranches(at, step, compileSteps)),
  conditional: (scope, step: ConditionalStep) =>
    within(scope, step, (at) => compileConditional(at, step, compileSteps)),
  map: (scope, step: MapStep) => within(scope, step, (at) => compileMap(at, step, compileSteps)),
  loop: (scope, step: LoopStep) => within(scope, step, (at) => compileLoop(at, step, compileSteps)),
  router: (scope, step: RouterStep) => within(scope, step, (at) => compileRouter(at, step, compileSteps)),
  hitl: compileHitl,
}

export function compileSteps(scope: Scope, steps: readonly Step[]): Value {
  for (const step of steps) {
    if (isFull(scope.build)) break
    const compile = compilers[step.kind] as Compiler<Step['kind']>
    const { build, pipeline } = scope
    const first = build.nodes.length
    // A step that cannot be compiled has said why; those after it are looked at all the same.
    const value = compile(scope, step as never) ?? unknownValue
    for (const node of build.nodes.slice(first))
      if (!build.places.has(node)) build.places.set(node, { pipeline, at: step.at })
    scope.steps.set(step.name, value)
    scope.previous = value
    scope.context = [...scope.context, ...entriesOf(scope, step, value)]
  }
  return scope.previous
}

/** What a step puts into the context. What it says and cannot do is refused: steps behind it would miss it in silence. */
function entriesOf(scope: Scope, step: Step, value: Value): ContextEntry[] {
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

/** A map at the root, or nothing that says otherwise (C17). */
function mayBeObject({ schema }: Value): boolean {
  if (schema === true) return true
  if (!isObject(schema)) return false
  const { type, anyOf } = schema
  if (Array.isArray(anyOf)) return anyOf.some((each) => mayBeObject({ schema: each } as Value))
  if (isObject(schema['const'])) return true
  return type === undefined
    ? schema['const'] === undefined && schema['enum'] === undefined
    : [type].flat().includes('object')
}

/** A step with steps inside: its `input` is what the first of them finds before it. */
function within(scope: Scope, step: Step, compile: (scope: Scope) => Value | undefined): Value | undefined {
  if (step.input === undefined) return compile(scope)
  const input = inputOf(scope, step) ?? unknownValue
  const before = scope.previous
  scope.previous = input
  const value = compile(scope)
  scope.previous = before
  return value
}

/** A person does the step: the run waits for the answer. */
function compileHitl(scope: Scope, step: HitlStep): Value | undefined {
  const { build, pipeline } = scope
  build.asks++
  const filled = templateValue(scope, step.message, {
    at: `${step.at}/message`,
    id: `${scope.prefix}${step.name}.message`,
  })
  const message = filled ?? unknownValue
  const input = inputOf(scope, step) ?? unknownValue
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

/** Another pipeline in the place of the step: it sees its input and nothing else of this one. */
function compileImport(scope: Scope, step: CallStep): Value | undefined {
  const imported = scope.pipeline.imports.get(step.worker.name)?.pipeline
  if (imported === undefined) {
    complain(scope, `${step.at}/uses`, {
      code: 'pipeline/import',
      message: `the import ${step.worker.name} has not been loaded`,
      hint: 'Load the pipeline from its file, so that its imports can be found',
    })
    return undefined
  }
  const input = inputOf(scope, step) ?? unknownValue
  const inner = innerScope(scope, {
    pipeline: importedAs(scope.pipeline, step.worker.name, imported),
    prefix: `${scope.prefix}${step.name}/`,
    previous: input,
    steps: new Map(),
    context: [{ value: constant(imported.context) }],
    locals: new Map([['input', input]]),
  })
  const value = compileSteps(inner, imported.steps)
  scope.tails = inner.tails
  return value
}
