/** The parsers of what comes from outside, with conditions read by the one evaluator: what the doors of the package offer. */
import type { Json } from '../base/json.ts'
import type { Capability } from '../domain/capability.ts'
import type { OutputContract } from '../domain/contract.ts'
import type { Envelope } from '../domain/envelope.ts'
import { parseCapability as capability, type ParseCapabilityOptions } from '../domain/parse-capability.ts'
import { parseContract as contract } from '../domain/parse-contract.ts'
import { parseDraft as draft } from '../domain/parse-draft.ts'
import { parseEnvelope as envelope } from '../domain/parse-envelope.ts'
import { type ParsedPolicies, parsePolicies as policies } from '../domain/parse-policies.ts'
import type { Parsed } from '../domain/parsed.ts'
import type { Draft } from '../domain/plan.ts'
import { parseCondition } from '../schema/condition.ts'

const options = {
  checkCondition: (condition: Json) => {
    const parsed = parseCondition(condition)
    return parsed.ok ? [] : parsed.issues
  },
}

/**
 * What a caller hands in: the envelope with its defaults and warnings, or everything that is wrong, located.
 * @example
 * const parsed = parseEnvelope(JSON.parse(body))
 * if (parsed.ok) search({ envelope: parsed.value, facets, capabilities: withBuiltins([]) })
 */
export const parseEnvelope = (given: unknown): Parsed<Envelope> => envelope(given, options)

/** The output contract alone. */
export const parseContract = (given: unknown): Parsed<OutputContract> => contract(given, options)

/** Policies in any accepted form, as planner and runtime policies. */
export const parsePolicies = (given: unknown): Parsed<ParsedPolicies> => policies(given, options)

/** A plan as people and models write it; `prove` says what it is worth. */
export const parseDraft = (given: unknown): Parsed<Draft> => draft(given, options)

/** A registration; `facetsOnly` refuses contracts by hand. */
export const parseCapability = (
  given: unknown,
  { facetsOnly }: Pick<ParseCapabilityOptions, 'facetsOnly'> = {},
): Parsed<Capability> => capability(given, { ...options, ...(facetsOnly !== undefined && { facetsOnly }) })

export { parseFacet } from '../domain/parse-facet.ts'
