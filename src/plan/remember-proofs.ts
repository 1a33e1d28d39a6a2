/**
 * Proofs that were made lately, for drafts that come again and again. What a proof looks at is compared, not what it does
 * not see: the same draft under the same contract, over the same capabilities, is proved once, whatever else the envelope
 * says. Only plans are remembered; what was rejected is looked at anew.
 */
import { tokens } from '../base/pointer.ts'
import type { Capability } from '../domain/capability.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { Plan, PlanNode, Source } from '../domain/plan.ts'
import { follow, missing } from '../schema/condition-evaluate.ts'
import { type ProveResult, prove } from './prove.ts'
import type { ProveRequest } from './request.ts'
import { visibleEnvelope } from './sources.ts'

export interface RememberLimits {
  /** Plans per list of capabilities. */
  readonly plans: number
  /** Characters of draft and contract; longer ones are proved each time. */
  readonly length: number
}

interface Remembered {
  readonly plan: Plan
  /** The places of the envelope that the plan takes values from, and the values that were there, as text. */
  readonly places: readonly string[]
  readonly values: string
}

export const rememberLimits: RememberLimits = { plans: 64, length: 100_000 }

/** A `prove` that remembers. Requests must use the same `facets` and `untrusted` throughout. */
export function rememberProofs(limits: RememberLimits = rememberLimits): typeof prove {
  // A catalog gives the same list for as long as nothing changes in it.
  const byCapabilities = new WeakMap<readonly Capability[], Map<string, Remembered>>()
  return (request): ProveResult => {
    const key = keyOf(request)
    if (key.length > limits.length) return prove(request)
    const plans = byCapabilities.get(request.capabilities) ?? new Map<string, Remembered>()
    byCapabilities.set(request.capabilities, plans)
    const known = plans.get(key)
    if (known !== undefined && known.values === valuesAt(request.envelope, known.places))
      return { ok: true, plan: known.plan }
    const proof = prove(request)
    plans.delete(key)
    if (!proof.ok) return proof
    const places = placesIn(proof.plan)
    plans.set(key, { plan: proof.plan, places, values: valuesAt(request.envelope, places) })
    const [oldest] = plans.keys()
    if (plans.size > limits.plans && oldest !== undefined) plans.delete(oldest)
    return proof
  }
}

/** Everything that `prove` is given, but for the values of inputs and for what it never looks at. */
function keyOf({ draft, envelope, version, limits, inactive = new Map() }: ProveRequest): string {
  const { outputContract, policies, constraints, inputs } = envelope
  const names = Object.keys(inputs)
  return JSON.stringify([version, draft, outputContract, policies, constraints, names, limits, [...inactive]])
}

function placesIn({ nodes, output, aside = {} }: Plan): string[] {
  const answer = 'properties' in output ? Object.values(output.properties).flat() : output
  const sources: Source[] = [...nodes.flatMap(sourcesIn), ...answer, ...Object.values(aside).flat()]
  const places = sources.flatMap((source) => ('envelope' in source ? [source.envelope] : []))
  return [...new Set(places)]
}

/** What a node takes, and what the nodes of its body take. */
function sourcesIn({ inputs, body }: PlanNode): readonly Source[] {
  const own = Object.values(inputs).flat()
  if (body === undefined) return own
  const yielded = 'properties' in body.output ? Object.values(body.output.properties).flat() : body.output
  return [...own, ...body.nodes.flatMap(sourcesIn), ...yielded]
}

function valuesAt(envelope: Envelope, places: readonly string[]): string {
  if (places.length === 0) return ''
  const visible = visibleEnvelope(envelope)
  return JSON.stringify(
    places.map((place) => {
      const value = follow(visible, tokens(place))
      return value === missing ? [] : [value]
    }),
  )
}
