/**
 * Obligation on the RAO limits of nodes, as far as their capabilities declare the facts. Dispatch enforces the limits
 * again.
 */
import { own } from '../../../base/json.ts'
import { type Capability, canAct } from '../../../domain/capability.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'

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
