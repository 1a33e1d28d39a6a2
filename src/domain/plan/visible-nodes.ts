/** The graph as its author wrote it: nodes that the pipeline compiler inserts are left out, and their edges are joined. */

/** Functions behind inserted nodes: they fill templates, pass values on and join branches. */
const inserted: ReadonlySet<string> = new Set(
  ['render', 'pass', 'take', 'gather', 'entry', 'merge', 'merge_distinct', 'list', 'refuse'].map(
    (name) => `proviso.pipeline.${name}`,
  ),
)

interface NamedNode {
  readonly id: string
  readonly kind?: string | undefined
  readonly capabilityId?: string | undefined
}

/** Whether a compiler inserted the node: progress and pictures leave it out unless it fails. */
export function isInternalNode({ id, kind, capabilityId }: NamedNode): boolean {
  // The router of a branch, `step/branch.if`; names of steps have no slash.
  if (capabilityId === undefined) return kind === 'routing' && /\/[^/]+\.if$/.test(id)
  return inserted.has(capabilityId)
}

/** Marks the nodes that a compiler inserted with `internal`, also in bodies, so that clients can leave them out. */
export function markInternal<N extends NamedNode>(nodes: readonly N[]): readonly N[] {
  return nodes.map((node) => {
    const { body } = node as NamedNode & { readonly body?: { readonly nodes: readonly NamedNode[] } }
    return {
      ...node,
      ...(isInternalNode(node) && { internal: true }),
      ...(body && { body: { ...body, nodes: markInternal(body.nodes) } }),
    }
  })
}

export interface Link {
  readonly from: string
  readonly to: string
}

/** A link between shown nodes. */
export interface VisibleLink extends Link {
  /** The node that `from` itself leads to: `to`, or the first hidden node on the way. */
  readonly via: string
}

/**
 * Returns the links between shown nodes: a path through hidden nodes alone counts as one link. Each pair occurs once, in
 * the order of `ids`. Links that do not lead onwards to a known node are dropped.
 */
export function joinVisible(
  ids: Iterable<string>,
  links: Iterable<Link>,
  isHidden: (id: string) => boolean,
): VisibleLink[] {
  const outgoing = new Map<string, string[]>()
  for (const { from, to } of links) {
    const targets = outgoing.get(from)
    if (targets) targets.push(to)
    else outgoing.set(from, [to])
  }
  const joined: VisibleLink[] = []
  for (const from of ids) {
    if (isHidden(from)) continue
    const seen = new Set<string>()
    const open = (outgoing.get(from) ?? []).map((to) => ({ to, via: to })).reverse()
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { to, via } = next
      if (seen.has(to)) continue
      seen.add(to)
      if (!isHidden(to)) joined.push({ from, to, via })
      else for (const beyond of [...(outgoing.get(to) ?? [])].reverse()) open.push({ to: beyond, via })
    }
  }
  return joined
}
