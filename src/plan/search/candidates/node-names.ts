/** Generates node ids: short, readable, unique, and deterministic for the same plan. */

import type { SearchRequest } from '../search-request.ts'
import type { Candidate } from './candidates.ts'

interface NodeIds {
  /** Returns an unused id based on this one. */
  fresh(like: string): string
}

/**
 * Ids of completed nodes, and of the node that is executed again, are reserved: a node that keeps its id keeps its
 * output.
 */
export function createNodeIds({
  completed = [],
  trigger,
}: Pick<SearchRequest, 'completed' | 'trigger'>): NodeIds {
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

/** Returns the preferred id for the node of a candidate. */
export function toNodeName({ method, capability, only }: Candidate): string {
  if (method === 'transformation' && only) return `${only.name}_form`
  return capability.capabilityId.slice(capability.capabilityId.lastIndexOf('.') + 1)
}

/** Letters, digits and underscores. */
export function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'node'
}
