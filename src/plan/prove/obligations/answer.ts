/**
 * Obligation on the answer: every required property has a producer on every path, and the produced values can satisfy
 * the caller's schema. They need not always satisfy it: the engine validates the answer, and constraints state what
 * must be certain.
 */
import type { Json } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { describeSource } from '../../../domain/run/bound-values.ts'
import { both } from '../../../schema/build/combine.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { project } from '../../../schema/build/project.ts'
import { fitOf } from '../../../schema/fit/fit.ts'
import { isVacant } from '../../../schema/values/has-no-values.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { suppliers, tooManyScenarios } from '../hints.ts'
import { type Resolved, type Slot, toCompileOptions } from '../proof-request.ts'
import { findScenarioWithout, isThere, schemaOf } from '../sources.ts'
import { judgeWhole, reasonFor } from './whole.ts'

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
    membersOf(resolved.callerSchema)
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
        ...slot.sources.flatMap((_, i) => judged(slot, i, resolved)),
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

function judged(slot: Slot, index: number, resolved: Resolved): Diagnostic[] {
  const source = slot.sources[index]
  if (source === undefined) return []
  const pointer = slot.prefix.map((name) => child('', name)).join('')
  const wanted = project(resolved.callerSchema, pointer).schema
  const supplied = schemaOf(source, resolved).schema
  const result = fitOf(supplied, wanted, toCompileOptions(resolved.request))
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
