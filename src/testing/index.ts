/** `proviso/testing`: models that need no key, corpora that measure a reader of model text, and the conformance tests of stores. */
export {
  type Cassette,
  type CassetteHooks,
  type CassetteOptions,
  cassette,
  useCassette,
} from './cassette/cassette.ts'
export { type HostileText, hostileTexts, motifs } from './hostile-texts.ts'
export {
  describeMisses,
  judge,
  type Miss,
  makeSample,
  type NoiseOptions,
  type NoiseSample,
  noiseCorpus,
  type ReadFunction,
  type Score,
  sameJson,
  score,
  share,
  type Tally,
  type Verdict,
} from './noise/corpus.ts'
export { DAMAGES } from './noise/damages.ts'
export { type FamilyOptions, familyCorpus, NOISE_FAMILIES } from './noise/families/corpus.ts'
export { createRandom, mixSeed, type Random } from './noise/random.ts'
export { NOISE_SCHEMAS } from './noise/schemas.ts'
export type {
  Damage,
  Family,
  NoiseFamily,
  NoiseSchema,
  Outcome,
  Passage,
  ReadOptions,
  Sample,
  Slot,
} from './noise/types.ts'
export { type MakeOptions, makeValue } from './rehearsal/make-value.ts'
export { type Fault, type Rehearsal, type RehearsalOptions, rehearsal } from './rehearsal/rehearsal.ts'
export { type StoreSuiteOptions, storeSuite } from './store-suite.ts'
export type { Expectation, SuiteStore, TestApi } from './stores/test-api.ts'
