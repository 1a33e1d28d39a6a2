/** Names of nodes: short, readable, each its own, and the same for the same plan. */
import type { Offer } from './offers.ts'
import type { SearchRequest } from './request.ts'

export interface Naming {
  /** A name like this one that nobody has yet. */
  fresh(like: string): string
}

/** Names of completed nodes, and of the one that is done again, are taken: a node that keeps an id keeps its output. */
export function createNaming({
  completed = [],
  trigger,
}: Pick<SearchRequest, 'completed' | 'trigger'>): Naming {
  const taken = new Set(completed.map(({ id }) => id))
  if (trigger?.nodeId !== undefined) taken.add(trigger.nodeId)
  return {
    fresh(like) {
      const base = slug(like)
      let name = base
      for (let n = 2; taken.has(name); n++) name = `${base}_${n}`
      taken.add(name)
      return name
    },
  }
}

/** What the node of an offer would like to be called. */
export function nameOf({ way, capability, only }: Offer): string {
  if (way === 'transformation' && only) return `${only.name}_form`
  return capability.capabilityId.slice(capability.capabilityId.lastIndexOf('.') + 1)
}

/** Letters, digits and underscores. */
export function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'node'
}
