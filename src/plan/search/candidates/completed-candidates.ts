/** Completed nodes that a new plan may reuse, because nothing upstream of them is executed again. */
import { isObject, type Json, own } from '../../../base/json.ts'
import type { DraftRequest } from '../../../domain/ports/planner.ts'
import { isBuiltin } from '../../builtin-capabilities.ts'
import { type Port, portsOf } from '../../catalog/ports.ts'
import { addRequirement, type Candidate, type SearchSpace } from './candidates.ts'
import { findNodesToRedo } from './nodes-to-redo.ts'
import { accepts, findGivenSource, type Requirement } from './requirements.ts'

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
  const { needs, supplies } = portsOf(capability, space.facets)
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
