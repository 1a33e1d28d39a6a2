/** Parses a registration, from the API or hand-written, into a Capability with all defaults. */

import { own } from '../../base/json.ts'
import type { Capability, ContractSide } from '../capability.ts'
import { agentIssues } from '../loop/agent-settings.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import {
  checkCondition,
  checkNoun,
  checkSchema,
  type FoundIssues,
  type Parsed,
  type ParseNounOptions,
  repeatIssues,
  settle,
} from '../parse/parsed.ts'
import { plainCopy } from '../parse/plain-copy.ts'
import { raoSettingsIssues } from '../rao/settings.ts'
import { capabilitySchema } from '../schemas/capability-schema.ts'
import { modelSettingsIssues } from '../settings/model-settings.ts'

export interface ParseCapabilityOptions extends ParseNounOptions {
  /** Contracts must be lists of facets, as over the wire; schemas by hand are refused. Default false. */
  readonly facetsOnly?: boolean
}

/**
 * Reads a capability. Never throws. Whether its facets exist is the catalog's question (`collect-catalog.ts`).
 *
 * @example
 * parseCapability({ capabilityId: 'writer.en', inputContract: ['writerBrief'], outputContract: ['copyVariants'] })
 */
export function parseCapability(given: unknown, options: ParseCapabilityOptions = {}): Parsed<Capability> {
  const copy = plainCopy(given)
  if (!copy.ok) return { ok: false, issues: [copy.issue], warnings: [] }
  const findings: FoundIssues = {
    issues: checkNoun(capabilitySchema, copy.value, 'Remove it, or put it into metadata').map(explainOld),
    warnings: [],
  }
  if (findings.issues.length > 0) return { ok: false, ...findings }
  // The schema has said that it is one.
  const capability = copy.value as unknown as GivenCapability
  for (const side of ['inputContract', 'outputContract'] as const) {
    findings.issues.push(...checkSide(capability[side], `/${side}`, options))
  }
  for (const [index, condition] of (capability.postConditions ?? []).entries()) {
    findings.issues.push(...checkCondition(condition, `/postConditions/${index}`, options))
  }
  findings.issues.push(...raoSettingsIssues(capability.rao, 'capability/rao', '/rao'))
  if (capability.human && (capability.kind ?? 'human') !== 'human')
    findings.issues.push({
      code: 'capability/human',
      at: { pointer: '/human' },
      message: `human belongs to kind "human", not to "${capability.kind}"`,
      hint: 'Omit `kind`, or remove `human`',
    })
  findings.issues.push(
    ...agentIssues(capability, options),
    ...modelSettingsIssues(capability.settings?.['modelSettings'], '/settings/modelSettings'),
  )
  return settle(findings, () => withDefaults(capability))
}

type GivenCapability = Partial<Capability> &
  Pick<Capability, 'capabilityId' | 'inputContract' | 'outputContract'>

/** Kinds of which calling twice with one key does no more than calling once. */
const idempotentKinds = new Set(['model', 'scripted'])

function withDefaults(given: GivenCapability): Capability {
  const kind = given.kind ?? (given.human ? 'human' : 'local')
  return {
    version: '1',
    displayName: given.capabilityId,
    summary: '',
    nodeKind: 'execution',
    idempotent: idempotentKinds.has(kind),
    sideEffect: false,
    postConditions: [],
    ...given,
    kind,
  }
}

function checkSide(
  side: ContractSide,
  at: string,
  { facetsOnly = false }: ParseCapabilityOptions,
): ParseIssue[] {
  if (isFacetList(side)) {
    return repeatIssues(side, 'facet', { code: 'capability/duplicate', pointer: (index) => `${at}/${index}` })
  }
  if (!facetsOnly) return checkSchema(side, at)
  const message = 'a registration names facets; schemas by hand are not taken over the wire'
  return [{ code: 'capability/schema', at: { pointer: at }, message, hint: 'List the names of facets' }]
}

/** Fields of earlier registrations that have gone. */
const oldFields: Readonly<Record<string, string>> = {
  '/defaultContract': 'Name the facets in outputContract instead; there are no default contracts any more',
  '/agentId': 'The capabilityId is enough; keep other names in metadata',
}

function explainOld(issue: ParseIssue): ParseIssue {
  const hint = 'pointer' in issue.at ? own(oldFields, issue.at.pointer) : undefined
  return typeof hint === 'string' ? { ...issue, hint } : issue
}

function isFacetList(side: ContractSide): side is readonly string[] {
  return Array.isArray(side)
}
