/**
 * Builds the prompts of the model planner: the format of a draft, facets and capabilities with their contracts, the
 * rules; then the request, completed nodes and why the previous draft was rejected. Data is inserted as JSON, truncated
 * and redacted.
 */
import type { Json } from '../../base/json.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Feedback } from '../../domain/feedback.ts'
import { agentSettings, isAgent, type NamedTool } from '../../domain/loop/agent-settings.ts'
import { listTriggers } from '../../domain/policy.ts'
import type { DraftRequest } from '../../domain/ports/planner.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { draftSchema } from '../../domain/schemas/all-schemas.ts'
import type { Shortlist } from './shortlist.ts'

export const promptLimits = {
  /** Characters of one value. */
  value: 800,
  /** Entries of one list. */
  rows: 40,
  /** Capabilities. */
  capabilities: 80,
} as const

/** The rules that `prove` enforces, worded for the author of a draft. */
export const draftRules: readonly string[] = [
  'Use only capabilities of the table, by their capabilityId; every node needs one, except nodes with routing.',
  'Every required input of a node must be bound: to the output of a node before it ({"node": id, "pointer": "/property"}), to the envelope ({"envelope": "/inputs/name"}), or to a fixed value.',
  'Nodes must not wait for each other in a circle. Bindings order nodes, so leave edges out, unless a node must wait for one that it does not read, or catches a failure ("when": "fail"): a node with edges to it runs only if one of them is followed.',
  'Every required property of the output contract must come from a node; bind it in "output": {"properties": {…}}.',
  'A hard constraint must follow from a schema or a post-condition, or a node of kind validation must read the values that it compares, after the node that produces it.',
  'proviso.structure and proviso.answer are open: give their nodes "contracts" that say what goes in and out. Prefer capabilities that declare what is needed.',
  'Set "derived": true where a node uses facets that its capability does not declare, and choose facets in "facets".',
  'For work on each element of a list, use a node with "map": {} and a "body" (a draft): bind its input "items" to the list, and let nodes of the body read {"input": "/item"}. To repeat until something holds, use "loop": {"until": condition, "maxRounds": n} with the input "state" and {"input": "/state"}. A body sees nothing else of the plan: bind what it needs as further inputs of the map or loop.',
  'A capability with "tools" is an agent: one node of it calls its tools as it needs, and answers under the contract of the node. Use it for work whose steps depend on what is found, and add no nodes for its tools. Any other model becomes an agent where its node lists "tools": ids of capabilities, or {"capabilityId": id, "approval": "always"} where a person is to approve each call.',
  'Keep to the policies: required and forbidden capabilities and kinds, depth, number of variants. Add no node that does nothing.',
]

const checklist =
  'Before you answer, check: does every node exist that a binding names; is every required input bound; does every required property and every constraint have a producer; is everything that the last diagnostics asked for fixed?'

export function systemText({
  capabilities,
  facets,
  cut,
}: Pick<Shortlist, 'capabilities' | 'facets' | 'cut'>): string {
  return [
    'You draft plans: directed acyclic graphs of nodes that together satisfy an output contract. Answer with one JSON object, a draft, and nothing else.',
    `A draft satisfies this JSON Schema:\n${JSON.stringify(draftSchema)}`,
    `Facets, the pieces of meaning that go from node to node:\n${toJsonLines(facets.map(facetRow))}`,
    `Capabilities${cut > 0 ? ` (${cut} more are not shown)` : ''}:\n${toJsonLines(capabilities.map(capabilityRow))}`,
    `Rules:\n${draftRules.map((rule, i) => `${i + 1}. ${rule}`).join('\n')}`,
    checklist,
  ].join('\n\n')
}

/** Returns the system prompt with all capabilities (up to the limit), for people who want to read it. */
export function plannerPrompt(facets: Shortlist['facets'], capabilities: Shortlist['capabilities']): string {
  const shown = capabilities.slice(0, promptLimits.capabilities)
  return systemText({ capabilities: shown, facets, cut: capabilities.length - shown.length })
}

const toJsonLines = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n')

function facetRow({ name, description, schema, metadata }: Shortlist['facets'][number]) {
  const { direction, propertyKey } = metadata
  return {
    name,
    direction,
    ...(propertyKey && { propertyKey }),
    description,
    schema: truncate(schema as Json),
  }
}

function capabilityRow(capability: Shortlist['capabilities'][number]) {
  const { capabilityId, nodeKind, summary, inputContract, outputContract, cost, inputTraits } = capability
  return {
    capabilityId,
    kind: nodeKind,
    summary,
    needs: truncate(inputContract as Json),
    supplies: truncate(outputContract as Json),
    ...(capability.postConditions.length > 0 && { postConditions: capability.postConditions }),
    ...(isAgent(capability) && { tools: agentSettings(capability).tools.map(toolRow) }),
    ...(cost && { cost }),
    ...(inputTraits && { traits: inputTraits }),
  }
}

/** A tool as the author of a draft sees it: the agent calls it as it needs. */
function toolRow({ name, approval, isHandoff }: NamedTool) {
  return { name, ...(approval !== 'never' && { approval }), ...(isHandoff && { handsOff: true }) }
}

export function userText(request: DraftRequest, redactor: Redactor): string {
  const { phase, diagnostics, feedback } = request
  const lines = collectParts(request, redactor)
    .filter(([, value]) => !isEmpty(value))
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  if (phase === 'replan')
    lines.push(
      'A node with the id, the capability, the same input values and the same instructions (or none) of a completed node keeps its output and is not run again, if all that it was made from is kept. The node of "trigger.nodeId" and those of "trigger.nodeIds", whose outputs were rejected, run again.',
    )
  if (feedback?.length)
    lines.push(
      '"feedback" is what people and checks said about earlier work: plan so that it is taken into account.',
    )
  if (diagnostics)
    lines.push('The draft before was rejected. Fix what "failures" names; each suggestion says how.')
  return lines.join('\n')
}

function collectParts(request: DraftRequest, redactor: Redactor): readonly (readonly [string, unknown])[] {
  const { envelope, completed, diagnostics, trigger, phase, feedback = [], conversation } = request
  const { outputContract, policies, inputs } = envelope
  const { schema, hints, constraints } = outputContract
  const { directives, ...planner } = policies.planner
  const { rows } = promptLimits
  const safe = (value: unknown) => redactor.value(value) as Json
  return [
    ['conversation', safe(conversation ?? {})],
    ['objective', redactor.text(envelope.objective)],
    ['inputs', mapValues(safe(inputs) as object)],
    ['specialInstructions', envelope.specialInstructions.slice(0, rows).map(redactor.text)],
    ['outputContract', { schema, ...(hints && { hints: safe(hints) }) }],
    ['constraints', constraints.slice(0, rows)],
    ['plannerPolicies', { ...planner, ...(directives && { directives: safe(directives) }) }],
    [
      'runtimePolicies',
      listTriggers(policies)
        .slice(0, rows)
        .map(({ id, trigger: on }) => ({ id, on })),
    ],
    ['phase', { phase, ...(trigger && { trigger }) }],
    [
      'completedNodes',
      completed.slice(0, rows).map(({ output, ...node }) => ({ ...node, output: truncate(safe(output)) })),
    ],
    ['feedback', feedback.slice(-rows).map((entry) => feedbackRow(entry, safe))],
    [
      'previousDiagnostics',
      diagnostics && {
        failures: toDiagnosticRows(diagnostics.failures),
        warnings: toDiagnosticRows(diagnostics.warnings),
      },
    ],
  ]
}

/** One entry of feedback on earlier work, with its values truncated. */
function feedbackRow({ value, ...entry }: Feedback, safe: (value: unknown) => Json): Json {
  const row = safe(entry) as { readonly [name: string]: Json }
  return value === undefined ? row : { ...row, value: truncate(safe(value)) }
}

function mapValues(values: object): object {
  const entries = Object.entries(values).slice(0, promptLimits.rows)
  return Object.fromEntries(entries.map(([name, value]) => [name, truncate(value as Json)]))
}

/** Maps diagnostics to the fixed field names of FLEX-48. */
function toDiagnosticRows(diagnostics: readonly Diagnostic[]) {
  return diagnostics
    .slice(0, promptLimits.rows)
    .map(({ constraint, constraintId, nodeId, capabilityId, cause, suggestion }) => ({
      constraint,
      constraintId,
      nodeId,
      capabilityId,
      cause,
      suggestion,
    }))
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  )
}

/** Returns the value, or the beginning of its JSON text if it is too long. */
function truncate(value: Json): Json {
  const text = JSON.stringify(value)
  return text.length <= promptLimits.value ? value : `${text.slice(0, promptLimits.value)}…`
}
