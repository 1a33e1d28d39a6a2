/** One item of a map or one round of a loop: the nodes of the body under ids of their own, bound to what they are given. */
import type { Json } from '../../base/json.ts'
import type { BodyPlan, Plan, PlanNode, Source } from '../plan.ts'
import { valueAt } from './bound-values.ts'

/** `node[3]` for an item, `node#2` for a round. */
export function instanceId({ id, map }: Pick<PlanNode, 'id' | 'map'>, index: number): string {
  return map === undefined ? `${id}#${index}` : `${id}[${index}]`
}

/** The id of a body's node in an instance. */
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

interface Place {
  readonly instance: string
  readonly given: { readonly [name: string]: Json }
}

/** The body's nodes and edges for one instance. Contracts and conditions are shared with the body, and so are their caches. */
export function instantiate(body: BodyPlan, place: Place): Pick<BodyPlan, 'nodes' | 'edges'> {
  const named = (id: string) => nodeIdIn(place.instance, id)
  return {
    nodes: body.nodes.map((node) => instanceNode(node, place)),
    edges: body.edges.map((edge) => ({ ...edge, from: named(edge.from), to: named(edge.to) })),
  }
}

function instanceNode(node: PlanNode, place: Place): PlanNode {
  const named = (id: string) => nodeIdIn(place.instance, id)
  const targets = (to: string | readonly string[]) => (typeof to === 'string' ? named(to) : to.map(named))
  const { routing } = node
  return {
    ...node,
    id: named(node.id),
    bodyId: node.id,
    inputs: Object.fromEntries(
      Object.entries(node.inputs).map(([name, sources]) => [name, bound(sources, place)]),
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

/** What the body yields, read in one instance. */
export function outputIn(output: Plan['output'], place: Place): Plan['output'] {
  if (!('properties' in output)) return bound(output, place)
  const properties = Object.entries(output.properties)
  return {
    properties: Object.fromEntries(properties.map(([name, sources]) => [name, bound(sources, place)])),
  }
}

/** What the instance is given becomes a value; a place where there is nothing is no source. */
function bound(sources: readonly Source[], { instance, given }: Place): Source[] {
  return sources.flatMap((source): Source[] => {
    if ('node' in source) return [{ ...source, node: nodeIdIn(instance, source.node) }]
    if (!('input' in source)) return [source]
    const value = valueAt(given, source.input)
    return value === undefined ? [] : [{ value }]
  })
}
