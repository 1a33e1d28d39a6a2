/** Assembles a draft from the chosen nodes: ids, bindings, contracts, instructions, and the sources of the answer. */
import type { Json } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Draft, DraftNode, Source } from '../../../domain/plan.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isFacetList } from '../../catalog/ports.ts'
import type { Market } from '../candidates/candidates.ts'
import type { Supporter } from '../candidates/cheapest-producers.ts'
import type { SearchGoal } from '../candidates/goals.ts'
import { createNaming, nameOf } from '../candidates/node-names.ts'
import { inWishedOrder } from './caller-hints.ts'
import type { Chosen, Maker } from './choose.ts'
import { instructionsFor } from './instructions.ts'
import { type Demands, inputOf, isOpenMaker, outputOf } from './node-contracts.ts'
import { backingOf } from './resilience.ts'

export interface Assembly {
  readonly market: Market
  readonly chosen: Chosen
  readonly demands: Demands
  /** Post-conditions by node key. */
  readonly conditions: ReadonlyMap<string, readonly Json[]>
  /** Soft constraints in human-readable form. */
  readonly wishes: readonly string[]
  /** Additional instruction lines, by node key. */
  readonly told: ReadonlyMap<string, readonly string[]>
  /** The open answer waits for what the others supply; otherwise it runs in parallel. */
  readonly answerLast: boolean
}

export interface Assembled {
  readonly draft: Draft
  /** Nodes in construction, by node id. */
  readonly makers: ReadonlyMap<string, Maker>
  readonly ids: ReadonlyMap<Maker, string>
  /** The source of each property that constraints read. */
  readonly places: ReadonlyMap<string, Source>
  readonly naming: ReturnType<typeof createNaming>
}

export function assemble(assembly: Assembly): Assembled {
  const { market, chosen } = assembly
  const { request } = market
  const naming = createNaming(request)
  const ids = new Map<Maker, string>()
  for (const maker of chosen.makers.values()) {
    const [offer] = maker.offers
    if (offer !== undefined) ids.set(maker, offer.doneId ?? naming.fresh(nameOf(offer)))
  }
  const sourceOf = (supporter: Supporter): Source => {
    if ('given' in supporter) return supporter.given
    const node = ids.get(makerOf(supporter, chosen) as Maker) as string
    return supporter.port === '' ? { node } : { node, pointer: child('', supporter.port) }
  }
  const { output, places } = answerOf(chosen, sourceOf, market)
  const inputs = new Map([...ids.keys()].map((maker) => [maker, inputsOf(maker, assembly, sourceOf)]))
  const answer = chosen.makers.get('answer')
  if (answer !== undefined && assembly.answerLast) {
    for (const [name, source] of beside(answer, assembly, { sourceOf, inputs, ids })) {
      inputs.get(answer)?.set(name, source)
    }
  }
  const nodes = [...ids].map(([maker, id]) =>
    nodeOf(maker, { id, inputs: Object.fromEntries(inputs.get(maker) ?? []), assembly }),
  )
  const draft: Draft = { nodes: inOrder(nodes), ...(output !== undefined && { output }) }
  return { draft, ids, makers: new Map([...ids].map(([maker, id]) => [id, maker])), places, naming }
}

function makerOf(supporter: Extract<Supporter, { offer: unknown }>, { makers }: Chosen): Maker | undefined {
  return [...makers.values()].find(({ offers }) => offers.includes(supporter.offer))
}

/** Binds the answer and the values that constraints read. */
function answerOf(chosen: Chosen, sourceOf: (supporter: Supporter) => Source, { request }: Market) {
  const places = new Map<string, Source>()
  const whole = [...chosen.met].find(([{ role }]) => role === 'whole')
  for (const [{ want, role }, supporter] of chosen.met) {
    if (role === 'aside' || (role === 'answer' && whole === undefined))
      places.set(want.name, sourceOf(supporter))
  }
  if (whole !== undefined) {
    const source = sourceOf(whole[1])
    places.set('', source)
    return { output: source, places }
  }
  const parts = [...chosen.met.keys()].filter(({ role }) => role === 'answer').map(({ want }) => want.name)
  if (parts.length === 0) return { output: undefined, places }
  const properties = inWishedOrder(parts, request.envelope).map((name) => [name, places.get(name) as Source])
  return { output: { properties: Object.fromEntries(properties) }, places }
}

type Inputs = Map<string, Source>

/** Binds the inputs of a node; open nodes receive all inputs of the envelope. */
function inputsOf(maker: Maker, { market }: Assembly, sourceOf: (supporter: Supporter) => Source): Inputs {
  const inputs: Inputs = new Map([...maker.inputs].map(([name, supporter]) => [name, sourceOf(supporter)]))
  const known = Object.keys(market.request.envelope.inputs).length > 0
  if (isOpenMaker(maker) && known && maker.way !== 'transformation' && !inputs.has('inputs'))
    inputs.set('inputs', { envelope: '/inputs' })
  return inputs
}

/**
 * Returns the parts of the answer that other nodes supply, as input for the open answer; excludes nodes that depend on
 * it.
 */
function beside(
  answer: Maker,
  { chosen }: Assembly,
  {
    sourceOf,
    inputs,
    ids,
  }: {
    readonly sourceOf: (supporter: Supporter) => Source
    readonly inputs: ReadonlyMap<Maker, Inputs>
    readonly ids: ReadonlyMap<Maker, string>
  },
): [string, Source][] {
  const self = ids.get(answer) as string
  const byId = new Map([...ids].map(([maker, id]) => [id, maker]))
  const waitsForIt = (id: string, seen = new Set<string>()): boolean => {
    if (id === self) return true
    if (seen.has(id)) return false
    seen.add(id)
    const maker = byId.get(id)
    const sources = maker === undefined ? [] : [...(inputs.get(maker)?.values() ?? [])]
    return sources.some((source) => 'node' in source && waitsForIt(source.node, seen))
  }
  return [...chosen.met].flatMap(([{ want }, supporter]): [string, Source][] => {
    const source = sourceOf(supporter)
    return want.name !== '' && 'node' in source && !waitsForIt(source.node) ? [[want.name, source]] : []
  })
}

interface NodeRequest {
  readonly id: string
  readonly inputs: NonNullable<DraftNode['inputs']>
  readonly assembly: Assembly
}

function nodeOf(maker: Maker, { id, inputs, assembly }: NodeRequest): DraftNode {
  const { market, demands, chosen, wishes } = assembly
  const { capability, way } = maker
  const { envelope } = market.request
  const optional = optionalPorts(maker, [...chosen.met.keys()])
  const conditions = assembly.conditions.get(maker.key) ?? []
  const output = outputOf(maker, demands, optional)
  const input = inputOf(maker)
  const facets = facetsOf(maker)
  const last = maker.uses.some(({ want }) => want.forAnswer)
  const more = assembly.told.get(maker.key) ?? []
  const judged = maker.uses.some(({ want }) => want.paths.length > 0)
  const { avoid = [] } = envelope.policies.planner.selection ?? {}
  return {
    id,
    kind: way === 'transformation' ? 'transformation' : capability.nodeKind,
    label: capability.displayName,
    capabilityId: capability.capabilityId,
    ...(way === 'derived' && { derived: true }),
    ...(facets && { facets }),
    ...((input ?? output) !== undefined && { contracts: sides(input, output) }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
    instructions:
      doneInstructions(maker, market) ?? instructionsFor({ maker, envelope, last, conditions, wishes, more }),
    ...(conditions.length > 0 && { postConditions: conditions }),
    ...backingOf(maker, {
      capabilities: market.allowed,
      facets: market.facets,
      avoid,
      judged,
    }),
    metadata: { way },
  }
}

/** Completed nodes keep their instructions: different ones would execute them again. */
function doneInstructions({ offers, way }: Maker, { request }: Market): string | undefined {
  if (way !== 'done') return undefined
  return request.completed?.find(({ id }) => id === offers[0]?.doneId)?.instructions ?? ''
}

function sides(input: JsonSchema | undefined, output: JsonSchema | undefined) {
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) }
}

/** Returns the ports of the open answer that only optional goals use. */
function optionalPorts(maker: Maker, goals: readonly SearchGoal[]): ReadonlySet<string> {
  const required = new Set(goals.filter((goal) => goal.required).map(({ want }) => want))
  const names = maker.uses.map(({ port }) => port)
  return new Set(
    maker.way === 'answer'
      ? names.filter((name) => !maker.uses.some(({ port, want }) => port === name && required.has(want)))
      : [],
  )
}

/** Returns the facets in use: all inputs, and the outputs that other nodes read. */
function facetsOf({ capability, offers, uses }: Maker): DraftNode['facets'] | undefined {
  const [offer] = offers
  const { inputContract, outputContract, postConditions } = capability
  const used = new Set(uses.map(({ port }) => port))
  const taken = offer?.supplies.filter(({ name }) => used.has(name)).flatMap(({ facets }) => facets) ?? []
  const all = postConditions.length > 0 || taken.length === 0
  const input = isFacetList(inputContract) ? (offer?.inputFacets ?? inputContract) : undefined
  const output = isFacetList(outputContract)
    ? (offer?.outputFacets ?? (all ? outputContract : taken.map(({ name }) => name)))
    : undefined
  if (input === undefined && output === undefined) return undefined
  return { ...(input && { input }), ...(output && { output }) }
}

/** Sorts nodes topologically by their bindings. */
function inOrder(nodes: readonly DraftNode[]): readonly DraftNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const placed = new Set<string>()
  const order: DraftNode[] = []
  const place = (node: DraftNode) => {
    if (placed.has(node.id)) return
    placed.add(node.id)
    for (const source of Object.values(node.inputs ?? {}).flat() as Source[]) {
      const before = 'node' in source ? byId.get(source.node) : undefined
      if (before !== undefined) place(before)
    }
    order.push(node)
  }
  for (const node of nodes) place(node)
  return order
}
