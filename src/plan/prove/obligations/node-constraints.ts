/**
 * Obligations on what single nodes state: their RAO limits, as far as their capabilities declare the facts (dispatch
 * enforces the limits again), and their conditions.
 */
import { type Json, own } from '../../../base/json.ts'
import { type Capability, canAct } from '../../../domain/capability.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { parseCondition } from '../../../schema/condition/condition.ts'
import { type World, worldOf } from '../../../schema/values/known-values.ts'
import { type Path, valuesOf } from '../../../schema/values/schema-values.ts'
import { join, meet, nothing, onlyMissing, type ValueSet } from '../../../schema/values/value-set.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { neverNumber, neverNumbers } from '../goals/vacuous-truth.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'
import { valuesAt } from '../sources.ts'

/** Whether a kind of capability calls another machine; for other kinds only their dispatcher knows. */
const remoteKinds: Readonly<Record<string, boolean>> = {
  local: false,
  scripted: false,
  human: false,
  model: true,
  http: true,
  mcp: true,
}

export function nodeConstraints({ nodes, request }: Resolved): readonly Diagnostic[] {
  const byId = new Map(request.capabilities.map((each) => [each.capabilityId, each]))
  return nodes.flatMap((node) => {
    const ids = [node.draft.capabilityId, ...(node.draft.alternates ?? [])]
    const able = ids.flatMap((id) => (id === undefined ? [] : (byId.get(id) ?? [])))
    return [
      ...able.flatMap((capability) => [...network(node, capability), ...authority(node, capability)]),
      ...duration(node),
    ]
  })
}

function network({ id, draft }: ResolvedNode, { capabilityId, kind }: Capability): Diagnostic[] {
  if (!draft.constraints?.no_network_access) return []
  const remote = own(remoteKinds, kind)
  if (remote === false) return []
  return [
    createDiagnostic(remote === undefined ? 'plan/node-network-unknown' : 'plan/node-network', {
      constraint: `"${capabilityId}" stays on this machine`,
      nodeId: id,
      capabilityId,
      suggestion: `Use a local capability, or lift no_network_access of "${id}"`,
      details: { kind },
    }),
  ]
}

function authority({ id, draft }: ResolvedNode, capability: Capability): Diagnostic[] {
  if (!draft.constraints?.no_execution_authority || !canAct(capability)) return []
  return [
    createDiagnostic('plan/node-authority', {
      constraint: `"${capability.capabilityId}" only answers`,
      nodeId: id,
      capabilityId: capability.capabilityId,
      suggestion: `Use a capability without tools and side effects, or lift no_execution_authority of "${id}"`,
    }),
  ]
}

function duration({ id, draft }: ResolvedNode): Diagnostic[] {
  const most = draft.constraints?.max_duration_ms
  if (most === undefined || draft.timeoutMs === undefined || draft.timeoutMs <= most) return []
  return [
    createDiagnostic('plan/node-duration', {
      constraint: `timeoutMs of "${id}" <= ${most}`,
      nodeId: id,
      suggestion: `Set timeoutMs of "${id}" to at most ${most} (in a pipeline: timeout of the step, ${most / 1_000} seconds)`,
    }),
  ]
}

// Reports conditions of nodes (post-conditions, routes, loop exits) that order a value that is never a number: they are
// always false.

export function unlikeConditions(resolved: Resolved): readonly Diagnostic[] {
  return resolved.nodes.flatMap((node) => {
    const { id, draft, postConditions } = node
    const { until } = draft.loop ?? {}
    const onOutput = [
      ...postConditions
        .filter((json) => json !== until)
        .map((json, i) => ({ json, what: `post-condition ${i + 1} of "${id}"` })),
      ...(until === undefined ? [] : [{ json: until, what: `loop.until of "${id}"` }]),
    ]
    const onInput = (draft.routing?.routes ?? []).map(({ condition: json }, i) => ({
      json,
      what: `route ${i + 1} of "${id}"`,
    }))
    if (onOutput.length === 0 && onInput.length === 0) return []
    const output = worldOf(valuesOf(node.output))
    const input = worldOf(inputsOf(node, resolved))
    return [
      ...onOutput.flatMap((each) => unlike(each, node, output)),
      ...onInput.flatMap((each) => unlike(each, node, input)),
    ]
  })
}

function unlike(
  { json, what }: { readonly json: Json; readonly what: string },
  { id, capability }: ResolvedNode,
  world: World,
): Diagnostic[] {
  const parsed = parseCondition(json)
  const vars = parsed.ok ? neverNumbers(parsed.condition.expr, [world]) : []
  if (vars.length === 0) return []
  return [
    createDiagnostic('plan/unlike-types', {
      constraint: `${what} orders numbers`,
      nodeId: id,
      capabilityId: capability?.capabilityId,
      suggestion: neverNumber(vars),
      details: { note: 'ordering_without_number', vars: [...vars] },
    }),
  ]
}

/** Returns the possible values at an input path: the join over all sources of the property, met with the input schema. */
function inputsOf({ input, inputs }: ResolvedNode, resolved: Resolved): (path: Path) => ValueSet {
  const allowed = valuesOf(input)
  return (path) => {
    const [name, ...rest] = path
    if (name === undefined) return allowed(path)
    const sources = inputs[name] ?? []
    const found = sources.map((source) => valuesAt(source, rest, resolved)).reduce(join, nothing)
    return sources.length === 0 ? onlyMissing : meet(found, allowed(path))
  }
}
