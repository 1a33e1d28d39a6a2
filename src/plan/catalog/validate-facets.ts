/**
 * Validates a value against the facets of one side of a node in one call (FLEX-102). Fails closed: facets that are
 * unknown, have the wrong direction or contradict each other are issues too, for any value.
 */

import type { Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { FacetIssue } from '../../domain/plan/facet-issue.ts'
import type { FacetIssueCode } from '../issue-table.ts'
import { type ContractRequest, compileContract } from './compile-facets.ts'

export type FacetCheck = Omit<ContractRequest, 'direction'>

/**
 * Returns the violations of a value that is passed to a node with these input facets.
 * @example
 * validateFacetInputs({ toneOfVoice: 3 }, { facets: ['toneOfVoice'], catalog: facets })
 * // [{ facet: 'toneOfVoice', pointer: '/toneOfVoice', keyword: 'type', … }]
 */
export function validateFacetInputs(
  value: unknown,
  check: FacetCheck,
): readonly FacetIssue<FacetIssueCode>[] {
  return validate(value, { ...check, direction: 'input' })
}

/** Returns the violations of a value that a node with these output facets returns. */
export function validateFacetOutputs(
  value: unknown,
  check: FacetCheck,
): readonly FacetIssue<FacetIssueCode>[] {
  return validate(value, { ...check, direction: 'output' })
}

function validate(value: unknown, request: ContractRequest): FacetIssue<FacetIssueCode>[] {
  const contract = compileContract(request)
  return [...contract.diagnostics.map(ofDiagnostic), ...contract.validate(value)]
}

function ofDiagnostic({ details = {}, constraint = '', suggestion }: Diagnostic): FacetIssue<FacetIssueCode> {
  // Contracts compiled from facets report no other diagnostics.
  const code = String(details['code']) as FacetIssueCode
  const facet = nameIn(details)
  const property = details['property']
  const pointer = typeof property === 'string' ? child('', property) : ''
  return {
    code,
    at: { pointer },
    message: `It must hold that ${constraint}`,
    ...(suggestion !== undefined && { hint: suggestion }),
    ...(facet !== undefined && { facet }),
    pointer,
    keyword: code.replace('plan/', ''),
  }
}

/** The facet itself, or the first of several contradicting facets. */
function nameIn(details: { readonly [key: string]: Json }): string | undefined {
  const name = details['facet'] ?? (Array.isArray(details['facets']) ? details['facets'][0] : undefined)
  return typeof name === 'string' ? name : undefined
}
