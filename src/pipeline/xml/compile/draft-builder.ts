/** Builds a draft while a template is compiled: ids, edges, and which nodes depend on a routing decision. */
import type { Json } from '../../../base/json.ts'
import type { DraftNode, Edge, Source } from '../../../domain/plan.ts'
import type { OutputFormat } from '../../../output/index.ts'
import type { Value } from './value.ts'

/** Maximum number of nodes; the prover rejects a draft of twice that size. */
export const mostNodes = 500

/** The context in which nodes are added. */
export interface NodeContext {
  /** Prefix of node ids: the templates being expanded. */
  readonly prefix: string
  /** Names of the templates being expanded, outermost first. */
  readonly calls: readonly string[]
  /** Ids of the nodes that must finish first. */
  readonly after: readonly string[]
  /** The routing decision that guards this context. */
  readonly gate?: Gate
  /** The output format that the context requires. */
  readonly wanted?: OutputFormat
  /** Additional inputs of atomic tasks: results of earlier steps. */
  readonly also?: ReadonlyMap<string, Value>
}

export interface Gate {
  readonly router: string
  /** All nodes that wait directly for the router: they are skipped when another case is taken. */
  readonly targets: Set<string>
}

export interface NewNode extends Omit<DraftNode, 'id' | 'inputs'> {
  /** Base of the id. */
  readonly name: string
  readonly inputs: ReadonlyMap<string, readonly Source[]>
}

export interface DraftBuilder {
  readonly nodes: readonly DraftNode[]
  readonly edges: readonly Edge[]
  /** Reserves an unused id. */
  reserve(name: string, prefix: string): string
  /** Returns `undefined` when the node limit is reached. */
  add(node: NewNode, context: NodeContext): string | undefined
  addAs(id: string, node: Omit<NewNode, 'name'>, context: NodeContext): void
}

export function createDraftBuilder(): DraftBuilder {
  const nodes: DraftNode[] = []
  const edges: Edge[] = []
  const ids = new Set<string>()
  const reserve = (name: string, prefix: string) => {
    const plain = `${prefix}${name}`
    let id = plain
    for (let count = 2; ids.has(id); count++) id = `${plain}-${count}`
    ids.add(id)
    return id
  }
  const addAs: DraftBuilder['addAs'] = (id, { inputs, ...node }, { after, gate }) => {
    nodes.push({ id, ...node, inputs: Object.fromEntries(inputs) })
    const before = new Set(after)
    for (const sources of inputs.values())
      for (const source of sources) if ('node' in source) before.add(source.node)
    if (gate && before.has(gate.router)) gate.targets.add(id)
    for (const from of after) edges.push({ from, to: id })
  }
  return {
    nodes,
    edges,
    reserve,
    addAs,
    add({ name, ...node }, context) {
      if (nodes.length >= mostNodes) return undefined
      const id = reserve(name, context.prefix)
      addAs(id, node, context)
      return id
    },
  }
}

/** A binding to a constant. */
export function literal(value: Json): readonly Source[] {
  return [{ value }]
}
