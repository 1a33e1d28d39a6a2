/**
 * Compiles a template file and the inputs of a run to an envelope, a draft and capabilities, which the
 * ordinary engine executes.
 */

import type { Issue } from '../../../base/errors/issue.ts'
import { type Json, own } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import { type ErrorEnvelope, issueError } from '../../../domain/errors/error-envelope.ts'
import type { Draft } from '../../../domain/plan.ts'
import { type TaskResult, taskResult } from '../../../domain/run/task-result.ts'
import type { TerminalStatus } from '../../../domain/status.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { saidBlock } from '../../compile/step-processing.ts'
import type { ArosConfig } from '../../config/aros-config.ts'
import { issueAt, type SourceIssue } from '../../text/source.ts'
import type { BodyNode, TemplateFile, TemplateNode } from '../parse/template.ts'
import { compileCall, expand } from './compile-call.ts'
import { compileCond } from './compile-cond.ts'
import { type Compiling, Stop, say } from './compile-context.ts'
import { compileExpression } from './compile-expression.ts'
import { compileTask, modelId } from './compile-task.ts'
import { createDraftBuilder, type NodeContext } from './draft-builder.ts'
import { createScope, type Made, type Scope, type Value } from './value.ts'
import { type TemplateCapability, valueCapability } from './value-capability.ts'

export interface CompiledTemplate {
  /** An envelope as a client would send it. */
  readonly envelope: {
    readonly objective: string
    readonly inputs: { readonly [name: string]: Json }
    readonly outputContract: { readonly schema: JsonSchema }
    /** Name by which runs of the template are found, as for pipelines. */
    readonly metadata: { readonly pipeline: string }
  }
  readonly draft: Draft
  readonly capabilities: readonly TemplateCapability[]
}

type CompileResult =
  | { readonly ok: true; readonly compiled: CompiledTemplate }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

/** Limit on expansions, to stop templates that expand without end. */
const mostExpansions = 5_000

export interface TemplateOptions {
  /** Settings of `[aros]`: explicitly set ones override the defaults of templates. Default: none. */
  readonly aros?: ArosConfig
}

/**
 * @example
 * const parsed = parseTemplate(xml, 'report.xml')
 * if (parsed.ok) compileTemplate(parsed.file, { path: 'a.ts' })
 */
export function compileTemplate(
  file: TemplateFile,
  inputs: { readonly [name: string]: Json } = {},
  { aros }: TemplateOptions = {},
): CompileResult {
  const compiling = begin(file, { inputs, settings: aros === undefined ? {} : saidBlock(aros) })
  const made = stopping(() => compileMain(compiling))
  const { findings, builder } = compiling
  if (made && findings.length === 0) {
    // Reading the answer may add nodes too.
    const output = stopping(() => made.value.read())
    if (builder.nodes.length === 0)
      say(compiling, file.main.range, {
        code: 'template/empty',
        message: 'the part of the template to run has no task',
        hint: 'Add a <task>',
      })
    if (findings.length === 0 && output)
      return {
        ok: true,
        compiled: {
          envelope: {
            objective: getObjective(file),
            inputs,
            outputContract: { schema: made.value.schema === true ? {} : made.value.schema },
            metadata: { pipeline: getName(file) },
          },
          draft: { nodes: builder.nodes, edges: builder.edges, output },
          capabilities: templateCapabilities(file),
        },
      }
  }
  return { ok: false, issues: findings.map((finding) => issueAt(file.source, finding)) }
}

/** The capabilities that a run of the file calls, independent of its inputs; also needed to resume a run. */
export function templateCapabilities(file: TemplateFile): readonly TemplateCapability[] {
  const models = [...providersIn(file)].map(
    (provider): TemplateCapability => ({
      capability: {
        capabilityId: modelId(provider),
        version: '1',
        displayName: provider,
        summary: `What "${provider}" answers to a task of a template.`,
        kind: 'model',
        nodeKind: 'execution',
        inputContract: { type: 'object' },
        outputContract: {},
        idempotent: true,
        sideEffect: false,
        postConditions: [],
        preferredModels: [provider],
      },
    }),
  )
  return [valueCapability, ...models]
}

function begin(file: TemplateFile, given: Pick<Compiling, 'inputs' | 'settings'>): Compiling {
  const compiling: Compiling = {
    file,
    ...given,
    builder: createDraftBuilder(),
    findings: [],
    parts: new WeakMap(),
    expanded: 0,
    compile(body, scope, context) {
      if (++compiling.expanded > mostExpansions) {
        say(compiling, body.range, {
          code: 'template/limit',
          message: `the template expands to more than ${mostExpansions} parts`,
          hint: 'Call fewer templates inside each other',
        })
        throw new Stop()
      }
      return compileBody(compiling, body, { scope, context })
    },
  }
  return compiling
}

function compileBody(
  compiling: Compiling,
  body: BodyNode,
  around: { readonly scope: Scope; readonly context: NodeContext },
): Made {
  switch (body.kind) {
    case 'task':
      return compileTask(compiling, body, around)
    case 'call':
      return compileCall(compiling, body, around)
    case 'cond':
      return compileCond(compiling, body, around)
    case 'expression':
      return compileExpression(compiling, body, around)
  }
}

function stopping<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Stop) return undefined
    throw error
  }
}

function compileMain(compiling: Compiling): Made | undefined {
  const { file, inputs } = compiling
  const context: NodeContext = { prefix: '', calls: [], after: [] }
  const given = (name: string): Value => ({
    schema: { const: own(inputs, name) as Json },
    read: () => [{ envelope: child('/inputs', name) }],
  })
  const { main } = file
  if ('kind' in main)
    return compiling.compile(
      main,
      createScope(new Map(Object.keys(inputs).map((name) => [name, given(name)]))),
      context,
    )
  const missing = main.params.filter((param) => own(inputs, param) === undefined)
  const extra = Object.keys(inputs).filter((name) => !main.params.includes(name))
  for (const [names, message] of [
    [missing, `"${main.name}" needs the input`],
    [extra, `"${main.name}" has no parameter`],
  ] as const)
    if (names.length > 0)
      say(compiling, main.range, {
        code: 'template/input',
        message: `${message} ${names.map((name) => `"${name.slice(0, 60)}"`).join(', ')}`,
        hint: `It takes ${main.params.length === 0 ? 'no inputs' : main.params.join(', ')}`,
      })
  if (missing.length > 0) return undefined
  return expand(compiling, main, {
    params: new Map(main.params.map((param) => [param, given(param)])),
    context,
  })
}

/** The name of the template; else the name of the file, without folder and extension. */
function getName({ main, source }: TemplateFile): string {
  if (!('kind' in main)) return main.name
  return (source.name.split(/[\\/]/).at(-1) ?? source.name).replace(/\.xml$/i, '')
}

function getObjective({ main, source }: TemplateFile): string {
  const described = (body: BodyNode | TemplateNode): string => {
    if (!('kind' in body)) return described(body.body) || `Template ${body.name}`
    return body.kind === 'task' ? body.description.text : ''
  }
  return described(main) || `Template ${source.name}`
}

function providersIn({ templates, main }: TemplateFile): Set<string> {
  const found = new Set<string>()
  const look = (body: BodyNode): void => {
    if (body.kind === 'call') for (const { value } of body.args) look(value)
    if (body.kind === 'cond') for (const each of body.cases) look(each.body)
    if (body.kind !== 'task') return
    if (body.provider !== undefined) found.add(body.provider)
    for (const { from } of body.inputs) look(from)
    if (body.type === 'sequential') for (const step of body.steps) look(step)
    if (body.type === 'reduce') for (const each of [body.inner, body.reduction]) look(each)
  }
  if ('kind' in main) look(main)
  for (const { body } of templates.values()) look(body)
  return found
}

// Converts the end of a template run to a task result, with the failure classified by the error taxonomy.

/** As returned by `app.run`. */
interface TemplateRun {
  readonly status: TerminalStatus | 'waiting'
  readonly output?: Json
  readonly error?: ErrorEnvelope
}

/**
 * The result of the whole from the run and the results of its nodes. Where one of several tasks failed, the template failed
 * with `subtask_failure`: `details` has the step that failed, its own error, and what the others returned.
 *
 * @example
 * const run = await app.run(envelope, { draft })
 * templateResult(run, await app.taskResults(run.runId))
 */
export function templateResult(run: TemplateRun, tasks: ReadonlyMap<string, TaskResult>): TaskResult {
  if (run.status === 'completed') return taskResult({ output: { value: run.output ?? null } })
  if (run.status === 'waiting') return taskResult({ waitingFor: 'a person' })
  return taskResult({ error: toError(run, tasks) })
}

/** The result for a file that cannot run with these inputs. */
export function templateRefusal(issues: readonly Issue[]): TaskResult {
  const [first] = issues
  if (first === undefined) throw new Error('A template is refused for a reason')
  const reason = isAboutInput(first) ? 'input_validation_failure' : 'xml_validation_failure'
  const error = issueError(first, reason)
  const violations = issues.map(({ message }) => message)
  return taskResult({ error: { ...error, details: { ...error.details, violations } } })
}

function isAboutInput({ code }: Issue): boolean {
  return code === 'template/input'
}

function toError(run: TemplateRun, tasks: ReadonlyMap<string, TaskResult>): ErrorEnvelope {
  // Nodes that never started neither failed nor returned anything.
  const begun = [...tasks].filter(
    ([, { status, notes }]) => status !== 'CONTINUATION' && notes['skipped'] === undefined,
  )
  const failed = begun.find(([, { status }]) => status === 'FAILED')
  const own = failed?.[1].notes['error'] as unknown as ErrorEnvelope | undefined
  if (run.status === 'cancelled' || failed === undefined || own === undefined) return runError(run)
  const done = begun.filter(([, { status }]) => status === 'COMPLETE')
  if (done.length === 0 && begun.length === 1) return own
  const [failedStep] = failed
  const partialResults = done.map(([step, { content }]) => ({ step, content }))
  return {
    type: 'TASK_FAILURE',
    reason: 'subtask_failure',
    message: `"${failedStep}" failed: ${own.message}`,
    details: { failedStep, partialResults, error: { ...own } },
    path: '',
  }
}

function runError({ error, status }: TemplateRun): ErrorEnvelope {
  if (error === undefined) throw new Error(`A run that is ${status} says why`)
  return error
}
