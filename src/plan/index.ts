/** Entry point for plans: `import { prove, search } from 'proviso/plan'`. */
export { createFacetCatalog, type FacetCatalog } from '../domain/capability/collect-catalog.ts'
export { findRootCause, isConsequence } from '../domain/diagnostic.ts'
export type { ParseIssue, ParseIssueCode } from '../domain/parse/issue-table.ts'
export type { Parsed } from '../domain/parse/parsed.ts'
export { getNodeContract, type RaoNodeContract, type RaoRow, raoRows } from '../domain/plan/rao-rows.ts'
export type { FacetIssue } from '../domain/plan.ts'
export type { Considered } from '../domain/ports/planner.ts'
export {
  capabilitySchema,
  contractSchema,
  diagnosticBundleSchema,
  diagnosticSchema,
  draftSchema,
  envelopeSchema,
  facetSchema,
  planSchema,
  policySchema,
  replySchema,
} from '../domain/schemas/all-schemas.ts'
export { answerId, builtinCapabilities, builtinFunctions, withBuiltins } from './builtin-capabilities.ts'
export {
  addOwnCapabilities,
  type CapabilityCatalog,
  type CatalogEntry,
  type CatalogOptions,
  createCatalog,
  type Ranked,
  type RegisterOptions,
} from './catalog/catalog.ts'
export {
  type CompiledContract,
  type ContractRequest,
  compileContract,
  type FacetCheck,
  validateFacetInputs,
  validateFacetOutputs,
} from './catalog/compile-facets.ts'
export type { Derived } from './catalog/derive.ts'
export { type CapabilityScore, defaultCutoff, scoreTable, tierTable } from './catalog/score.ts'
export {
  createTenantCatalogs,
  type TenantCatalogs,
  type TenantEntry,
  type TenantFacets,
} from './catalog/tenant-catalogs.ts'
export { type DiagnosticCode, diagnosticTable } from './diagnostics.ts'
export type { FacetIssueCode, RegisterIssueCode } from './issue-table.ts'
export {
  parseCapability,
  parseContract,
  parseDraft,
  parseEnvelope,
  parseFacet,
  parsePolicies,
} from './parse-nouns.ts'
export type { PlannerPrice } from './propose/draft-budget.ts'
export { draftRules, plannerPrompt, promptLimits } from './propose/prompt.ts'
export { modelPlanner, type Proposal, type ProposeOptions, propose } from './propose/propose.ts'
export { type Shortlist, shortlist } from './propose/shortlist.ts'
export { envelopeLimits } from './prove/obligations/limits.ts'
export { rememberProofs } from './prove/proof-cache.ts'
export type { DraftEstimate, ProveRequest } from './prove/proof-request.ts'
export { planLimits } from './prove/proof-request.ts'
export { type ProveResult, prove } from './prove/prove.ts'
export { collectedSchema } from './prove/resolve/resolve-body.ts'
export { aversionTable, goalTable, supplyMethodTable } from './search/candidates/costs.ts'
export { search, searchPlanner } from './search/search.ts'
export type { Choice, SearchRequest, SearchResult } from './search/search-request.ts'
