/**
 * Migrates older forms of policies: convertible ones are moved with a warning, removed ones are rejected with a hint.
 * Works on a copy owned by `parse-policies.ts`, before schema validation.
 */
import { closest } from '../../base/closest.ts'
import { isObject, type Json, jsonEqual, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import type { FoundIssues } from '../parse/parsed.ts'
import type { PlannerPolicy } from '../policy.ts'
import type { flatPolicySchemas } from '../schemas/policy-schema.ts'

interface Migration extends FoundIssues {
  /** Maps the current pointer of a moved setting to its original pointer. */
  readonly moved: Map<Pointer, Pointer>
}

/** Changes the policies in place; pointers are relative to them. */
export function migratePolicies(policies: unknown): Migration {
  const migration: Migration = { issues: [], warnings: [], moved: new Map() }
  if (isObject(policies)) listRuntime(policies, migration)
  const runtime = isObject(policies) ? own(policies, 'runtime') : undefined
  if (!Array.isArray(runtime)) return migration
  for (const [index, policy] of runtime.entries()) {
    if (!isObject(policy)) continue
    const at = `/runtime/${index}`
    const trigger = own(policy, 'trigger')
    if (isObject(trigger)) {
      moveCondition(policy, trigger, { at, migration })
      migrateTrigger(trigger, child(at, 'trigger'), migration)
    }
    refuseOldActions(own(policy, 'action'), child(at, 'action'), migration)
  }
  return migration
}

/** `runtime: { rao: [{ selector, autoApproveAbove }], policies: […] }` as the one list that it stands for. */
function listRuntime(policies: Record<string, unknown>, { issues, moved }: Migration): void {
  const runtime = own(policies, 'runtime')
  if (!isObject(runtime)) return
  const unknown = Object.keys(runtime).find((key) => !groups.includes(key))
  if (unknown !== undefined) {
    const meant = closest(unknown, [...groups])
    issues.push({
      code: 'policy/unknown',
      at: { pointer: child('/runtime', unknown) },
      message: `runtime has no ${JSON.stringify(unknown.slice(0, 80))}`,
      hint:
        meant === undefined ? 'Write a list, or an object with rao and policies' : `Did you mean "${meant}"?`,
    })
  }
  const [rao = [], triggers = []] = groups.map((group) => own(runtime, group))
  const list = [
    ...[rao].flat().map((entry, index) => raoEntry(entry, index, { moved, many: Array.isArray(rao) })),
    ...[triggers].flat(),
  ]
  const first = list.length - [triggers].flat().length
  for (let index = first; index < list.length; index++)
    moved.set(`/runtime/${index}`, `/runtime/policies/${index - first}`)
  policies['runtime'] = list
}

const groups: readonly string[] = ['rao', 'policies']

/** The contract's keys beside the selector, or already in `rao`. */
function raoEntry(
  entry: unknown,
  index: number,
  { moved, many }: { readonly moved: Migration['moved']; readonly many: boolean },
): unknown {
  const given = many ? `/runtime/rao/${index}` : '/runtime/rao'
  if (isObject(entry)) {
    const { id = `rao-${index + 1}`, enabled, selector, rao, ...settings } = entry
    if (rao === undefined) moved.set(`/runtime/${index}/rao`, given)
    moved.set(`/runtime/${index}`, given)
    return {
      id,
      ...(enabled !== undefined && { enabled }),
      ...(selector !== undefined && { selector }),
      rao: rao ?? settings,
      ...(rao !== undefined && settings),
    }
  }
  moved.set(`/runtime/${index}`, given)
  return entry
}

/** `condition` beside the trigger instead of in it. */
function moveCondition(
  policy: Record<string, unknown>,
  trigger: Record<string, unknown>,
  { at, migration }: { readonly at: Pointer; readonly migration: Migration },
): void {
  if (!Object.hasOwn(policy, 'condition') || Object.hasOwn(trigger, 'condition')) return
  trigger['condition'] = policy['condition']
  delete policy['condition']
  migration.moved.set(`${at}/trigger/condition`, `${at}/condition`)
  migration.warnings.push({
    code: 'policy/moved',
    at: { pointer: `${at}/condition` },
    message: 'the condition was taken into the trigger',
    hint: 'Write it as trigger.condition',
  })
}

/** Names of one node, from the time when selectors could name them. */
function migrateTrigger(trigger: Record<string, unknown>, at: Pointer, migration: Migration): void {
  if (Object.hasOwn(trigger, 'nodeId')) {
    delete trigger['nodeId']
    migration.warnings.push({
      code: 'policy/node-id',
      at: { pointer: child(at, 'nodeId') },
      message:
        'triggers do not name nodes: the policy watches every node that its selector and condition match',
      hint: 'Use trigger.selector with kind or capabilityId',
    })
  }
  const selector = own(trigger, 'selector')
  for (const [holder, where] of [
    [trigger, at],
    [selector, child(at, 'selector')],
  ] as const) {
    if (!isObject(holder)) continue
    for (const [key, message] of Object.entries(goneFromSelectors)) {
      if (!Object.hasOwn(holder, key)) continue
      migration.issues.push(removed(child(where, key), message, 'Select by kind or capabilityId'))
    }
  }
}

const goneFromSelectors = {
  nodeId: 'selectors no longer name nodes: plans are made anew, and the ids with them',
  relation: 'selectors no longer lead to the previous or next node: policies do not change the flow',
} as const

function refuseOldActions(action: unknown, at: Pointer, migration: Migration): void {
  if (!isObject(action)) return
  const type = own(action, 'type')
  const row = typeof type === 'string' ? oldAction(type) : undefined
  if (row !== undefined) migration.issues.push(removed(at, row.message, row.hint))
  for (const key of ['approveAction', 'rejectAction']) {
    refuseOldActions(own(action, key), child(at, key), migration)
  }
}

function oldAction(type: string): { readonly message: string; readonly hint: string } | undefined {
  if (/^goto(\.|$)/.test(type)) {
    return {
      message: `the action "${type}" is gone: policies do not change the flow`,
      hint: 'Use replan or hitl',
    }
  }
  const today = Object.hasOwn(renamedActions, type) ? renamedActions[type] : undefined
  if (today === undefined) return undefined
  return {
    message: `the action "${type}" is now called "${today}"`,
    hint: `Use ${today} (${type} → ${today})`,
  }
}

/** The dispatcher's verbs of earlier versions. */
const renamedActions: Readonly<Record<string, string>> = { hitl_pause: 'hitl', fail_run: 'fail' }

function removed(pointer: Pointer, message: string, hint: string): ParseIssue {
  return { code: 'policy/removed', at: { pointer }, message, hint }
}

// Converts the flat policies of older callers (`requiresHitlApproval: true` beside `planner` and `runtime`): one row
// maps each. None is dropped silently; a policy without a row is rejected by name.

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
  const names = [
    'planner',
    'runtime',
    'onNodeFail',
    'rejectAction',
    'approvers',
    ...Object.keys(flatPolicies),
  ]
  return Object.keys(policies)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = closest(name, names)
      return {
        code: 'policy/unknown',
        at: { pointer: child('', name) },
        message: `policy ${JSON.stringify(name.slice(0, 80))} not found`,
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
