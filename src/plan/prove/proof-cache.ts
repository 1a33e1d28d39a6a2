/**
 * Memoises `prove` for drafts that recur. The key contains only what a proof reads, so the same draft under the same
 * contract and capabilities is proved once, regardless of the rest of the envelope. Only accepted plans are cached;
 * rejected drafts are proved again.
 */
import { tokens } from '../../base/pointer.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { Plan, PlanNode, Source } from '../../domain/plan.ts'
import { follow, missing } from '../../schema/condition/evaluate.ts'
import type { ProveRequest } from './proof-request.ts'
import { type ProveResult, prove } from './prove.ts'
import { visibleEnvelope } from './sources.ts'

interface ProofCacheLimits {
  /** Plans per list of capabilities. */
  readonly plans: number
  /** Maximum key length in characters; longer requests are proved each time. */
  readonly length: number
}

interface CachedProof {
  readonly plan: Plan
  /** Envelope pointers that the plan reads, and the values at these pointers as text. */
  readonly pointers: readonly string[]
  readonly values: string
}

const proofCacheLimits: ProofCacheLimits = { plans: 64, length: 100_000 }

/** Returns a memoised `prove`. All requests must use the same `facets` and `untrusted`. */
export function rememberProofs(limits: ProofCacheLimits = proofCacheLimits): typeof prove {
  // A catalog returns the same list as long as nothing in it changes.
  const byCapabilities = new WeakMap<readonly Capability[], Map<string, CachedProof>>()
  return (request): ProveResult => {
    const key = toKey(request)
    if (key.length > limits.length) return prove(request)
    const plans = byCapabilities.get(request.capabilities) ?? new Map<string, CachedProof>()
    byCapabilities.set(request.capabilities, plans)
    const known = plans.get(key)
    if (known !== undefined && known.values === valuesAt(request.envelope, known.pointers))
      return { ok: true, plan: known.plan }
    const proof = prove(request)
    plans.delete(key)
    if (!proof.ok) return proof
    const pointers = collectPointers(proof.plan)
    plans.set(key, { plan: proof.plan, pointers, values: valuesAt(request.envelope, pointers) })
    const [oldest] = plans.keys()
    if (plans.size > limits.plans && oldest !== undefined) plans.delete(oldest)
    return proof
  }
}

/** The cache key: everything passed to `prove`, except the values of inputs and what it never reads. */
function toKey({ draft, draftBy, envelope, version, limits, inactive = new Map() }: ProveRequest): string {
  const { outputContract, policies, constraints, inputs } = envelope
  const names = Object.keys(inputs)
  const about = [outputContract, policies, constraints, names, limits, [...inactive]]
  return JSON.stringify([version, draft, draftBy, ...about])
}

function collectPointers({ nodes, output, aside = {} }: Plan): string[] {
  const answer = 'properties' in output ? Object.values(output.properties).flat() : output
  const sources: Source[] = [...nodes.flatMap(sourcesIn), ...answer, ...Object.values(aside).flat()]
  const pointers = sources.flatMap((source) => ('envelope' in source ? [source.envelope] : []))
  return [...new Set(pointers)]
}

/** Returns the sources of a node and of the nodes of its body. */
function sourcesIn({ inputs, body }: PlanNode): readonly Source[] {
  const own = Object.values(inputs).flat()
  if (body === undefined) return own
  const yielded = 'properties' in body.output ? Object.values(body.output.properties).flat() : body.output
  return [...own, ...body.nodes.flatMap(sourcesIn), ...yielded]
}

function valuesAt(envelope: Envelope, pointers: readonly string[]): string {
  if (pointers.length === 0) return ''
  const visible = visibleEnvelope(envelope)
  return JSON.stringify(
    pointers.map((pointer) => {
      const value = follow(visible, tokens(pointer))
      return value === missing ? [] : [value]
    }),
  )
}
