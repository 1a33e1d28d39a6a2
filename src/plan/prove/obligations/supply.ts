/**
 * Obligation on inputs: every required input of every node, from its contract or bound, is supplied on every path to
 * it.
 */

import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { describeSource } from '../../../domain/run/bound-values.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { suppliers, tooManyScenarios } from '../diagnostics/suggest.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'
import { rootsOf } from '../resolve/property-names.ts'
import { findScenarioWithout, isThere } from '../sources.ts'

export function supply(resolved: Resolved): readonly Diagnostic[] {
  return resolved.nodes.flatMap((node) => [
    ...membersOf(node.input)
      .filter(({ required }) => required)
      .flatMap(({ name }) => lacking(node, name, resolved)),
    ...node.requires.flatMap((name) => unsupplied(node, name, resolved)),
    ...unrouted(node),
  ])
}

function lacking(node: ResolvedNode, name: string, resolved: Resolved): Diagnostic[] {
  const sources = node.inputs[name] ?? []
  const without = findScenarioWithout(sources, resolved, node.id)
  if (without === undefined) return []
  const optional = sources.some((source) => isThere(source, without, resolved) === 'maybe')
  return [
    createDiagnostic('plan/input-missing', {
      constraint: `input "${name}" of "${node.id}" is supplied`,
      nodeId: node.id,
      capabilityId: node.capability?.capabilityId,
      suggestion: !without.complete
        ? tooManyScenarios
        : optional
          ? `Make "${name}" required in the output that supplies it`
          : suppliers([name], resolved.request),
      details: { property: name, ...(without.label !== '' && { when: without.label }) },
    }),
  ]
}

/** Checks a bound input that no contract names: refuted if it is never present, else checked before the node starts. */
function unsupplied(node: ResolvedNode, name: string, resolved: Resolved): Diagnostic[] {
  const sources = node.inputs[name] ?? []
  // Inputs without any source are reported by `unrouted`.
  if (sources.length === 0 || findScenarioWithout(sources, resolved, node.id) === undefined) return []
  const never = findScenarioWithout(sources, resolved, node.id, { certain: true })
  const optional = `name "${name}" in contracts.input of "${node.id}" without requiring it if it is optional`
  const said = {
    constraint: `input "${name}" of "${node.id}" is supplied`,
    nodeId: node.id,
    capabilityId: node.capability?.capabilityId,
  }
  const from = sources.map(describeSource).join(' and ')
  return [
    never === undefined
      ? createDiagnostic('plan/input-unproven', {
          ...said,
          suggestion: `Without a value at run time "${node.id}" fails: make it required in what ${from} supplies, bind another source, or ${optional}`,
          details: { property: name },
        })
      : createDiagnostic('plan/input-missing', {
          ...said,
          suggestion: `There is no value in ${from}: correct the binding, or ${optional}`,
          details: { property: name, ...(never.label !== '' && { when: never.label }) },
        }),
  ]
}

/** Reports a route whose condition reads an input that has no source: the route would never be taken. */
function unrouted({ draft, id, inputs }: ResolvedNode): Diagnostic[] {
  const wanted = (draft.routing?.routes ?? []).flatMap(({ condition }) => rootsOf(condition))
  return [...new Set(wanted)]
    .filter((name) => !Object.hasOwn(inputs, name))
    .map((name) =>
      createDiagnostic('plan/input-missing', {
        constraint: `input "${name}" of "${id}" is supplied`,
        nodeId: id,
        suggestion: `Put a node that supplies "${name}" before "${id}", or bind it`,
        details: { property: name },
      }),
    )
}
