/** Is there a way on which a value has no source? */
import type { Source } from '../domain/plan.ts'
import type { Resolved } from './request.ts'
import type { Scenario } from './scenario.ts'
import { isThere, nodesIn, valuesAt } from './sources.ts'

/** The first way on which none of the sources is certainly there; `nodeId`: only ways that start this node count. */
export function wayWithout(
  sources: readonly Source[],
  resolved: Resolved,
  nodeId?: string,
): Scenario | undefined {
  // Of a source that is there whenever its node completes, only the other ways matter: they are far fewer.
  const sure = nodesIn(sources.filter((source) => !valuesAt(source, [], resolved).missing))
  const asking = nodeId === undefined ? [] : [nodeId]
  return resolved.scenarios
    .over([...nodesIn(sources).filter((id) => !sure.includes(id)), ...asking], sure)
    .find(
      (scenario) =>
        asking.every((id) => scenario.started.has(id)) &&
        !sources.some((source) => isThere(source, scenario, resolved) === 'yes'),
    )
}
