/** Binding by name: which properties a node wants, and by which names they may be found. */
import type { Facet } from '../domain/facet.ts'
import { conditionVars, parseCondition } from '../schema/condition.ts'
import { membersOf } from '../schema/members.ts'
import { declares } from '../schema/schema-values.ts'
import { keyOf } from './compile-contract.ts'
import type { ResolvedNode, Supply } from './request.ts'

/** The properties of a node's input; a routing node wants what its conditions look at. */
export function wantedBy(node: Pick<ResolvedNode, 'input' | 'draft'>): string[] {
  const routed = (node.draft.routing?.routes ?? []).flatMap(({ condition }) => rootsOf(condition))
  return [...new Set([...membersOf(node.input).map(({ name }) => name), ...routed])]
}

/** The properties at the root that a condition looks at. */
export function rootsOf(condition: unknown): string[] {
  const parsed = parseCondition(condition)
  if (!parsed.ok) return []
  return [...new Set(conditionVars(parsed.condition).map((path) => path.split('.')[0] ?? ''))].filter(Boolean)
}

export function supplyOf(nodes: readonly Pick<ResolvedNode, 'id' | 'output'>[]): Supply {
  const supply = new Map<string, string[]>()
  for (const { id, output } of nodes) {
    for (const { name } of membersOf(output)) {
      if (!declares(output, [name])) continue
      const before = supply.get(name)
      if (before === undefined) supply.set(name, [id])
      else before.push(id)
    }
  }
  return supply
}

/** A property may be called by a facet's name or by its key. */
export function aliasesOf(property: string, facets: readonly Facet[]): string[] {
  const others = facets.flatMap((facet) => {
    if (facet.name === property) return [keyOf(facet)]
    return keyOf(facet) === property ? [facet.name] : []
  })
  return [...new Set([property, ...others])]
}
