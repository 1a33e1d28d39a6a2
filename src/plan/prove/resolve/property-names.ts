/** Binding by name: which properties a node needs, and under which names they are found. */
import type { Facet } from '../../../domain/facet.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { conditionVars, parseCondition, testedForAbsence } from '../../../schema/condition/condition.ts'
import { declares } from '../../../schema/values/schema-values.ts'
import { keyOf } from '../../catalog/compile-facets.ts'
import type { ResolvedNode, Supply } from '../proof-request.ts'

/** Returns the input properties of a node; for a routing node also the properties that its conditions read. */
export function wantedBy(node: Pick<ResolvedNode, 'input' | 'draft'>): string[] {
  const routed = (node.draft.routing?.routes ?? []).flatMap(({ condition }) => rootsOf(condition))
  return [...new Set([...membersOf(node.input).map(({ name }) => name), ...routed])]
}

/** Returns the root properties that a condition reads. */
export function rootsOf(condition: unknown): string[] {
  return rootsIn(condition, conditionVars)
}

function rootsIn(condition: unknown, find: typeof conditionVars): string[] {
  const parsed = parseCondition(condition)
  if (!parsed.ok) return []
  return [...new Set(find(parsed.condition).map((path) => path.split('.')[0] ?? ''))].filter(Boolean)
}

/**
 * Returns the inputs that need a value although the contract does not name them: inputs bound by the draft, and inputs
 * read by the conditions of a routing node. A condition that tests an input with `missing` makes it optional.
 */
export function requiredBeside({ input, draft }: Pick<ResolvedNode, 'input' | 'draft'>): readonly string[] {
  const conditions = (draft.routing?.routes ?? []).map(({ condition }) => condition)
  const optional = new Set([
    ...membersOf(input).map(({ name }) => name),
    ...conditions.flatMap((condition) => rootsIn(condition, testedForAbsence)),
  ])
  const bound = [...Object.keys(draft.inputs ?? {}), ...conditions.flatMap(rootsOf)]
  return [...new Set(bound)].filter((name) => !optional.has(name))
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

/** Returns the aliases of a property: a facet's name and its key are equivalent. */
export function aliasesOf(property: string, facets: readonly Facet[]): string[] {
  const others = facets.flatMap((facet) => {
    if (facet.name === property) return [keyOf(facet)]
    return keyOf(facet) === property ? [facet.name] : []
  })
  return [...new Set([property, ...others])]
}
