/** Parses policies: migrates older forms, validates, fills defaults. Used for envelopes and on its own. */

import { closest } from '../../base/closest.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import {
  checkCondition,
  checkNoun,
  type FoundIssues,
  nearMisses,
  type Parsed,
  type ParseNounOptions,
  repeatIssues,
  settle,
  shareParsed,
} from '../parse/parsed.ts'
import { plainCopy } from '../parse/plain-copy.ts'
import { isRaoPolicy, type Policies } from '../policy.ts'
import { raoSettingsIssues } from '../rao/settings.ts'
import { directivesSchema, policySchema } from '../schemas/policy-schema.ts'
import { applyFlatPolicies, migratePolicies, refuseUnknown } from './migrate-policies.ts'

// Names that an `onMetricBelow` trigger may have without any node supplying them.

/** What the engine itself measures. Every other metric is a path into what nodes yield. */
export const engineMetrics: readonly string[] = ['confidence', 'satisfaction']

/** Metrics that are nearly one of the engine's: such a policy would never act. */
function checkMetrics(runtime: readonly object[]): ParseIssue[] {
  return runtime.flatMap((policy, index): ParseIssue[] => {
    const metric = getTriggerMetric(policy)
    if (metric === undefined || engineMetrics.includes(metric)) return []
    const meant = closest(metric, engineMetrics)
    if (meant === undefined) return []
    return [
      {
        code: 'policy/metric',
        at: { pointer: `/runtime/${index}/trigger/metric` },
        message: `metric ${JSON.stringify(metric)} not found: the policy would never act`,
        hint: `Did you mean "${meant}"?`,
      },
    ]
  })
}

/** The metric of a policy; nothing where another trigger sets it off. */
export function getTriggerMetric(policy: object): string | undefined {
  const trigger = 'trigger' in policy ? policy.trigger : undefined
  const isTrigger = typeof trigger === 'object' && trigger !== null && 'metric' in trigger
  return isTrigger && typeof trigger.metric === 'string' ? trigger.metric : undefined
}

export interface ParsedPolicies {
  readonly policies: Policies
  /** Facts from flat policies (`brandVoice`, `persona`) for inputs that the caller did not give. */
  readonly inputs: { readonly [name: string]: Json }
}

/**
 * Brings policies to their final form. Never throws; what is wrong is located, what was reworded is a warning.
 *
 * @example
 * parsePolicies({ variantCount: 2 }) // planner.topology.variantCount = 2, with a warning
 */
export function parsePolicies(given: unknown = {}, options: ParseNounOptions = {}): Parsed<ParsedPolicies> {
  const copy = plainCopy(given)
  return copy.ok ? parsePlain(copy.value, options) : { ok: false, issues: [copy.issue], warnings: [] }
}

const parsePlain = shareParsed((value, options): Parsed<ParsedPolicies> => {
  const migration = migratePolicies(value)
  const refused = [...migration.issues, ...(isObject(value) ? refuseUnknown(value) : [])]
  const shape = checkNoun(policySchema, value, 'Remove it').filter((issue) => !isReported(issue, refused))
  const findings: FoundIssues = {
    issues: [
      ...refused,
      ...shape.map((issue) => asGiven(issue, migration.moved)),
      ...nearMisses(directivesIn(value), directiveKeys, '/planner/directives'),
    ],
    warnings: [...migration.warnings],
  }
  if (findings.issues.length > 0) return { ok: false, ...findings }
  // The schema has said that it is one.
  const policies = value as GivenPolicies
  const runtime = (policies.runtime ?? []).map(
    (policy) => ({ ...policy, enabled: policy.enabled ?? true }) as Policies['runtime'][number],
  )
  findings.issues.push(
    ...repeatIssues(
      runtime.map(({ id }) => id),
      'policy id',
      { code: 'policy/duplicate', pointer: (index) => `/runtime/${index}/id` },
    ),
    ...[...conditionIssues(runtime, options), ...raoIssues(runtime), ...checkMetrics(runtime)].map((issue) =>
      asGiven(issue, migration.moved),
    ),
  )
  const flat = applyFlatPolicies(policies, policies.planner ?? {})
  findings.issues.push(...flat.issues)
  findings.warnings.push(...flat.warnings)
  const { onNodeFail, rejectAction, approvers } = policies
  return settle(findings, () => ({
    policies: {
      planner: flat.planner,
      runtime,
      ...(onNodeFail && { onNodeFail }),
      ...(rejectAction && { rejectAction }),
      ...(approvers !== undefined && { approvers }),
    },
    inputs: flat.inputs,
  }))
})

interface GivenPolicies
  extends Partial<Pick<Policies, 'planner' | 'onNodeFail' | 'rejectAction' | 'approvers'>> {
  readonly runtime?: readonly GivenPolicy[]
}

const directiveKeys = Object.keys(directivesSchema.properties)

function directivesIn(policies: Json): unknown {
  const planner = isObject(policies) ? own(policies, 'planner') : undefined
  return isObject(planner) ? own(planner, 'directives') : undefined
}

type GivenPolicy = Omit<Policies['runtime'][number], 'enabled'> & { readonly enabled?: boolean }

/** Whether a refusal has already reported this location: the schema check then adds nothing. */
function isReported(issue: ParseIssue, refused: readonly ParseIssue[]): boolean {
  const at = toPointer(issue)
  return refused.some((reported) => at === toPointer(reported) || at.startsWith(`${toPointer(reported)}/`))
}

/** Located where the caller wrote it, not where it was moved. */
function asGiven(issue: ParseIssue, moved: ReadonlyMap<Pointer, Pointer>): ParseIssue {
  const at = toPointer(issue)
  for (const [today, given] of moved) {
    if (at === today || at.startsWith(`${today}/`)) {
      return { ...issue, at: { pointer: given + at.slice(today.length) } }
    }
  }
  return issue
}

function toPointer(issue: ParseIssue): Pointer {
  return 'pointer' in issue.at ? issue.at.pointer : ''
}

function conditionIssues(runtime: Policies['runtime'], options: ParseNounOptions): ParseIssue[] {
  return runtime.flatMap((policy, index) => {
    if (isRaoPolicy(policy)) return []
    const { trigger } = policy
    return 'condition' in trigger && trigger.condition !== undefined
      ? checkCondition(trigger.condition, `/runtime/${index}/trigger/condition`, options)
      : []
  })
}

function raoIssues(runtime: Policies['runtime']): ParseIssue[] {
  return runtime.flatMap((policy, index) =>
    isRaoPolicy(policy) ? raoSettingsIssues(policy.rao, 'policy/rao', `/runtime/${index}/rao`) : [],
  )
}
