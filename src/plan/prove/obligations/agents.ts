/**
 * Obligations on agents: what their loops may do at most, through tools and agents of their own, held against the caller's
 * policies. A loop decides at run time which tools it calls, so every tool in reach counts as used.
 */
import type { Json } from '../../../base/json.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import {
  agentSettings,
  isAgent,
  mostModelCalls,
  type NamedTool,
  withNodeTools,
} from '../../../domain/loop/agent-settings.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'
import { withBodies } from './policies.ts'

/** A tool in reach of an agent. */
interface ReachableTool {
  readonly use: NamedTool
  readonly capability: Capability | undefined
  /** Names of the tools that lead to it, itself last. */
  readonly path: readonly string[]
}

type Find = (capabilityId: string) => Capability | undefined

export function agents(resolved: Resolved): readonly Diagnostic[] {
  const byId = new Map(resolved.request.capabilities.map((each) => [each.capabilityId, each]))
  const find: Find = (id) => byId.get(id) ?? resolved.request.findTool?.(id)
  return withBodies(resolved.nodes).flatMap((node) => {
    const ids = [node.draft.capabilityId, ...(node.draft.alternates ?? [])]
    return ids
      .flatMap((id) => (id === undefined ? [] : (find(id) ?? [])))
      .map((each) => (node.draft.tools ? withNodeTools(each, node.draft) : each))
      .flatMap((agent) => {
        if (agent.kind === 'model' && isAgent(agent)) return agentDiagnostics(resolved, { node, agent, find })
        return node.draft.tools ? [refuseTools(node, agent)] : []
      })
  })
}

function refuseTools(node: ResolvedNode, { capabilityId, kind }: Capability): Diagnostic {
  return createDiagnostic('plan/agent-tool', {
    nodeId: node.id,
    capabilityId,
    constraint: `the capability of a node with \`tools\` is a model, and "${capabilityId}" is of kind ${kind}`,
    suggestion: 'Take `tools` out of the node, or use a capability of kind model',
    details: { kind },
  })
}

interface AgentNode {
  readonly node: ResolvedNode
  readonly agent: Capability
  readonly find: Find
}

function agentDiagnostics({ request }: Resolved, { node, agent, find }: AgentNode): Diagnostic[] {
  const { selection, directives } = request.envelope.policies.planner
  const { forbid = [] } = selection ?? {}
  const labels = Array.isArray(directives?.hitlRequiredFor) ? directives.hitlRequiredFor.map(String) : []
  const reach = listReach(agent, find)
  const common = { nodeId: node.id }
  return [
    bounds({ node, agent, find }, reach),
    ...reach.flatMap(({ use, capability, path }) => {
      const { capabilityId, name, approval, isHandoff } = use
      const called = `"${path.join(' > ')}" of "${agent.displayName}"`
      const details = { path: [...path] }
      return [
        ...(capability === undefined && request.findTool
          ? [
              createDiagnostic('plan/agent-tool', {
                ...common,
                capabilityId,
                constraint: `the tool ${called} is registered`,
                suggestion: `Register ${capabilityId}, or take it out of the tools of the agent`,
                details,
              }),
            ]
          : []),
        ...(forbid.includes(capabilityId)
          ? [
              createDiagnostic('plan/policy-forbid', {
                ...common,
                capabilityId,
                constraint: `no agent of the plan can call "${capabilityId}"`,
                constraintId: 'policy:forbid',
                suggestion: `Use an agent without the tool ${called}`,
                details,
              }),
            ]
          : []),
        ...(!isHandoff && approval !== 'always' && [capabilityId, name].some((each) => labels.includes(each))
          ? [
              createDiagnostic('plan/tool-approval', {
                ...common,
                capabilityId,
                constraint: `a person approves every call of ${called}`,
                constraintId: `policy:hitlRequiredFor:${labels.includes(capabilityId) ? capabilityId : name}`,
                suggestion: `Set \`approval: 'always'\` on the tool, or use an agent without it`,
                details,
              }),
            ]
          : []),
      ]
    }),
  ]
}

/** What the loop may do at most. */
function bounds({ node, agent, find }: AgentNode, reach: readonly ReachableTool[]): Diagnostic {
  const { limits } = agentSettings(agent)
  const { turns, tokens, costUsd } = limits
  const tools = reach.map(({ use, capability, path }) => ({
    tool: path.join(' > '),
    capabilityId: use.capabilityId,
    sideEffect: capability?.sideEffect ?? 'unknown',
    approval: use.approval as unknown as Json,
    ...(use.maxCalls !== undefined && { maxCalls: use.maxCalls }),
    ...(use.isHandoff && { handoff: true }),
  }))
  const acting = reach.filter(({ capability }) => capability?.sideEffect)
  const effects =
    acting.length === 0
      ? 'has no side effects'
      : `may act through ${acting.map(({ use, path }) => `${path.join(' > ')} (${describeApproval(use)})`).join(', ')}`
  return createDiagnostic('plan/agent-bounds', {
    nodeId: node.id,
    capabilityId: agent.capabilityId,
    constraint: `"${agent.displayName}" takes at most ${turns} turns, and ${effects}`,
    details: {
      turns,
      modelCalls: mostModelCalls(agent, find),
      ...(tokens !== undefined && { tokens }),
      ...(costUsd !== undefined && { costUsd }),
      tools,
    },
  })
}

function describeApproval({ approval }: NamedTool): string {
  if (approval === 'always') return 'approved each time'
  return approval === 'never' ? 'without an approval' : 'approved when its condition holds'
}

/** The tools of an agent, and those of the agents among them; an agent that calls itself is listed once. */
function listReach(
  agent: Capability,
  find: Find,
  callers: readonly { readonly id: string; readonly name: string }[] = [],
): ReachableTool[] {
  const ids = [...callers.map(({ id }) => id), agent.capabilityId]
  return agentSettings(agent).tools.flatMap((use) => {
    const capability = find(use.capabilityId)
    const path = [...callers.map(({ name }) => name), use.name]
    const isDeeper = capability !== undefined && isAgent(capability) && !ids.includes(use.capabilityId)
    const chain = [...callers, { id: agent.capabilityId, name: use.name }]
    return [{ use, capability, path }, ...(isDeeper ? listReach(capability, find, chain) : [])]
  })
}
