/** Obligations about inputs: each has a source, and the values of its sources fit. */

import type { Json } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { Source } from '../../../domain/plan.ts'
import { describeSource } from '../../../domain/run/bound-values.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { project } from '../../../schema/build/project.ts'
import { type Fit, fitOf } from '../../../schema/fit/fit.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { suppliers, tooManyScenarios } from '../hints.ts'
import { type Resolved, type ResolvedNode, toCompileOptions } from '../proof-request.ts'
import { rootsOf } from '../resolve/bind.ts'
import { findScenarioWithout, isThere, schemaOf } from '../sources.ts'
import { wholeInput } from './whole.ts'

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

// Obligation on inputs: the supplied value satisfies the input contract; proved, refuted with a counter-example, or
// left to validation at run time.

export function contractsFit(resolved: Resolved): readonly Diagnostic[] {
  const seen = new Map<string, Fit>()
  return resolved.nodes.flatMap((node) => {
    const found = membersOf(node.input).flatMap(({ name }) => {
      const wanted = project(node.input, child('', name)).schema
      if (wanted === true) return []
      return (node.inputs[name] ?? []).flatMap((source) =>
        judged({ node, name, wanted, source }, resolved, seen),
      )
    })
    // Skip the check of the whole input if one property already fails: it would fail for the same reason.
    const isBroken = found.some(({ severity }) => severity === 'hard')
    return isBroken || lacksInput(node) ? found : [...found, ...wholeInput(node, resolved)]
  })
}

/** Whether a required input has no source at all, which the supply obligation reports. */
function lacksInput({ input, inputs }: ResolvedNode): boolean {
  return membersOf(input).some(({ name, required }) => required && inputs[name] === undefined)
}

interface Link {
  readonly node: ResolvedNode
  readonly name: string
  readonly wanted: JsonSchema
  readonly source: Source
}

function judged(link: Link, resolved: Resolved, seen: Map<string, Fit>): Diagnostic[] {
  const { node, name, wanted, source } = link
  const { schema, exact } = schemaOf(source, resolved)
  const key = JSON.stringify([schema, wanted])
  const result = seen.get(key) ?? fitOf(schema, wanted, toCompileOptions(resolved.request))
  seen.set(key, result)
  if (result.kind === 'yes') return []
  const proven = result.kind === 'no' && exact
  return [
    createDiagnostic(proven ? 'plan/input-mismatch' : 'plan/input-unproven', {
      constraint: `input "${name}" of "${node.id}" accepts what ${describeSource(source)} supplies`,
      nodeId: node.id,
      capabilityId: node.capability?.capabilityId,
      suggestion: proven
        ? `Change "${result.keyword}" on one side so that they agree, or put a transformation between them`
        : 'The value is validated before the node starts',
      details: {
        property: name,
        pointer: result.pointer,
        keyword: result.keyword,
        ...(result.kind === 'no' && { witness: result.witness as Json }),
      },
    }),
  ]
}
