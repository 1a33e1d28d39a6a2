/** What a case may contain: rare things meet each other only where they are not rare. */
import { type Random, randomFor } from '../../sim/random.ts'

export interface Features {
  readonly edges: boolean
  readonly routing: boolean
  readonly fallbacks: boolean
  readonly failures: number
  readonly throttles: boolean
  readonly hangs: boolean
  readonly rao: boolean
  readonly asks: boolean
  readonly policies: boolean
  readonly crashes: boolean
  readonly iterations: boolean
  /** Capabilities that are not idempotent, or change the world. */
  readonly effects: boolean
  readonly models: boolean
  readonly couriers: boolean
  /** Nodes that supply what an earlier node supplies as well. */
  readonly rewrites: boolean
  /** The answer is bound by name. */
  readonly namedOutputs: boolean
  /** All inputs are bound, and the nodes are listed in any order. */
  readonly shuffled: boolean
  /** Every attempt of a capability ends alike, so that work may be done again. */
  readonly steady: boolean
}

export function drawFeatures(random: Random, seed: number): Features {
  // A pause between two tries counts as time of the attempt: an attempt that may hang is not throttled here.
  const throttles = random.chance(0.2)
  const rewrites = random.chance(0.15)
  const namedOutputs = random.chance(0.15)
  const features: Features = {
    edges: random.chance(0.6),
    routing: random.chance(0.6),
    fallbacks: random.chance(0.6),
    failures: random.pick([0, 0.15, 0.4]),
    throttles,
    hangs: random.chance(0.15) && !throttles,
    rao: random.chance(0.2),
    asks: random.chance(0.35),
    policies: random.chance(0.2),
    crashes: random.chance(0.15),
    iterations: random.chance(0.3),
    effects: random.chance(0.2),
    models: random.chance(0.1),
    couriers: random.chance(0.15),
    rewrites,
    namedOutputs,
    shuffled: random.chance(0.15) && !rewrites && !namedOutputs,
    steady: random.chance(0.3),
  }
  // Calls that are answered later are there to outlive a process.
  const outlived = features.couriers && randomFor(seed, 'outlived').chance(0.6)
  return { ...features, crashes: features.crashes || outlived }
}
