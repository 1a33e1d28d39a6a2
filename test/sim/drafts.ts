/**
 * Random plans. Every node adds up integers: `a` and `b` come from the nodes before it, else from the envelope, so that
 * even if nodes are skipped or fail, each input is supplied and the answer depends on which way was taken.
 */
import type { Binding, Draft, DraftNode, Edge, Limits, Routing, Source } from '../../src/domain/plan.ts'
import type { JsonSchema } from '../../src/schema/json-schema.ts'
import { type CapabilityName, inputSchema, routedSchema, valueSchema } from './catalog.ts'
import type { Random } from './random.ts'

/** What a plan may contain. Restrictions make ends that do not depend on who was faster. */
export interface DraftFeatures {
  readonly nodes: number
  /** How the nodes are spread over what can be done; the more often a name, the likelier. */
  readonly capabilities: readonly CapabilityName[]
  readonly routing: boolean
  readonly fallbacks: boolean
  readonly rao: boolean
  /** Most nodes wait for no other, so that many run at once. */
  readonly isWide: boolean
  /** Another capability that changes the world may take the place of one that failed. */
  readonly otherEffects: boolean
  /** Limits of time on attempts that may hang. */
  readonly timeouts: boolean
  readonly limits: Limits
}

interface Parent {
  readonly id: string
  readonly pointer: string | undefined
}

export const mostNodes = 12

/** The answer: what each node gave, as far as it was on the way. */
export const answerSchema: JsonSchema = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: mostNodes + 1 }, (_, index) => [`n${index}`, { type: 'integer' }]),
  ),
  additionalProperties: false,
}

export function randomDraft(random: Random, features: DraftFeatures): Draft {
  const nodes: DraftNode[] = []
  const edges: Edge[] = []
  const children = new Map<string, string[]>()
  const wanted: { id: string; node: DraftNode; router: boolean }[] = []
  for (let index = 0; index < features.nodes; index++) {
    const id = `n${index}`
    const parents = chooseParents(random, wanted, { edges, id, features })
    for (const { id: parent } of parents) children.get(parent)?.push(id)
    children.set(id, [])
    const router = features.routing && index > 0 && index < features.nodes - 1 && random.chance(0.2)
    const inputs = bindings(random, parents)
    const node = router
      ? { id, inputs, kind: 'routing' as const, contracts: { input: inputSchema, output: routedSchema } }
      : workNode(random, { id, inputs, features })
    wanted.push({ id, node, router })
  }
  for (const { id, node, router } of wanted) {
    const targets = [...new Set(children.get(id))]
    if (!router) nodes.push(node)
    else if (targets.length > 0) nodes.push({ ...node, routing: randomRouting(random, targets) })
    else nodes.push(workNode(random, { id, inputs: node.inputs ?? {}, features }))
  }
  const routers = new Set(nodes.filter((node) => node.routing).map((node) => node.id))
  return {
    nodes: nodes.map((node) => repointed(node, routers)),
    edges,
    output: {
      properties: Object.fromEntries(
        nodes.map(({ id }) => [id, [{ node: id, pointer: routers.has(id) ? '/a' : '/v' }]]),
      ),
    },
    limits: features.limits,
  }
}

/** Nodes side by side that change the world with every call, or bring untrusted content; people are asked about failures. */
export function doubtfulDraft(count: number, timeouts: boolean): Draft {
  const ids = Array.from({ length: count }, (_, index) => `n${index}`)
  return {
    nodes: ids.map((id, index) => ({
      id,
      capabilityId: index % 2 === 0 ? 'once' : 'model',
      inputs: { a: { envelope: '/inputs/x' } },
      contracts: { input: inputSchema, output: valueSchema },
      callBudget: 100,
      retry: { max: 2 },
      onFail: 'ask',
      ...(timeouts && { timeoutMs: 30_000 }),
    })),
    edges: [],
    output: { properties: Object.fromEntries(ids.map((id) => [id, [{ node: id, pointer: '/v' }]])) },
    limits: { concurrency: 16, maxAsks: 100 },
  }
}

/** The same plan with one more node at its end: what the planner makes when a new plan is ordered. */
export function extended(draft: Draft): Draft {
  const id = `n${mostNodes}`
  const last = draft.nodes.at(-1)!
  const extra: DraftNode = {
    id,
    capabilityId: 'work',
    timeoutMs: 30_000,
    inputs: { a: { envelope: '/inputs/x' } },
    contracts: { input: inputSchema, output: valueSchema },
  }
  const output = draft.output as { properties: { [property: string]: Binding } }
  return {
    ...draft,
    nodes: [...draft.nodes, extra],
    edges: [...(draft.edges ?? []), { from: last.id, to: id, when: 'always' }],
    output: { properties: { ...output.properties, [id]: [{ node: id, pointer: '/v' }] } },
  }
}

/**
 * The same plan without one node that has not completed, and without all that comes after it: the first that changes the
 * world, else the first; the same plan where there is none.
 */
export function shortened(draft: Draft, completed: ReadonlySet<string>): Draft {
  const possible = draft.nodes
    .map(({ id }) => fromThereOn(draft, id))
    .filter((gone) => {
      if (gone.size === draft.nodes.length || [...gone].some((id) => completed.has(id))) return false
      return draft.nodes.every(
        ({ id, routing }) => gone.has(id) || !targetsOf(routing).some((target) => gone.has(target)),
      )
    })
  const changing = new Set(draft.nodes.filter(changesTheWorld).map(({ id }) => id))
  const gone = possible.find((ids) => [...ids].slice(0, 1).some((id) => changing.has(id))) ?? possible[0]
  if (gone === undefined) return draft
  const { properties } = draft.output as { properties: { [property: string]: Binding } }
  return {
    ...draft,
    nodes: draft.nodes.filter(({ id }) => !gone.has(id)),
    edges: draft.edges?.filter(({ to }) => !gone.has(to)) ?? [],
    output: { properties: Object.fromEntries(Object.entries(properties).filter(([id]) => !gone.has(id))) },
  }
}

function changesTheWorld({ capabilityId }: DraftNode): boolean {
  return capabilityId === 'effect' || capabilityId === 'once'
}

/** The node itself first; edges and bindings lead to later nodes only. */
function fromThereOn({ nodes, edges = [] }: Draft, first: string): ReadonlySet<string> {
  const found = new Set([first])
  for (const { id, inputs = {} } of nodes) {
    const read = Object.values(inputs).flat() as readonly Source[]
    const follows =
      edges.some(({ from, to }) => to === id && found.has(from)) ||
      read.some((source) => 'node' in source && found.has(source.node))
    if (follows) found.add(id)
  }
  return found
}

function targetsOf(routing: Routing | undefined): readonly string[] {
  return [...(routing?.routes.map(({ to }) => to) ?? []), routing?.elseTo ?? []].flat()
}

function chooseParents(
  random: Random,
  earlier: readonly { readonly id: string; readonly router: boolean }[],
  { edges, id, features }: { edges: Edge[]; id: string; features: DraftFeatures },
): Parent[] {
  if (earlier.length === 0 || random.chance(features.isWide ? 0.7 : 0.12)) return []
  const parents = new Map<string, Parent>()
  const count = random.pick([1, 1, 1, 2, 2, 3])
  // Near ones are likelier: plans are deep as well as wide.
  for (let nth = 0; nth < count; nth++) {
    const { id: parent, router } = earlier[Math.max(earlier.length - 1 - random.int(4), 0)]!
    if (parents.has(parent)) continue
    const failing = features.fallbacks && !router && random.chance(0.2)
    const when = failing ? 'fail' : random.chance(features.fallbacks ? 0.1 : 0) ? 'always' : 'pass'
    parents.set(parent, { id: parent, pointer: when === 'fail' ? undefined : '/v' })
    edges.push({ from: parent, to: id, when })
  }
  return [...parents.values()]
}

function bindings(random: Random, parents: readonly Parent[]): { [property: string]: Binding } {
  const sources = parents.flatMap(({ id, pointer }) => (pointer ? [{ node: id, pointer }] : []))
  const first: Binding = [...sources, { envelope: '/inputs/x' }]
  const second: Binding = [...[...sources].reverse(), { value: 1 }]
  return random.chance(0.5) ? { a: first, b: second } : { a: first }
}

/** What comes out of a routing node has other members. */
function repointed(node: DraftNode, routers: ReadonlySet<string>): DraftNode {
  const inputs: { [property: string]: Binding } = {}
  for (const [property, binding] of Object.entries(node.inputs ?? {})) {
    const sources = Array.isArray(binding) ? binding : [binding]
    inputs[property] = sources.map((source) =>
      'node' in source && routers.has(source.node) ? { ...source, pointer: '/a' } : source,
    )
  }
  return { ...node, inputs }
}

function workNode(
  random: Random,
  given: { id: string; inputs: { readonly [property: string]: Binding }; features: DraftFeatures },
): DraftNode {
  const { id, inputs, features } = given
  const rao = features.rao && random.chance(0.25)
  const capabilityId = rao ? 'model' : random.pick(features.capabilities)
  const plain = capabilityId === 'work' || capabilityId === 'model' || capabilityId === 'checked'
  return {
    id,
    capabilityId,
    inputs,
    contracts: { input: inputSchema, output: valueSchema },
    callBudget: 100,
    ...(random.chance(0.6) && {
      retry: { max: random.between(1, 2), backoffMs: random.pick([0, 0, 50, 400]) },
    }),
    ...(plain && random.chance(0.3) && { alternates: ['other'] }),
    ...(capabilityId === 'effect' && features.otherEffects && { alternates: ['once'] }),
    ...(random.chance(0.35) && { onFail: 'ask' as const }),
    ...(features.timeouts && { timeoutMs: 30_000 }),
    ...(rao && {
      data: {
        contract: true,
        autoApproveAbove: 0.7,
        reviewHigh: 0.6,
        reviewLow: 0.3,
        suppressBelow: random.pick([0, 0.2]),
      },
    }),
  }
}

/**
 * A loop that does the work of a node in each round, or in its one round for each of a few items; what it yields has the
 * form of the node's own output.
 */
export function iterated(random: Random, node: DraftNode): DraftNode {
  const { id, inputs = {}, ...work } = node
  const given = Object.fromEntries(Object.keys(inputs).map((name) => [name, { input: `/${name}` }]))
  const state = { type: 'object', required: ['v'], properties: { v: { type: 'integer' } } } as const
  const whole = { id, inputs: { ...inputs, state: { value: { v: random.int(1000) } } } }
  if (random.chance(0.5)) {
    const until = { '>': [{ var: 'v' }, random.int(1000)] }
    return {
      ...whole,
      loop: { state, maxRounds: random.between(1, 3), onMaxRounds: random.pick(['accept', 'fail']), until },
      body: {
        nodes: [{ ...work, id: 'work', inputs: { ...given, b: { input: '/state/v' } } }],
        output: { properties: { v: { node: 'work', pointer: '/v' } } },
      },
    }
  }
  const items = Array.from({ length: random.between(1, 4) }, () => random.int(1000))
  const map = { concurrency: random.between(1, 3), onItemFail: random.pick(['fail', 'skip'] as const) }
  return {
    ...whole,
    loop: { state, maxRounds: 1 },
    body: {
      nodes: [
        {
          id: 'each',
          inputs: { ...given, items: { value: items } },
          map,
          body: {
            nodes: [{ ...work, id: 'work', inputs: { ...given, b: { input: '/item' } } }],
            output: { node: 'work', pointer: '/v' },
          },
        },
      ],
      // All items may have failed and been left out.
      output: { properties: { v: [{ node: 'each', pointer: '/0' }, { value: 7 }] } },
    },
  }
}

function randomRouting(random: Random, targets: readonly string[]): Routing {
  const some = () => targets.filter(() => random.chance(0.5))
  const orOne = (chosen: readonly string[]) => (chosen.length > 0 ? chosen : [random.pick(targets)])
  const routes = Array.from({ length: random.between(1, 2) }, (_, index) => ({
    condition: { '<': [{ var: 'a' }, random.int(1000)] },
    to: orOne(some()),
    label: `route ${index}`,
  }))
  return { routes, ...(random.chance(0.9) && { elseTo: orOne(some()) }) }
}
