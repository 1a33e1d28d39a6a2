/** A case as a caller would write it: an envelope, a draft, and the contracts of its capabilities. */
import type { Json } from '../../src/base/json.ts'
import type { JsonSchema } from '../../src/schema/json-schema.ts'
import { mix, randomFor } from '../sim/random.ts'
import {
  allNodes,
  type Case,
  type CaseInput,
  type CaseNode,
  type CaseSource,
  type Graph,
  policyTimeoutMs,
  type Unlike,
  type ValueType,
} from './case.ts'
import { capabilityId } from './values.ts'

const texts = { type: 'array', items: { type: 'string' }, maxItems: 9 } as const
const typed = {
  v: { type: 'string' },
  s: { type: 'integer', minimum: 0, maximum: 9 },
  list: { type: 'array' },
} as const
const stateSchema = {
  type: 'object',
  properties: { v: typed.v, s: typed.s },
  required: ['v', 's'],
} as const

export function buildEnvelope(given: Case): Json {
  const labels = allNodes(given).flatMap(({ id, labelled }) => (labelled ? [id] : []))
  // A label that no node has asks at the end, too.
  const asksByLabel = given.askBeforeFinish && given.seed % 2 === 0
  if (asksByLabel) labels.push('unused')
  return {
    objective: `Case ${given.seed}`,
    inputs: { ...given.inputs },
    outputContract: {
      schema: {
        type: 'object',
        properties: {
          ...Object.fromEntries(given.outputs.map(({ name, type }) => [name, typed[type]])),
          [extraSlot(given)]: typed.v,
        },
        required: given.outputs.filter(({ required }) => required).map(({ name }) => name),
        ...given.answerSize,
      },
    },
    policies: {
      planner: {
        directives: {
          ...(given.askBeforeFinish && !asksByLabel && { askBeforeFinish: true }),
          ...(given.sideEffectsAllowed && { sideEffects: 'allow' }),
          ...(labels.length > 0 && { hitlRequiredFor: labels }),
        },
      },
      ...(given.onNodeFail && { onNodeFail: given.onNodeFail }),
      runtime: [...given.policies.map(policyOf), ...raoPolicies(given)],
    },
  } as unknown as Json
}

/** Who states the contract of a node makes no difference; each third of them by another. */
export function getRaoOwner({ id, rao }: CaseNode): 'node' | 'policy' | 'capability' | undefined {
  return rao ? (['node', 'policy', 'capability'] as const)[mix(id) % 3] : undefined
}

function raoPolicies(given: Case): object[] {
  return allNodes(given)
    .filter((node) => getRaoOwner(node) === 'policy')
    .map((node) => ({
      id: `rao-${node.id}`,
      selector: { capabilityId: capabilityId(node, 0) },
      rao: {},
    }))
}

function policyOf({ id, nodeId, below, action, onInvalid }: Case['policies'][number]): object {
  const selector = { capabilityId: `${nodeId}.c0` }
  const low = { '<': [{ var: below.name }, below.value] }
  return {
    id,
    maxAttempts: 1,
    trigger:
      nodeId === undefined
        ? { kind: 'onTimeout', ms: policyTimeoutMs }
        : onInvalid
          ? { kind: 'onValidationFail', selector }
          : { kind: 'onNodeComplete', selector, condition: low },
    action: action === 'emit' ? { type: 'emit', event: 'noticed' } : { type: action },
  }
}

/** Where the answer has what the node supplies that a new plan adds. */
function extraSlot({ outputs }: Case): string {
  return outputs.some(({ sources }) => sources === undefined) ? 'vx' : 'of_x'
}

export function buildDraft(given: Case, maxCalls?: number): Json {
  const named = given.outputs.some(({ sources }) => sources === undefined)
  return {
    ...graphOf(given, given.shuffled ? given.seed : undefined),
    ...(!named && {
      output: {
        properties: Object.fromEntries(
          given.outputs.map(({ name, sources = [] }) => [name, sources.map(bindingOf)]),
        ),
      },
    }),
    limits: {
      concurrency: given.concurrency,
      maxAsks: 1000,
      maxReplans: 9,
      ...(maxCalls !== undefined && { maxCalls }),
    },
  } as unknown as Json
}

/** The case with the plan that is made when a new one is ordered. */
export function replanned(given: Case): Case {
  const { extra } = given
  const name = extraSlot(given)
  const source: CaseSource = { node: extra.id, type: 'v', name: `v${extra.key}` }
  const named = name === 'vx'
  return {
    ...given,
    nodes: [...given.nodes.map((node) => changedNode(given, node)), extra],
    outputs: [...given.outputs, { name, type: 'v', required: false, ...(!named && { sources: [source] }) }],
  }
}

/** The node as the new plan has it. */
function changedNode({ change }: Case, node: CaseNode): CaseNode {
  if (node.id !== change?.nodeId) return node
  const { how, least = 0, inner } = change
  if (how === 'capability') return { ...node, variant: '-other' }
  if (how === 'condition') return { ...node, leastScore: least }
  if (how === 'contract') return { ...node, leastInContract: least }
  if (how === 'body') {
    const iteration = node.iteration!
    const nodes = iteration.body.nodes.map((each) =>
      each.id === inner ? { ...each, variant: '-other' } : each,
    )
    return { ...node, iteration: { ...iteration, body: { ...iteration.body, nodes } } }
  }
  const other = (source: CaseSource): CaseSource =>
    'literal' in source
      ? { literal: typeof source.literal === 'number' ? (source.literal + 1) % 10 : 'changed' }
      : source
  const inputs = node.inputs.map((input) => ({
    ...input,
    ...(input.sources && { sources: input.sources.map(other) }),
  }))
  return { ...node, inputs }
}

function graphOf({ nodes, edges }: Graph, shuffledBy?: number): object {
  const random = shuffledBy === undefined ? undefined : randomFor(shuffledBy, 'order')
  const order = random ? new Map(nodes.map(({ id }) => [id, random.next()])) : undefined
  const listed = order ? nodes.toSorted((a, b) => order.get(a.id)! - order.get(b.id)!) : nodes
  return {
    nodes: listed.map(nodeOf),
    ...(edges !== undefined && { edges: edges.map((edge) => ({ ...edge })) }),
  }
}

function nodeOf(node: CaseNode): object {
  const bound = node.inputs.filter(({ sources }) => sources !== undefined)
  return {
    id: node.id,
    ...(bound.length > 0 && {
      inputs: Object.fromEntries(bound.map(({ name, sources = [] }) => [name, sources.map(bindingOf)])),
    }),
    ...(node.role === 'routing' ? routingOf(node) : node.iteration ? iterationOf(node) : workOf(node)),
  }
}

function routingOf({ inputs, routes, elseTo }: CaseNode): object {
  return {
    kind: 'routing',
    contracts: { input: inputSchema(inputs) },
    routing: {
      routes: routes.map(({ input, operator, value, not, to }) => {
        const plain = { [operator]: [{ var: input }, value] }
        return { condition: not ? { '!': [plain] } : plain, to }
      }),
      ...(elseTo.length > 0 && { elseTo }),
    },
  }
}

function iterationOf({ role, iteration }: CaseNode): object {
  const { body, yields, most, concurrency, onItemFail, untilScore, onMaxRounds } = iteration!
  const bound = { v: yields.v.map(bindingOf), s: yields.s.map(bindingOf) }
  if (role === 'map')
    return {
      map: { maxItems: most, concurrency, onItemFail },
      body: { ...graphOf(body), output: bound.v },
    }
  return {
    loop: {
      maxRounds: most,
      state: stateSchema,
      ...(untilScore !== undefined && { until: { '>=': [{ var: 's' }, untilScore] }, onMaxRounds }),
    },
    body: { ...graphOf(body), output: { properties: bound } },
  }
}

function workOf(node: CaseNode): object {
  return {
    ...(node.role === 'fallback' && { kind: 'fallback' }),
    capabilityId: capabilityId(node, 0),
    // A draft that a caller sends is not tried again where it does not say so.
    ...(node.retryMax > 0 && { retry: { max: node.retryMax, backoffMs: node.backoffMs } }),
    ...(node.scripts.length > 1 && {
      alternates: node.scripts.slice(1).map((_, index) => capabilityId(node, index + 1)),
    }),
    ...(node.timeoutMs !== undefined && { timeoutMs: node.timeoutMs }),
    ...(node.onFail !== undefined && { onFail: node.onFail }),
    ...(getRaoOwner(node) === 'node' && { data: { contract: true } }),
    ...(node.leastInContract !== undefined && {
      contracts: {
        output: { type: 'object', properties: { [`s${node.key}`]: { minimum: node.leastInContract } } },
      },
    }),
    ...(node.leastScore !== undefined && {
      postConditions: [{ '>=': [{ var: `s${node.key}` }, node.leastScore] }],
    }),
  }
}

function bindingOf(source: CaseSource): object {
  if ('literal' in source) return { value: source.literal }
  if ('envelope' in source) return { envelope: `/inputs/${source.envelope}` }
  if ('given' in source) return { input: `/${source.given}` }
  return source.name === '' ? { node: source.node } : { node: source.node, pointer: `/${source.name}` }
}

// One object per schema for all cases: compiled schemas are found again.
const schemas = new Map<string, JsonSchema>()

/** Name, type, whether it is required, and the least that a number may be. */
type Member = readonly [string, ValueType, boolean, number?]

function schemaOf(members: readonly Member[]): JsonSchema {
  const key = JSON.stringify(members)
  const known = schemas.get(key)
  if (known !== undefined) return known
  const made = {
    type: 'object',
    properties: Object.fromEntries(
      members.map(([name, type, , least]) => [
        name,
        type === 'list' ? texts : least === undefined ? typed[type] : { ...typed.s, minimum: least },
      ]),
    ),
    required: members.filter(([, , required]) => required).map(([name]) => name),
  }
  schemas.set(key, made)
  return made
}

export function inputSchema(inputs: readonly CaseInput[], { input: own, never }: Unlike = {}): JsonSchema {
  const members = inputs.flatMap(({ name, type, required, unnamed }, index): Member[] => {
    if (index !== own?.index) return unnamed ? [] : [[name, type, required]]
    return [own.least === undefined ? [name, type, true] : [name, type, required, own.least]]
  })
  return schemaOf(never === 'input' ? [...members, ['unbound', 'v', true]] : members)
}

export function outputSchema({ key }: CaseNode, { output, never }: Unlike = {}): JsonSchema {
  const text: Member = [`v${key}`, 'v', true]
  if (never === 'output') return schemaOf([text])
  const name = `s${key}`
  return schemaOf([text, output?.by === 'schema' ? [name, 's', true, output.least] : [name, 's', true]])
}

/** What a capability of the node declares to hold of its own answers. */
export function ownConditions({ key }: CaseNode, { output }: Unlike = {}): Json[] {
  return output?.by === 'condition' ? [{ '>=': [{ var: `s${key}` }, output.least] }] : []
}
