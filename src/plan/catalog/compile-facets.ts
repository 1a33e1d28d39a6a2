/**
 * Compiles facets into the contract of one side of a node: an object schema with one property per facet, and for every
 * violation the facet it belongs to. Schemas of facets that share a property are intersected, never overwritten.
 */
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import { child, tokens } from '../../base/pointer.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Facet } from '../../domain/facet.ts'
import type { FacetIssue, FacetProvenance } from '../../domain/plan.ts'
import { addDefinition, both, refers } from '../../schema/build/combine.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import type { ViolationCode } from '../../schema/issue-table.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { isVacant } from '../../schema/values/schema-values.ts'
import { createDiagnostic } from '../diagnostics.ts'
import type { FacetIssueCode } from '../issue-table.ts'

export interface ContractRequest {
  /** Names of facets. */
  readonly facets: readonly string[]
  readonly catalog: readonly Facet[]
  readonly direction: 'input' | 'output'
  /** The schemas are untrusted: limits are checked and regexes run on a linear-time engine. Default false. */
  readonly untrusted?: boolean
}

export interface CompiledContract {
  readonly schema: JsonSchema
  readonly provenance: FacetProvenance['input']
  /** Problems of the facets themselves: unknown, wrong direction, or contradicting each other. */
  readonly diagnostics: readonly Diagnostic[]
  /** Returns every violation of a value, with the facet it belongs to. */
  validate(value: unknown): readonly FacetIssue<ViolationCode>[]
}

/**
 * @example
 * compileContract({ facets: ['copyVariants'], catalog, direction: 'output' }).validate({ copyVariants: 3 })
 * // [{ facet: 'copyVariants', pointer: '/copyVariants', keyword: 'type', … }]
 */
export function compileContract(request: ContractRequest): CompiledContract {
  const diagnostics: Diagnostic[] = []
  const known = new Map(request.catalog.map((facet) => [facet.name, facet]))
  const used = [...new Set(request.facets)].flatMap((name) => {
    const facet = known.get(name)
    const problem = problemWith(name, facet, request)
    if (problem !== undefined) diagnostics.push(problem)
    return facet === undefined ? [] : [facet]
  })
  const byKey = new Map<string, Facet[]>()
  for (const facet of used)
    byKey.set(getPropertyKey(facet), [...(byKey.get(getPropertyKey(facet)) ?? []), facet])
  const $defs: Record<string, JsonSchema> = {}
  const properties: Record<string, JsonSchema> = {}
  for (const [key, facets] of byKey) {
    const together = facets.map((facet) => facet.schema).reduce(both)
    if (facets.length > 1 && isVacant(together)) diagnostics.push(conflict(key, facets))
    const parts = facets.map((facet) => addDefinition(facet.schema, facet.name, $defs))
    // A reference resolves only within this contract, so parts with references are combined with `allOf` and not
    // merged.
    properties[key] = parts.length > 1 && parts.some(refers) ? { allOf: parts } : parts.reduce(both)
  }
  const schema: JsonSchema = {
    type: 'object',
    properties,
    required: [...byKey.keys()],
    ...(Object.keys($defs).length > 0 && { $defs }),
  }
  return {
    schema,
    provenance: used.map((facet) => ({ facet: facet.name, pointer: child('', getPropertyKey(facet)) })),
    diagnostics,
    validate: (value) => {
      const options = { untrusted: request.untrusted ?? false }
      return compileSchema(schema, options)
        .validate(value)
        .map((issue) => attributed(issue, { value, byKey, options }))
    },
  }
}

/** Returns the contract property that holds a facet. */
export function getPropertyKey(facet: Facet): string {
  return facet.metadata.propertyKey ?? facet.name
}

function problemWith(
  name: string,
  facet: Facet | undefined,
  { direction, catalog }: ContractRequest,
): Diagnostic | undefined {
  if (facet === undefined) {
    return createDiagnostic('plan/facet-unknown', {
      constraint: `facet "${name}" is known`,
      suggestion: `Use one of ${catalog
        .slice(0, 20)
        .map((each) => each.name)
        .join(', ')}`,
      details: { facet: name },
    })
  }
  const goes = facet.metadata.direction
  if (goes === 'bidirectional' || goes === direction) return undefined
  return createDiagnostic('plan/facet-direction', {
    constraint: `facet "${name}" is an ${direction}`,
    suggestion: `Use "${name}" only in ${goes} contracts`,
    details: { facet: name, direction: goes },
  })
}

function conflict(key: string, facets: readonly Facet[]): Diagnostic {
  const names = facets.map((facet) => facet.name)
  return createDiagnostic('plan/facet-conflict', {
    constraint: `facets ${names.join(', ')} agree on "${key}"`,
    suggestion: `Use only one of ${names.join(', ')}, or give one of them another propertyKey`,
    details: { facets: names, property: key },
  })
}

interface Attribution {
  readonly value: unknown
  readonly byKey: ReadonlyMap<string, readonly Facet[]>
  readonly options: { readonly untrusted: boolean }
}

/**
 * Attributes a violation to the facet of its property; of several facets, to the one whose own schema rejects the
 * value.
 */
function attributed(
  issue: Issue<ViolationCode>,
  { value, byKey, options }: Attribution,
): FacetIssue<ViolationCode> {
  const pointer = 'pointer' in issue.at ? issue.at.pointer : ''
  const [key] = tokens(pointer)
  const facets = key === undefined ? [] : (byKey.get(key) ?? [])
  const member =
    key !== undefined && typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  const guilty = facets.find((facet) => !compileSchema(facet.schema, options).accepts(member)) ?? facets[0]
  return {
    ...issue,
    ...(guilty !== undefined && { facet: guilty.name }),
    pointer,
    keyword: issue.code.replace('schema/', ''),
  }
}

// Validates a value against the facets of one side of a node in one call (FLEX-102). Fails closed: facets that are
// unknown, have the wrong direction or contradict each other are issues too, for any value.

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
