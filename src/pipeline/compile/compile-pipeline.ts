/**
 * Compiles a pipeline to an envelope, a draft and capabilities. Maps and loops become nodes with a body, so
 * the whole plan is proved before the first call, whatever the length of a list.
 */

import type { Json } from '../../base/json.ts'
import { tokens } from '../../base/pointer.ts'
import type { Capability } from '../../domain/capability.ts'
import { parseDraft } from '../../domain/draft/parse-draft.ts'
import type { WireEnvelope } from '../../domain/envelope/envelope-input.ts'
import { isAgent } from '../../domain/loop/agent-settings.ts'
import type { ParseIssueCode } from '../../domain/parse/issue-table.ts'
import { countAsks, defaultMaxAsks, defaultMaxToolAsks } from '../../domain/plan/count-asks.ts'
import type { Draft, DraftNode } from '../../domain/plan.ts'
import { planLimits } from '../../plan/index.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { type ArosConfig, arosConfig } from '../config/aros-config.ts'
import type { Pipeline } from '../parse/pipeline.ts'
import type { PipelineIssueCode } from '../text/issue-table.ts'
import type { SourceIssue } from '../text/source.ts'
import { asBinding, type Build, isFull, type OpenNode, type Scope } from './build.ts'
import { agentIssuesIn, listPipelineCapabilities } from './capabilities.ts'
import type { PipelineCapability } from './functions.ts'
import { reportVacantOutput } from './steps/imports.ts'
import { compileSteps } from './steps/steps.ts'
import { constant, type Region, type Value } from './value.ts'

export interface CompileOptions {
  /** Input of the pipeline; templates call it `input`. Default null. */
  readonly input?: Json
  /** Settings of `[aros]`. Default: all defaults. */
  readonly aros?: ArosConfig
  /** Capabilities that steps may use by id. */
  readonly capabilities?: readonly Capability[]
  /** Names of custom stages that `processing.stages` may use. */
  readonly stages?: readonly string[]
}

export interface CompiledPipeline {
  /** An envelope as a client would send it. */
  readonly envelope: WireEnvelope<JsonSchema>
  readonly draft: Draft
  /** The capabilities that the pipeline itself provides. */
  readonly capabilities: readonly PipelineCapability[]
  /** Information for the author that is not an error. */
  readonly notes: readonly SourceIssue[]
}

export type CompileResult =
  | { readonly ok: true; readonly compiled: CompiledPipeline }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

export function compilePipeline(pipeline: Pipeline, options: CompileOptions = {}): CompileResult {
  const { input = null } = options
  const refused = inputIssues(pipeline, input)
  // Issues of the steps would only be consequences of the wrong input.
  if (refused.length > 0) return { ok: false, issues: refused }
  const { build, value } = buildDraft(pipeline, options, { value: input })
  if (build.issues.length > 0) return { ok: false, issues: inOrder(build.issues) }
  const capabilities = listPipelineCapabilities(pipeline)
  return {
    ok: true,
    compiled: {
      envelope: toEnvelope(pipeline, input, value),
      draft: toDraft(pipeline, build, { value, capabilities }),
      capabilities,
      notes: build.notes,
    },
  }
}

interface PipelineCheck {
  /** Reasons to reject the pipeline for any input. */
  readonly issues: readonly SourceIssue[]
  /** Information for the author that is not an error. */
  readonly notes: readonly SourceIssue[]
}

/** Compiles without an input, to find the issues of the pipeline itself. */
export function checkPipeline(
  pipeline: Pipeline,
  options: Omit<CompileOptions, 'input'> = {},
): PipelineCheck {
  const { build } = buildDraft(pipeline, options, undefined)
  return { issues: inOrder(build.issues), notes: inOrder(build.notes) }
}

/** Drafts a pipeline for any input, to show its steps: a run is compiled with its input. */
export function draftPipeline(
  pipeline: Pipeline,
  options: Omit<CompileOptions, 'input'> = {},
):
  | { readonly ok: true; readonly draft: Draft }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] } {
  const { build, value } = buildDraft(pipeline, options, undefined)
  if (build.issues.length > 0) return { ok: false, issues: inOrder(build.issues) }
  const capabilities = listPipelineCapabilities(pipeline)
  return { ok: true, draft: toDraft(pipeline, build, { value, capabilities }) }
}

/** `known` is the input; without it, steps see the values that `input_schema` allows. */
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
    origins: new Map(),
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
  reportVacantOutput(scope, value)
  if (isFull(build))
    build.issues.push(
      pipeline.issue('/steps', {
        code: 'pipeline/limit',
        message: `the pipeline has more than ${planLimits.nodes} nodes`,
        hint: 'Split the work into several runs',
      }),
    )
  else if (build.issues.length === 0) build.issues.push(...draftIssues(pipeline, build))
  build.issues.push(...agentIssuesIn(pipeline))
  return { build, value }
}

/** Issues of the draft parser, mapped to the steps that the nodes were compiled from. */
function draftIssues(pipeline: Pipeline, { nodes, origins }: Build): SourceIssue[] {
  if (nodes.length === 0) return []
  const read = parseDraft({ nodes })
  if (read.ok) return []
  return read.issues.map(({ code, at, message, hint }) => {
    const pointer = 'pointer' in at ? at.pointer : ''
    const node = nodeAt(nodes, tokens(pointer))
    const origin = (node && origins.get(node as OpenNode)) ?? { pipeline, at: '/steps' }
    return origin.pipeline.issue(origin.at, {
      code: toPipelineCode(code),
      message,
      ...(hint !== undefined && { hint }),
    })
  })
}

/** The code of an issue of a draft that was compiled from a pipeline. */
function toPipelineCode(code: ParseIssueCode): PipelineIssueCode {
  // The other codes of drafts are those of conditions, which pipelines share.
  return code.replace(/^(draft|schema)\//, 'pipeline/') as PipelineIssueCode
}

/** The innermost node that a pointer leads into. */
function nodeAt(nodes: readonly DraftNode[], [, index, ...rest]: readonly string[]): DraftNode | undefined {
  const node = nodes[Number(index)]
  return (rest[0] === 'body' && node?.body && nodeAt(node.body.nodes, rest.slice(1))) || node
}

function toEnvelope(pipeline: Pipeline, input: Json, { schema }: Value): WireEnvelope<JsonSchema> {
  return {
    objective: pipeline.description ?? pipeline.name,
    inputs: { input },
    outputContract: { mode: 'json_schema', schema: pipeline.outputSchema ?? schema, constraints: [] },
    metadata: { pipeline: pipeline.name },
  }
}

interface Made {
  readonly value: Value
  readonly capabilities: readonly PipelineCapability[]
}

function toDraft({ limits, name }: Pipeline, build: Build, { value, capabilities }: Made): Draft {
  const own = new Map(capabilities.map(({ capability }) => [capability.capabilityId, capability]))
  const asks = countAsks(build, { capability: (id) => own.get(id) ?? build.known.get(id) })
  const ofAgents = [...own.values(), ...build.known.values()].some(isAgent) ? defaultMaxToolAsks : 0
  // Without a limit in the file, allow as many asks as the steps can make.
  const maxAsks = limits?.maxAsks ?? (asks > defaultMaxAsks ? asks + ofAgents : undefined)
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

/**
 * Makes all inputs optional: steps run in file order, so a value from a branch that was not taken is absent
 * and does not skip the step.
 */
function withOptionalInputs(node: DraftNode): DraftNode {
  if (node.body) return { ...node, body: { ...node.body, nodes: node.body.nodes.map(withOptionalInputs) } }
  const names = Object.keys(node.inputs ?? {})
  if (names.length === 0 || node.contracts?.input !== undefined) return node
  const properties = Object.fromEntries(names.map((name) => [name, true]))
  return { ...node, contracts: { ...node.contracts, input: { type: 'object', properties } } }
}

/** Validates the input against the schema of the pipeline before anything runs. */
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

/** Sorts and deduplicates issues: a pipeline imported several times reports the same ones each time. */
function inOrder(issues: readonly SourceIssue[]): SourceIssue[] {
  const distinct = new Map(
    issues.map((issue) => [`${issue.file}\n${issue.at.span[0]}\n${issue.message}`, issue]),
  )
  return [...distinct.values()].sort((a, b) => a.at.span[0] - b.at.span[0])
}
