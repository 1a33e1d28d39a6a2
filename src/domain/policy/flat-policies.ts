/**
 * Converts the flat policies of older callers (`requiresHitlApproval: true` beside `planner` and `runtime`): one row
 * maps each. None is dropped silently; a policy without a row is rejected by name. Called by `parse-policies.ts`.
 */

import { closest } from '../../base/closest.ts'
import { isObject, type Json, jsonEqual, own } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import type { PlannerPolicy } from '../policy.ts'
import type { flatPolicySchemas } from '../schemas/policy-schema.ts'

/** What the flat policies come to. `inputs` are facts that stand in for inputs which the caller did not give. */
interface FlatEffects {
  readonly planner: PlannerPolicy
  readonly inputs: { readonly [name: string]: Json }
  readonly issues: readonly ParseIssue[]
  readonly warnings: readonly ParseIssue[]
}

interface FlatRow {
  /** Where it goes, for people. */
  readonly becomes: string
  /** What it says there; `undefined` where it asks for nothing. */
  readonly effect: (value: Json) => Effect | undefined
}

type Effect =
  | { readonly in: 'inputs'; readonly key: string; readonly value: Json }
  | { readonly in: 'topology' | 'directives'; readonly key: string; readonly value: Json }

type FlatPolicyName = keyof typeof flatPolicySchemas

export const flatPolicies: Readonly<Record<FlatPolicyName, FlatRow>> = {
  brandVoice: {
    becomes: 'inputs.toneOfVoice',
    effect: (value) => ({ in: 'inputs', key: 'toneOfVoice', value }),
  },
  persona: {
    becomes: 'inputs.audienceProfile.persona',
    effect: (value) => ({ in: 'inputs', key: 'audienceProfile', value: { persona: value } }),
  },
  variantCount: {
    becomes: 'policies.planner.topology.variantCount',
    effect: (value) => ({ in: 'topology', key: 'variantCount', value }),
  },
  requiresHitlApproval: {
    becomes: 'policies.planner.directives.askBeforeFinish',
    effect: (value) => (value === true ? { in: 'directives', key: 'askBeforeFinish', value } : undefined),
  },
  hitlRequiredFor: {
    becomes: 'policies.planner.directives.hitlRequiredFor',
    effect: (value) => ({ in: 'directives', key: 'hitlRequiredFor', value }),
  },
  branchVariants: {
    becomes: 'policies.planner.directives.branchVariants',
    effect: (value) => ({ in: 'directives', key: 'branchVariants', value }),
  },
}

/** Names that are neither flat policies nor today's; refused by name. */
export function refuseUnknown(policies: object): ParseIssue[] {
  const names = ['planner', 'runtime', 'onNodeFail', 'rejectAction', ...Object.keys(flatPolicies)]
  return Object.keys(policies)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = closest(name, names)
      return {
        code: 'policy/unknown',
        at: { pointer: child('', name) },
        message: `the policy ${JSON.stringify(name.slice(0, 80))} is not known`,
        hint:
          near === undefined
            ? 'Put wishes for the planner into planner.directives, rules for the run into runtime'
            : `Did you mean ${JSON.stringify(near)}?`,
      }
    })
}

/** Applies the flat policies that are there. Expects policies that satisfy their schema. */
export function applyFlatPolicies(policies: object, planner: PlannerPolicy): FlatEffects {
  const issues: ParseIssue[] = []
  const warnings: ParseIssue[] = []
  const found = { topology: { ...planner.topology }, directives: { ...planner.directives }, inputs: {} }
  for (const [name, row] of Object.entries(flatPolicies)) {
    const value = own(policies, name) as Json | undefined
    if (value === undefined) continue
    const at = { pointer: child('', name) }
    warnings.push({
      code: 'policy/flat',
      at,
      message: `the flat policy "${name}" was read as ${row.becomes}`,
      hint: `Write ${row.becomes}`,
    })
    const effect = row.effect(value)
    if (effect === undefined) continue
    const target: Record<string, unknown> = found[effect.in]
    const there = own(target, effect.key)
    if (there !== undefined && !jsonEqual(there, effect.value)) {
      issues.push({
        code: 'policy/conflict',
        at,
        message: `"${name}" contradicts ${row.becomes}`,
        hint: `Keep only ${row.becomes}`,
        expected: there,
        actual: value,
      })
    } else {
      target[effect.key] = effect.value
    }
  }
  return { planner: withParts(planner, found), inputs: found.inputs, issues, warnings }
}

function withParts(
  planner: PlannerPolicy,
  { topology, directives }: { readonly topology: object; readonly directives: Record<string, Json> },
): PlannerPolicy {
  return {
    ...planner,
    ...(Object.keys(topology).length > 0 && { topology }),
    ...(Object.keys(directives).length > 0 && { directives }),
  }
}

/**
 * The caller's inputs with the facts from flat policies beside them. What the caller gave wins, with a warning; an audience
 * without a persona gets one.
 */
export function withFacts(
  inputs: { readonly [name: string]: Json },
  facts: { readonly [name: string]: Json },
): { readonly inputs: { readonly [name: string]: Json }; readonly warnings: readonly ParseIssue[] } {
  const merged: Record<string, Json> = { ...inputs }
  const warnings: ParseIssue[] = []
  for (const [name, fact] of Object.entries(facts)) {
    const given = own(inputs, name) as Json | undefined
    merged[name] = isObject(given) && isObject(fact) ? ({ ...fact, ...given } as Json) : (given ?? fact)
    if (given === undefined || jsonEqual(merged[name], { ...Object(fact), ...Object(given) })) continue
    warnings.push({
      code: 'policy/overruled',
      at: { pointer: child('/inputs', name) },
      message: `the input "${name}" was given as well as a flat policy for it; the input counts`,
      hint: 'Remove the flat policy',
    })
  }
  return { inputs: merged, warnings }
}
