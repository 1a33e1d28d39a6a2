/** Test seam: JSON Schema, conditions and sets of values. */
export { compileWithAjv } from '../../src/schema/compile/ajv.ts'
export { type CompiledSchema, compileSchema } from '../../src/schema/compile/compile.ts'
export { schemaLimits } from '../../src/schema/compile/schema-limits.ts'
export {
  conditionLimits,
  conditionVars,
  describeCondition,
  evaluate,
  operatorTable,
  parseCondition,
} from '../../src/schema/condition/condition.ts'
export { type Draft, findDraft } from '../../src/schema/dialects/draft.ts'
export { normalise } from '../../src/schema/dialects/read-schema.ts'
export { checkFit } from '../../src/schema/fit/fit.ts'
export { createInterpreter } from '../../src/schema/interpreter/interpreter.ts'
export { formats } from '../../src/schema/patterns/formats.ts'
export { nativeRegex } from '../../src/schema/patterns/regex.ts'
export { checkReferences, schemaGraph, sharedSchemas } from '../../src/schema/references/references.ts'
export { collectNames, type Names } from '../../src/schema/references/schema-names.ts'
export { createWorld } from '../../src/schema/values/known-values.ts'
export { getValueLookup, isVacant } from '../../src/schema/values/schema-values.ts'
export { assumeAll, decide } from '../../src/schema/values/solve.ts'
