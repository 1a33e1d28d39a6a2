/**
 * Binds each value to its sources. Inputs that the draft does not bind are bound by name: the last nodes upstream that
 * supply the property, nearest first, then the envelope. Sources that are never present, or follow one that always is,
 * are dropped.
 */
import { own } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { Facet } from '../../../domain/facet.ts'
import type { Need, Source } from '../../../domain/plan.ts'
import { describeSource } from '../../../domain/run/bound-values.ts'
import { listMembers } from '../../../schema/build/project.ts'
import { conditionVars, parseCondition, testedForAbsence } from '../../../schema/condition/condition.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { declares } from '../../../schema/values/schema-values.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'
import { getPropertyKey } from '../../catalog/compile-facets.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Graph } from '../graph.ts'
import type { Resolved, ResolvedNode, Supply } from '../proof-request.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { isThere, nodesIn, valuesAt } from '../sources.ts'

interface Bound {
  readonly sources: readonly Source[]
  readonly diagnostics: readonly Diagnostic[]
}

type Known = Pick<Resolved, 'byId' | 'request' | 'graph' | 'scenarios' | 'supply'>

/** The reader of a value: a node, or the answer itself. */
interface Asker {
  readonly property: string
  /** Undefined for the answer, which can read every node. */
  readonly nodeId?: string
}

/** Returns all sources of a property by name: the last node first, then the envelope. */
export function candidatesFor(asker: Asker, known: Omit<Known, 'scenarios'>): readonly Source[] {
  const { graph, request } = known
  const names = findAliases(asker.property, request.facets)
  const upstream = asker.nodeId === undefined ? undefined : graph.ancestors(asker.nodeId)
  const position = positionsIn(graph)
  const producers = names
    .flatMap((name) => (known.supply.get(name) ?? []).map((node) => ({ node, pointer: child('', name) })))
    .filter(({ node }) => upstream === undefined || (upstream.has(node) && node !== asker.nodeId))
    .sort((a, b) => (position.get(b.node) ?? 0) - (position.get(a.node) ?? 0))
  return [...producers, ...fromGiven(names, request), ...fromEnvelope(names, request)]
}

/** Selects the candidates that can supply a value, and reports ambiguities. */
export function chooseSources(asker: Asker, all: readonly Source[], known: Known): Bound {
  const asking = asker.nodeId === undefined ? [] : [asker.nodeId]
  const relevant = known.scenarios
    .over([...nodesIn(all), ...asking])
    .filter(({ started }) => asking.every((id) => started.has(id)))
  const possible = all.filter((source) =>
    relevant.some((scenario) => isThere(source, scenario, known) !== 'no'),
  )
  const certain = possible.findIndex((source) =>
    relevant.every((scenario) => isThere(source, scenario, known) === 'yes'),
  )
  // If no source is ever present, keep one: the obligations report it.
  const sources =
    possible.length === 0 ? all.slice(0, 1) : possible.slice(0, certain < 0 ? undefined : certain + 1)
  const rivals = rivalsIn(possible, { known, relevant })
  return { sources, diagnostics: rivals ? [ambiguous(asker, rivals)] : [] }
}

/**
 * Returns the inputs that a node cannot run without and that only nodes supply. An input is optional if the contract
 * names it without requiring it; every other bound input is required.
 */
export function listNeeds(
  input: JsonSchema,
  inputs: { readonly [property: string]: readonly Source[] },
  known: Pick<Known, 'byId' | 'request'>,
): readonly Need[] {
  const optional = new Set(listMembers(input).flatMap(({ name, required }) => (required ? [] : [name])))
  return Object.entries(inputs).flatMap(([name, sources]) => {
    const isGiven = (source: Source) => !('node' in source) && !isAbsent(valuesAt(source, [], known))
    const from = [...new Set(nodesIn(sources))]
    return optional.has(name) || from.length === 0 || sources.some(isGiven) ? [] : [{ input: name, from }]
  })
}

const positions = new WeakMap<Graph, ReadonlyMap<string, number>>()

function positionsIn(graph: Graph): ReadonlyMap<string, number> {
  let found = positions.get(graph)
  if (found === undefined) {
    found = new Map(graph.order.map((id, index) => [id, index]))
    positions.set(graph, found)
  }
  return found
}

/** In a body, the value that its map or loop passes under this name. */
function fromGiven(names: readonly string[], { given }: Known['request']): Source[] {
  if (given === undefined) return []
  return names.flatMap((name) => (declares(given.schema, [name]) ? [{ input: child('', name) }] : []))
}

/** Binds `objective` and `specialInstructions` by their names, everything else from the inputs. */
function fromEnvelope(names: readonly string[], { envelope }: Known['request']): Source[] {
  const { inputs } = envelope
  return names.flatMap((name): Source[] => {
    if (own(inputs, name) !== undefined) return [{ envelope: child('/inputs', name) }]
    return name === 'objective' || name === 'specialInstructions' ? [{ envelope: `/${name}` }] : []
  })
}

interface Among {
  readonly known: Known
  readonly relevant: readonly Scenario[]
}

/** Finds two nodes that supply the same property in one scenario while the chosen one is not ordered after the other. */
function rivalsIn(
  sources: readonly Source[],
  { known, relevant }: Among,
): readonly [Source, Source] | undefined {
  for (const scenario of relevant) {
    const there = sources.filter((source) => isThere(source, scenario, known) !== 'no')
    for (const [index, taken] of there.entries()) {
      if (!('node' in taken)) break
      const before = known.graph.ancestors(taken.node)
      const other = there.slice(index + 1).find((each) => 'node' in each && !before.has(each.node))
      if (other !== undefined) return [taken, other]
      if (isThere(taken, scenario, known) === 'yes') break
    }
  }
  return undefined
}

function ambiguous({ property, nodeId }: Asker, [taken, other]: readonly [Source, Source]): Diagnostic {
  const ofAnswer = property === '' ? 'the answer' : `"${property}" of the answer`
  const what = nodeId === undefined ? ofAnswer : `input "${property}" of "${nodeId}"`
  return createDiagnostic('plan/ambiguous', {
    constraint: `${what} has one source`,
    ...(nodeId !== undefined && { nodeId }),
    suggestion: `It is taken from ${describeSource(taken)}, not from ${describeSource(other)}; bind it to say which`,
    details: { property },
  })
}

// Binding by name: which properties a node needs, and under which names they are found.

/** Returns the input properties of a node; for a routing node also the properties that its conditions read. */
export function wantedBy(node: Pick<ResolvedNode, 'input' | 'draft'>): string[] {
  const routed = (node.draft.routing?.routes ?? []).flatMap(({ condition }) => listConditionRoots(condition))
  return [...new Set([...listMembers(node.input).map(({ name }) => name), ...routed])]
}

/** Returns the root properties that a condition reads. */
export function listConditionRoots(condition: unknown): string[] {
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
    ...listMembers(input).map(({ name }) => name),
    ...conditions.flatMap((condition) => rootsIn(condition, testedForAbsence)),
  ])
  const bound = [...Object.keys(draft.inputs ?? {}), ...conditions.flatMap(listConditionRoots)]
  return [...new Set(bound)].filter((name) => !optional.has(name))
}

export function buildSupply(nodes: readonly Pick<ResolvedNode, 'id' | 'output'>[]): Supply {
  const supply = new Map<string, string[]>()
  for (const { id, output } of nodes) {
    for (const { name } of listMembers(output)) {
      if (!declares(output, [name])) continue
      const before = supply.get(name)
      if (before === undefined) supply.set(name, [id])
      else before.push(id)
    }
  }
  return supply
}

/** Returns the aliases of a property: a facet's name and its key are equivalent. */
function findAliases(property: string, facets: readonly Facet[]): string[] {
  const others = facets.flatMap((facet) => {
    if (facet.name === property) return [getPropertyKey(facet)]
    return getPropertyKey(facet) === property ? [facet.name] : []
  })
  return [...new Set([property, ...others])]
}
