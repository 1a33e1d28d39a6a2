/** Entry point `proviso/models`: values under contract from models without an engine, and data about models and prices. */

export { type FileValue, fileSchema, toFile } from '../../domain/content/file-value.ts'
export type { GivenProcessing } from '../../domain/draft/processing.ts'
export type { AttemptIssueCode, AttemptResult, Outcome, Output, Usage } from '../../domain/output.ts'
export type {
  ModelAnswer,
  ModelRequest,
  Provider,
  StructuredIntent,
  StructuredOutcome,
} from '../../domain/ports/provider.ts'
export { type ModelId, parseModelId } from '../providers/model-id.ts'
export { type Keys, providersFromKeys } from '../providers/provider-table.ts'
export type { DialectName } from '../providers/structured-output/dialects.ts'
export { type Portability, portability } from '../providers/structured-output/lower-schema.ts'
export type { LoweringNote } from '../providers/structured-output/lowering-walk.ts'
export {
  type Estimate,
  type EstimateContext,
  estimateDraft,
  type NodeEstimate,
  type Range,
} from './estimate.ts'
export { findProvider, missingProviderHint } from './find-provider.ts'
export type { PartialValue } from './generate/stream-watch.ts'
export {
  type GeneratedValue,
  type GenerateOptions,
  type GenerateResult,
  generateValue,
  type NoValue,
} from './generate-value.ts'
export { findPrice, isListed, listPrices, type Price, priceList } from './prices.ts'
export { type Prompt, watchPrompts } from './watch-prompts.ts'
