/**
 * Obligations on limits: those of single nodes, as far as their capabilities declare the facts (dispatch enforces them
 * again), with the conditions of nodes; and those of the run.
 */
import { type Json, own } from '../../../base/json.ts'
import { type Capability, canAct } from '../../../domain/capability.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { Envelope } from '../../../domain/envelope.ts'
import { countAsks } from '../../../domain/plan/count-asks.ts'
import type { Limits } from '../../../domain/plan.ts'
import { isRaoPolicy } from '../../../domain/policy.ts'
import { parseCondition } from '../../../schema/condition/condition.ts'
import { createWorld, type World } from '../../../schema/values/known-values.ts'
import { getValueLookup, type Path } from '../../../schema/values/schema-values.ts'
import { join, meet, nothing, onlyMissing, type ValueSet } from '../../../schema/values/value-set.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { neverNumber, neverNumbers } from '../goals/vacuous-truth.ts'
import type { ProveRequest, Resolved, ResolvedNode } from '../proof-request.ts'
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
    const output = createWorld(getValueLookup(node.output))
    const input = createWorld(getInputs(node, resolved))
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
function getInputs({ input, inputs }: ResolvedNode, resolved: Resolved): (path: Path) => ValueSet {
  const allowed = getValueLookup(input)
  return (path) => {
    const [name, ...rest] = path
    if (name === undefined) return allowed(path)
    const sources = inputs[name] ?? []
    const found = sources.map((source) => valuesAt(source, rest, resolved)).reduce(join, nothing)
    return sources.length === 0 ? onlyMissing : meet(found, allowed(path))
  }
}

const rows = [
  { limit: 'maxTokens', amount: 'tokens', unit: 'tokens' },
  { limit: 'maxCostUsd', amount: 'costUsd', unit: 'dollars' },
] as const

/** Rejects the plan if even its minimum usage exceeds a limit of the run, and reports a diagnostic if its maximum may. */
export function spending(resolved: Resolved): readonly Diagnostic[] {
  return [...amounts(resolved), ...asking(resolved)]
}

/** Reports a limit on asks that the plan may exceed; a run that reaches it loses the work done before. */
function asking({ request }: Resolved): Diagnostic[] {
  const { maxAsks } = getEffectiveLimits(request)
  if (maxAsks === undefined) return []
  const { planner, runtime, onNodeFail } = request.envelope.policies
  const { askBeforeFinish, hitlRequiredFor, sideEffects } = planner.directives ?? {}
  const capabilities = new Map(request.capabilities.map((each) => [each.capabilityId, each]))
  const asks = countAsks(request.draft, {
    capability: (id) => capabilities.get(id),
    onNodeFail,
    sideEffectsAllowed: sideEffects === 'allow',
    labels: new Set(Array.isArray(hitlRequiredFor) ? hitlRequiredFor.map(String) : []),
    hasRaoPolicy: runtime.some((policy) => isRaoPolicy(policy) && policy.enabled),
  })
  const most = asks + (askBeforeFinish === true ? 1 : 0)
  if (most <= maxAsks) return []
  return [
    createDiagnostic('plan/may-exceed-limit', {
      constraint: `maxAsks ${maxAsks} covers up to ${most} asks`,
      suggestion: `Raise maxAsks to ${most} (max_asks in a pipeline), or lower maxItems or maxRounds around the nodes that ask`,
      details: { limit: maxAsks, most },
    }),
  ]
}

function amounts({ request }: Resolved): readonly Diagnostic[] {
  const limits = getEffectiveLimits(request)
  if (limits.maxTokens === undefined && limits.maxCostUsd === undefined) return []
  const estimate = request.estimate?.(request.draft)
  if (estimate === undefined) return []
  const ranges = rows.flatMap(({ limit, amount, unit }) => {
    const most = limits[limit]
    const range = estimate[amount]
    if (most === undefined || range === undefined || range.most <= most) return []
    const code = range.least > most ? 'plan/over-limit' : 'plan/may-exceed-limit'
    return [
      createDiagnostic(code, {
        constraint: `${limit} ${most} covers ${range.least} to ${range.most} ${unit}`,
        suggestion: `Raise ${limit} to ${range.most}, or lower callBudget or retries of the nodes`,
        details: { limit: most, least: range.least, most: range.most },
      }),
    ]
  })
  return limits.maxCostUsd === undefined ? ranges : [...ranges, ...unpriced(estimate.unknownPrices ?? [])]
}

/** Reports models without a price: their cost is unknown, so they are not called in a run with a cost limit. */
function unpriced(models: readonly string[]): Diagnostic[] {
  return models.map((model) =>
    createDiagnostic('plan/price-unknown', {
      constraint: `the price of the model "${model}" is known, because the run limits its cost`,
      suggestion: `Give its price in \`prices\`, or limit maxTokens instead of maxCostUsd: without a price it is not called`,
      details: { model },
    }),
  )
}

// Combines the limits that caller, draft and operator set for a run; the smallest wins.

const names = [
  'maxTokens',
  'maxCalls',
  'maxCostUsd',
  'deadlineMs',
  'concurrency',
  'maxAsks',
  'maxReplans',
] as const satisfies (keyof Limits)[]

export function getEffectiveLimits({ draft, envelope, limits }: ProveRequest): Limits {
  return smallest([draft.limits, limits, ...saidIn(envelope)])
}

/** The caller's own limits, which apply before there is a plan. */
export function envelopeLimits(envelope: Envelope): Limits {
  return smallest(saidIn(envelope))
}

type Given = { readonly [name: string]: unknown } | undefined

function saidIn({ constraints, policies }: Envelope): Given[] {
  const tokens = policies.planner.optimisation?.maxTokens
  return [constraints, tokens === undefined ? {} : { maxTokens: tokens }]
}

function smallest(given: readonly (Given | Limits)[]): Limits {
  const least: { [name in (typeof names)[number]]?: number } = {}
  for (const name of names)
    for (const each of given) {
      const value: unknown = each?.[name]
      if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) continue
      least[name] = Math.min(least[name] ?? value, value)
    }
  return least
}
