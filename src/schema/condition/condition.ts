/**
 * Conditions: boolean expressions over a value, written as JSON-Logic with a closed operator set (DECISIONS 18). Contracts,
 * routes, policies and guards use these four functions and nothing else of the files beside.
 */
export { type Evaluation, evaluate } from './evaluate.ts'
export { conditionLimits, operatorTable, type ParsedCondition } from './expr.ts'
export { type ConditionResult, parseCondition } from './parse.ts'
export { conditionVars, describeCondition, testedForAbsence } from './text.ts'
