/**
 * Parsers for external input, with conditions parsed by the shared evaluator; the entry points of the package export
 * them.
 */
import type { Json } from '../base/json.ts'
import {
  parseCapability as capability,
  type ParseCapabilityOptions,
} from '../domain/capability/parse-capability.ts'
import type { Capability } from '../domain/capability.ts'
import type { OutputContract } from '../domain/contract.ts'
import { parseDraft as draft } from '../domain/draft/parse-draft.ts'
import { parseContract as contract, parseEnvelope as envelope } from '../domain/envelope/parse-envelope.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { Parsed } from '../domain/parse/parsed.ts'
import type { Draft } from '../domain/plan.ts'
import { type ParsedPolicies, parsePolicies as policies } from '../domain/policy/parse-policies.ts'
import { parseCondition } from '../schema/condition/condition.ts'

const options = {
  checkCondition: (condition: Json) => {
    const parsed = parseCondition(condition)
    return parsed.ok ? [] : parsed.issues
  },
}

/**
 * Parses the envelope that a caller submits. Returns it with defaults and warnings, or all issues with their locations.
 * @example
 * const parsed = parseEnvelope(JSON.parse(body))
 * if (parsed.ok) search({ envelope: parsed.value, facets, capabilities: withBuiltins([]) })
 */
export const parseEnvelope = (given: unknown): Parsed<Envelope> => envelope(given, options)

/** Parses an output contract alone. */
export const parseContract = (given: unknown): Parsed<OutputContract> => contract(given, options)

/** Parses policies in any accepted form into planner and runtime policies. */
export const parsePolicies = (given: unknown): Parsed<ParsedPolicies> => policies(given, options)

/** Parses a draft written by a person or a model; `prove` decides whether it becomes a plan. */
export const parseDraft = (given: unknown): Parsed<Draft> => draft(given, options)

/** Parses a registration; `facetsOnly` rejects hand-written contracts. */
export const parseCapability = (
  given: unknown,
  { facetsOnly }: Pick<ParseCapabilityOptions, 'facetsOnly'> = {},
): Parsed<Capability> => capability(given, { ...options, ...(facetsOnly !== undefined && { facetsOnly }) })

export { parseFacet } from '../domain/capability/parse-facet.ts'
