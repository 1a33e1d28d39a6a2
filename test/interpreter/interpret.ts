/**
 * What a draft means, worked out a second time: node after node, in the plainest way, from the rules in
 * docs/reference/plan.md ("What makes a node run") and docs/reference/engine.md ("When an attempt does not succeed"). It shares
 * no code with the prover, the fold or the decisions of the engine.
 */
import type { Answer, Case, CaseNode, CaseRoute, CaseSource } from './cases.ts'
import { capabilityId, editedOutput, outputOf, type Values } from './values.ts'

export interface Call {
  readonly capabilityId: string
  readonly inputs: Values
  readonly times: number
}

export interface NodeEnd {
  readonly status: 'completed' | 'failed' | 'skipped'
  readonly calls: readonly Call[]
  readonly output?: Values
  /** The targets that a routing node has chosen. */
  readonly chosen?: readonly string[]
}

export interface Expected {
  readonly status: 'completed' | 'failed'
  readonly nodes: ReadonlyMap<string, NodeEnd>
  readonly output?: Values
  /** Why a run fails: the node that is lost, a policy, or a person. */
  readonly cause?: string
}

/** Tries that one attempt may make while it is turned away. */
const mostTries = 5

export function interpret(given: Case): Expected {
  const ends = new Map<string, NodeEnd>()
  const causes: string[] = []
  for (const node of given.nodes) {
    const end = isActivated(given, node, ends) ? runNode(given, node, ends) : skipped
    ends.set(node.id, end)
    if (end.status === 'failed' && !isCaught(given, node, end)) causes.push(node.id)
    if (end.status === 'completed') causes.push(...failingPolicies(given, node, end))
  }
  const cause = causes[0]
  if (cause !== undefined) return { status: 'failed', nodes: ends, cause }
  const output: { [name: string]: string | number } = {}
  for (const { name, sources } of given.outputs) {
    const value = supplied(given, sources, ends)
    if (value !== undefined) output[name] = value
  }
  const lacking = lackingOutput(given, ends)
  if (lacking !== undefined) return { status: 'failed', nodes: ends, cause: `the answer lacks ${lacking}` }
  // Work is done again at most three times; a person who rejects every time ends the run.
  if (given.askBeforeFinish && given.decisions['final'] === 'reject')
    return { status: 'failed', nodes: ends, cause: 'final' }
  return { status: 'completed', nodes: ends, output: finalOutput(given, output) }
}

/** A required member of the answer that no source supplies. */
export function lackingOutput(given: Case, ends: ReadonlyMap<string, NodeEnd>): string | undefined {
  return given.outputs.find(
    ({ required, sources }) => required && supplied(given, sources, ends) === undefined,
  )?.name
}

const skipped: NodeEnd = { status: 'skipped', calls: [] }

/** Control activates: with control edges, one of them has to be live. Data only supplies: each required input needs a value. */
function isActivated(given: Case, node: CaseNode, ends: ReadonlyMap<string, NodeEnd>): boolean {
  const control = controlEdges(given, node)
  if (control.length > 0 && !control.some((edge) => isLive(edge, ends.get(edge.from)))) return false
  return node.inputs.every(
    (input) => !input.required || supplied(given, sourcesOf(given, node, input), ends) !== undefined,
  )
}

interface ControlEdge {
  readonly from: string
  readonly when: 'pass' | 'fail' | 'always'
  /** Live only when the routing node has chosen this target. */
  readonly chosen?: string
}

function controlEdges({ nodes, edges = [] }: Case, node: CaseNode): ControlEdge[] {
  const found: ControlEdge[] = edges.filter(({ to }) => to === node.id)
  for (const { id, routes, elseTo } of nodes) {
    const targets = [...routes.flatMap(({ to }) => to), ...elseTo]
    if (targets.includes(node.id)) found.push({ from: id, when: 'pass', chosen: node.id })
  }
  // Without any edges a fallback stands in for the node that supplies the same.
  if (edges.length === 0 && node.standsInFor !== undefined)
    found.push({ from: node.standsInFor, when: 'fail' })
  return found
}

function isLive({ when, chosen }: ControlEdge, source: NodeEnd | undefined): boolean {
  if (source === undefined || source.status === 'skipped') return false
  if (source.status === 'failed') return when !== 'pass'
  return when !== 'fail' && (chosen === undefined || source.chosen?.includes(chosen) === true)
}

/** The node's own list, or by name: the nodes before it with that member in their output, the nearest first. */
function sourcesOf(
  { nodes }: Case,
  node: CaseNode,
  { name, type, sources }: CaseNode['inputs'][number],
): readonly CaseSource[] {
  if (sources !== undefined) return sources
  const before = nodes.slice(0, nodes.indexOf(node))
  return before
    .filter(({ role, key }) => role !== 'routing' && `${type}${key}` === name)
    .reverse()
    .map(({ id }) => ({ node: id, type, name }))
}

/** The first source that has a value. */
function supplied(
  given: Case,
  sources: readonly CaseSource[],
  ends: ReadonlyMap<string, NodeEnd>,
): string | number | undefined {
  for (const source of sources) {
    if ('literal' in source) return source.literal
    if ('envelope' in source) {
      if (Object.hasOwn(given.inputs, source.envelope)) return given.inputs[source.envelope]
      continue
    }
    const end = ends.get(source.node)
    if (end?.status === 'completed' && end.output && Object.hasOwn(end.output, source.name))
      return end.output[source.name]
  }
  return undefined
}

function runNode(given: Case, node: CaseNode, ends: ReadonlyMap<string, NodeEnd>): NodeEnd {
  const inputs: { [name: string]: string | number } = {}
  for (const input of node.inputs) {
    const value = supplied(given, sourcesOf(given, node, input), ends)
    if (value !== undefined) inputs[input.name] = value
  }
  return node.role === 'routing' ? chooseRoute(node, inputs) : attempt(given, node, inputs)
}

function chooseRoute(node: CaseNode, inputs: Values): NodeEnd {
  const route = node.routes.find((candidate) => holds(candidate, inputs))
  const chosen = node.choice ?? route?.to ?? node.elseTo
  if (chosen.length === 0) return { status: 'failed', calls: [] }
  return { status: 'completed', calls: [], output: inputs, chosen }
}

/** An ordering of anything but two numbers is false; nothing equals what is missing. */
function holds({ input, operator, value, not }: CaseRoute, inputs: Values): boolean {
  const left = Object.hasOwn(inputs, input) ? inputs[input] : undefined
  const ordered = typeof left === 'number' && typeof value === 'number'
  const plain =
    operator === '==' ? left === value : ordered && (operator === '<' ? left < value : left >= value)
  return plain !== not
}

/** The node's own capability with its retries, then each alternate with as many; then a person, where the draft says so. */
function attempt(given: Case, node: CaseNode, inputs: Values): NodeEnd {
  const calls: Call[] = []
  for (const [candidate, script] of node.scripts.entries()) {
    const id = capabilityId(node, candidate)
    let times = 0
    const record = () => {
      if (times > 0) calls.push({ capabilityId: id, inputs, times })
    }
    for (let nth = 0; nth <= node.retryMax; nth++) {
      const answer = script.answers[nth] ?? script.rest
      times += triesOf(answer)
      if (answer.kind === 'ok' || (answer.kind === 'throttled' && answer.times < mostTries)) {
        record()
        return judged(given, node, { answer, calls, output: outputOf(node, id, inputs) })
      }
      if (answer.kind === 'final-error' || answer.kind === 'throttled') break
    }
    record()
  }
  return afterFailure(given, node, calls)
}

function triesOf(answer: Answer): number {
  return answer.kind === 'throttled' ? Math.min(answer.times + 1, mostTries) : 1
}

interface Judged {
  readonly answer: Answer
  readonly calls: readonly Call[]
  readonly output: Values
}

/** RAO: below 0.5 the answer is dropped, above 0.85 it counts, in between (or when the model escalates) a person looks. */
function judged(given: Case, node: CaseNode, { answer, calls, output }: Judged): NodeEnd {
  if (!node.rao || answer.kind !== 'ok') return { status: 'completed', calls, output }
  const { confidence = 1, escalate = false } = answer
  if (confidence < 0.5) return afterFailure(given, node, calls)
  if (confidence > 0.85 && !escalate) return { status: 'completed', calls, output }
  const decision = given.decisions[node.id]
  if (decision === 'reject') return { status: 'failed', calls }
  return { status: 'completed', calls, output: decision === 'edit' ? editedOutput(node) : output }
}

/** A fail edge goes before a person. */
function afterFailure(given: Case, node: CaseNode, calls: readonly Call[]): NodeEnd {
  if (node.onFail === 'ask' && !hasFailEdge(given, node) && given.decisions[node.id] !== 'reject')
    return { status: 'completed', calls, output: editedOutput(node) }
  return { status: 'failed', calls }
}

function hasFailEdge({ edges = [], nodes }: Case, { id }: CaseNode): boolean {
  if (edges.length === 0) return nodes.some(({ standsInFor }) => standsInFor === id)
  return edges.some(({ from, when }) => from === id && when !== 'pass')
}

/** A failure is caught by an edge on it; the run goes on. */
function isCaught(given: Case, node: CaseNode, { status }: NodeEnd): boolean {
  return status === 'failed' && hasFailEdge(given, node)
}

/** Policies that end the run when this node completes: for one event the first that matches acts. */
function failingPolicies({ policies, decisions }: Case, node: CaseNode, { output = {} }: NodeEnd): string[] {
  const acting = policies.find(({ nodeId, below }) => {
    const score = output[below.name]
    return nodeId === node.id && typeof score === 'number' && score < below.value
  })
  if (acting?.action === 'fail') return [acting.id]
  if (acting?.action === 'hitl' && decisions[acting.id] === 'reject') return [acting.id]
  return []
}

function finalOutput({ askBeforeFinish, decisions, outputs }: Case, output: Values): Values {
  if (!askBeforeFinish || decisions['final'] !== 'edit') return output
  const { type } = outputs.at(-1)!
  return { answer: type === 'v' ? 'written by a person' : 7 }
}
