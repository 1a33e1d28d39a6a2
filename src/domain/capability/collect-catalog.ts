/** Index of all known facets by name: registrations are checked against it and contracts are compiled from it. */

import { closest } from '../../base/closest.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { child } from '../../base/pointer.ts'
import type { Capability, ContractSide } from '../capability.ts'
import type { Direction, Facet } from '../facet.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import type { Parsed } from '../parse/parsed.ts'
import { repeatIssues } from '../parse/parsed.ts'

/** Which way a facet goes through a node. */
type Side = 'input' | 'output'

export interface FacetCatalog {
  get(name: string): Facet | undefined
  list(): readonly Facet[]
  /** The facets of these names, in this order; unknown names and wrong directions are issues at their index. */
  resolveMany(names: readonly string[], side: Side): Parsed<readonly Facet[]>
  /** What keeps a capability from being registered: facets that are unknown or go the other way. */
  check(capability: Pick<Capability, 'inputContract' | 'outputContract'>): ParseIssue[]
}

/** Throws `option/invalid` for facets that share a name or depend on one that is not there. */
export function createFacetCatalog(facets: readonly Facet[]): FacetCatalog {
  const byName = new Map(facets.map((facet) => [facet.name, facet]))
  const issues = [...repeatedNames(facets), ...lostDependencies(facets, byName)]
  if (issues.length > 0) {
    throw new ProvisoError('option/invalid', `Cannot create the facet catalog: ${issues[0]?.message}`, {
      hint: 'Give every facet a unique `name`, and add the facets that others depend on',
      issues,
    })
  }
  const find = (names: readonly string[], side: Side) => names.map((name) => findOne(byName, name, side))
  return {
    get: (name) => byName.get(name),
    list: () => facets,
    resolveMany(names, side) {
      const found = find(names, side)
      const wrong = located(found, '')
      if (wrong.length > 0) return { ok: false, issues: wrong, warnings: [] }
      return { ok: true, value: found.filter((facet) => typeof facet !== 'function'), warnings: [] }
    },
    check({ inputContract, outputContract }) {
      return [
        ...located(find(getNames(inputContract), 'input'), '/inputContract'),
        ...located(find(getNames(outputContract), 'output'), '/outputContract'),
      ]
    },
  }
}

/** A facet, or what to say about its absence once its place is known. */
type Found = Facet | ((pointer: string) => ParseIssue)

function findOne(byName: ReadonlyMap<string, Facet>, name: string, side: Side): Found {
  const facet = byName.get(name)
  const shown = JSON.stringify(name.slice(0, 80))
  if (facet === undefined) {
    const near = closest(name, [...byName.keys()])
    const hint = near === undefined ? 'Add it to the catalog first' : `Did you mean ${JSON.stringify(near)}?`
    return (pointer) => ({
      code: 'facet/unknown',
      at: { pointer },
      message: `facet ${shown} not found`,
      hint,
    })
  }
  if (goes(facet.metadata.direction, side)) return facet
  return (pointer) => ({
    code: 'facet/direction',
    at: { pointer },
    message: `the facet ${shown} is for ${facet.metadata.direction} only, not for ${side}`,
    hint: `Take it out of the ${side} contract, or make the facet bidirectional`,
  })
}

function goes(direction: Direction, side: Side): boolean {
  return direction === side || direction === 'bidirectional'
}

function located(found: readonly Found[], at: string): ParseIssue[] {
  return found.flatMap((facet, index) => (typeof facet === 'function' ? [facet(child(at, index))] : []))
}

/** A side that is a schema by hand names no facets. */
function getNames(side: ContractSide): readonly string[] {
  return Array.isArray(side) ? side : []
}

function repeatedNames(facets: readonly Facet[]): ParseIssue[] {
  const names = facets.map(({ name }) => name)
  return repeatIssues(names, 'facet', { code: 'facet/duplicate', pointer: (index) => `/${index}/name` })
}

function lostDependencies(facets: readonly Facet[], byName: ReadonlyMap<string, Facet>): ParseIssue[] {
  return facets.flatMap(({ name, metadata: { dependencies = [] } }, index) =>
    dependencies
      .filter((dependency) => !byName.has(dependency))
      .map((dependency) => ({
        code: 'facet/dependency',
        at: { pointer: `/${index}/metadata/dependencies` },
        message: `the facet "${name}" depends on "${dependency}", which does not exist`,
      })),
  )
}
