/** Parses a facet in either spelling of the specification into the one stored form (C31). */

import type { Json } from '../../base/json.ts'
import type { Direction, Facet } from '../facet.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import { checkNoun, checkSchema, type FoundIssues, type Parsed, settle } from '../parse/parsed.ts'
import { plainCopy } from '../parse/plain-copy.ts'
import { facetSchema } from '../schemas/facet-schema.ts'

/**
 * Reads a facet. Never throws.
 *
 * @example
 * parseFacet({ name: 'mood', schema: { type: 'string' }, semantics: 'Write so', metadata: { directionality: 'input' } })
 */
export function parseFacet(given: unknown): Parsed<Facet> {
  const copy = plainCopy(given)
  if (!copy.ok) return { ok: false, issues: [copy.issue], warnings: [] }
  const findings: FoundIssues = {
    issues: checkNoun(facetSchema, copy.value, 'Remove it, or put it into metadata'),
    warnings: [],
  }
  if (findings.issues.length > 0) return { ok: false, ...findings }
  // The schema has said that it is one.
  const facet = copy.value as unknown as GivenFacet
  findings.issues.push(...checkSchema(facet.schema, '/schema'), ...contradictions(facet))
  return settle(findings, () => canonical(facet))
}

interface GivenFacet extends Pick<Facet, 'name' | 'schema'> {
  readonly title?: string
  readonly description?: string
  readonly semantics?: string | { readonly instruction: string }
  readonly instruction?: string
  readonly metadata: {
    readonly direction?: Direction
    readonly directionality?: Direction
    readonly version?: string
    readonly [key: string]: Json | undefined
  }
}

function canonical(facet: GivenFacet): Facet {
  const { name, title = name, description = '', schema } = facet
  const { directionality, direction = directionality as Direction, version = 'v1', ...rest } = facet.metadata
  const semantics = { instruction: instructions(facet)[0] ?? '' }
  return { name, title, description, schema, semantics, metadata: { ...rest, version, direction } }
}

function instructions({ semantics, instruction }: GivenFacet): string[] {
  const said = typeof semantics === 'object' ? semantics.instruction : semantics
  return [said, instruction].filter((text) => text !== undefined)
}

function contradictions(facet: GivenFacet): ParseIssue[] {
  const { direction, directionality } = facet.metadata
  const issues: ParseIssue[] = []
  if (direction !== undefined && directionality !== undefined && direction !== directionality) {
    issues.push(twice('/metadata/directionality', 'direction and directionality say different things'))
  }
  if (new Set(instructions(facet)).size > 1) {
    issues.push(twice('/instruction', 'semantics and instruction say different things'))
  }
  return issues
}

function twice(pointer: string, message: string): ParseIssue {
  return { code: 'facet/contradiction', at: { pointer }, message, hint: 'Keep one of the two' }
}
