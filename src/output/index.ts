/** Entry point `proviso/output`: the model-text reader on its own. Small and browser-safe. */

export { ProvisoError } from '../base/errors/error.ts'
export type { Edit, Issue, Location, TextRange } from '../base/errors/issue.ts'
export type { Pointer } from '../base/pointer.ts'
export type { JsonSchema } from '../schema/compile/compile.ts'
export { schemaHash } from '../schema/hash.ts'
export { type Detected, detectJson, jsonFault } from './detect-json.ts'
export type { Infer, InferPartial, JsonSchemaValue, PartialValue } from './infer.ts'
export type { ReaderIssue, ReaderIssueCode } from './issue-table.ts'
export { normalizeJsonText, parseAndValidate } from './normalize.ts'
export { parse } from './parse.ts'
export { createReader } from './reader.ts'
export { explain, type FeedbackOptions, feedback, strictInstruction } from './report/explain.ts'
export { replay } from './report/replay.ts'
export { type Rule, ruleTable as rules } from './report/rule-table.ts'
export type { RuleName } from './rules.ts'
export {
  type CheckedOutput,
  checkOutputFormat,
  type OutputFormat,
  type OutputFormatIssue,
  shorthandSchema,
  validateType,
} from './schema/shorthand.ts'
export { type Restored, type Simplified, simplifySchema } from './schema/simplify.ts'
export { conversions, defaultLimits } from './settings.ts'
export type {
  Allow,
  AnySchema,
  Conversion,
  CustomStage,
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
