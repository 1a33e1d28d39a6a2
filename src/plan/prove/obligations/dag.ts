/** Obligations that a plan comes to an end: its graph has no cycle, and each loop has an exit. */

import { closest } from '../../../base/closest.ts'
import { child } from '../../../base/pointer.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { listMembers, project } from '../../../schema/build/project.ts'
import { conditionVars, parseCondition, testedForAbsence } from '../../../schema/condition/condition.ts'
import type { ParsedCondition } from '../../../schema/condition/expr.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { createWorld } from '../../../schema/values/known-values.ts'
import { declares, getValueLookup } from '../../../schema/values/schema-values.ts'
import { decide } from '../../../schema/values/solve.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'
import { listRouteTargets } from '../scenarios/scenario.ts'

export function dag(resolved: Resolved): readonly Diagnostic[] {
  const { graph, nodes, scenarios } = resolved
  if (graph.circle.length > 0) {
    const [first = '', ...others] = graph.circle
    return [
      createDiagnostic('plan/cycle', {
        constraint: `nodes ${graph.circle.join(', ')} do not wait for each other`,
        nodeId: first,
        suggestion: `Remove an edge or a binding between ${[first, ...others].join(', ')}`,
        details: { nodes: [...graph.circle] },
      }),
    ]
  }
  const unreachable = nodes
    .filter(({ id }) => !scenarios.reachable.has(id))
    .map(({ id, capability }) =>
      createDiagnostic('plan/unreachable', {
        constraint: `node "${id}" can run`,
        nodeId: id,
        capabilityId: capability?.capabilityId,
        suggestion: 'Lead an edge or a route to it that can be followed, or remove it',
      }),
    )
  return [
    ...unreachable,
    ...nodes.flatMap((node) => [...bypassed(node, resolved), ...turned(node, resolved)]),
  ]
}

/**
 * Finds edges that bypass a route: an edge to a target from a node before the router activates the target regardless of
 * the route.
 */
function bypassed({ id: router, draft }: ResolvedNode, { graph, byId }: Resolved): Diagnostic[] {
  return [...listRouteTargets(draft)].flatMap((target) =>
    (graph.incoming.get(target) ?? [])
      .filter(({ kind, when, from }) => {
        const isRoute = listRouteTargets(byId.get(from)?.draft).has(target)
        return kind === 'control' && when !== 'fail' && !isRoute && graph.ancestors(router).has(from)
      })
      .map(({ from }) =>
        createDiagnostic('plan/route-bypassed', {
          constraint: `"${router}" decides whether "${target}" runs`,
          nodeId: target,
          suggestion: `Remove the edge from "${from}" to "${target}": it activates "${target}" also when "${router}" takes another route. A binding orders them without it`,
          details: { router, from },
        }),
      ),
  )
}

/** Finds edges that start a fallback node when nothing has failed, and not when something has. */
function turned({ id, kind }: ResolvedNode, { graph, byId }: Resolved): Diagnostic[] {
  if (kind !== 'fallback') return []
  return (graph.incoming.get(id) ?? [])
    .filter((edge) => edge.kind === 'control' && edge.when === 'pass')
    .filter(({ from }) => !listRouteTargets(byId.get(from)?.draft).has(id))
    .map(({ from }) =>
      createDiagnostic('plan/fallback-edge', {
        constraint: `"${id}" runs when "${from}" has failed`,
        nodeId: id,
        suggestion: `Write { "from": "${from}", "to": "${id}", "when": "fail" }, or leave "when" out: with "pass" the fallback runs only when "${from}" has completed. A node that follows "${from}" in any case has another kind`,
        details: { from },
      }),
    )
}

// Obligation on loops: the exit condition parses, the state has the paths it reads, and some possible state satisfies
// it.

export function exits({ draft, id, output }: ResolvedNode): Diagnostic[] {
  const until = draft.loop?.until
  if (until === undefined) return []
  const parsed = parseCondition(until)
  if (!parsed.ok)
    return [
      createDiagnostic('plan/condition', {
        constraint: `loop.until of "${id}" can be read`,
        nodeId: id,
        suggestion: parsed.issues
          .map(({ message, hint }) => (hint ? `${message}. ${hint}` : message))
          .join('\n'),
      }),
    ]
  const unknown = unknownPaths(parsed.condition, output, id)
  if (unknown.length > 0) return unknown
  if (decide(parsed.condition, createWorld(getValueLookup(output))) !== 'false') return []
  return [
    createDiagnostic('plan/loop-exit', {
      constraint: `loop.until of "${id}" can hold`,
      nodeId: id,
      suggestion: 'Compare with something that the state has, or change what the body yields',
    }),
  ]
}

/**
 * Returns paths that the state lacks, or that its schema does not name among others; paths tested with `missing` are
 * intended.
 */
function unknownPaths(condition: ParsedCondition, output: JsonSchema, id: string): Diagnostic[] {
  const tested = new Set(testedForAbsence(condition))
  return conditionVars(condition).flatMap((path) => {
    const steps = path.split('.')
    if (path === '' || tested.has(path) || declares(output, steps)) return []
    const isNever = isAbsent(getValueLookup(output)(steps))
    const names = namesAround(output, steps)
    // A schema that names nothing at this level allows any name.
    if (!isNever && names.length === 0) return []
    const inState = steps[0] === 'state' && declares(output, steps.slice(1)) ? steps.slice(1) : []
    const meant = inState.length > 0 ? inState.join('.') : closest(steps.at(-1) ?? '', names)
    const known =
      names.length === 0 ? 'Compare with what the state has.' : `The state has ${names.join(', ')}.`
    return [
      createDiagnostic(isNever ? 'plan/exit-unknown' : 'plan/exit-undeclared', {
        constraint: `loop.until of "${id}" finds "${path}" in the state`,
        nodeId: id,
        suggestion: `${meant === undefined ? known : `Did you mean "${meant}"?`} Paths begin at the state itself`,
        details: { path },
      }),
    ]
  })
}

/** Returns the property names at the level of the first step that the schema does not declare. */
function namesAround(output: JsonSchema, steps: readonly string[]): string[] {
  const known = steps.findIndex((_, at) => !declares(output, steps.slice(0, at + 1)))
  const parent = project(output, steps.slice(0, known).reduce<string>(child, '')).schema
  return listMembers(parent).map(({ name }) => name)
}
