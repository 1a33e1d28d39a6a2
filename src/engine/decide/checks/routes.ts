/** Selects the route of a routing node and the value that it passes on. */
import { isObject, type Json } from '../../../base/json.ts'
import type { NodeState } from '../../../domain/run.ts'
import { holds } from './conditions.ts'

interface Taken {
  /** The targets to activate. */
  readonly chosen: readonly string[]
  /** The inputs, with the label of the route. */
  readonly value: Json
  readonly label?: string
}

/**
 * Takes the first route whose condition holds; a condition that exceeds its steps does not. Returns nothing if no route
 * applies.
 */
export function takeRoute({ node }: Pick<NodeState, 'node'>, inputs: Json): Taken | undefined {
  const { routes, elseTo } = node.routing ?? { routes: [] }
  const route = routes.find((candidate) => holds(candidate.condition, inputs) === 'yes')
  const target = route?.to ?? elseTo ?? []
  const chosen = typeof target === 'string' ? [target] : target
  if (chosen.length === 0) return undefined
  const members = isObject(inputs) ? (inputs as { [name: string]: Json }) : {}
  if (!route?.label) return { chosen, value: members }
  const { label } = route
  return { chosen, value: { ...members, route: label }, label }
}
