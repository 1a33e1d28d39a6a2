/** Hints of the caller beside contract and policies: about the form (FLEX-05), and free directives (FLEX-10). */
import type { Envelope } from '../../../domain/envelope.ts'

/** Directives that the planner or the engine handles; instructions of nodes omit them. */
const acted = new Set(['askBeforeFinish', 'hitlRequiredFor', 'branchVariants', 'sideEffects'])
/** Hints that the planner handles. */
const ordering = ['fieldOrder', 'propertyOrder', 'order'] as const
const longest = 2_000

interface CallerHints {
  readonly hints?: string
  readonly directives?: string
}

export function getCallerHints({ outputContract, policies }: Envelope): CallerHints {
  const hints = without(outputContract.hints ?? {}, new Set<string>(ordering))
  const directives = without(policies.planner.directives ?? {}, acted)
  return {
    ...(hints !== undefined && { hints }),
    ...(directives !== undefined && { directives }),
  }
}

function without(map: object, keys: ReadonlySet<string>): string | undefined {
  const rest = Object.entries(map).filter(([key]) => !keys.has(key))
  return rest.length === 0 ? undefined : JSON.stringify(Object.fromEntries(rest)).slice(0, longest)
}

/** Sorts properties in the order that the caller prefers; unnamed ones keep their order, after the others. */
export function sortByCallerHints(names: readonly string[], { outputContract }: Envelope): readonly string[] {
  const hints = outputContract.hints ?? {}
  const said = ordering.map((key) => hints[key]).find(Array.isArray)
  if (said === undefined) return names
  const order = (said as readonly unknown[]).filter((name) => typeof name === 'string')
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  return [...names].sort((a, b) => rank(a) - rank(b))
}
