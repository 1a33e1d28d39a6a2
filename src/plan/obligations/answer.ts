/**
 * The answer: every required property has a producer on every way, and what is produced can satisfy the caller's schema.
 * That it always does is not demanded: the engine validates the answer, and constraints say what must be certain.
 */
import type { Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { both } from '../../schema/combine.ts'
import { fitOf } from '../../schema/fit.ts'
import { membersOf } from '../../schema/members.ts'
import { project } from '../../schema/project.ts'
import { isVacant } from '../../schema/vacant.ts'
import { finding } from '../findings.ts'
import type { Resolved, Slot } from '../request.ts'
import { describeSource, isThere, schemaOf } from '../sources.ts'
import { suppliers, tooManyWays } from '../suggest.ts'
import { wayWithout } from '../without.ts'
import { wholeAnswer } from './whole-answer.ts'

export function answer(resolved: Resolved): readonly Diagnostic[] {
  if (isVacant(resolved.callerSchema)) {
    return [
      finding('plan/contract-vacant', {
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
  // What a property lacks is enough to know; the whole would only fail because of it.
  return found.some(({ severity }) => severity === 'hard') ? found : [...found, ...wholeAnswer(resolved)]
}

const called = ({ prefix: [name] }: Slot) => (name === undefined ? 'the answer' : `"${name}" of the answer`)

function absent(slot: Slot, resolved: Resolved): Diagnostic[] {
  const without = wayWithout(slot.sources, resolved)
  if (without === undefined) return []
  const optional = slot.sources.some((source) => isThere(source, without, resolved) === 'maybe')
  return [
    finding('plan/output-missing', {
      constraint: `${called(slot)} has a producer`,
      suggestion: !without.complete
        ? tooManyWays
        : optional
          ? `Make it required in the output of ${slot.sources.map(describeSource).join(' and ')}`
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
  const result = fitOf(supplied, wanted, { untrusted: resolved.request.untrusted ?? false })
  if (result.kind === 'yes') return []
  // Whatever is produced is validated against the caller's schema too: only if nothing can pass is the plan at fault.
  const never = isVacant(both(supplied, wanted))
  const nodeId = 'node' in source ? { nodeId: source.node } : {}
  return [
    finding(never ? 'plan/output-mismatch' : 'plan/output-unproven', {
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
