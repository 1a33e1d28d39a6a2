/** Full-text index of capabilities over names, summaries, facets and traits. */
import MiniSearch from 'minisearch'
import type { Capability } from '../../domain/capability.ts'
import { isFacetList } from './ports.ts'
import { splitWords } from './score.ts'

interface TextIndex {
  add(capability: Capability): void
  remove(capabilityId: string): void
  /** Ids with their match score, best first. */
  find(text: string): readonly { readonly capabilityId: string; readonly match: number }[]
}

interface Entry {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly facets: string
  readonly traits: string
}

export function createTextIndex(): TextIndex {
  const index = new MiniSearch<Entry>({
    fields: ['name', 'summary', 'facets', 'traits'],
    tokenize: splitWords,
    searchOptions: {
      boost: { name: 3, facets: 2, traits: 2 },
      fuzzy: 0.2,
      prefix: true,
      tokenize: splitWords,
    },
  })
  return {
    add(capability) {
      const entry = toEntry(capability)
      if (index.has(entry.id)) index.discard(entry.id)
      index.add(entry)
    },
    remove(capabilityId) {
      if (index.has(capabilityId)) index.discard(capabilityId)
    },
    find: (text) =>
      index
        .search(text.slice(0, 1_000))
        .map(({ id, score }) => ({ capabilityId: String(id), match: score }))
        .sort((a, b) => b.match - a.match || (a.capabilityId < b.capabilityId ? -1 : 1)),
  }
}

function toEntry(capability: Capability): Entry {
  const { capabilityId, displayName, summary, inputTraits = {} } = capability
  const facets = [capability.inputContract, capability.outputContract].flatMap((side) =>
    isFacetList(side) ? side : [],
  )
  const traits = Object.values(inputTraits)
    .flatMap((trait) => (Array.isArray(trait) ? trait : []))
    .map(String)
  return {
    id: capabilityId,
    name: `${capabilityId} ${displayName}`,
    summary,
    facets: facets.join(' '),
    traits: traits.join(' '),
  }
}
