/** The door to plans: `import { prove, search } from 'proviso/plan'`. */
export { answerId, builtinCapabilities, builtinFunctions, withBuiltins } from './builtins.ts'
export {
  type CapabilityCatalog,
  type CatalogEntry,
  type CatalogOptions,
  createCatalog,
  type Ranked,
  type RegisterOptions,
} from './catalog/catalog.ts'
export type { Derived } from './catalog/derive.ts'
export { addOwnCapabilities } from './catalog/own-capabilities.ts'
export { type CapabilityScore, defaultCutoff, scoreTable, tierTable } from './catalog/score.ts'
export {
  type CompiledContract,
  type ContractRequest,
  compileContract,
  type FacetIssue,
} from './compile-contract.ts'
export { type FindingCode, findingTable } from './findings.ts'
export { planLimits } from './obligations/size.ts'
export { draftRules, promptLimits } from './propose/prompt.ts'
export { modelPlanner, type Proposal, type ProposeOptions, propose } from './propose/propose.ts'
export { type ProveResult, prove } from './prove.ts'
export type { ProveRequest } from './request.ts'
export { aversionTable, goalTable, wayTable } from './search/costs.ts'
export { searchPlanner } from './search/planner.ts'
export type { Choice, SearchRequest, SearchResult } from './search/request.ts'
export { search } from './search/search.ts'
