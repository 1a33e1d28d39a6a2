/** A case as a caller would write it: an envelope, a draft, and the contracts of its capabilities. */
import type { Json } from '../../src/base/json.ts'
import type { JsonSchema } from '../../src/schema/json-schema.ts'
import type { Case, CaseInput, CaseNode, CaseSource, ValueType } from './cases.ts'
import { capabilityId } from './values.ts'

const typed = { v: { type: 'string' }, s: { type: 'integer', minimum: 0, maximum: 9 } } as const

export function envelopeOf(given: Case): Json {
  return {
    objective: `Case ${given.seed}`,
    inputs: { ...given.inputs },
    outputContract: {
      schema: {
        type: 'object',
        properties: Object.fromEntries(given.outputs.map(({ name, type }) => [name, typed[type]])),
        required: given.outputs.filter(({ required }) => required).map(({ name }) => name),
      },
    },
    policies: {
      planner: { directives: given.askBeforeFinish ? { askBeforeFinish: true } : {} },
      runtime: [
        ...given.policies.map(({ id, nodeId, below, action }) => ({
          id,
          trigger: {
            kind: 'onNodeComplete',
            selector: { capabilityId: `${nodeId}.c0` },
            condition: { '<': [{ var: below.name }, below.value] },
          },
          action: action === 'emit' ? { type: 'emit', event: 'noticed' } : { type: action },
        })),
        ...given.nodes
          .filter((node) => raoPlaceOf(node) === 'policy')
          .map((node) => ({
            id: `rao-${node.id}`,
            selector: { capabilityId: capabilityId(node, 0) },
            rao: {},
          })),
      ],
    },
  } as unknown as Json
}

/** Who states the contract of a node makes no difference; each third of them by another. */
export function raoPlaceOf({ id, rao }: CaseNode): 'node' | 'policy' | 'capability' | undefined {
  return rao ? (['node', 'policy', 'capability'] as const)[Number(id.slice(1)) % 3] : undefined
}

export function draftOf(given: Case): Json {
  return {
    nodes: given.nodes.map(nodeOf),
    ...(given.edges !== undefined && { edges: given.edges.map((edge) => ({ ...edge })) }),
    output: {
      properties: Object.fromEntries(
        given.outputs.map(({ name, sources }) => [name, sources.map(bindingOf)]),
      ),
    },
    limits: { concurrency: given.concurrency, maxAsks: 100 },
  } as unknown as Json
}

function nodeOf(node: CaseNode): object {
  const bound = node.inputs.filter(({ sources }) => sources !== undefined)
  return {
    id: node.id,
    ...(bound.length > 0 && {
      inputs: Object.fromEntries(bound.map(({ name, sources = [] }) => [name, sources.map(bindingOf)])),
    }),
    ...(node.role === 'routing' ? routingOf(node) : workOf(node)),
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

function workOf(node: CaseNode): object {
  return {
    ...(node.role === 'fallback' && { kind: 'fallback' }),
    capabilityId: capabilityId(node, 0),
    // A draft that a caller sends is not tried again where it does not say so.
    ...(node.retryMax > 0 && { retry: { max: node.retryMax } }),
    ...(node.scripts.length > 1 && {
      alternates: node.scripts.slice(1).map((_, index) => capabilityId(node, index + 1)),
    }),
    ...(node.timeoutMs !== undefined && { timeoutMs: node.timeoutMs }),
    ...(node.onFail !== undefined && { onFail: node.onFail }),
    ...(raoPlaceOf(node) === 'node' && { data: { contract: true } }),
  }
}

function bindingOf(source: CaseSource): object {
  if ('literal' in source) return { value: source.literal }
  if ('envelope' in source) return { envelope: `/inputs/${source.envelope}` }
  return { node: source.node, pointer: `/${source.name}` }
}

// One object per schema for all cases: compiled schemas are found again.
const schemas = new Map<string, JsonSchema>()

function schemaOf(members: readonly (readonly [string, ValueType, boolean])[]): JsonSchema {
  const key = JSON.stringify(members)
  const known = schemas.get(key)
  if (known !== undefined) return known
  const made = {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, type]) => [name, typed[type]])),
    required: members.filter(([, , required]) => required).map(([name]) => name),
  }
  schemas.set(key, made)
  return made
}

export function inputSchema(inputs: readonly CaseInput[]): JsonSchema {
  return schemaOf(inputs.map(({ name, type, required }) => [name, type, required] as const))
}

export function outputSchema({ key }: CaseNode): JsonSchema {
  return schemaOf([
    [`v${key}`, 'v', true],
    [`s${key}`, 's', true],
  ])
}
