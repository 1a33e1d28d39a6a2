/**
 * Obligation on inputs: the supplied value satisfies the input contract; proved, refuted with a counter-example, or
 * left to validation at run time.
 */
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
import { type Resolved, type ResolvedNode, toCompileOptions } from '../proof-request.ts'
import { schemaOf } from '../sources.ts'
import { wholeInput } from './whole-input.ts'

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
