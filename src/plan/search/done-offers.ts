/** What a run has already: completed nodes that a new plan may keep, because nothing that they come from is done again. */
import { isObject, type Json, own } from '../../base/json.ts'
import type { DraftRequest } from '../../domain/ports/planner.ts'
import { isBuiltin } from '../builtins.ts'
import { type Port, portsOf } from '../catalog/ports.ts'
import { type Market, type Offer, wantOf } from './offers.ts'
import { redoOf } from './redo.ts'
import { accepts, givenFor, type Want } from './wants.ts'

type Done = DraftRequest['completed'][number]

export function doneOffers(market: Market): readonly Offer[] {
  const { request, aliases } = market
  const { nodes } = redoOf(request)
  const kept = (request.completed ?? []).filter(({ id }) => !nodes.has(id))
  const redone = nodes.size > 0
  const candidates = kept.flatMap((done) => offerOf(done, market, redone) ?? [])
  // A node stays only if all that it was made from stays: the envelope, and other nodes that stay.
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

/** Open nodes were made from whatever there was: an answer is not kept when something before it is done again. */
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

/** The value is known, so whoever wants something else will not take it. */
function valueSchema(output: Json, { name }: Port) {
  return { const: name === '' ? output : isObject(output) ? (own(output, name) as Json) : null }
}
