/** An output contract of a node that no output of its capability satisfies is a located finding, before anything runs. */
import { describe, expect, it } from 'vitest'
import { parseCapability, parseDraft, parseEnvelope, prove } from '../../../src/plan/index.ts'

const S = { type: 'string' } as const
const I = { type: 'integer' } as const
const obj = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})

function value<T>(parsed: { readonly ok: boolean } & { readonly value?: T; readonly issues?: unknown }): T {
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.value as T
}

function proved(supplied: object, own: object, more: object = {}) {
  const node = { id: 'write', capabilityId: 'writer', contracts: { output: own }, ...more }
  const proof = prove({
    envelope: value(parseEnvelope({ objective: 'Write', inputs: {}, outputContract: { schema: true } })),
    facets: [],
    capabilities: [
      value(
        parseCapability({
          capabilityId: 'writer',
          version: '1',
          displayName: 'Writer',
          summary: 'Writes',
          kind: 'local',
          inputContract: { type: 'object' },
          outputContract: supplied,
        }),
      ),
    ],
    draft: value(parseDraft({ nodes: [node] })),
  } as never)
  const { failures, status } = proof.ok ? proof.plan.diagnostics : proof.diagnostics
  return {
    status,
    found: failures.filter(({ details }) => details?.['code'] === 'plan/output-contradiction'),
  }
}

describe('an output contract of a node', () => {
  it.each([
    ['another type', obj({ text: S }), obj({ text: I }), 'text'],
    [
      'another range',
      obj({ score: { ...I, maximum: 5 } }),
      obj({ score: { type: 'number', minimum: 6 } }),
      'score',
    ],
    ['another value', obj({ tone: { enum: ['calm', 'warm'] } }), obj({ tone: { const: 'loud' } }), 'tone'],
    [
      'a member that the capability rules out',
      obj({ text: S }, { additionalProperties: false }),
      obj({ score: I }),
      'score',
    ],
    ['a list instead of an object', obj({ text: S }), { type: 'array' }, undefined],
    ['another type inside a member', obj({ a: obj({ b: S }) }), obj({ a: obj({ b: I }) }), 'a'],
  ])('that requires %s is rejected with its location', (_, supplied, own, property) => {
    const { status, found } = proved(supplied, own)
    expect(status).toBe('rejected')
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      nodeId: 'write',
      capabilityId: 'writer',
      severity: 'hard',
      cause: 'schema_incompatible',
      details: { pointer: property === undefined ? '' : `/${property}` },
    })
    expect(found[0]?.suggestion).toContain('contracts.output of "write"')
  })

  it.each([
    ['narrows the type', obj({ score: { type: 'number' } }), obj({ score: I })],
    ['narrows the range', obj({ score: I }), obj({ score: { ...I, minimum: 3 } })],
    ['names an optional member of another type', obj({ text: S }), { properties: { other: I } }],
    [
      'contradicts an optional member only',
      { type: 'object', properties: { text: S } },
      { properties: { text: I } },
    ],
    ['requires a member that an open capability may have', obj({ text: S }), obj({ score: I })],
  ])('that %s is not', (_, supplied, own) => {
    expect(proved(supplied, own).found).toEqual([])
  })
})
