/**
 * Determines which completed nodes a new plan executes again: the node that triggered it or, if that node is a validation,
 * what it validated. The same capability is used again only as a last resort. The others may be reused.
 */
import { isObject, type Json, own } from '../../../base/json.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { DraftRequest } from '../../../domain/ports/planner.ts'
import { listMembers } from '../../../schema/build/project.ts'
import { checkId, isBuiltin } from '../../builtin-capabilities.ts'
import { facetsByName, getPorts, type Port } from '../../catalog/ports.ts'
import type { SearchRequest } from '../search-request.ts'
import { addRequirement, type Candidate, type SearchSpace, slug } from './candidates.ts'
import { accepts, findGivenSource, type Requirement } from './requirements.ts'

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
  const answer = listMembers(envelope.outputContract.schema).map(({ name }) => name)
  if (worker.capabilityId === checkId || isBuiltin(worker.capabilityId)) return answer
  const read = getPorts(worker, facetsByName(facets)).needs.map(({ name }) => name)
  const parts = read.filter((name) => answer.includes(name))
  return parts.length > 0 ? parts : read
}

// Candidates for reuse: completed nodes that stay valid, because nothing upstream of them is executed again.

type Done = DraftRequest['completed'][number]

export function findCompletedCandidates(space: SearchSpace): readonly Candidate[] {
  const { request, aliases } = space
  const { nodes } = findNodesToRedo(request)
  const kept = (request.completed ?? []).filter(({ id }) => !nodes.has(id))
  const redone = nodes.size > 0
  // Fixpoint: a node is kept only if all of its inputs are: the envelope, and other kept nodes.
  let stay = kept.flatMap((done) => toCandidate(done, space, redone) ?? [])
  for (;;) {
    const supplied = new Set(stay.flatMap(({ supplies }) => supplies.map(({ name }) => name)))
    const hasAll = (needs: readonly Requirement[]) =>
      needs.every(
        (requirement) =>
          supplied.has(requirement.name) ||
          findGivenSource(requirement, request.envelope, aliases) !== undefined,
      )
    const next = stay.filter(({ needs }) => hasAll(needs))
    if (next.length === stay.length) break
    stay = next
  }
  return stay
}

/** An open node read everything available, so its answer is dropped when anything before it is executed again. */
function toCandidate(
  { id, capabilityId, output }: Done,
  space: SearchSpace,
  redone: boolean,
): Candidate | undefined {
  const capability = space.allowed.find((each) => each.capabilityId === capabilityId)
  if (capability === undefined || (capability.kind === 'local' && isBuiltin(capability.capabilityId)))
    return undefined
  const open = isBuiltin(capability.capabilityId)
  if (open && redone && capability.nodeKind === 'execution') return undefined
  const { needs, supplies } = getPorts(capability, space.facets)
  const ports = open ? openPorts(output) : supplies.filter((port) => has(output, port))
  return {
    key: `done:${id}`,
    method: 'done',
    capability,
    needs: needs.filter(({ required }) => required).map((port) => addRequirement(port, space.requirements)),
    supplies: ports.map((port) => ({ ...port, schema: valueSchema(output, port) })),
    cost: 0,
    doneId: id,
  }
}

function openPorts(output: Json): readonly Port[] {
  const names = isObject(output) ? Object.keys(output) : []
  return [...names, ''].map((name) => ({ name, schema: true, required: true, facets: [] }))
}

function has(output: Json, { name, schema }: Port): boolean {
  if (name === '') return true
  const value = isObject(output) ? (own(output, name) as Json | undefined) : undefined
  return value !== undefined && accepts(schema, value)
}

/** The value is known, so requirements for another value do not match. */
function valueSchema(output: Json, { name }: Port) {
  return { const: name === '' ? output : isObject(output) ? (own(output, name) as Json) : null }
}
