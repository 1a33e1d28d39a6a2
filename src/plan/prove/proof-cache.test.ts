import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Draft } from '../../domain/plan.ts'
import { parseCapability, parseDraft, parseEnvelope } from '../parse-nouns.ts'
import { rememberProofs } from './proof-cache.ts'
import { prove } from './prove.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

function value<T>(parsed: { ok: true; value: T } | { ok: false; issues: unknown }): T {
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.value
}

const capability = (capabilityId: string, inputContract: object) =>
  value(
    parseCapability({
      capabilityId,
      version: '1',
      displayName: capabilityId,
      summary: capabilityId,
      kind: 'local',
      inputContract,
      outputContract: text,
    }),
  )

const capabilities = [
  capability('short', {
    type: 'object',
    properties: { text: { type: 'string', maxLength: 3 } },
    required: ['text'],
  }),
  capability('free', { type: 'object', properties: {} }),
]

const envelope = (inputs: object, more: object = {}) =>
  value(parseEnvelope({ objective: 'Say it', inputs, outputContract: { schema: text }, ...more }))

const taking: Draft = value(
  parseDraft({
    nodes: [{ id: 'a', capabilityId: 'short', inputs: { text: { envelope: '/inputs/text' } } }],
    output: { node: 'a' },
  }),
)
const free: Draft = value(parseDraft({ nodes: [{ id: 'a', capabilityId: 'free' }], output: { node: 'a' } }))

const request = (draft: Draft, given: ReturnType<typeof envelope>, version = 1) => ({
  draft,
  envelope: given,
  facets: [],
  capabilities,
  version,
})

const planOf = (proof: ReturnType<typeof prove>) => (proof.ok ? proof.plan : undefined)

describe('proofs that are remembered', () => {
  it('gives the plan of the same draft again, whatever the rest of the envelope says', () => {
    const remembering = rememberProofs()
    const first = planOf(remembering(request(free, envelope({ text: 'a' }))))
    expect(first).toBeDefined()
    const other = envelope({ text: 'another' }, { objective: 'Say something else' })
    expect(planOf(remembering(request(free, other)))).toBe(first)
  })

  it('looks again when a value changes that the plan takes', () => {
    const remembering = rememberProofs()
    expect(remembering(request(taking, envelope({ text: 'abc' }))).ok).toBe(true)
    expect(remembering(request(taking, envelope({ text: 'abcd' }))).ok).toBe(false)
    expect(remembering(request(taking, envelope({ text: null }))).ok).toBe(false)
    expect(remembering(request(taking, envelope({}))).ok).toBe(false)
  })

  it('proves again when the contract, the version or the capabilities change', () => {
    const remembering = rememberProofs()
    const first = planOf(remembering(request(free, envelope({}))))
    const number = { schema: { type: 'object', properties: { text: { type: 'number' } } } }
    expect(remembering(request(free, envelope({}, { outputContract: number }))).ok).toBe(false)
    expect(planOf(remembering(request(free, envelope({}), 2)))?.version).toBe(2)
    const rejected = remembering({ ...request(free, envelope({})), capabilities: [] })
    expect(rejected.ok).toBe(false)
    expect(planOf(remembering(request(free, envelope({}))))).toBe(first)
  })

  it('keeps as many plans as it may, and none of long drafts', () => {
    const few = rememberProofs({ plans: 1, length: 100_000 })
    const first = planOf(few(request(free, envelope({}))))
    few(request(free, envelope({}), 2))
    expect(planOf(few(request(free, envelope({}))))).not.toBe(first)
    const short = rememberProofs({ plans: 9, length: 10 })
    expect(planOf(short(request(free, envelope({}))))).not.toBe(planOf(short(request(free, envelope({})))))
  })

  it('says what a fresh proof says, for any order of envelopes', () => {
    const inputs = fc.record(
      { text: fc.oneof(fc.string({ maxLength: 5 }), fc.constant(null), fc.integer()), more: fc.string() },
      { requiredKeys: [] },
    )
    const one = fc.tuple(fc.constantFrom(taking, free), inputs, fc.integer({ min: 1, max: 2 }))
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), (many) => {
        const remembering = rememberProofs({ plans: 3, length: 100_000 })
        for (const [draft, given, version] of many) {
          const asked = request(draft, envelope(given), version)
          expect(remembering(asked)).toEqual(prove(asked))
        }
      }),
    )
  })
})
