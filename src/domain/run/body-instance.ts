/** Instantiates the body of a map or loop for one item or round: nodes with their own ids, bound to the inputs of the instance. */
import type { Json } from '../../base/json.ts'
import { valueAt } from '../../base/pointer.ts'
import type { BodyPlan, Plan, PlanNode, Source } from '../plan.ts'

/** `node[3]` for an item, `node#2` for a round. */
export function instanceId({ id, map }: Pick<PlanNode, 'id' | 'map'>, index: number): string {
  return map === undefined ? `${id}#${index}` : `${id}[${index}]`
}

/** Returns the id of a body's node in an instance. */
export function nodeIdIn(instance: string, id: string): string {
  return `${instance}.${id}`
}

/** Whether a node is part of an instance, at any depth. */
export function isWithin(nodeId: string, instance: string): boolean {
  return nodeId.startsWith(`${instance}.`)
}

/** Whether a node is part of an item or a round of a map or a loop, at any depth. */
export function isInside(nodeId: string, of: string): boolean {
  return nodeId.startsWith(`${of}[`) || nodeId.startsWith(`${of}#`)
}

/** Whether a node is part of an item of a map, at any depth. */
export function isInItem(nodeId: string): boolean {
  return /\[\d+\]\./.test(nodeId)
}

/**
 * Whether the other node is in another item of a map that both are in, or is the map itself, which keeps what its finished items
 * have read: items of one map read nothing of each other.
 */
export function isApartInMap(nodeId: string, other: string): boolean {
  if (nodeId.startsWith(`${other}[`)) return true
  const [one, two] = [nodeId.split(itemEnd), other.split(itemEnd)]
  const nth = one.findIndex((part, index) => part !== two[index])
  const map = one[nth]?.match(item)?.[1]
  return map !== undefined && map === two[nth]?.match(item)?.[1]
}

const itemEnd = /(?<=\[\d+\])(?=\.)/
const item = /^(.*)\[\d+\]$/

interface InstanceContext {
  readonly instance: string
  readonly given: { readonly [name: string]: Json }
}

/** Returns the body's nodes and edges for one instance. Contracts, conditions and their caches are shared with the body. */
export function instantiate(body: BodyPlan, context: InstanceContext): Pick<BodyPlan, 'nodes' | 'edges'> {
  const named = (id: string) => nodeIdIn(context.instance, id)
  return {
    nodes: body.nodes.map((node) => instanceNode(node, context)),
    edges: body.edges.map((edge) => ({ ...edge, from: named(edge.from), to: named(edge.to) })),
  }
}

function instanceNode(node: PlanNode, context: InstanceContext): PlanNode {
  const named = (id: string) => nodeIdIn(context.instance, id)
  const targets = (to: string | readonly string[]) => (typeof to === 'string' ? named(to) : to.map(named))
  const { routing } = node
  return {
    ...node,
    id: named(node.id),
    bodyId: node.id,
    inputs: Object.fromEntries(
      Object.entries(node.inputs).map(([name, sources]) => [name, bound(sources, context)]),
    ),
    needs: node.needs.map(({ input, from }) => ({ input, from: from.map(named) })),
    ...(routing && {
      routing: {
        routes: routing.routes.map((route) => ({ ...route, to: targets(route.to) })),
        ...(routing.elseTo !== undefined && { elseTo: targets(routing.elseTo) }),
      },
    }),
  }
}

/** Returns the output bindings of the body for one instance. */
export function outputIn(output: Plan['output'], context: InstanceContext): Plan['output'] {
  if (!('properties' in output)) return bound(output, context)
  const properties = Object.entries(output.properties)
  return {
    properties: Object.fromEntries(properties.map(([name, sources]) => [name, bound(sources, context)])),
  }
}

/** Replaces inputs of the body by their values; a source without a value is dropped. */
function bound(sources: readonly Source[], { instance, given }: InstanceContext): Source[] {
  return sources.flatMap((source): Source[] => {
    if ('node' in source) return [{ ...source, node: nodeIdIn(instance, source.node) }]
    if (!('input' in source)) return [source]
    const value = valueAt(given, source.input)
    return value === undefined ? [] : [{ value }]
  })
}
