/**
 * Table of all diagnostics of `prove` besides the verdicts on constraints: one row per code, so that planners, people and
 * the reference share the same wording. A diagnostic has its code in `details.code`.
 */
import type { Json } from '../base/json.ts'
import type { Level } from '../domain/contract.ts'
import type { Cause, Diagnostic } from '../domain/diagnostic.ts'

interface DiagnosticRow {
  readonly cause: Cause
  /** `hard` diagnostics reject the plan; `soft` ones warn; `informational` ones are checked at run time. */
  readonly severity: Level
  readonly sentence: string
}

const hard = (cause: Cause, sentence: string): DiagnosticRow => ({ cause, severity: 'hard', sentence })
const soft = (sentence: string): DiagnosticRow => ({ cause: 'advisory', severity: 'soft', sentence })
const informational = (sentence: string): DiagnosticRow => ({
  cause: 'advisory',
  severity: 'informational',
  sentence,
})

export const diagnosticTable = {
  'plan/unread': hard(
    'schema_incompatible',
    'the envelope, the facets, the capabilities or the draft were passed without being parsed first',
  ),
  'plan/empty': hard('missing_producer', 'the draft has no nodes'),
  'plan/limit': hard('schema_incompatible', 'the draft is larger than plans may be'),
  'plan/node-id': hard('schema_incompatible', 'node ids are texts, each used once'),
  'plan/capability-absent': hard(
    'missing_producer',
    'a node that neither routes nor runs a body needs a capability',
  ),
  'plan/capability-unknown': hard('missing_producer', 'the capability is not registered or not active'),
  'plan/stand-in-inactive': informational('an alternate or a fallback cannot run here and is left out'),
  'plan/stand-in-unfit': informational(
    'an alternate can never take the inputs of the node or supply its output, and is left out',
  ),
  'plan/kind': hard('schema_incompatible', 'the kind of a node is not known'),
  'plan/body': hard(
    'schema_incompatible',
    'a map or a loop has a body and its list or state, and calls nothing itself',
  ),
  'plan/map-limit': informational('the list is always longer than the map allows: it will fail at run time'),
  'plan/loop-exit': informational('the exit condition of the loop can never hold: all rounds are run'),
  'plan/exit-unknown': hard(
    'missing_producer',
    'the exit condition of a loop reads a member that its state can never have',
  ),
  'plan/exit-undeclared': soft(
    'the exit condition of a loop reads a member that the schema of its state does not name',
  ),
  'plan/edge': hard('schema_incompatible', 'an edge leads from one node to another on pass, fail or always'),
  'plan/binding': hard(
    'schema_incompatible',
    'a binding names a node, a pointer into the envelope, a value, or an input of the body',
  ),
  'plan/condition': hard('schema_incompatible', 'a condition of the node cannot be parsed'),
  'plan/schema': hard('schema_incompatible', 'a schema cannot be used'),
  'plan/output-contradiction': hard(
    'schema_incompatible',
    'the output contract of a node contradicts that of its capability: no answer can satisfy both',
  ),
  'plan/facet-unknown': hard('missing_producer', 'the facet is not in the catalog'),
  'plan/facet-direction': hard('schema_incompatible', 'the facet does not go in this direction'),
  'plan/facet-conflict': hard('schema_incompatible', 'facets that share a property contradict each other'),
  'plan/facet-derived': informational('the node uses facets that its capability does not declare'),
  'plan/node-data': hard(
    'schema_incompatible',
    'a key of the node data is nearly a setting, or a setting without effect',
  ),
  'plan/rao': hard('schema_incompatible', 'a RAO contract cannot be used at this node'),
  'plan/rao-selector': hard(
    'schema_incompatible',
    'a RAO policy names a node, a capability or a facet that does not exist',
  ),
  'plan/rao-unused': informational('a RAO policy selects no node of the plan'),
  'plan/cycle': hard('schema_incompatible', 'nodes wait for each other'),
  'plan/route-bypassed': informational('an edge activates the target of a route whatever the route decides'),
  'plan/fallback-edge': informational('an edge starts a fallback node when nothing has failed'),
  'plan/unreachable': informational('the node can never run'),
  'plan/input-missing': hard('missing_producer', 'a required input is missing on some route to the node'),
  'plan/input-mismatch': hard('schema_incompatible', 'what is supplied does not satisfy what the node needs'),
  'plan/input-unproven': informational(
    'what is supplied may be absent or not satisfy what the node needs; validated at run time',
  ),
  'plan/ambiguous': informational('several nodes supply the property at the same time'),
  'plan/output-missing': hard('missing_producer', 'a required property of the answer has no producer'),
  'plan/output-mismatch': hard('schema_incompatible', 'what is produced can never satisfy the caller'),
  'plan/map-mismatch': hard(
    'schema_incompatible',
    'the list that a map makes can never satisfy its own contract',
  ),
  'plan/output-unproven': informational('what is produced may not satisfy the caller; validated at run time'),
  'plan/contract-vacant': hard('schema_incompatible', 'no value can satisfy the schema of the caller'),
  'plan/conflict': hard('schema_incompatible', 'hard constraints cannot hold together'),
  'plan/vacuous': informational('the constraint also holds when the value is missing'),
  'plan/unlike-types': informational(
    'a constraint or a condition of a node orders a value that is never a number; every ordering of it is false',
  ),
  'plan/policy-variants': hard('schema_incompatible', 'the number of variants contradicts the contract'),
  'plan/policy-require': hard(
    'missing_producer',
    'the policy requires a capability that the plan does not use',
  ),
  'plan/policy-forbid': hard('schema_incompatible', 'the policy forbids a capability that the plan uses'),
  'plan/policy-kind': hard('schema_incompatible', 'the policy requires or forbids a kind of node'),
  'plan/policy-depth': hard('schema_incompatible', 'the plan is deeper than the policy allows'),
  'plan/policy-capability': informational('a policy names a capability that is not known and has no effect'),
  'plan/tool-approval': hard(
    'missing_enforcer',
    'hitlRequiredFor names a tool that an agent of the plan may call without an approval',
  ),
  'plan/agent-tool': soft('a tool of an agent is not registered or not active here'),
  'plan/agent-bounds': informational('what an agent may do at most: turns, tools, side effects'),
  'plan/policy-label': soft('hitlRequiredFor names a label that no node of the plan has'),
  'plan/policy-metric': informational('a policy waits for a metric that nothing in the plan supplies'),
  'plan/over-limit': hard('schema_incompatible', 'the plan takes more than a limit of the run even at best'),
  'plan/may-exceed-limit': informational('the plan may take more than a limit of the run'),
  'plan/price-unknown': informational(
    'the run limits its cost, and a model without a known price is not called',
  ),
  'plan/node-network': hard('schema_incompatible', 'the node may not use the network, its capability does'),
  'plan/node-network-unknown': informational(
    'whether the capability leaves the machine is decided at dispatch',
  ),
  'plan/node-authority': hard(
    'schema_incompatible',
    'the node has no execution authority, its capability acts',
  ),
  'plan/node-duration': hard('schema_incompatible', 'the node may take longer than its constraint allows'),
  'plan/unchecked': hard('missing_enforcer', 'a check of the prover itself failed'),
} as const satisfies Record<string, DiagnosticRow>

export type DiagnosticCode = keyof typeof diagnosticTable

interface DiagnosticDetails {
  /** The requirement that is not met, in words. */
  readonly constraint: string
  readonly nodeId?: string
  readonly capabilityId?: string | undefined
  readonly constraintId?: string
  readonly suggestion?: string | undefined
  readonly details?: { readonly [key: string]: Json }
}

/** Builds a diagnostic from the table. */
export function createDiagnostic(code: DiagnosticCode, said: DiagnosticDetails): Diagnostic {
  const { cause, severity } = diagnosticTable[code]
  return {
    severity,
    status: severity === 'hard' ? 'unsatisfied' : 'unknown',
    constraint: said.constraint,
    ...(said.constraintId !== undefined && { constraintId: said.constraintId }),
    ...(said.nodeId !== undefined && { nodeId: said.nodeId }),
    ...(said.capabilityId !== undefined && { capabilityId: said.capabilityId }),
    cause,
    ...(said.suggestion !== undefined && { suggestion: said.suggestion }),
    details: { code, ...said.details },
  }
}
