/** The door `proviso/models`: values under contract from models without an engine, and what is known of models and prices. */
export type { AttemptResult, Outcome, Output, Usage } from '../../domain/output.ts'
export type {
  ModelAnswer,
  ModelRequest,
  Provider,
  StructuredIntent,
  StructuredOutcome,
} from '../../domain/ports/provider.ts'
export type { GivenProcessing } from '../../domain/processing.ts'
export type { DialectName } from '../providers/dialects.ts'
export type { LoweringNote } from '../providers/lowering-walk.ts'
export { type ModelId, parseModelId } from '../providers/model-id.ts'
export { type Portability, portability } from '../providers/portability.ts'
export { type Keys, providersFromKeys } from '../providers/providers-from-keys.ts'
export {
  type Estimate,
  type EstimateContext,
  estimateDraft,
  type NodeEstimate,
  type Range,
} from './estimate.ts'
export { findProvider } from './find-provider.ts'
export { type GenerateOptions, generateValue } from './generate-value.ts'
export { missingProviderHint } from './no-provider.ts'
export { isListed, listPrices, type Price, priceList, priceOf } from './prices.ts'
export type { PartialValue } from './stream-watch.ts'
