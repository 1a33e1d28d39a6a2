/** Builds the instructions of a node from its facets, the caller's hints and the conditions (FLEX-20, FLEX-25). */
import type { Json } from '../../../base/json.ts'
import type { Envelope } from '../../../domain/envelope.ts'
import type { Facet } from '../../../domain/facet.ts'
import { describeCondition, parseCondition } from '../../../schema/condition/condition.ts'
import type { PlannedNode } from './choose.ts'

interface InstructionRequest {
  readonly planned: PlannedNode
  readonly envelope: Envelope
  /** The node supplies part of the answer. */
  readonly last: boolean
  /** Conditions on its output that the engine evaluates. */
  readonly conditions: readonly Json[]
  /** Soft constraints in human-readable form. */
  readonly wishes: readonly string[]
  /** Lines added by policies. */
  readonly more: readonly string[]
}

export function instructionsFor({
  planned,
  envelope,
  last,
  conditions,
  wishes,
  more,
}: InstructionRequest): string {
  const { displayName, summary } = planned.capability
  const inputs = planned.candidates.flatMap(({ needs }) => needs.flatMap(({ facets }) => facets))
  const used = new Set(planned.uses.map(({ port }) => port))
  const outputs = planned.candidates.flatMap(({ supplies }) =>
    supplies.filter(({ name }) => used.has(name)).flatMap(({ facets }) => facets),
  )
  const given = getCallerHints(envelope)
  return [
    summary === '' ? displayName : `${displayName}: ${summary}`,
    ...unique(inputs).map(({ name, semantics }) => `Use "${name}": ${semantics.instruction}`),
    ...unique(outputs).map(
      ({ name, description, semantics }) => `Supply "${name}": ${description} ${semantics.instruction}`,
    ),
    ...more,
    ...conditions.map((condition) => `Make sure that ${describePostCondition(condition)}.`),
    ...(last ? wishes.map((wish) => `If you can, see to it that ${wish}.`) : []),
    ...(last && given.hints !== undefined ? [`Wishes about the form: ${given.hints}`] : []),
    ...(given.directives !== undefined ? [`Directives of the caller: ${given.directives}`] : []),
  ].join('\n')
}

function unique(facets: readonly Facet[]): readonly Facet[] {
  return [...new Set(facets)]
}

export function describePostCondition(condition: Json): string {
  const parsed = parseCondition(condition)
  return parsed.ok ? describeCondition(parsed.condition) : JSON.stringify(condition)
}

// Hints of the caller beside contract and policies: about the form (FLEX-05), and free directives (FLEX-10).

/** Directives that the planner or the engine handles; instructions of nodes omit them. */
const acted = new Set(['askBeforeFinish', 'hitlRequiredFor', 'branchVariants', 'sideEffects'])
/** Hints that the planner handles. */
const ordering = ['fieldOrder', 'propertyOrder', 'order'] as const
const longest = 2_000

interface CallerHints {
  readonly hints?: string
  readonly directives?: string
}

function getCallerHints({ outputContract, policies }: Envelope): CallerHints {
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
