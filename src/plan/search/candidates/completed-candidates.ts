/** Completed nodes that a new plan may reuse, because nothing upstream of them is executed again. */
import { isObject, type Json, own } from '../../../base/json.ts'
import type { DraftRequest } from '../../../domain/ports/planner.ts'
import { isBuiltin } from '../../builtin-capabilities.ts'
import { type Port, portsOf } from '../../catalog/ports.ts'
import { type Market, type Offer, wantOf } from './candidates.ts'
import { redoOf } from './nodes-to-redo.ts'
import { accepts, givenFor, type Want } from './requirements.ts'

type Done = DraftRequest['completed'][number]

export function doneOffers(market: Market): readonly Offer[] {
  const { request, aliases } = market
  const { nodes } = redoOf(request)
  const kept = (request.completed ?? []).filter(({ id }) => !nodes.has(id))
  const redone = nodes.size > 0
  const candidates = kept.flatMap((done) => offerOf(done, market, redone) ?? [])
  // Fixpoint: a node is kept only if all of its inputs are: the envelope, and other kept nodes.
  let stay = candidates
  for (;;) {
    const supplied = new Set(stay.flatMap(({ supplies }) => supplies.map(({ name }) => name)))
    const hasAll = (needs: readonly Want[]) =>
      needs.every(
        (want) => supplied.has(want.name) || givenFor(want, request.envelope, aliases) !== undefined,
      )
    const next = stay.filter(({ needs }) => hasAll(needs))
    if (next.length === stay.length) break
    stay = next
  }
  return stay
}

/** An open node read everything available, so its answer is dropped when anything before it is executed again. */
function offerOf({ id, capabilityId, output }: Done, market: Market, redone: boolean): Offer | undefined {
  const capability = market.allowed.find((each) => each.capabilityId === capabilityId)
  if (capability === undefined || (capability.kind === 'local' && isBuiltin(capability.capabilityId)))
    return undefined
  const open = isBuiltin(capability.capabilityId)
  if (open && redone && capability.nodeKind === 'execution') return undefined
  const { needs, supplies } = portsOf(capability, market.facets)
  const ports = open ? openPorts(output) : supplies.filter((port) => has(output, port))
  return {
    key: `done:${id}`,
    way: 'done',
    capability,
    needs: needs.filter(({ required }) => required).map((port) => wantOf(port, market.wants)),
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
