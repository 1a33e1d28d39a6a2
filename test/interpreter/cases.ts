/**
 * Random drafts with everything around them: which capabilities answer how, what people decide, what goes wrong. A case is
 * plain data, made from a seed, and knows nothing of the engine. Bindings and control edges are drawn apart from each
 * other: a node may read across branches, from nodes that no edge connects it to, and from several sources in order.
 */
import { type Random, randomFor } from '../sim/random.ts'

/** `v` values are texts, `s` values are whole numbers from 0 to 9. */
export type ValueType = 'v' | 's'

export type CaseSource =
  | { readonly node: string; readonly type: ValueType; readonly name: string }
  | { readonly literal: string | number }
  | { readonly envelope: string }

export interface CaseInput {
  readonly name: string
  readonly type: ValueType
  readonly required: boolean
  /** Absent: bound by name. */
  readonly sources?: readonly CaseSource[]
}

/** How one attempt of a capability ends. */
export type Answer =
  | { readonly kind: 'ok'; readonly confidence?: number; readonly escalate?: boolean }
  /** A value that the contract does not allow. */
  | { readonly kind: 'bad-value' }
  | { readonly kind: 'error' }
  /** An error that says that another try is no use. */
  | { readonly kind: 'final-error' }
  | { readonly kind: 'hang' }
  /** So many tries are turned away before the rest of the attempt. */
  | { readonly kind: 'throttled'; readonly times: number; readonly retryAfterMs?: number }

export interface Script {
  readonly answers: readonly Answer[]
  /** What follows when the list is at its end. */
  readonly rest: Answer
}

export interface CaseRoute {
  readonly input: string
  readonly operator: '<' | '>=' | '=='
  readonly value: string | number
  /** The condition is negated. */
  readonly not: boolean
  readonly to: readonly string[]
}

export interface CaseEdge {
  readonly from: string
  readonly to: string
  readonly when: 'pass' | 'fail' | 'always'
}

export interface CaseNode {
  readonly id: string
  readonly role: 'work' | 'routing' | 'fallback'
  /** The names of its output's members: `v<key>` and `s<key>`; a fallback has those of the node it stands in for. */
  readonly key: string
  readonly standsInFor?: string
  readonly inputs: readonly CaseInput[]
  readonly routes: readonly CaseRoute[]
  readonly elseTo: readonly string[]
  /** The targets that are taken whatever the conditions say. */
  readonly choice?: readonly string[]
  readonly retryMax: number
  /** The script of the node's own capability, then those of its alternates. */
  readonly scripts: readonly Script[]
  readonly local: boolean
  readonly timeoutMs?: number
  readonly onFail?: 'ask'
  readonly rao: boolean
}

export interface CaseOutput {
  readonly name: string
  readonly type: ValueType
  readonly required: boolean
  readonly sources: readonly CaseSource[]
}

export type Decision = 'approve' | 'reject' | 'edit'

export interface CasePolicy {
  readonly id: string
  /** The node whose capability it selects. */
  readonly nodeId: string
  /** Acts when the score of the node that completed is below. */
  readonly below: { readonly name: string; readonly value: number }
  readonly action: 'emit' | 'fail' | 'pause' | 'hitl'
}

export interface Case {
  readonly seed: number
  readonly nodes: readonly CaseNode[]
  /** Absent: the draft has none. */
  readonly edges?: readonly CaseEdge[]
  readonly inputs: { readonly [name: string]: string | number }
  readonly outputs: readonly CaseOutput[]
  readonly policies: readonly CasePolicy[]
  readonly askBeforeFinish: boolean
  /** What people say, by node (or `final`, or the id of a policy). */
  readonly decisions: { readonly [subject: string]: Decision }
  readonly concurrency: number
  /** Processes die at random. */
  readonly crashes: boolean
}

/** How long a node's attempt may take where it can hang. */
export const timeoutMs = 5_000

export function makeCase(seed: number): Case {
  const random = randomFor(seed, 'case')
  const count = random.between(2, 8)
  const features = featuresOf(random)
  const inputs = { known: random.pick(['tea', 'jam']), level: random.int(10) }
  const nodes: CaseNode[] = []
  for (let index = 0; index < count; index++) nodes.push(makeNode(random, index, { nodes, features }))
  const edges = features.edges ? makeEdges(random, nodes, features) : undefined
  const routed = nodes.map((node, index) =>
    node.role === 'routing' ? withRoutes(random, node, nodes.slice(index + 1)) : node,
  )
  const usable = withoutIdleRoutes(routed)
  const named = withNames(random, usable, edges)
  return {
    seed,
    nodes: named,
    ...(edges !== undefined && { edges }),
    inputs,
    outputs: makeOutputs(random, named),
    policies: features.policies ? makePolicies(random, named) : [],
    askBeforeFinish: features.asks && random.chance(0.3),
    decisions: makeDecisions(random, named),
    concurrency: random.pick([1, 2, 16]),
    crashes: features.crashes,
  }
}

function makeDecisions(random: Random, nodes: readonly CaseNode[]): Case['decisions'] {
  const subjects = [...nodes.map(({ id }) => id), 'final', 'policy-0', 'policy-1']
  const decisions = subjects.map((subject): [string, Decision] => [
    subject,
    random.pick(['approve', 'approve', 'edit', 'reject'] as const),
  ])
  // Work that is done again after a rejection is the same only where every attempt ends alike.
  const steady = nodes.every(({ scripts }) => scripts.every(({ answers }) => answers.length === 0))
  return Object.fromEntries(
    decisions.map(([subject, decision]) =>
      subject === 'final' && decision === 'reject' && !steady ? [subject, 'approve'] : [subject, decision],
    ),
  )
}

interface Features {
  readonly edges: boolean
  readonly routing: boolean
  readonly fallbacks: boolean
  readonly failures: number
  readonly throttles: boolean
  readonly hangs: boolean
  readonly rao: boolean
  readonly asks: boolean
  readonly policies: boolean
  readonly crashes: boolean
}

function featuresOf(random: Random): Features {
  // A pause between two tries counts as time of the attempt: an attempt that may hang is not throttled here.
  const throttles = random.chance(0.2)
  return {
    edges: random.chance(0.6),
    routing: random.chance(0.7),
    fallbacks: random.chance(0.6),
    failures: random.pick([0, 0.15, 0.4]),
    throttles,
    hangs: random.chance(0.15) && !throttles,
    rao: random.chance(0.2),
    asks: random.chance(0.3),
    policies: random.chance(0.2),
    crashes: random.chance(0.2),
  }
}

interface Making {
  readonly nodes: readonly CaseNode[]
  readonly features: Features
}

function makeNode(random: Random, index: number, { nodes, features }: Making): CaseNode {
  const id = `n${index}`
  const primary =
    features.fallbacks && index > 0 && random.chance(0.25) ? pickPrimary(random, nodes) : undefined
  const role = primary ? 'fallback' : features.routing && random.chance(0.25) ? 'routing' : 'work'
  const rao = role === 'work' && features.rao && random.chance(0.4)
  const local = !rao && !features.throttles && random.chance(0.3)
  const hangs = features.hangs && random.chance(0.5)
  const scripts = Array.from({ length: rao ? 1 : random.pick([1, 1, 1, 2, 3]) }, () =>
    makeScript(random, { features, hangs, rao, local }),
  )
  return {
    id,
    role,
    key: primary?.key ?? String(index),
    ...(primary && { standsInFor: primary.id }),
    inputs: makeInputs(random, nodes),
    routes: [],
    elseTo: [],
    retryMax: rao ? 0 : random.pick([0, 0, 1, 2]),
    scripts: role === 'routing' ? [] : scripts,
    local,
    ...(hangs && { timeoutMs }),
    ...(features.asks && role !== 'routing' && random.chance(0.3) && { onFail: 'ask' as const }),
    rao,
  }
}

function pickPrimary(random: Random, nodes: readonly CaseNode[]): CaseNode | undefined {
  const taken = new Set(nodes.map(({ standsInFor }) => standsInFor))
  const possible = nodes.filter(({ id, role }) => role === 'work' && !taken.has(id))
  return possible.length > 0 ? random.pick(possible) : undefined
}

function makeScript(
  random: Random,
  { features, hangs, rao, local }: { features: Features; hangs: boolean; rao: boolean; local: boolean },
): Script {
  const ok = (): Answer =>
    rao
      ? { kind: 'ok', confidence: random.pick([0.2, 0.7, 0.95, 0.95]), escalate: random.chance(0.15) }
      : { kind: 'ok' }
  const failing = (): Answer => {
    const kinds: Answer[] = [
      { kind: 'error' },
      { kind: 'bad-value' },
      { kind: 'final-error' },
      ...(hangs ? ([{ kind: 'hang' }, { kind: 'hang' }] as const) : []),
    ]
    return random.pick(kinds)
  }
  const throttled = (): Answer => ({
    kind: 'throttled',
    times: random.pick([1, 2, 4, 1000]),
    ...(random.chance(0.3) && { retryAfterMs: random.pick([100, 2000]) }),
  })
  const next = (): Answer => {
    if (!local && features.throttles && random.chance(0.4)) return throttled()
    return random.chance(features.failures) ? failing() : ok()
  }
  const last = random.chance(features.failures / 2) ? failing() : ok()
  return { answers: Array.from({ length: random.int(3) }, next), rest: last }
}

function makeInputs(random: Random, nodes: readonly CaseNode[]): CaseInput[] {
  return Array.from({ length: random.pick([0, 1, 1, 2, 2, 3]) }, (_, index) => {
    const type = random.pick(['v', 'v', 's'] as const)
    return {
      name: `p${index}`,
      type,
      required: random.chance(0.6),
      sources: makeSources(random, nodes, type),
    }
  })
}

/** One to three sources; what comes last may be a literal or the envelope, present or not. */
function makeSources(random: Random, nodes: readonly CaseNode[], type: ValueType): CaseSource[] {
  const sources: CaseSource[] = []
  const some = random.pick([1, 1, 2, 3])
  for (let nth = 0; nth < some && nodes.length > 0; nth++) sources.push(nodeSource(random.pick(nodes), type))
  if (sources.length === 0 || random.chance(0.3))
    sources.push(
      random.chance(0.5)
        ? { literal: type === 'v' ? 'word' : random.int(10) }
        : { envelope: type === 'v' ? 'known' : 'level' },
    )
  return sources
}

/** A routing node hands its inputs on: of those, one that is certainly there is read. */
function nodeSource(node: CaseNode, type: ValueType): CaseSource {
  if (node.role !== 'routing') return { node: node.id, type, name: `${type}${node.key}` }
  const through = node.inputs.find((input) => input.required && input.type === type)
  return through === undefined
    ? { literal: type === 'v' ? 'none' : 0 }
    : { node: node.id, type, name: through.name }
}

function makeEdges(random: Random, nodes: readonly CaseNode[], features: Features): CaseEdge[] {
  const edges = new Map<string, CaseEdge>()
  const add = (edge: CaseEdge) => void edges.set(`${edge.from} ${edge.to}`, edge)
  for (const [index, node] of nodes.entries()) {
    if (node.standsInFor !== undefined) {
      add({ from: node.standsInFor, to: node.id, when: random.chance(0.9) ? 'fail' : 'always' })
      continue
    }
    const parents = random.pick([0, 0, 1, 1, 2])
    for (let nth = 0; nth < parents && index > 0; nth++) {
      const from = nodes[random.int(index)]!
      if (from.role === 'routing') continue
      const when =
        features.fallbacks && random.chance(0.2) ? random.pick(['fail', 'always'] as const) : 'pass'
      add({ from: from.id, to: node.id, when })
    }
  }
  return [...edges.values()]
}

function withRoutes(random: Random, node: CaseNode, later: readonly CaseNode[]): CaseNode {
  const targets = later.filter(({ standsInFor }) => standsInFor === undefined)
  if (targets.length === 0 || node.inputs.length === 0) return node
  const pickTargets = () => [
    ...new Set(Array.from({ length: random.pick([1, 1, 2]) }, () => random.pick(targets).id)),
  ]
  const routes = Array.from({ length: random.pick([1, 1, 2]) }, () => makeRoute(random, node, pickTargets()))
  return { ...node, routes, elseTo: random.chance(0.8) ? pickTargets() : [] }
}

function makeRoute(random: Random, node: CaseNode, to: readonly string[]): CaseRoute {
  const input = random.pick(node.inputs)
  const not = random.chance(0.2)
  if (input.type === 's' || random.chance(0.3))
    // An ordering over a text is false: it never opens a route, and its negation does.
    return { input: input.name, operator: random.pick(['<', '>='] as const), value: random.int(10), not, to }
  return { input: input.name, operator: '==', value: random.pick(['tea', 'jam', 'word']), not, to }
}

/** A routing node without a target does work instead, and those that read from it read what it makes. */
function withoutIdleRoutes(nodes: readonly CaseNode[]): CaseNode[] {
  const idle = new Map(
    nodes
      .filter(({ role, routes }) => role === 'routing' && routes.length === 0)
      .map((node) => [node.id, node]),
  )
  const reread = (source: CaseSource): CaseSource => {
    const node = 'node' in source ? idle.get(source.node) : undefined
    return node && 'node' in source ? { ...source, name: `${source.type}${node.key}` } : source
  }
  return nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((input) => ({ ...input, sources: input.sources?.map(reread) ?? [] })),
    ...(idle.has(node.id) && {
      role: 'work' as const,
      scripts: [{ answers: [], rest: { kind: 'ok' } as const }],
    }),
  }))
}

/**
 * Some inputs are bound by name instead: to a member that one node before supplies (and perhaps its fallback). Where the
 * draft has edges, only what is upstream by them counts, so names are used there only for direct parents.
 */
function withNames(
  random: Random,
  nodes: readonly CaseNode[],
  edges: readonly CaseEdge[] | undefined,
): CaseNode[] {
  const replaced = new Set(nodes.map(({ standsInFor }) => standsInFor))
  return nodes.map((node, index) => {
    if (node.role === 'routing') return node
    const used = new Set<string>()
    const inputs = node.inputs.map((input): CaseInput => {
      if (!random.chance(0.25)) return input
      const parents = nodes.slice(0, index).filter(({ id, role, standsInFor }) => {
        if (role === 'routing' || standsInFor !== undefined || used.has(id)) return false
        if (id === node.standsInFor) return false
        if (edges === undefined || edges.length === 0) return true
        return !replaced.has(id) && edges.some((edge) => edge.from === id && edge.to === node.id)
      })
      if (parents.length === 0) return input
      const parent = random.pick(parents)
      used.add(parent.id)
      return { name: `${input.type}${parent.key}`, type: input.type, required: input.required }
    })
    return { ...node, inputs }
  })
}

function makeOutputs(random: Random, nodes: readonly CaseNode[]): CaseOutput[] {
  const outputs = nodes.map((node): CaseOutput => {
    const type = random.pick(['v', 's'] as const)
    return { name: `of_${node.id}`, type, required: false, sources: [nodeSource(node, type)] }
  })
  const type = random.pick(['v', 's'] as const)
  const last: CaseSource[] = random.chance(0.6) ? [{ literal: type === 'v' ? 'end' : 0 }] : []
  const sources = [...makeSources(random, nodes, type), ...last]
  return [...outputs, { name: 'answer', type, required: random.chance(0.7), sources }]
}

function makePolicies(random: Random, nodes: readonly CaseNode[]): CasePolicy[] {
  // One capability, one score: what a policy sees must not depend on which of two nodes was faster.
  const watched = nodes.filter(({ role, scripts }) => role !== 'routing' && scripts.length === 1)
  if (watched.length === 0) return []
  return Array.from({ length: random.pick([1, 1, 2]) }, (_, index) => {
    const node = random.pick(watched)
    return {
      id: `policy-${index}`,
      nodeId: node.id,
      below: { name: `s${node.key}`, value: random.int(10) },
      action: random.pick(['emit', 'fail', 'pause', 'hitl'] as const),
    }
  })
}
