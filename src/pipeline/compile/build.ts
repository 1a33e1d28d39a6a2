/** A draft while it is made: nodes that still grow, edges, and what every part of the compiler needs to know. */
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Binding, DraftNode, Edge } from '../../domain/plan.ts'
import { planLimits } from '../../plan/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { ArosConfig } from '../aros-config.ts'
import type { Complaint, Pipeline, Step } from '../pipeline.ts'
import type { SourceIssue } from '../source.ts'
import { type FunctionName, functionId } from './functions.ts'
import type { Region, Value } from './value.ts'

/** A node whose inputs and contracts may still be added to. */
export interface OpenNode extends Omit<DraftNode, 'inputs' | 'contracts'> {
  readonly inputs: Record<string, Binding>
  contracts: { input?: JsonSchema; output?: JsonSchema }
  routing?: NonNullable<DraftNode['routing']>
}

export interface Build {
  readonly nodes: OpenNode[]
  readonly edges: Edge[]
  readonly issues: SourceIssue[]
  /** What somebody should know although it is no mistake, such as a promotion. */
  readonly notes: SourceIssue[]
  readonly aros: ArosConfig
  /** The user's own capabilities. */
  readonly known: ReadonlyMap<string, Capability>
  /** Names of the user's own stages. */
  readonly stages: readonly string[]
  /** Questions that the plan may ask. */
  asks: number
  /** The step that each node was made for. */
  readonly places: Map<OpenNode, { readonly pipeline: Pipeline; readonly at: Pointer }>
}

/** Where the compiler stands: in which pipeline, after which nodes, and what can be named there. */
export interface Scope {
  readonly build: Build
  readonly pipeline: Pipeline
  /** What the ids of nodes begin with. */
  readonly prefix: string
  readonly region: Region
  /** The nodes that the next one waits for. */
  tails: readonly string[]
  previous: Value
  readonly steps: Map<string, Value>
  context: readonly ContextEntry[]
  /** `input`, and inside of maps and loops `item`, `index`, `iteration`. */
  readonly locals: ReadonlyMap<string, Value>
}

/** Compiles steps in a scope, and returns the output of the last; without steps, what was there before. */
export type CompileSteps = (scope: Scope, steps: readonly Step[]) => Value

/** A value that was put into the context: whole under a key, or member by member. The last one wins. */
export interface ContextEntry {
  readonly key?: string
  readonly value: Value
}

/** Room for what happens inside of a step, with the names that are known so far. */
export function innerScope(scope: Scope, change: Partial<Scope> & { readonly prefix: string }): Scope {
  return { ...scope, steps: new Map(scope.steps), ...change }
}

/** Whether there are more nodes than a plan may have; then no more are made, and the compiler says so. */
export function isFull({ nodes }: Build): boolean {
  return nodes.length > planLimits.nodes
}

export function complain({ build, pipeline }: Scope, at: Pointer, said: Complaint): void {
  build.issues.push(pipeline.issue(at, said))
}

/** Adds a node after those that the scope waits for. */
export function addNode(scope: Scope, node: OpenNode): OpenNode {
  scope.build.nodes.push(node)
  for (const from of scope.tails) scope.build.edges.push({ from, to: node.id })
  scope.tails = [node.id]
  return node
}

/** A node that calls one of the functions that come with pipelines. */
export function addFunction(
  scope: Scope,
  {
    id,
    name,
    inputs,
    output,
  }: { id: string; name: FunctionName; inputs: Record<string, Binding>; output: JsonSchema },
): OpenNode {
  return addNode(scope, {
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
