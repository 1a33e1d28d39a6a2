/**
 * State of a compilation: the growing nodes and edges of a draft, the issues, and what every part of the
 * compiler needs.
 */
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Binding, DraftNode, Edge } from '../../domain/plan.ts'
import { planLimits } from '../../plan/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { ArosConfig } from '../config/aros-config.ts'
import type { CallStep, Complaint, Pipeline, Step } from '../parse/pipeline.ts'
import type { SourceIssue } from '../text/source.ts'
import { type FunctionName, functionId } from './functions.ts'
import type { Region, Value } from './value.ts'

/** A node whose inputs and contracts may still grow. */
export interface OpenNode extends Omit<DraftNode, 'inputs' | 'contracts'> {
  readonly inputs: Record<string, Binding>
  contracts: { input?: JsonSchema; output?: JsonSchema }
  routing?: NonNullable<DraftNode['routing']>
}

export interface Build {
  readonly nodes: OpenNode[]
  readonly edges: Edge[]
  readonly issues: SourceIssue[]
  /** Information for the author that is not an error, such as a promotion. */
  readonly notes: SourceIssue[]
  readonly aros: ArosConfig
  /** Capabilities registered by the user. */
  readonly known: ReadonlyMap<string, Capability>
  /** Names of stages registered by the user. */
  readonly stages: readonly string[]
  /** The step that each node was compiled from, for issues. */
  readonly origins: Map<OpenNode, { readonly pipeline: Pipeline; readonly at: Pointer }>
}

/** The current position of the compiler: the pipeline, the nodes to wait for, and the names in scope. */
export interface Scope {
  readonly build: Build
  readonly pipeline: Pipeline
  /** Prefix of node ids. */
  readonly prefix: string
  readonly region: Region
  /** Ids of the nodes that the next node waits for. */
  tails: readonly string[]
  previous: Value
  readonly steps: Map<string, Value>
  context: readonly ContextEntry[]
  /** `input`, and in maps and loops also `item`, `index` and `iteration`. */
  readonly locals: ReadonlyMap<string, Value>
  /** Settings that the importing steps apply to all steps of this pipeline. */
  readonly inherited?: Inherited
}

/** Settings of a step with `uses: imports.X` that apply to every step of X. */
export type Inherited = Pick<CallStep['node'], 'onFail' | 'constraints'>

/** Compiles steps in a scope and returns the output of the last; without steps, the previous value. */
export type CompileSteps = (scope: Scope, steps: readonly Step[]) => Value

/** A value put into the context: whole under a key, or merged member by member. The last entry wins. */
export interface ContextEntry {
  readonly key?: string
  readonly value: Value
}

/** Creates a nested scope, with a copy of the names known so far. */
export function innerScope(scope: Scope, change: Partial<Scope> & { readonly prefix: string }): Scope {
  return { ...scope, steps: new Map(scope.steps), ...change }
}

/** Has the draft more nodes than a plan may have, counting the bodies of maps and loops once? Then compilation stops and reports the limit. */
export function isFull({ nodes }: Build): boolean {
  return countNodes(nodes) > planLimits.nodes
}

function countNodes(nodes: readonly DraftNode[]): number {
  return nodes.reduce((sum, { body }) => sum + (body ? countNodes(body.nodes) : 0), nodes.length)
}

export function complain({ build, pipeline }: Scope, at: Pointer, said: Complaint): void {
  build.issues.push(pipeline.issue(at, said))
}

/** Adds a node after the current tails of the scope. */
export function addNode(scope: Scope, node: OpenNode): OpenNode {
  scope.build.nodes.push(node)
  for (const from of scope.tails) scope.build.edges.push({ from, to: node.id })
  scope.tails = [node.id]
  return node
}

/** Adds a node that calls one of the built-in pipeline functions. */
export function addFunction(
  scope: Scope,
  {
    id,
    name,
    inputs,
    output,
    settings,
  }: {
    id: string
    name: FunctionName
    inputs: Record<string, Binding>
    output: JsonSchema
    settings?: CallStep['node']
  },
): OpenNode {
  return addNode(scope, {
    ...settings,
    id,
    kind: 'transformation',
    capabilityId: functionId(name),
    inputs,
    contracts: { output },
  })
}

export function nodeValue(node: OpenNode, schema: JsonSchema, home: Region): Value {
  return { sources: [{ node: node.id }], schema, certain: true, home }
}

export function asBinding({ sources }: Value): Binding {
  const [only] = sources
  return sources.length === 1 && only ? only : sources
}

export type Data = { readonly [key: string]: Json }
