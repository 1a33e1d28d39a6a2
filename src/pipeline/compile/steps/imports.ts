/**
 * Compiles `uses: imports.X`: inlines another pipeline in place of the step. It sees only its input; its
 * `input_schema` and `output_schema` apply as if it ran by itself.
 */
import { both } from '../../../schema/build/combine.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import { checkFit } from '../../../schema/fit/fit.ts'
import { isVacant } from '../../../schema/values/schema-values.ts'
import type { CallStep, LoopStep, Pipeline } from '../../parse/pipeline.ts'
import { type CompileSteps, complain, innerScope, type Scope } from '../build.ts'
import { importedAs } from '../capabilities.ts'
import { hasPromise, held, inherit, promisedOver } from '../fields.ts'
import { resolveStepInput } from '../names.ts'
import { constant, unknownValue, type Value } from '../value.ts'
import { backed } from './fallback.ts'
import { compileLoop } from './loop.ts'

export function compileImport(scope: Scope, step: CallStep, compileSteps: CompileSteps): Value | undefined {
  const given = scope.pipeline.imports.get(step.worker.name)
  const imported = given?.pipeline
  if (given === undefined || imported === undefined) {
    complain(scope, `${step.at}/uses`, {
      code: 'pipeline/import',
      message: `the import ${step.worker.name} has not been loaded`,
      hint: 'Load the pipeline from its file, so that its imports can be found',
    })
    return undefined
  }
  noteLimits(scope, step, imported)
  if (step.fallback !== undefined) return compileBacked(scope, step, compileSteps)
  const input = checkedInput(scope, step, imported)
  const inner = innerScope(scope, {
    pipeline: importedAs(scope.pipeline, step.worker.name, imported),
    prefix: `${scope.prefix}${step.name}/`,
    previous: input,
    steps: new Map(),
    context: [{ value: constant(imported.context) }],
    locals: new Map([['input', input]]),
    inherited: inherit(scope.inherited ?? {}, step.node),
  })
  const value = checkedOutput(inner, compileSteps(inner, imported.steps))
  scope.tails = inner.tails
  if (!hasPromise(step)) return value
  const schema = promisedOver(scope, step, value.schema)
  return held(scope, value, {
    id: `${scope.prefix}${step.name}.output`,
    schema,
    label: `the output of ${step.name}`,
  })
}

/**
 * Wraps the import in a loop of one round, which fails as a whole when a step inside fails, so the fallback
 * covers all of it.
 */
function compileBacked(scope: Scope, step: CallStep, compileSteps: CompileSteps): Value | undefined {
  const { fallback: _, input: _given, ...rest } = step
  const { onFail: _asks, ...node } = step.node
  const input = resolveStepInput(scope, step) ?? unknownValue
  const loop: LoopStep = {
    kind: 'loop',
    name: step.name,
    at: step.at,
    updatesContext: false,
    body: [{ ...rest, node }],
    maxLoops: 1,
    onMaxLoops: 'accept',
  }
  const before = scope.previous
  scope.previous = input
  const value = compileLoop(scope, loop, compileSteps)
  scope.previous = before
  return value && backed(scope, step, { node: `${scope.prefix}${step.name}`, value, input })
}

/** The input of the imported pipeline, checked against its `input_schema`. */
function checkedInput(scope: Scope, step: CallStep, { inputSchema }: Pipeline): Value {
  const input = resolveStepInput(scope, step) ?? unknownValue
  if (inputSchema === undefined) return input
  const refuse = (why: string) => {
    complain(scope, step.input === undefined ? step.at : `${step.at}/input`, {
      code: 'pipeline/input',
      message: `this does not satisfy the input_schema of imports.${step.worker.name}: ${why}`,
      hint: `Give it what its input_schema asks for, or change the input_schema of ${step.worker.name}`,
    })
    return { ...unknownValue, schema: inputSchema }
  }
  if (input.known) {
    const [issue] = compileSchema(inputSchema).validate(input.known.value, 1)
    if (issue === undefined) return input
    const where = 'pointer' in issue.at && issue.at.pointer !== '' ? issue.at.pointer : 'the input'
    return refuse(`${where} ${issue.message}`)
  }
  if (isVacant(both(input.schema, inputSchema))) {
    const fit = checkFit(input.schema, inputSchema)
    return refuse(
      fit.kind === 'no' ? `${fit.pointer || 'it'} breaks ${fit.keyword}` : 'no value satisfies both',
    )
  }
  return held(scope, input, {
    id: `${scope.prefix}${step.name}.given`,
    schema: inputSchema,
    label: `the input of ${step.name}`,
  })
}

/** The output of the imported pipeline, checked against its `output_schema`. */
function checkedOutput(inner: Scope, value: Value): Value {
  const { pipeline, prefix } = inner
  if (pipeline.outputSchema === undefined || reportVacantOutput(inner, value)) return value
  return held(inner, value, {
    id: `${prefix.replace(/\/$/, '')}.answer`,
    schema: pipeline.outputSchema,
    label: `the answer of ${pipeline.name}`,
  })
}

/** Reports an issue and returns true if the last output can never satisfy the `output_schema` of the pipeline. */
export function reportVacantOutput(scope: Scope, { schema }: Value): boolean {
  const { outputSchema } = scope.pipeline
  if (outputSchema === undefined || !isVacant(both(outputSchema, schema))) return false
  complain(scope, '/output_schema', {
    code: 'pipeline/output',
    message: 'the answer is the output of the last step, which can never satisfy output_schema',
    hint: 'Change output_schema or the schema of the last step, or put a step behind it',
  })
  return true
}

/** Notes that limits of an imported pipeline have no effect: a run uses the limits of its top-level pipeline. */
function noteLimits({ build, pipeline }: Scope, { worker }: CallStep, { limits }: Pipeline): void {
  const at = pipeline.imports.get(worker.name)?.at
  if (limits === undefined || at === undefined) return
  build.notes.push(
    pipeline.issue(at, {
      code: 'pipeline/import-limits',
      message: `the limits of imports.${worker.name} do not hold here: a run has those of the pipeline that is run`,
      hint: 'Set limits: in this file, or usage_limits on the steps of the imported one',
    }),
  )
}
