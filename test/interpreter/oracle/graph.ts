/**
 * Which nodes of a graph run, and with which inputs: control activates, data only supplies. From docs/reference/plan.md
 * ("Node activation").
 */
import type { CaseInput, CaseNode, CaseRoute, CaseSource, Graph, Value } from '../case.ts'
import { decisionAt, editedShown, mayEdit, refuses, type Values } from '../values.ts'
import { attempt } from './attempts.ts'
import { type Ends, type NodeEnd, nothingDone, type Scope } from './expected.ts'
import { iterate } from './iterations.ts'

/** How every node ends, and the nodes whose failure nothing catches. */
export function interpretGraph(scope: Scope): { ends: Ends; lost: readonly CaseNode[] } {
  const ends = new Map<string, NodeEnd>()
  const lost: CaseNode[] = []
  for (const node of scope.graph.nodes) {
    const end = isActivated(scope, node, ends) ? runNode(scope, node, ends) : skipped
    ends.set(node.id, end)
    if (end.status === 'failed' && !isCaught(scope.graph, node)) lost.push(node)
  }
  return { ends, lost }
}

const skipped: NodeEnd = { ...nothingDone, status: 'skipped' }

/** With control edges, one of them has to be live. Each required input needs a value, or a source that completed. */
function isActivated(scope: Scope, node: CaseNode, ends: Ends): boolean {
  const control = controlEdges(scope.graph, node)
  if (control.length > 0 && !control.some((edge) => isLive(edge, ends.get(edge.from)))) return false
  return node.inputs.every((input) => {
    const sources = sourcesOf(scope.graph, node, input)
    return (
      !input.required ||
      firstSupplied(scope, sources, ends) !== undefined ||
      sources.some((source) => 'node' in source && ends.get(source.node)?.status === 'completed')
    )
  })
}

interface ControlEdge {
  readonly from: string
  readonly when: 'pass' | 'fail' | 'always'
  /** Live only when the routing node has chosen this target. */
  readonly chosen?: string
}

function controlEdges({ nodes, edges = [] }: Graph, node: CaseNode): ControlEdge[] {
  const found: ControlEdge[] = edges.filter(({ to }) => to === node.id)
  for (const { id, routes, elseTo } of nodes) {
    const targets = [...routes.flatMap(({ to }) => to), ...elseTo]
    if (targets.includes(node.id)) found.push({ from: id, when: 'pass', chosen: node.id })
  }
  // A fallback that no edge leads to stands in for the node that supplies the same.
  if (found.length === 0 && node.standsInFor !== undefined)
    found.push({ from: node.standsInFor, when: 'fail' })
  return found
}

function isLive({ when, chosen }: ControlEdge, source: NodeEnd | undefined): boolean {
  if (source === undefined || source.status === 'skipped') return false
  if (source.status === 'failed') return when !== 'pass'
  return when !== 'fail' && (chosen === undefined || source.chosen?.includes(chosen) === true)
}

/** A failure is caught by an edge on it; the run continues. */
export function isCaught(graph: Graph, { id }: CaseNode): boolean {
  return graph.nodes.some((node) =>
    controlEdges(graph, node).some(({ from, when }) => from === id && when !== 'pass'),
  )
}

/** The node's own list, or by name: the nodes before it with that member in their output, the nearest first. */
function sourcesOf({ nodes }: Graph, node: CaseNode, input: CaseInput): readonly CaseSource[] {
  return input.sources ?? sourcesByName(nodes.slice(0, nodes.indexOf(node)), input)
}

export function sourcesByName(
  nodes: readonly CaseNode[],
  { name, type }: Pick<CaseInput, 'name' | 'type'>,
): readonly CaseSource[] {
  return nodes
    .filter(({ role, key }) => (role === 'work' || role === 'fallback') && `${type}${key}` === name)
    .reverse()
    .map(({ id }) => ({ node: id, type, name }))
}

/** The first source that has a value. */
export function firstSupplied(
  { given, supplied }: Scope,
  sources: readonly CaseSource[],
  ends: Ends,
): Value | undefined {
  for (const source of sources) {
    if ('literal' in source) return source.literal
    const value =
      'envelope' in source
        ? valueAt(given.inputs, source.envelope)
        : 'given' in source
          ? valueAt(supplied, source.given)
          : valueAt(ends.get(source.node)?.output, source.name)
    if (value !== undefined) return value
  }
  return undefined
}

function valueAt(value: Value | undefined, path: string): Value | undefined {
  let found: Value | undefined = value
  for (const name of path === '' ? [] : path.split('/')) {
    if (typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined
    found = (found as { readonly [name: string]: Value })[name]
  }
  return found
}

function runNode(scope: Scope, node: CaseNode, ends: Ends): NodeEnd {
  const { forced } = node
  if (forced)
    return { ...nothingDone, ...forced, status: forced.output === undefined ? 'failed' : 'completed' }
  const inputs: { [name: string]: Value } = {}
  for (const input of node.inputs) {
    const value = firstSupplied(scope, sourcesOf(scope.graph, node, input), ends)
    if (value !== undefined) inputs[input.name] = value
  }
  // Its source completed without the value: it fails, and nothing is called.
  const isLacking = node.inputs.some(({ name, required }) => required && inputs[name] === undefined)
  if (node.role === 'routing' && isLacking) return { ...nothingDone, status: 'failed' }
  if (node.role === 'routing') return held(scope, node, chooseRoute(node, inputs))
  return node.iteration
    ? held(
        scope,
        node,
        iterate(node, inputs, (body) => yielded(scope, node, body)),
      )
    : attempt(scope, node, { inputs, isLacking, isCaught: isCaught(scope.graph, node) })
}

/**
 * A list, a state or a route that a label names: a person approves it before anything behind it runs. What is sent back is
 * made again and comes out alike, so only who never approves it changes how it ends.
 */
function held(scope: Scope, node: CaseNode, end: NodeEnd): NodeEnd {
  if (!node.labelled || end.status !== 'completed') return end
  const decision = decisionAt(scope.given, `${scope.prefix}${node.id}`)
  if (refuses(decision)) {
    const { output: _, chosen: __, ...log } = end
    return { ...log, status: 'failed' }
  }
  if (decision !== 'edit' || !mayEdit(node)) return end
  const output = editedShown(node, end.output!)
  return node.role === 'routing' ? chooseRoute(node, output as Values) : { ...end, output }
}

/** One item or round: what it yields, unless a failure in it is not caught. */
function yielded(
  scope: Scope,
  { id, iteration }: CaseNode,
  { address, supplied }: { address: string; supplied: Values },
) {
  const { body, yields } = iteration!
  const inner: Scope = {
    ...scope,
    graph: body,
    prefix: `${scope.prefix}${id}${address}.`,
    supplied,
  }
  const { ends, lost } = interpretGraph(inner)
  const take = (sources: readonly CaseSource[]) => firstSupplied(inner, sources, ends)!
  return { failed: lost.length > 0, v: take(yields.v), s: take(yields.s), logs: [...ends.values()] }
}

function chooseRoute(node: CaseNode, inputs: Values): NodeEnd {
  const route = node.routes.find((candidate) => holds(candidate, inputs))
  const chosen = route?.to ?? node.elseTo
  if (chosen.length === 0) return { ...nothingDone, status: 'failed' }
  return { ...nothingDone, status: 'completed', output: inputs, chosen }
}

/** An ordering of anything but two numbers is false; nothing equals what is missing. */
function holds({ input, operator, value, not }: CaseRoute, inputs: Values): boolean {
  const left = Object.hasOwn(inputs, input) ? inputs[input] : undefined
  const ordered = typeof left === 'number' && typeof value === 'number'
  const plain =
    operator === '==' ? left === value : ordered && (operator === '<' ? left < value : left >= value)
  return plain !== not
}
