/** The draft as it grows while a template is compiled: ids, edges, and which nodes stand behind a decision. */
import type { Json } from '../../base/json.ts'
import type { DraftNode, Edge, Source } from '../../domain/plan.ts'
import type { OutputFormat } from '../../output/index.ts'
import type { Value } from './value.ts'

/** More is no template any more; the prover would refuse a draft of twice that size. */
export const mostNodes = 500

/** Where something is being put. */
export interface Place {
  /** Before every id: the templates on the way here. */
  readonly prefix: string
  /** Names of the templates that are being expanded, the outermost first. */
  readonly calls: readonly string[]
  /** What must be done before. */
  readonly after: readonly string[]
  /** The decision that this stands behind. */
  readonly gate?: Gate
  /** What the surroundings say about the value. */
  readonly wanted?: OutputFormat
  /** What atomic tasks get besides what they name: results of earlier steps. */
  readonly also?: ReadonlyMap<string, Value>
}

export interface Gate {
  readonly router: string
  /** All nodes that wait for the router itself: they are skipped when another case is taken. */
  readonly targets: Set<string>
}

export interface NewNode extends Omit<DraftNode, 'id' | 'inputs'> {
  /** What the id is made of. */
  readonly name: string
  readonly inputs: ReadonlyMap<string, readonly Source[]>
}

export interface DraftBuilder {
  readonly nodes: readonly DraftNode[]
  readonly edges: readonly Edge[]
  /** An id that nobody has yet. */
  reserve(name: string, prefix: string): string
  /** Undefined once there are too many. */
  add(node: NewNode, place: Place): string | undefined
  addAs(id: string, node: Omit<NewNode, 'name'>, place: Place): void
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
    add({ name, ...node }, place) {
      if (nodes.length >= mostNodes) return undefined
      const id = reserve(name, place.prefix)
      addAs(id, node, place)
      return id
    },
  }
}

/** A binding that is always the same value. */
export function literal(value: Json): readonly Source[] {
  return [{ value }]
}
