/**
 * Built-in capabilities that every catalog contains, so that every satisfiable contract can be planned: two open
 * capabilities for models, and the check at which the engine evaluates constraints. The node, not the capability,
 * declares the contracts of an open capability.
 */
import type { Json } from '../base/json.ts'
import type { Capability } from '../domain/capability.ts'

export const structureId = 'proviso.structure'
export const answerId = 'proviso.answer'
export const checkId = 'proviso.check'

const common = {
  version: '1',
  idempotent: true,
  sideEffect: false,
  postConditions: [],
  inputContract: { type: 'object' },
} as const

export const builtinCapabilities: readonly Capability[] = [
  {
    ...common,
    capabilityId: structureId,
    displayName: 'Structure',
    summary: 'Reads the objective, the inputs and the special instructions into what other nodes need.',
    kind: 'model',
    nodeKind: 'structuring',
    outputContract: { type: 'object' },
  },
  {
    ...common,
    capabilityId: answerId,
    displayName: 'Answer',
    summary: 'Supplies any property of the answer that no other capability supplies.',
    kind: 'model',
    nodeKind: 'execution',
    outputContract: {},
  },
  {
    ...common,
    capabilityId: checkId,
    displayName: 'Check',
    summary: 'The place at which constraints on what several nodes supply are evaluated.',
    kind: 'local',
    nodeKind: 'validation',
    outputContract: { type: 'object', additionalProperties: false },
  },
]

/**
 * Functions of the built-in capabilities of kind `local`. The engine evaluates the constraints; the check itself adds
 * nothing.
 */
export const builtinFunctions: ReadonlyMap<string, () => Json> = new Map([[checkId, () => ({})]])

export function isBuiltin(capabilityId: string): boolean {
  return capabilityId === structureId || capabilityId === answerId || capabilityId === checkId
}

/** Adds the built-in capabilities. A given capability with the id of a built-in one replaces it. */
export function withBuiltins(capabilities: readonly Capability[]): readonly Capability[] {
  const taken = new Set(capabilities.map(({ capabilityId }) => capabilityId))
  return [...capabilities, ...builtinCapabilities.filter(({ capabilityId }) => !taken.has(capabilityId))]
}
