/**
 * Resolves the contracts of a node: those of its capability, its facets and its own, combined and checked to be usable.
 */
import { ProvisoError } from '../../../base/errors/error.ts'
import { child } from '../../../base/pointer.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { DraftNode, FacetProvenance } from '../../../domain/plan.ts'
import { addDefinition, both } from '../../../schema/build/combine.ts'
import { listMembers, project } from '../../../schema/build/project.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isVacant } from '../../../schema/values/schema-values.ts'
import { compileContract } from '../../catalog/compile-facets.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { type ProveRequest, toCompileOptions } from '../proof-request.ts'

export interface NodeContracts {
  readonly input: JsonSchema
  readonly output: JsonSchema
  readonly provenance: FacetProvenance
  readonly diagnostics: readonly Diagnostic[]
}

/** Cache: nodes of one capability that do not change its contracts share them. */
export type ContractCache = Map<Capability, NodeContracts>

export function resolveContracts(
  node: DraftNode,
  capability: Capability | undefined,
  context: { readonly request: ProveRequest; readonly cache: ContractCache },
): NodeContracts {
  const plain = node.facets === undefined && node.contracts === undefined
  const found = capability && plain ? context.cache.get(capability) : undefined
  if (found !== undefined) return { ...found, diagnostics: found.diagnostics.map((each) => at(node, each)) }
  const [input, output] = (['input', 'output'] as const).map((direction) =>
    getSide({ node, capability, direction }, context.request),
  ) as [Side, Side]
  const contracts: NodeContracts = {
    input: input.schema,
    output: output.schema,
    provenance: { input: input.provenance, output: output.provenance },
    diagnostics: [...input.diagnostics, ...output.diagnostics],
  }
  if (capability && plain) context.cache.set(capability, contracts)
  return contracts
}

/**
 * Returns the output schema of a routing node: its validated inputs, present where required, combined with its output
 * contract. Only the output contract makes it a supplier by name.
 */
export function routedOutput(
  { routing }: DraftNode,
  {
    input,
    output,
    requires,
  }: Pick<NodeContracts, 'input' | 'output'> & { readonly requires: readonly string[] },
): JsonSchema {
  const isLabelled = routing?.routes.some(({ label }) => label) ?? false
  const $defs: Record<string, JsonSchema> = {}
  const members = [...listMembers(input), ...requires.map((name) => ({ name, required: true }))]
    .filter(({ name }) => name !== 'route' || !isLabelled)
    .map(({ name, required }) => ({ name, required, schema: project(input, child('', name)).schema }))
    .filter(({ required, schema }) => required || schema !== true)
  if (members.length === 0) return output
  const properties = Object.fromEntries(
    members.map(({ name, schema }) => [name, addDefinition(schema, name, $defs)]),
  )
  const required = members.flatMap((member) => (member.required ? [member.name] : []))
  return both(output, {
    type: 'object',
    properties,
    required,
    ...(Object.keys($defs).length > 0 && { $defs }),
  })
}

function at(node: DraftNode, diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, nodeId: node.id }
}

interface Wanted {
  readonly node: DraftNode
  readonly capability: Capability | undefined
  readonly direction: 'input' | 'output'
}

interface Side {
  readonly schema: JsonSchema
  readonly provenance: FacetProvenance['input']
  readonly diagnostics: readonly Diagnostic[]
}

function getSide({ node, capability, direction }: Wanted, request: ProveRequest): Side {
  const side = direction === 'input' ? capability?.inputContract : capability?.outputContract
  const declared = Array.isArray(side) ? (side as readonly string[]) : undefined
  const names = node.facets?.[direction] ?? declared ?? []
  const catalog = request.facets
  const compiled = names.length > 0 ? compileContract({ facets: names, catalog, direction }) : undefined
  const schemas = [
    compiled?.schema,
    declared === undefined ? (side as JsonSchema) : undefined,
    node.contracts?.[direction],
  ]
  const diagnostics = (compiled?.diagnostics ?? []).map((each) => at(node, each))
  const schema = schemas.filter((each) => each !== undefined).reduce(both, true as JsonSchema)
  const problem = problemWith(schema, request, {
    constraint: `the ${direction} contract of "${node.id}" can be used`,
    nodeId: node.id,
  })
  const foreign = declared === undefined ? [] : names.filter((name) => !declared.includes(name))
  if (foreign.length > 0 && !node.derived) diagnostics.push(derived({ node, capability, direction }, foreign))
  if (direction === 'output' && problem === undefined)
    diagnostics.push(...contradictionIn({ node, capability, direction }, schemas))
  return {
    schema: problem === undefined ? schema : true,
    provenance: compiled?.provenance ?? [],
    diagnostics: problem === undefined ? diagnostics : [...diagnostics, problem],
  }
}

/**
 * Reports an output contract of the node that no output of its capability can satisfy: every answer would be invalid. The
 * schemas are those of the facets, of the capability and of the node itself, in this order.
 */
function contradictionIn(
  { node, capability }: Wanted,
  schemas: readonly (JsonSchema | undefined)[],
): Diagnostic[] {
  const own = schemas.at(-1)
  if (own === undefined || capability === undefined) return []
  const declared = schemas.slice(0, -1).filter((each) => each !== undefined)
  const supplied = declared.reduce(both, true as JsonSchema)
  const together = both(supplied, own)
  // A contract that nothing satisfies by itself is not a contradiction between the two.
  if (!isVacant(together) || isVacant(supplied) || isVacant(own)) return []
  const property = listMembers(together).find(({ name }) => isVacant(findMember(together, name)))?.name
  const pointer = property === undefined ? '' : child('', property)
  const what = property === undefined ? 'it' : `"${property}"`
  return [
    createDiagnostic('plan/output-contradiction', {
      constraint: `capability "${capability.capabilityId}" can supply what contracts.output of "${node.id}" requires`,
      nodeId: node.id,
      capabilityId: capability.capabilityId,
      suggestion: `Change ${what} in contracts.output of "${node.id}", or name a capability that supplies ${what} as required there`,
      details: { ...(property !== undefined && { property }), pointer },
    }),
  ]
}

function findMember(schema: JsonSchema, name: string): JsonSchema {
  return project(schema, child('', name)).schema
}

function derived({ node, capability, direction }: Wanted, facets: readonly string[]): Diagnostic {
  return createDiagnostic('plan/facet-derived', {
    constraint: `"${node.id}" uses only ${direction} facets of its capability`,
    nodeId: node.id,
    capabilityId: capability?.capabilityId,
    suggestion: 'Set "derived": true if that is meant, or choose a capability that declares them',
    details: { facets: [...facets] },
  })
}

/** Returns why a schema cannot be used, or undefined. */
export function problemWith(
  schema: JsonSchema,
  request: ProveRequest,
  said: { readonly constraint: string; readonly nodeId?: string },
): Diagnostic | undefined {
  try {
    compileSchema(schema, toCompileOptions(request))
    return undefined
  } catch (error) {
    if (!(error instanceof ProvisoError)) throw error
    const pointer = error.at && 'pointer' in error.at ? { pointer: error.at.pointer } : {}
    return createDiagnostic('plan/schema', {
      ...said,
      suggestion: error.hint,
      details: { message: error.message, ...pointer },
    })
  }
}
