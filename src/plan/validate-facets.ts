/**
 * A value against the facets of one side of a node, as one question (FLEX-102). Fails closed: a facet that nobody knows, that
 * goes the other way or contradicts another is an issue too, whatever the value is.
 */
import type { Json } from '../base/json.ts'
import { child } from '../base/pointer.ts'
import type { Diagnostic } from '../domain/diagnostic.ts'
import type { FacetIssue } from '../domain/facet-issue.ts'
import { type ContractRequest, compileContract } from './compile-contract.ts'

export type FacetCheck = Omit<ContractRequest, 'direction'>

/**
 * What is wrong with a value that goes into a node with these input facets.
 * @example
 * validateFacetInputs({ toneOfVoice: 3 }, { facets: ['toneOfVoice'], catalog: facets })
 * // [{ facet: 'toneOfVoice', pointer: '/toneOfVoice', keyword: 'type', … }]
 */
export function validateFacetInputs(value: unknown, check: FacetCheck): readonly FacetIssue[] {
  return validate(value, { ...check, direction: 'input' })
}

/** What is wrong with a value that comes out of a node with these output facets. */
export function validateFacetOutputs(value: unknown, check: FacetCheck): readonly FacetIssue[] {
  return validate(value, { ...check, direction: 'output' })
}

function validate(value: unknown, request: ContractRequest): FacetIssue[] {
  const contract = compileContract(request)
  return [...contract.diagnostics.map(ofDiagnostic), ...contract.validate(value)]
}

function ofDiagnostic({ details = {}, constraint = '', suggestion }: Diagnostic): FacetIssue {
  const code = String(details['code'])
  const facet = nameIn(details)
  const property = details['property']
  const pointer = typeof property === 'string' ? child('', property) : ''
  return {
    code,
    at: { pointer },
    message: `It does not hold that ${constraint}`,
    ...(suggestion !== undefined && { hint: suggestion }),
    ...(facet !== undefined && { facet }),
    pointer,
    keyword: code.replace('plan/', ''),
  }
}

/** The facet itself, or the first of those that contradict each other. */
function nameIn(details: { readonly [key: string]: Json }): string | undefined {
  const name = details['facet'] ?? (Array.isArray(details['facets']) ? details['facets'][0] : undefined)
  return typeof name === 'string' ? name : undefined
}
