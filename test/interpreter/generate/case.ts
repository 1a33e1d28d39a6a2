/** A random case: the same for the same seed. */
import { type Random, randomFor } from '../../sim/random.ts'
import type { Case, CaseNode, CaseOutput, CasePolicy, CaseSource, Change } from '../case.ts'
import { drawFeatures } from './features.ts'
import { makeGraph } from './graph.ts'
import { makeSources, nodeSource, suppliesByName, withUnnamed } from './inputs.ts'
import { makeDecisions, makePolicies, policiesOnInvalid, withLabels, withStall } from './people.ts'
import { withUnlike } from './unlike.ts'

const nothingGiven = { v: [], s: [] }

export function makeCase(seed: number): Case {
  const random = randomFor(seed, 'case')
  const drawnFeatures = drawFeatures(random, seed)
  const replans = seed % 10 === 7
  const withBodies = { iterations: drawnFeatures.iterations || changesBody(seed) }
  const features = replans ? { ...drawnFeatures, ...withBodies, steady: true } : drawnFeatures
  const inputs = {
    known: random.pick(['tea', 'jam']),
    level: random.int(10),
    list: ['fox', 'gnu', 'hen', 'ibis'].slice(0, random.between(1, 4)),
    start: { v: 'start', s: random.int(10) },
  }
  const count = random.between(2, 8)
  const drawn = makeGraph(random, { count, prefix: 'n', features, given: nothingGiven, depth: 0 })
  const graph = {
    ...drawn,
    nodes: withUnnamed(seed, withUnlike(seed, withLabels(seed, drawn.nodes, features))),
  }
  const stalled =
    features.policies && random.chance(0.3) ? withStall(random, graph.nodes, features) : undefined
  const nodes = stalled?.nodes ?? graph.nodes
  const onScores = features.policies ? (stalled?.policies ?? makePolicies(random, nodes, features)) : []
  const ordered = replans && !stalled ? orderPlan(nodes) : []
  const others = [...onScores, ...(stalled ? [] : policiesOnInvalid(seed, nodes, features))]
  const policies = ordered.length > 0 ? ordered : others
  const askBeforeFinish = features.asks && random.chance(0.3)
  const sized = !features.namedOutputs && !askBeforeFinish && random.chance(0.15)
  const outputs = features.namedOutputs ? namedOutputs(random, nodes) : makeOutputs(random, nodes)
  return {
    seed,
    ...graph,
    nodes,
    inputs,
    outputs,
    policies,
    askBeforeFinish,
    decisions: makeDecisions(random, nodes, { steady: features.steady, silence: stalled === undefined }),
    ...(features.asks && random.chance(0.3) && { onNodeFail: 'ask' as const }),
    sideEffectsAllowed: random.chance(0.5),
    extra: extraNode(random, nodes),
    ...makeChange(seed, nodes, policies),
    // A new plan adds a member to the answer.
    ...(sized && ordered.length === 0 && { answerSize: answerSize(random, outputs.length) }),
    tight: random.chance(0.15),
    shuffled: features.shuffled,
    concurrency: random.pick([1, 2, 16]),
    crashes: features.crashes && !stalled,
  }
}

function answerSize(random: Random, most: number): NonNullable<Case['answerSize']> {
  return random.chance(0.5)
    ? { minProperties: random.between(1, most) }
    : { maxProperties: random.between(1, most) }
}

function makeOutputs(random: Random, nodes: readonly CaseNode[]): CaseOutput[] {
  const outputs = nodes.map((node): CaseOutput => {
    if (node.role === 'map')
      return {
        name: `of_${node.id}`,
        type: 'list',
        required: false,
        sources: [{ node: node.id, type: 'list', name: '' }],
      }
    const type = random.pick(['v', 's'] as const)
    return { name: `of_${node.id}`, type, required: false, sources: [nodeSource(node, type)] }
  })
  const type = random.pick(['v', 's'] as const)
  const last: CaseSource[] = random.chance(0.6) ? [{ literal: type === 'v' ? 'end' : 0 }] : []
  const sources = [...makeSources(random, { nodes, given: nothingGiven }, type), ...last]
  return [...outputs, { name: 'answer', type, required: random.chance(0.7), sources }]
}

/** What nodes supply, by the names of its members; one of them may be required. */
function namedOutputs(random: Random, nodes: readonly CaseNode[]): CaseOutput[] {
  const keys = [...new Set(nodes.filter(suppliesByName).map(({ key }) => key))]
  const required = random.chance(0.5) ? random.pick(keys) : undefined
  return keys.map((key) => {
    const type = random.pick(['v', 's'] as const)
    return { name: `${type}${key}`, type, required: key === required }
  })
}

/** What a new plan changes of one of the nodes; not of one that a policy selects, by its capability. */
function makeChange(
  seed: number,
  nodes: readonly CaseNode[],
  policies: readonly CasePolicy[],
): Pick<Case, 'change'> {
  const random = randomFor(seed, 'change')
  const isUnwatched = ({ id }: CaseNode) => policies.every(({ nodeId }) => nodeId !== id)
  const calls = nodes.filter((node) => isChangeable(node) && isUnwatched(node))
  const other = otherChange(seed, calls, nodes.filter(isUnwatched))
  if (other) return { change: other }
  const hasLiteral = ({ inputs }: CaseNode) =>
    inputs.some(({ sources = [] }) => sources.some((source) => 'literal' in source))
  const literal = calls.filter(hasLiteral)
  if (calls.length === 0) return {}
  const how = literal.length > 0 && random.chance(0.5) ? 'literal' : 'capability'
  return { change: { nodeId: random.pick(how === 'literal' ? literal : calls).id, how } }
}

/** A new plan is ordered when the last call of the draft completes: it finds all others done. */
function orderPlan(nodes: readonly CaseNode[]): CasePolicy[] {
  const last = nodes.findLast(({ role, scripts }) => role === 'work' && scripts.length === 1)
  if (last === undefined) return []
  const always = { name: `s${last.key}`, value: 10 }
  return [{ id: 'policy-0', nodeId: last.id, below: always, action: 'replan' }]
}

/** A node whose work a new plan may give to another capability. */
function isChangeable({ role, executor, rao, scripts }: CaseNode): boolean {
  return (
    role === 'work' &&
    (executor === 'local' || executor === 'agent' || executor === 'courier') &&
    !rao &&
    scripts.length === 1 &&
    scripts.every(({ answers }) => answers.every(({ kind }) => kind !== 'stall'))
  )
}

/** Half of the cases in which a new plan is ordered have maps and loops, and the new plan changes the body of one. */
function changesBody(seed: number): boolean {
  return seed % 20 === 17
}

/** A new plan may ask more of an output, by a condition or a contract, or do the work of a body in another way. */
function otherChange(
  seed: number,
  calls: readonly CaseNode[],
  nodes: readonly CaseNode[],
): Change | undefined {
  const random = randomFor(seed, 'other change')
  if (!random.chance(0.5) && !changesBody(seed)) return undefined
  const bodies = nodes.flatMap(({ id, iteration }) =>
    (iteration?.body.nodes ?? []).filter(isChangeable).map((inner) => ({ nodeId: id, inner: inner.id })),
  )
  if (bodies.length > 0 && (random.chance(0.5) || changesBody(seed)))
    return { ...random.pick(bodies), how: 'body' }
  // Where an answer must not be asked for again without a person, people would let it be repeated for ever.
  const possible = calls.filter(({ sideEffect, idempotent }) => idempotent || !sideEffect)
  if (possible.length === 0) return undefined
  const how = random.pick(['condition', 'contract'] as const)
  return { nodeId: random.pick(possible).id, how, least: random.between(1, 8) }
}

/** One more node, for a new plan. */
function extraNode(random: Random, nodes: readonly CaseNode[]): CaseNode {
  return {
    id: 'x',
    role: 'work',
    key: 'x',
    inputs: [
      {
        name: 'p0',
        type: 'v',
        required: random.chance(0.5),
        sources: [nodeSource(random.pick(nodes), 'v'), { literal: 'extra' }],
      },
    ],
    routes: [],
    elseTo: [],
    retryMax: 0,
    backoffMs: 0,
    scripts: [{ answers: [], rest: { kind: 'ok' } }],
    executor: 'agent',
    idempotent: true,
    sideEffect: false,
    rao: false,
    labelled: false,
  }
}
