/**
 * Counts how often a run of a draft can ask a person: the default limit of a pipeline, and the number a limit is
 * compared with.
 */
import type { Capability } from '../capability.ts'
import { type Draft, type DraftNode, iterationDefaults } from '../plan.ts'
import { isRaoError, readRaoContract } from '../rao/rao-contract.ts'
import { listNodeNames } from './node-summary.ts'

/** Asks in one run where nothing sets `maxAsks`. */
export const defaultMaxAsks = 3

/** Asks about tool calls of agents in one run where nothing sets `maxAsks`; they do not count for the other default. */
export const defaultMaxToolAsks = 100

interface AskingContext {
  readonly capability: (
    id: string,
  ) => Pick<Capability, 'kind' | 'nodeKind' | 'sideEffect' | 'rao'> | undefined
  /** What failures of nodes lead to that say nothing themselves. */
  readonly onNodeFail?: 'ask' | 'fail' | undefined
  /** Side effects need no approval. */
  readonly sideEffectsAllowed?: boolean
  /** Names of nodes whose output a person approves. */
  readonly labels?: ReadonlySet<string>
  /** A RAO policy may select any node. */
  readonly hasRaoPolicy?: boolean
}

/**
 * Counts each ask once: human tasks, RAO reviews, failures, side effects and labelled outputs, times the items of a map and
 * the rounds of a loop. Questions that a capability asks by itself, and work that a person sends back, come on top.
 */
export function countAsks(
  { nodes, edges = [] }: Pick<Draft, 'nodes' | 'edges'>,
  context: AskingContext,
): number {
  const caught = new Set(edges.flatMap(({ from, when = 'pass' }) => (when === 'pass' ? [] : [from])))
  return nodes.reduce((sum, node) => sum + getAsks(node, caught.has(node.id), context), 0)
}

function getAsks(node: DraftNode, isCaught: boolean, context: AskingContext): number {
  const { map, loop, body, routing, capabilityId, onFail = context.onNodeFail } = node
  const capability = capabilityId === undefined ? undefined : context.capability(capabilityId)
  const kind = node.kind ?? capability?.nodeKind ?? 'execution'
  const asks = [
    capability?.kind === 'human',
    capability !== undefined && isReviewed(node, capability, context),
    routing === undefined && onFail === 'ask' && !isCaught,
    capability?.sideEffect === true && !context.sideEffectsAllowed,
    listNodeNames({ ...node, kind }).some((name) => context.labels?.has(name)),
  ].filter(Boolean).length
  const times = map
    ? (map.maxItems ?? iterationDefaults.maxItems)
    : (loop?.maxRounds ?? iterationDefaults.maxRounds)
  return body ? asks + countAsks(body, context) * times : asks
}

function isReviewed(
  { data }: DraftNode,
  { kind, rao }: Pick<Capability, 'kind' | 'rao'>,
  { hasRaoPolicy }: AskingContext,
): boolean {
  if (kind === 'human') return false
  const own = readRaoContract(data)
  return (own !== undefined && !isRaoError(own)) || rao !== undefined || hasRaoPolicy === true
}
