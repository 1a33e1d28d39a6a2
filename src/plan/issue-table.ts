/** Codes of the issues of the catalog and of facet checks; the diagnostics of `prove` are in `diagnostics.ts`. */
import type { ParseIssueCode } from '../domain/parse/issue-table.ts'
import type { ViolationCode } from '../schema/issue-table.ts'
import type { DiagnosticCode } from './diagnostics.ts'

export const catalogIssueTable = {
  'catalog/full': 'the catalog holds as many active capabilities as `maxEntries` allows',
  'facet/conflict': 'facets of the capability contradict each other',
} as const satisfies Record<string, string>

/** Code of an issue of `register`: those of `parseCapability`, and those of the catalog itself. */
export type RegisterIssueCode = ParseIssueCode | keyof typeof catalogIssueTable

/** Code of an issue of `validateFacetInputs` and `validateFacetOutputs`. */
export type FacetIssueCode = ViolationCode | Extract<DiagnosticCode, `plan/facet-${string}`>
