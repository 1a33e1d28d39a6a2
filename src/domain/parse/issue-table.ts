/**
 * Codes of the issues and warnings that the parsers of envelopes, policies, contracts, facets, capabilities and drafts
 * report, one row each: the type of `code` and the reference are derived from it.
 */
import type { Issue } from '../../base/errors/issue.ts'
import { conditionIssueTable, refusedSchemaTable, schemaIssueTable } from '../../schema/issue-table.ts'

export const draftIssueTable = {
  'draft/node-id': 'the node id has half of a surrogate pair',
  'draft/duplicate': 'two nodes have the same id',
  'draft/worker': 'the node has no capability, no routing and no body',
  'draft/route': 'a routing node has a member that only calls have',
  'draft/body': 'a map or a loop is incomplete, or another node has a body',
  'draft/data': 'a key of `data` is nearly a setting, or a setting without effect',
  'draft/contract': 'the RAO contract in `data` cannot be used',
} as const

export const parseIssueTable = {
  'policy/unknown': 'the policy is not known',
  'policy/duplicate': 'two runtime policies have the same id',
  'policy/metric': 'the metric is nearly one of the engine, and the policy would never act',
  'policy/rao': 'the RAO contract of the policy cannot be used',
  'policy/conflict': 'an older form and the current form of the policy contradict each other',
  'policy/node-id': 'warning: a trigger names a node, which is ignored',
  'policy/removed': 'the policy no longer exists',
  'policy/flat': 'warning: an older, flat form of a policy was converted',
  'policy/moved': 'warning: an older form of a policy was converted',
  'policy/overruled': 'warning: an input was given as well as a flat policy for it; the input counts',
  'contract/duplicate': 'two constraints have the same id',
  'contract/level': 'warning: the constraint has no level and is taken as hard',
  'contract/goal': 'the goal condition cannot be expressed as a constraint',
  'facet/unknown': 'the facet is not in the catalog',
  'facet/direction': 'the facet does not go in this direction',
  'facet/duplicate': 'two facets have the same name',
  'facet/dependency': 'a facet depends on a facet that is not in the catalog',
  'facet/contradiction': 'two members of the facet say different things',
  'capability/duplicate': 'the capability lists a facet twice',
  'capability/schema': 'the capability must list facets, not a schema',
  'capability/rao': 'the RAO contract of the capability cannot be used',
  'capability/tool-choice': 'the agent has no tool of the name that `toolChoice` gives',
  'capability/human': '`human` is set on a capability of another kind',
  ...draftIssueTable,
  'settings/reserved': 'an option of a provider would replace what limits and prices depend on',
  'json/unrepresentable': 'the value holds something that is not JSON',
  ...refusedSchemaTable,
  ...schemaIssueTable,
  ...conditionIssueTable,
} as const satisfies Record<string, string>

/** Code of an issue or a warning of the parsers, such as `parseEnvelope` and `parseDraft`. */
export type ParseIssueCode = keyof typeof parseIssueTable

export type ParseIssue = Issue<ParseIssueCode>
