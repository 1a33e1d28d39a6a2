/** The door `proviso/output`: reading model text, alone. Light and browser-safe. */

export { ProvisoError } from '../base/error.ts'
export type { Edit, Issue, Place, Span } from '../base/issue.ts'
export type { Pointer } from '../base/pointer.ts'
export type { JsonSchema } from '../schema/compile.ts'
export { schemaHash } from '../schema/hash.ts'
export { type Detected, detectJson, jsonFault } from './detect.ts'
export { explain } from './explain.ts'
export { type FeedbackOptions, feedback, strictInstruction } from './feedback.ts'
export { normalizeJsonText, parseAndValidate } from './normalize.ts'
export { parse } from './parse.ts'
export { createReader } from './reader.ts'
export { replay } from './replay.ts'
export { type Rule, type RuleName, rules } from './rules.ts'
export { conversions, defaultLimits } from './settings.ts'
export {
  type CheckedOutput,
  checkOutputFormat,
  type OutputFormat,
  type OutputFormatIssue,
  shorthandSchema,
  validateType,
} from './shorthand.ts'
export { type Restored, type Simplified, simplifySchema } from './simplify.ts'
export type {
  Allow,
  AnySchema,
  Conversion,
  CustomStage,
  Infer,
  Limits,
  ParseFailure,
  ParseOptions,
  ParseResult,
  ParseSuccess,
  Pushed,
  Reader,
  ReaderEvent,
  Repair,
  Stage,
} from './types.ts'
