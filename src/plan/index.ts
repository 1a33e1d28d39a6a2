/** The door to plans: `import { prove, search } from 'proviso/plan'`. */
export { createFacetCatalog, type FacetCatalog } from '../domain/catalog.ts'
export { isConsequence, rootOf } from '../domain/diagnostic.ts'
export type { FacetIssue } from '../domain/facet-issue.ts'
export type { Parsed } from '../domain/parsed.ts'
export { nodeContractOf, type RaoNodeContract } from '../domain/rao-node-contract.ts'
export { type RaoRow, raoRows } from '../domain/rao-rows.ts'
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
} from '../domain/schemas.ts'
export { collectedSchema } from './bodies/resolve-body.ts'
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
export { createTenantCatalogs, type TenantCatalogs, type TenantEntry } from './catalog/tenant-catalogs.ts'
export { type CompiledContract, type ContractRequest, compileContract } from './compile-contract.ts'
export { type FindingCode, findingTable } from './findings.ts'
export { envelopeLimits } from './limits.ts'
export { planLimits } from './obligations/size.ts'
export {
  parseCapability,
  parseContract,
  parseDraft,
  parseEnvelope,
  parseFacet,
  parsePolicies,
} from './parse-nouns.ts'
export type { PlannerPrice } from './propose/account.ts'
export { draftRules, plannerPrompt, promptLimits } from './propose/prompt.ts'
export { modelPlanner, type Proposal, type ProposeOptions, propose } from './propose/propose.ts'
export { type Shortlist, shortlist } from './propose/shortlist.ts'
export { type ProveResult, prove } from './prove.ts'
export { rememberProofs } from './remember-proofs.ts'
export type { DraftEstimate, ProveRequest } from './request.ts'
export { aversionTable, goalTable, wayTable } from './search/costs.ts'
export { searchPlanner } from './search/planner.ts'
export type { Choice, SearchRequest, SearchResult } from './search/request.ts'
export { search } from './search/search.ts'
export { type FacetCheck, validateFacetInputs, validateFacetOutputs } from './validate-facets.ts'
