/** Envelopes, capabilities and drafts for tests of the prover, with only what a test is about written out. */
import { type ProveRequest, prove } from 'proviso/plan'
import type { Capability, Envelope, Json, JsonSchema } from '../../src/index.ts'
import type { Constraint, Diagnostic, DiagnosticBundle, Level, Plan } from '../../src/types.ts'

export const object = (
  properties: Record<string, JsonSchema>,
  more: Record<string, unknown> = {},
): { readonly [keyword: string]: unknown } => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})

export const list = (min?: number, max?: number, items: JsonSchema = { type: 'object' }): JsonSchema => ({
  type: 'array',
  items,
  ...(min !== undefined && { minItems: min }),
  ...(max !== undefined && { maxItems: max }),
})

export const number = (minimum?: number, maximum?: number): JsonSchema => ({
  type: 'number',
  ...(minimum !== undefined && { minimum }),
  ...(maximum !== undefined && { maximum }),
})

export function capability(
  capabilityId: string,
  contracts: { readonly in?: Capability['inputContract']; readonly out: Capability['outputContract'] },
  more: Partial<Capability> = {},
): Capability {
  return {
    capabilityId,
    version: '1',
    displayName: capabilityId,
    summary: capabilityId,
    kind: 'scripted',
    nodeKind: 'execution',
    inputContract: contracts.in ?? true,
    outputContract: contracts.out,
    idempotent: true,
    sideEffect: false,
    postConditions: [],
    ...more,
  }
}

export const constraint = (constraintId: string, expr: Json, level: Level = 'hard'): Constraint => ({
  constraintId,
  expr,
  level,
})

export function envelope(
  schema: JsonSchema,
  constraints: readonly Constraint[] = [],
  more: Partial<Envelope> = {},
): Envelope {
  return {
    objective: 'Write two posts',
    inputs: {},
    constraints: {},
    outputContract: { schema, constraints },
    policies: { planner: {}, runtime: [] },
    specialInstructions: [],
    metadata: {},
    ...more,
  }
}

/** One node per capability, named like it, bound by name. */
export function proveWith(
  given: Envelope,
  capabilities: readonly Capability[],
  more: Partial<ProveRequest> = {},
): Proof {
  const nodes = capabilities.map(({ capabilityId }) => ({ id: capabilityId, capabilityId }))
  return runProver({ envelope: given, draft: { nodes }, facets: [], capabilities, version: 1, ...more })
}

export interface Proof {
  readonly plan: Plan | undefined
  readonly bundle: DiagnosticBundle
  readonly all: readonly Diagnostic[]
}

export function runProver(request: ProveRequest): Proof {
  const result = prove(request)
  const bundle = result.ok ? result.plan.diagnostics : result.diagnostics
  return {
    plan: result.ok ? result.plan : undefined,
    bundle,
    all: [...bundle.failures, ...bundle.warnings, ...bundle.infos],
  }
}

/** What was said about one constraint: its cause, or `satisfied`. */
export function verdictOn({ all }: Proof, constraintId: string): string {
  const found = all.find((diagnostic) => diagnostic.constraintId === constraintId)
  return found === undefined ? 'satisfied' : found.cause
}

export const listCodes = ({ all }: Proof): unknown[] => all.map(({ details }) => details?.['code'])
