/** What can be done in a simulated world: one capability for each thing that an engine must treat in its own way. */
import type { Capability } from '../../src/domain/capability.ts'
import type { Catalog } from '../../src/domain/ports/catalog.ts'
import type { JsonSchema } from '../../src/schema/json-schema.ts'

// One object per schema for all histories: compiled schemas are found by identity.
export const inputSchema: JsonSchema = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a'],
  additionalProperties: false,
}

export const valueSchema: JsonSchema = {
  type: 'object',
  properties: { v: { type: 'integer' } },
  required: ['v'],
  additionalProperties: false,
}

export const routedSchema: JsonSchema = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' }, route: { type: 'string' } },
  required: ['a'],
}

/** How many tokens a call of `costly` is thought to take; it never takes more. */
export const costlyTokens = 10

const base = {
  version: '1',
  summary: 'Adds up its inputs',
  kind: 'local',
  nodeKind: 'execution',
  inputContract: inputSchema,
  outputContract: valueSchema,
  idempotent: true,
  sideEffect: false,
  postConditions: [],
} satisfies Partial<Capability>

function capability(capabilityId: string, more: Partial<Capability> = {}): Capability {
  return { ...base, capabilityId, displayName: capabilityId, ...more }
}

/** Outputs below zero are wrong: `checked` must never complete with one. */
const notNegative = { '>=': [{ var: 'v' }, 0] }

export const capabilities = {
  work: capability('work'),
  other: capability('other'),
  model: capability('model', { kind: 'model' }),
  checked: capability('checked', { postConditions: [notNegative] }),
  /** An agent: every attempt is one call. */
  costly: capability('costly', { kind: 'http', cost: { estimatedTokens: costlyTokens } }),
  /** A model on its ladder: an attempt makes several calls, one after the other. */
  climber: capability('climber', { kind: 'model', cost: { estimatedTokens: costlyTokens } }),
  /** Neither declared safe to repeat nor a change of the world. */
  undeclared: capability('undeclared', { idempotent: false }),
  /** Changes the world, once per key however often it is called. */
  effect: capability('effect', { sideEffect: true }),
  /** Changes the world with every call. */
  once: capability('once', { sideEffect: true, idempotent: false }),
  /** Accept a call and answer later; the second must not be called twice. */
  courier: capability('courier', { kind: 'agent' }),
  careful: capability('careful', { kind: 'agent', idempotent: false }),
  person: capability('person', { kind: 'human', idempotent: false }),
  /** A model with the tools below. */
  researcher: capability('researcher', {
    kind: 'model',
    settings: {
      tools: ['look', 'page', 'mark', 'strike', { capabilityId: 'grant', approval: 'always' }, 'desk'],
      limits: { turns: 6 },
    },
  }),
  /** The same, with an agent among its tools and one to hand off to. */
  leader: capability('leader', {
    kind: 'model',
    settings: {
      tools: ['look', 'page', 'mark', 'strike', { capabilityId: 'grant', approval: 'always' }, 'aide'],
      handoffs: ['closer'],
      limits: { turns: 6 },
    },
  }),
  aide: capability('aide', {
    kind: 'model',
    settings: {
      tools: ['look', 'mark', 'strike', { capabilityId: 'grant', approval: 'always' }],
      limits: { turns: 4 },
    },
  }),
  closer: capability('closer', {
    kind: 'model',
    settings: { tools: ['mark', 'strike'], limits: { turns: 4 } },
  }),
  look: capability('look'),
  /** What it brings is untrusted. */
  page: capability('page', { kind: 'http' }),
  /** Changes the world, once per key. */
  mark: capability('mark', { sideEffect: true }),
  /** Change the world with every call; the second only with an approval. */
  strike: capability('strike', { sideEffect: true, idempotent: false }),
  grant: capability('grant', { sideEffect: true, idempotent: false }),
  desk: capability('desk', { kind: 'human', idempotent: false }),
} as const

export type CapabilityName = keyof typeof capabilities

const byId = new Map<string, Capability>(Object.entries(capabilities))
const all = [...byId.values()]

export const catalog: Catalog = {
  facets: () => [],
  capabilities: () => all,
  capability: (capabilityId) => byId.get(capabilityId),
}
