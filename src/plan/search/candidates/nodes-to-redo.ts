/**
 * Determines what a new plan executes again: the node that triggered it or, if that node is a validation, what it
 * validated. The same capability is used again only as a last resort.
 */
import { isObject } from '../../../base/json.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { DraftRequest } from '../../../domain/ports/planner.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { checkId, isBuiltin } from '../../builtin-capabilities.ts'
import { facetsByName, portsOf } from '../../catalog/ports.ts'
import type { SearchRequest } from '../search-request.ts'
import { slug } from './node-names.ts'

interface NodesToRedo {
  /** Nodes whose outputs are dropped. */
  readonly nodes: ReadonlySet<string>
  /** Capabilities that executed them. */
  readonly capabilities: ReadonlySet<string>
}

export function findNodesToRedo(request: SearchRequest): NodesToRedo {
  const { trigger, completed = [] } = request
  const rejected = trigger?.nodeIds ?? (trigger?.nodeId === undefined ? [] : [trigger.nodeId])
  const parts = rejected.map((nodeId) => redoNode(nodeId, request, completed))
  return {
    nodes: new Set(parts.flatMap(({ nodes }) => nodes)),
    capabilities: new Set(parts.flatMap(({ capabilities }) => capabilities)),
  }
}

function redoNode(
  nodeId: string,
  request: SearchRequest,
  completed: DraftRequest['completed'],
): { readonly nodes: readonly string[]; readonly capabilities: readonly string[] } {
  const worker = findCapability(nodeId, request)
  const judged = worker === undefined ? [] : getJudgedProperties(worker, request)
  const made = completed.filter(
    ({ output }) => isObject(output) && judged.some((name) => Object.hasOwn(output, name)),
  )
  const guilty = made.length > 0 ? made.map(({ capabilityId }) => capabilityId) : [worker?.capabilityId]
  return {
    nodes: [nodeId, ...made.map(({ id }) => id)],
    capabilities: guilty.filter((id) => id !== undefined),
  }
}

/**
 * Returns the capability of a node; a node that has not completed is identified by its id, which derives from the
 * capability.
 */
function findCapability(
  nodeId: string,
  { completed = [], capabilities }: SearchRequest,
): Capability | undefined {
  const done = completed.find(({ id }) => id === nodeId)?.capabilityId
  const name = nodeId.replace(/_\d+$/, '')
  return capabilities.find(({ capabilityId }) =>
    done === undefined
      ? slug(capabilityId.slice(capabilityId.lastIndexOf('.') + 1)) === name
      : done === capabilityId,
  )
}

/** Returns the properties of the answer that a validation has read, or else all that it reads; empty for other nodes. */
function getJudgedProperties(worker: Capability, { envelope, facets }: SearchRequest): readonly string[] {
  if (worker.nodeKind !== 'validation') return []
  const answer = membersOf(envelope.outputContract.schema).map(({ name }) => name)
  if (worker.capabilityId === checkId || isBuiltin(worker.capabilityId)) return answer
  const read = portsOf(worker, facetsByName(facets)).needs.map(({ name }) => name)
  const parts = read.filter((name) => answer.includes(name))
  return parts.length > 0 ? parts : read
}
