/**
 * Memory of a tenant: three capabilities with which agents keep short texts over runs. `remember` and `forget` have side
 * effects, so that after untrusted content a person approves them; what is remembered is therefore trusted like other data.
 */
import type { Capability } from '../capability.ts'

/** One remembered text. */
export interface Memory {
  readonly id: string
  readonly text: string
  readonly tags: readonly string[]
  /** Milliseconds since 1970. */
  readonly at: number
  /** The run that remembered it. */
  readonly runId: string
}

export const memoryLimits = { characters: 4_000, memories: 1_000, recalled: 20 } as const

const id = { type: 'string', minLength: 1, maxLength: 100 } as const
const tags = { type: 'array', items: { type: 'string', minLength: 1, maxLength: 50 }, maxItems: 10 } as const

const common = {
  version: '1',
  kind: 'memory',
  nodeKind: 'execution',
  idempotent: true,
  postConditions: [],
} as const

export const memoryTools: readonly Capability[] = [
  {
    ...common,
    capabilityId: 'memory.remember',
    displayName: 'Remember',
    summary: 'Keeps a short text for later conversations, such as a preference or a decision.',
    inputContract: {
      type: 'object',
      properties: { text: { type: 'string', minLength: 1, maxLength: memoryLimits.characters }, tags },
      required: ['text'],
      additionalProperties: false,
    },
    outputContract: { type: 'object', properties: { id }, required: ['id'], additionalProperties: false },
    sideEffect: true,
  },
  {
    ...common,
    capabilityId: 'memory.recall',
    displayName: 'Recall',
    summary: 'Finds remembered texts by words and tags, the best match first; without words, the newest.',
    inputContract: {
      type: 'object',
      properties: {
        query: { type: 'string', maxLength: 500 },
        limit: { type: 'integer', minimum: 1, maximum: memoryLimits.recalled },
      },
      additionalProperties: false,
    },
    outputContract: {
      type: 'object',
      properties: {
        memories: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id, text: { type: 'string' }, tags, at: { type: 'string' } },
            required: ['id', 'text', 'tags', 'at'],
            additionalProperties: false,
          },
        },
      },
      required: ['memories'],
      additionalProperties: false,
    },
    sideEffect: false,
  },
  {
    ...common,
    capabilityId: 'memory.forget',
    displayName: 'Forget',
    summary: 'Deletes a remembered text by its id.',
    inputContract: { type: 'object', properties: { id }, required: ['id'], additionalProperties: false },
    outputContract: {
      type: 'object',
      properties: { forgotten: { type: 'boolean' } },
      required: ['forgotten'],
      additionalProperties: false,
    },
    sideEffect: true,
  },
]

/** Ranks memories by how many words of the query they have, then by age. Without a query, the newest first. */
export function rankMemories(memories: readonly Memory[], query: string): readonly Memory[] {
  const wanted = toWords(query)
  const score = ({ text, tags: named }: Memory) => {
    const words = new Set([...toWords(text), ...named.flatMap(toWords)])
    return wanted.filter((word) => words.has(word)).length
  }
  return memories
    .map((memory) => ({ memory, score: score(memory) }))
    .filter((each) => wanted.length === 0 || each.score > 0)
    .sort((a, b) => b.score - a.score || b.memory.at - a.memory.at)
    .map(({ memory }) => memory)
}

function toWords(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]
}
