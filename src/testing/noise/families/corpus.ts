/** The corpus of families: seeded texts, every family equally often. */
import type { NoiseSample } from '../corpus.ts'
import { createRandom, mixSeed } from '../random.ts'
import { CALL_FAMILIES } from './calls.ts'
import { DOCUMENT_FAMILIES } from './document-families.ts'
import { FENCED } from './fenced.ts'
import type { NoiseFamily, Passage } from './types.ts'

export const NOISE_FAMILIES: readonly NoiseFamily[] = [...DOCUMENT_FAMILIES, ...CALL_FAMILIES, FENCED]

export interface FamilyOptions {
  readonly seed: number
  /** How many texts of each family. */
  readonly count: number
}

/** Every sample depends on the seed, its family and its index only. */
export function* familyCorpus({ seed, count }: FamilyOptions): Generator<NoiseSample> {
  for (const [familyIndex, family] of NOISE_FAMILIES.entries())
    for (let index = 0; index < count; index++) yield sampleOf(family, mixSeed(seed, familyIndex), index)
}

function sampleOf(family: NoiseFamily, seed: number, index: number): NoiseSample {
  const random = createRandom(mixSeed(seed, index))
  for (let attempt = 0; attempt < 4000; attempt++) {
    const passage = family.make(random)
    if (passage !== undefined) return finish(`${family.name}/${index}`, family, passage)
  }
  throw new Error(`Cannot draw a text of the family "${family.name}" (sample ${index})`)
}

function finish(id: string, family: NoiseFamily, passage: Passage): NoiseSample {
  return {
    id,
    family: family.name,
    schemaName: passage.schemaName,
    schema: passage.schema,
    text: passage.text,
    kinds: passage.kinds,
    outcome: passage.value === undefined ? { lost: true, allowed: [] } : { expected: passage.value },
    ...(passage.options ? { options: passage.options } : {}),
  }
}
