/**
 * A pipeline to what every run is made of: an envelope, a draft and capabilities. Maps and loops become nodes
 * with a body, so that the plan is proved as a whole before anything is called, whatever the length of a list.
 */
import type { Json } from '../base/json.ts'
import { tokens } from '../base/pointer.ts'
import type { Capability } from '../domain/capability.ts'
import { parseDraft } from '../domain/parse-draft.ts'
import type { Draft, DraftNode } from '../domain/plan.ts'
import { planLimits } from '../plan/index.ts'
import { both } from '../schema/combine.ts'
import { compileSchema } from '../schema/compile.ts'
import { isVacant } from '../schema/vacant.ts'
import { type ArosConfig, arosConfig } from './aros-config.ts'
import { asBinding, type Build, isFull, type OpenNode, type Scope } from './compile/build.ts'
import { allSteps, capabilitiesOf } from './compile/capabilities.ts'
import type { PipelineCapability } from './compile/functions.ts'
import { compileSteps } from './compile/steps.ts'
import { constant, type Region, type Value } from './compile/value.ts'
import type { Pipeline } from './pipeline.ts'
import type { SourceIssue } from './source.ts'

export interface CompileOptions {
  /** What the pipeline is given; templates call it `input`. Default null. */
  readonly input?: Json
  /** The settings of `[aros]`. Default: all defaults. */
  readonly aros?: ArosConfig
  /** Capabilities that steps may use by their ids. */
  readonly capabilities?: readonly Capability[]
  /** Names of stages of your own that `processing.stages` may name. */
  readonly stages?: readonly string[]
}

export interface CompiledPipeline {
  /** An envelope as a caller would send it. */
  readonly envelope: { readonly [key: string]: unknown }
  readonly draft: Draft
  /** Those that the pipeline itself brings. */
  readonly capabilities: readonly PipelineCapability[]
  /** What an author should know although it is no mistake. */
  readonly notes: readonly SourceIssue[]
}

export type CompileResult =
  | { readonly ok: true; readonly compiled: CompiledPipeline }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

export function compilePipeline(pipeline: Pipeline, options: CompileOptions = {}): CompileResult {
  const { input = null } = options
  const refused = inputIssues(pipeline, input)
  // What steps do not find in such an input would only follow from it.
  if (refused.length > 0) return { ok: false, issues: refused }
  const { build, value } = buildDraft(pipeline, options, { value: input })
  if (build.issues.length > 0) return { ok: false, issues: inOrder(build.issues) }
  return {
    ok: true,
    compiled: {
      envelope: envelopeOf(pipeline, input, value),
      draft: draftOf(pipeline, build, value),
      capabilities: capabilitiesOf(pipeline),
      notes: build.notes,
    },
  }
}

export interface PipelineCheck {
  /** Why the pipeline is not run, whatever its input is. */
  readonly issues: readonly SourceIssue[]
  /** What an author should know although it is no mistake. */
  readonly notes: readonly SourceIssue[]
}

/** Compiles for an input that is not known yet: what is wrong with the pipeline itself. */
export function checkPipeline(
  pipeline: Pipeline,
  options: Omit<CompileOptions, 'input'> = {},
): PipelineCheck {
  const { build } = buildDraft(pipeline, options, undefined)
  // How far maps are unrolled depends on the input.
  const isLimit = ({ code }: SourceIssue) =>
    code === 'pipeline/limit' && allSteps(pipeline.steps).some(({ kind }) => kind === 'map')
  return {
    issues: inOrder(build.issues.filter((issue) => !isLimit(issue))),
    notes: inOrder([...build.notes, ...build.issues.filter(isLimit)]),
  }
}

/** `known` is the input; without it, steps see what `input_schema` says of it. */
function buildDraft(
  pipeline: Pipeline,
  { aros = arosConfig(), capabilities = [], stages = [] }: CompileOptions,
  known: Value['known'],
): { readonly build: Build; readonly value: Value } {
  const build: Build = {
    nodes: [],
    edges: [],
    issues: [],
    notes: [],
    aros,
    known: new Map(capabilities.map((each) => [each.capabilityId, each])),
    stages,
    asks: 0,
    places: new Map(),
  }
  const region: Region = {}
  const given: Value = {
    sources: [{ envelope: '/inputs/input' }],
    schema: pipeline.inputSchema ?? true,
    certain: true,
    ...(known && { known }),
  }
  const scope: Scope = {
    build,
    pipeline,
    prefix: '',
    region,
    tails: [],
    previous: given,
    steps: new Map(),
    context: [{ value: constant(pipeline.context) }],
    locals: new Map([['input', given]]),
  }
  const value = compileSteps(scope, pipeline.steps)
  if (pipeline.outputSchema !== undefined && isVacant(both(pipeline.outputSchema, value.schema)))
    build.issues.push(
      pipeline.issue('/output_schema', {
        code: 'pipeline/output',
        message: 'the answer is the output of the last step, which can never satisfy output_schema',
        hint: 'Change output_schema or the schema of the last step, or put a step behind it',
      }),
    )
  if (isFull(build))
    build.issues.push(
      pipeline.issue('/steps', {
        code: 'pipeline/limit',
        message: `the pipeline has more than ${planLimits.nodes} nodes`,
        hint: 'Split the work into several runs',
      }),
    )
  else if (build.issues.length === 0) build.issues.push(...draftIssues(pipeline, build))
  return { build, value }
}

/** What a reader of drafts refuses, at the step that the node was made for. */
function draftIssues(pipeline: Pipeline, { nodes, places }: Build): SourceIssue[] {
  if (nodes.length === 0) return []
  const read = parseDraft({ nodes })
  if (read.ok) return []
  return read.issues.map(({ code, at, message, hint }) => {
    const pointer = 'pointer' in at ? at.pointer : ''
    const node = nodeAt(nodes, tokens(pointer))
    const place = (node && places.get(node as OpenNode)) ?? { pipeline, at: '/steps' }
    return place.pipeline.issue(place.at, {
      code: code.replace(/^(draft|schema)\//, 'pipeline/'),
      message,
      ...(hint !== undefined && { hint }),
    })
  })
}

/** The innermost node that a pointer leads into. */
function nodeAt(nodes: readonly DraftNode[], [, index, ...rest]: readonly string[]): DraftNode | undefined {
  const node = nodes[Number(index)]
  return (rest[0] === 'body' && node?.body && nodeAt(node.body.nodes, rest.slice(1))) || node
}

function envelopeOf(pipeline: Pipeline, input: Json, { schema }: Value) {
  return {
    objective: pipeline.description ?? pipeline.name,
    inputs: { input },
    outputContract: { mode: 'json_schema', schema: pipeline.outputSchema ?? schema, constraints: [] },
    metadata: { pipeline: pipeline.name },
  }
}

function draftOf({ limits, name }: Pipeline, build: Build, value: Value): Draft {
  const maxAsks = limits?.maxAsks ?? (build.asks > 3 ? build.asks : undefined)
  return {
    nodes: build.nodes.map(withOptionalInputs),
    edges: build.edges,
    output: asBinding(value),
    ...((limits || maxAsks !== undefined) && {
      limits: { ...limits, ...(maxAsks !== undefined && { maxAsks }) },
    }),
    metadata: { pipeline: name },
  }
}

/** Steps run in the order of the file: a value of a branch that was not taken is absent, and skips no step. */
function withOptionalInputs(node: DraftNode): DraftNode {
  if (node.body) return { ...node, body: { ...node.body, nodes: node.body.nodes.map(withOptionalInputs) } }
  const names = Object.keys(node.inputs ?? {})
  if (names.length === 0 || node.contracts?.input !== undefined) return node
  const properties = Object.fromEntries(names.map((name) => [name, true]))
  return { ...node, contracts: { ...node.contracts, input: { type: 'object', properties } } }
}

/** The input is held to the pipeline's own schema before anything runs. */
function inputIssues(pipeline: Pipeline, input: Json): SourceIssue[] {
  if (pipeline.inputSchema === undefined) return []
  return compileSchema(pipeline.inputSchema)
    .validate(input)
    .map(({ at, message, hint }) => {
      const where = 'pointer' in at && at.pointer !== '' ? at.pointer : 'the input'
      return pipeline.issue('/input_schema', {
        code: 'pipeline/input',
        message: `the input does not satisfy input_schema: ${where} ${message}`,
        hint: hint ?? (input === null ? 'Give the pipeline an input (--input)' : 'Correct the input'),
      })
    })
}

/** An imported pipeline says the same wherever it is used; once is enough. */
function inOrder(issues: readonly SourceIssue[]): SourceIssue[] {
  const distinct = new Map(
    issues.map((issue) => [`${issue.file}\n${issue.at.span[0]}\n${issue.message}`, issue]),
  )
  return [...distinct.values()].sort((a, b) => a.at.span[0] - b.at.span[0])
}
