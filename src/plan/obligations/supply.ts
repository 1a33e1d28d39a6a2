/** Every required input of every node is there on every way to it. */
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { membersOf } from '../../schema/members.ts'
import { finding } from '../findings.ts'
import { rootsOf } from '../names.ts'
import type { Resolved, ResolvedNode } from '../request.ts'
import { isThere } from '../sources.ts'
import { suppliers, tooManyWays } from '../suggest.ts'
import { wayWithout } from '../without.ts'

export function supply(resolved: Resolved): readonly Diagnostic[] {
  return resolved.nodes.flatMap((node) => [
    ...membersOf(node.input)
      .filter(({ required }) => required)
      .flatMap(({ name }) => lacking(node, name, resolved)),
    ...unrouted(node),
  ])
}

function lacking(node: ResolvedNode, name: string, resolved: Resolved): Diagnostic[] {
  const sources = node.inputs[name] ?? []
  const without = wayWithout(sources, resolved, node.id)
  if (without === undefined) return []
  const optional = sources.some((source) => isThere(source, without, resolved) === 'maybe')
  return [
    finding('plan/input-missing', {
      constraint: `input "${name}" of "${node.id}" is supplied`,
      nodeId: node.id,
      capabilityId: node.capability?.capabilityId,
      suggestion: !without.complete
        ? tooManyWays
        : optional
          ? `Make "${name}" required in the output that supplies it`
          : suppliers([name], resolved.request),
      details: { property: name, ...(without.label !== '' && { when: without.label }) },
    }),
  ]
}

/** A route that looks at something that nobody supplies would never be taken. */
function unrouted({ draft, id, inputs }: ResolvedNode): Diagnostic[] {
  const wanted = (draft.routing?.routes ?? []).flatMap(({ condition }) => rootsOf(condition))
  return [...new Set(wanted)]
    .filter((name) => !Object.hasOwn(inputs, name))
    .map((name) =>
      finding('plan/input-missing', {
        constraint: `input "${name}" of "${id}" is supplied`,
        nodeId: id,
        suggestion: `Put a node that supplies "${name}" before "${id}", or bind it`,
        details: { property: name },
      }),
    )
}
