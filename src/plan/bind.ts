/**
 * Where each value comes from. What the draft does not say is found by name: the last nodes upstream that supply the
 * property, nearest first, then the envelope. Sources after one that is certainly there are left out.
 */
import { own } from '../base/json.ts'
import { child } from '../base/pointer.ts'
import type { Diagnostic } from '../domain/diagnostic.ts'
import type { Source } from '../domain/plan.ts'
import { finding } from './findings.ts'
import type { Graph } from './graph.ts'
import { aliasesOf } from './names.ts'
import type { Resolved } from './request.ts'
import type { Scenario } from './scenario.ts'
import { describeSource, isThere, nodesIn } from './sources.ts'

export interface Bound {
  readonly sources: readonly Source[]
  readonly diagnostics: readonly Diagnostic[]
}

type Known = Pick<Resolved, 'byId' | 'request' | 'graph' | 'scenarios' | 'supply'>

/** Who asks: a node, or the answer itself. */
export interface Asker {
  readonly property: string
  /** Absent for the answer, which sees every node. */
  readonly nodeId?: string
}

export function bindByName(asker: Asker, known: Known): Bound {
  const { graph, request, scenarios } = known
  const names = aliasesOf(asker.property, request.facets)
  const upstream = asker.nodeId === undefined ? undefined : graph.ancestors(asker.nodeId)
  const position = positionsIn(graph)
  const producers = names
    .flatMap((name) => (known.supply.get(name) ?? []).map((node) => ({ node, pointer: child('', name) })))
    .filter(({ node }) => upstream === undefined || (upstream.has(node) && node !== asker.nodeId))
    .sort((a, b) => (position.get(b.node) ?? 0) - (position.get(a.node) ?? 0))
  const all: Source[] = [...producers, ...fromEnvelope(names, known)]
  const asking = asker.nodeId === undefined ? [] : [asker.nodeId]
  const relevant = scenarios
    .over([...nodesIn(all), ...asking])
    .filter(({ started }) => asking.every((id) => started.has(id)))
  const certain = all.findIndex((source) =>
    relevant.every((scenario) => isThere(source, scenario, known) === 'yes'),
  )
  const sources = certain < 0 ? all : all.slice(0, certain + 1)
  const rival = certain < 0 ? undefined : rivalOf(all, certain, { known, relevant })
  return { sources, diagnostics: rival ? [ambiguous(asker, [all[certain] as Source, rival])] : [] }
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

/** `objective` and `specialInstructions` by their names, everything else from the inputs. */
function fromEnvelope(names: readonly string[], { request }: Known): Source[] {
  const { inputs } = request.envelope
  return names.flatMap((name): Source[] => {
    if (own(inputs, name) !== undefined) return [{ envelope: child('/inputs', name) }]
    return name === 'objective' || name === 'specialInstructions' ? [{ envelope: `/${name}` }] : []
  })
}

interface Among {
  readonly known: Known
  readonly relevant: readonly Scenario[]
}

/** Another node that supplies the same beside the one that was taken, neither before nor after it. */
function rivalOf(all: readonly Source[], certain: number, { known, relevant }: Among): Source | undefined {
  const taken = all[certain]
  if (taken === undefined || !('node' in taken)) return undefined
  const before = known.graph.ancestors(taken.node)
  return all.slice(certain + 1).find((source) => {
    if (!('node' in source) || before.has(source.node)) return false
    return relevant.some((scenario) => isThere(source, scenario, known) !== 'no')
  })
}

function ambiguous({ property, nodeId }: Asker, [taken, other]: readonly [Source, Source]): Diagnostic {
  const what = nodeId === undefined ? `"${property}" of the answer` : `input "${property}" of "${nodeId}"`
  return finding('plan/ambiguous', {
    constraint: `${what} has one source`,
    ...(nodeId !== undefined && { nodeId }),
    suggestion: `It is taken from ${describeSource(taken)}, not from ${describeSource(other)}; bind it to say which`,
    details: { property },
  })
}
