/** Nodes with their edges: of a whole draft, or of the body of a map or loop. */
import type { Random } from '../../sim/random.ts'
import {
  type CaseInput,
  type CaseNode,
  type CaseSource,
  type Executor,
  type Graph,
  type Iteration,
  timeoutMs,
} from '../case.ts'
import { makeEdges, withRoutes } from './edges.ts'
import type { Features } from './features.ts'
import {
  hasItems,
  makeInputs,
  makeSources,
  nodeSource,
  type Scope,
  suppliesByName,
  withNames,
} from './inputs.ts'
import { makeScript } from './scripts.ts'

export interface GraphChoice {
  readonly count: number
  /** What the ids of the nodes begin with. */
  readonly prefix: string
  readonly features: Features
  readonly given: Scope['given']
  /** Maps and loops around it. */
  readonly depth: number
}

export function makeGraph(random: Random, choice: GraphChoice): Graph {
  const { count, features } = choice
  const nodes: CaseNode[] = []
  for (let index = 0; index < count; index++) nodes.push(makeNode(random, index, { nodes, choice }))
  const edges = features.edges ? makeEdges(random, nodes, features) : undefined
  const graph = { nodes: withRoutes(random, nodes), ...(edges && { edges }) }
  return features.shuffled || choice.depth > 0 ? graph : { ...graph, nodes: withNames(random, graph) }
}

interface Making {
  readonly nodes: readonly CaseNode[]
  readonly choice: GraphChoice
}

function makeNode(random: Random, index: number, making: Making): CaseNode {
  const { nodes, choice } = making
  const { features, prefix, given, depth } = choice
  const primary =
    features.fallbacks && index > 0 && random.chance(0.25) ? pickPrimary(random, making) : undefined
  const inputs = makeInputs(random, { nodes, given })
  const base = { id: `${prefix}${index}`, key: `${prefix}${index}`.slice(1), inputs, ...plain }
  if (primary) return { ...base, ...makeWork(random, making), ...fallbackFor(primary) }
  if (features.iterations && depth < 2 && random.chance(depth === 0 ? 0.3 : 0.15))
    return makeIteration(random, base, making)
  if (features.routing && random.chance(0.25)) return { ...base, role: 'routing' }
  const earlier = features.rewrites && random.chance(0.3) ? pickRewritten(random, making) : undefined
  const work = { ...base, ...makeWork(random, making) }
  return earlier === undefined ? work : rewriting(work, earlier)
}

const plain = {
  role: 'work',
  routes: [],
  elseTo: [],
  retryMax: 0,
  backoffMs: 0,
  scripts: [],
  executor: 'agent',
  idempotent: true,
  sideEffect: false,
  rao: false,
  labelled: false,
} as const satisfies Partial<CaseNode>

function makeWork(random: Random, { choice }: Making): Omit<CaseNode, 'id' | 'key' | 'inputs'> {
  const { features, depth } = choice
  const rao = features.rao && random.chance(0.4)
  const executor = rao ? 'agent' : pickExecutor(random, choice)
  const hangs = features.hangs && random.chance(0.5) && executor !== 'model'
  const changing = features.effects && executor !== 'human' && executor !== 'model' && !rao
  const idempotent = executor !== 'human' && !(changing && random.chance(0.6))
  const sideEffect = changing && random.chance(0.75)
  const once = sideEffect && !idempotent
  const single = rao || executor === 'human' || once
  const scripts = Array.from({ length: single ? 1 : random.pick([1, 1, 1, 2, 3]) }, () =>
    makeScript(random, { features, hangs, rao, executor, once, inBody: depth > 0 }),
  )
  const asks = features.asks && random.chance(0.3)
  const labelled = features.asks && !rao && executor !== 'human' && random.chance(0.15)
  const retryMax = executor === 'local' ? random.pick([0, 1, 2, 6]) : random.pick([0, 0, 1, 2])
  return {
    ...plain,
    executor,
    rao,
    scripts,
    idempotent,
    sideEffect,
    labelled,
    // What must not be repeated unasked is to be repeated.
    retryMax: executor === 'human' ? 0 : once ? Math.max(retryMax, 1) : retryMax,
    backoffMs: random.pick([0, 0, 50, 700]),
    ...(hangs && { timeoutMs }),
    ...(asks && executor !== 'human' && { onFail: random.pick(['ask', 'ask', 'fail'] as const) }),
    ...(!rao && !once && random.chance(0.1) && { leastScore: random.between(1, 6) }),
  }
}

function pickExecutor(random: Random, { features, depth }: GraphChoice): Executor {
  if (features.asks && random.chance(0.08)) return 'human'
  if (features.couriers && random.chance(0.4)) return 'courier'
  if (features.models && depth === 0 && random.chance(0.5)) return 'model'
  return random.chance(0.3) ? 'local' : 'agent'
}

/** A node that something may stand in for. The stand-in of another fallback follows it: each fails over to the next. */
function pickPrimary(random: Random, { nodes, choice }: Making): CaseNode | undefined {
  const taken = new Set(nodes.map(({ standsInFor }) => standsInFor))
  const keys = nodes.filter(suppliesByName).map(({ key, standsInFor }) => (standsInFor ? '' : key))
  const possible = nodes.filter(
    ({ id, role, key, executor }) =>
      (role === 'work' || (role === 'fallback' && !choice.features.shuffled)) &&
      executor !== 'model' &&
      !taken.has(id) &&
      keys.filter((other) => other === key).length === 1,
  )
  return possible.length > 0 ? random.pick(possible) : undefined
}

function fallbackFor({ id, key }: CaseNode): Pick<CaseNode, 'role' | 'key' | 'standsInFor'> {
  return { role: 'fallback', key, standsInFor: id }
}

/** A node whose output another one makes anew. */
function pickRewritten(random: Random, { nodes }: Making): CaseNode | undefined {
  const replaced = new Set(nodes.flatMap(({ standsInFor }) => (standsInFor ? [standsInFor] : [])))
  const possible = nodes.filter(
    ({ id, role, standsInFor }) => role === 'work' && standsInFor === undefined && !replaced.has(id),
  )
  return possible.length > 0 ? random.pick(possible) : undefined
}

/** It reads what it makes anew, so that it comes later. */
function rewriting(node: CaseNode, earlier: CaseNode): CaseNode {
  const draft: CaseInput = {
    name: 'draft',
    type: 'v',
    required: true,
    sources: [{ node: earlier.id, type: 'v', name: `v${earlier.key}` }],
  }
  return { ...node, key: earlier.key, inputs: [...node.inputs, draft] }
}

function makeIteration(
  random: Random,
  base: Pick<CaseNode, 'id' | 'key' | 'inputs'>,
  making: Making,
): CaseNode {
  const { nodes, choice } = making
  const role = random.pick(['map', 'loop'] as const)
  const others = base.inputs.map((input): CaseInput => ({ ...input, required: true }))
  const names = (type: 'v' | 's') => others.filter((input) => input.type === type).map(({ name }) => name)
  const [text, score] = role === 'map' ? ['item', 'index'] : ['state/v', 'state/s']
  const given = { v: [...names('v'), text!, text!], s: [...names('s'), score!] }
  if (role === 'loop') given.s.push('round')
  const body = makeGraph(random, {
    count: random.pick([1, 1, 2, 3]),
    prefix: `${base.id}b`,
    features: { ...choice.features, rewrites: false },
    given,
    depth: choice.depth + 1,
  })
  const first: CaseInput =
    role === 'map'
      ? { name: 'items', type: 'list', required: true, sources: [itemsFrom(random, nodes)] }
      : { name: 'state', type: 'list', required: true, sources: [stateFrom(random)] }
  const iteration: Iteration = {
    body,
    yields: {
      v: yieldsOf(random, body, { given, type: 'v' }),
      s: yieldsOf(random, body, { given, type: 's' }),
    },
    most: role === 'map' ? random.pick([2, 9, 9, 9]) : random.between(1, 4),
    concurrency: random.pick([1, 2, 9]),
    onItemFail: random.pick(['fail', 'skip', 'collect'] as const),
    ...(random.chance(0.8) && { untilScore: random.between(1, 9) }),
    onMaxRounds: random.pick(['fail', 'accept', 'accept'] as const),
  }
  return { ...base, ...plain, role, inputs: [first, ...others], iteration }
}

function itemsFrom(random: Random, nodes: readonly CaseNode[]): CaseSource {
  const maps = nodes.filter(hasItems)
  if (maps.length > 0 && random.chance(0.4)) return { node: random.pick(maps).id, type: 'list', name: '' }
  if (random.chance(0.5)) return { envelope: 'list' }
  return { literal: ['ant', 'bee', 'cat', 'doe', 'elk'].slice(0, random.int(6)) }
}

function stateFrom(random: Random): CaseSource {
  return random.chance(0.5) ? { envelope: 'start' } : { literal: { v: 'begin', s: random.int(10) } }
}

/** What an item or round yields is there on every way: a literal comes last. */
function yieldsOf(
  random: Random,
  { nodes }: Graph,
  { given, type }: { given: Scope['given']; type: 'v' | 's' },
): CaseSource[] {
  const last = nodes.at(-1)!
  const sources = [nodeSource(last, type), ...makeSources(random, { nodes, given }, type)]
  return [...sources, { literal: type === 'v' ? 'nothing' : 0 }]
}
