/** Obligations about inputs and the answer: each has a source, and the values of its sources fit. */
import type { Json } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { Source } from '../../../domain/plan.ts'
import { describeSource } from '../../../domain/run/bound-values.ts'
import { both } from '../../../schema/build/combine.ts'
import { listMembers, project } from '../../../schema/build/project.ts'
import { checkFit, type Fit } from '../../../schema/fit/fit.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isVacant } from '../../../schema/values/schema-values.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { suppliers, tooManyScenarios } from '../hints.ts'
import { type Resolved, type ResolvedNode, type Slot, toCompileOptions } from '../proof-request.ts'
import { listConditionRoots } from '../resolve/bind.ts'
import { findScenarioWithout, getSourceSchema, isThere } from '../sources.ts'
import { judgeWhole, reasonFor, wholeInput } from './whole.ts'

export function supply(resolved: Resolved): readonly Diagnostic[] {
  return resolved.nodes.flatMap((node) => [
    ...listMembers(node.input)
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
          suggestion: `Correct the binding, because ${from} has no such value, or ${optional}`,
          details: { property: name, ...(never.label !== '' && { when: never.label }) },
        }),
  ]
}

/** Reports a route whose condition reads an input that has no source: the route would never be taken. */
function unrouted({ draft, id, inputs }: ResolvedNode): Diagnostic[] {
  const wanted = (draft.routing?.routes ?? []).flatMap(({ condition }) => listConditionRoots(condition))
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
    const found = listMembers(node.input).flatMap(({ name }) => {
      const wanted = project(node.input, child('', name)).schema
      if (wanted === true) return []
      return (node.inputs[name] ?? []).flatMap((source) =>
        judgeInput({ node, name, wanted, source }, resolved, seen),
      )
    })
    // Skip the check of the whole input if one property already fails: it would fail for the same reason.
    const isBroken = found.some(({ severity }) => severity === 'hard')
    return isBroken || lacksInput(node) ? found : [...found, ...wholeInput(node, resolved)]
  })
}

/** Whether a required input has no source at all, which the supply obligation reports. */
function lacksInput({ input, inputs }: ResolvedNode): boolean {
  return listMembers(input).some(({ name, required }) => required && inputs[name] === undefined)
}

interface Link {
  readonly node: ResolvedNode
  readonly name: string
  readonly wanted: JsonSchema
  readonly source: Source
}

function judgeInput(link: Link, resolved: Resolved, seen: Map<string, Fit>): Diagnostic[] {
  const { node, name, wanted, source } = link
  const { schema, exact } = getSourceSchema(source, resolved)
  const key = JSON.stringify([schema, wanted])
  const result = seen.get(key) ?? checkFit(schema, wanted, toCompileOptions(resolved.request))
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

export function answer(resolved: Resolved): readonly Diagnostic[] {
  if (isVacant(resolved.callerSchema)) {
    return [
      createDiagnostic('plan/contract-vacant', {
        constraint: "some value satisfies the caller's schema",
        suggestion: 'Change outputContract.schema: what it requires contradicts itself',
      }),
    ]
  }
  const required = new Set(
    listMembers(resolved.callerSchema)
      .filter((member) => member.required)
      .map(({ name }) => name),
  )
  const found = resolved.slots
    .filter(({ inAnswer }) => inAnswer)
    .flatMap((slot) => {
      const [name] = slot.prefix
      const needed = name === undefined || required.has(name)
      return [
        ...(needed ? absent(slot, resolved) : []),
        ...slot.sources.flatMap((_, i) => judgePart(slot, i, resolved)),
      ]
    })
  // Skip the check of the whole answer if a property already fails: it would fail for the same reason.
  return found.some(({ severity }) => severity === 'hard') ? found : [...found, ...wholeAnswer(resolved)]
}

const called = ({ prefix: [name] }: Slot) => (name === undefined ? 'the answer' : `"${name}" of the answer`)

function absent(slot: Slot, resolved: Resolved): Diagnostic[] {
  const without = findScenarioWithout(slot.sources, resolved)
  if (without === undefined) return []
  const optional = slot.sources.some((source) => isThere(source, without, resolved) === 'maybe')
  return [
    createDiagnostic('plan/output-missing', {
      constraint: `${called(slot)} has a producer`,
      suggestion: !without.complete
        ? tooManyScenarios
        : optional
          ? `Make it required in the output of ${slot.sources.map(describeSource).join(' and ')}`
          : slot.sources.length > 0 && without.label !== ''
            ? `Nothing supplies it on this way: ${without.label}. Bind a second source for that way, or make it optional in outputContract.schema`
            : suppliers(slot.prefix, resolved.request),
      details: {
        ...(slot.prefix[0] !== undefined && { property: slot.prefix[0] }),
        ...(without.label !== '' && { when: without.label }),
      },
    }),
  ]
}

function judgePart(slot: Slot, index: number, resolved: Resolved): Diagnostic[] {
  const source = slot.sources[index]
  if (source === undefined) return []
  const pointer = slot.prefix.map((name) => child('', name)).join('')
  const wanted = project(resolved.callerSchema, pointer).schema
  const supplied = getSourceSchema(source, resolved).schema
  const result = checkFit(supplied, wanted, toCompileOptions(resolved.request))
  if (result.kind === 'yes') return []
  // The engine also validates the values against the caller's schema, so the plan is rejected only if no value can
  // pass.
  const never = isVacant(both(supplied, wanted))
  const nodeId = 'node' in source ? { nodeId: source.node } : {}
  return [
    createDiagnostic(never ? 'plan/output-mismatch' : 'plan/output-unproven', {
      constraint: `${called(slot)} accepts what ${describeSource(source)} supplies`,
      ...nodeId,
      suggestion: never
        ? `Nothing it supplies can satisfy the contract: take another source, or change "${result.keyword}"`
        : 'The answer is validated at the end of the run',
      details: {
        pointer: pointer + result.pointer,
        keyword: result.keyword,
        ...(result.kind === 'no' && { witness: result.witness as Json }),
      },
    }),
  ]
}

// The whole answer: each keyword at the root of the caller's schema is proved, refuted in every run, or reported as
// checked at run time only.

/**
 * Runs when every property has its producers; an answer that is the whole output of one node is judged by the property
 * check.
 */
function wholeAnswer(resolved: Resolved): readonly Diagnostic[] {
  const { callerSchema: schema } = resolved
  const slots = resolved.slots.filter(({ inAnswer }) => inAnswer)
  if (slots.some(({ prefix }) => prefix.length === 0)) return []
  const verdict = judgeWhole({ schema, slots }, resolved)
  if (verdict === undefined) return []
  const constraint = (keyword: string) =>
    `the answer as a whole satisfies "${keyword}" of the caller's schema`
  if (verdict.kind === 'depends')
    return verdict.keywords.map((keyword) =>
      createDiagnostic('plan/output-unproven', {
        constraint: constraint(keyword),
        suggestion: `It is checked at run time only, when the answer is complete. Change "${keyword}", or supply the properties that it needs in every run`,
        details: { pointer: '', keyword, schemaPointer: child('', keyword) },
      }),
    )
  const { object } = verdict
  return verdict.broken.map(({ keyword, pointer }) =>
    createDiagnostic('plan/output-mismatch', {
      constraint: constraint(keyword),
      suggestion: `${reasonFor('The answer', { keyword, schema, object })}: change outputContract.schema${pointer}, or which properties the plan supplies`,
      details: { pointer: '', keyword, schemaPointer: pointer, properties: [...object.keys()] },
    }),
  )
}
