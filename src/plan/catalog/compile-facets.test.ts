/** Facets become contracts, and violations name the facet. */
import { describe, expect, it } from 'vitest'
import type { Direction, Facet } from '../../domain/facet.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { compileContract } from './compile-facets.ts'

function facet(
  name: string,
  schema: JsonSchema,
  more: { direction?: Direction; propertyKey?: string } = {},
): Facet {
  const { direction = 'bidirectional', propertyKey } = more
  return {
    name,
    title: name,
    description: name,
    schema,
    semantics: { instruction: name },
    metadata: { version: '1', direction, ...(propertyKey !== undefined && { propertyKey }) },
  }
}

const catalog = [
  facet('objectiveBrief', { type: 'string' }, { direction: 'input' }),
  facet('copyVariants', { type: 'array', items: { type: 'object' }, minItems: 1 }),
  facet('fewVariants', { type: 'array', maxItems: 2 }, { propertyKey: 'copyVariants' }),
  facet('noVariants', { type: 'array', maxItems: 0 }, { propertyKey: 'copyVariants' }),
  facet('tree', {
    $ref: '#/$defs/node',
    $defs: { node: { type: 'object', properties: { kids: { items: { $ref: '#/$defs/node' } } } } },
  }),
  facet('leafy', { type: 'object', required: ['kids'] }, { propertyKey: 'tree' }),
]
const compile = (...facets: string[]) => compileContract({ facets, catalog, direction: 'output' })

it('is an object with a required property per facet, and says which facet each comes from', () => {
  const { schema, provenance, diagnostics } = compile('copyVariants')
  expect(schema).toEqual({
    type: 'object',
    properties: { copyVariants: { type: 'array', items: { type: 'object' }, minItems: 1 } },
    required: ['copyVariants'],
  })
  expect(provenance).toEqual([{ facet: 'copyVariants', pointer: '/copyVariants' }])
  expect(diagnostics).toEqual([])
})

describe('facets that share a property', () => {
  it('intersect, and a violation names the one that refuses', () => {
    const contract = compile('copyVariants', 'fewVariants')
    expect(contract.validate({ copyVariants: [{}, {}] })).toEqual([])
    expect(contract.validate({ copyVariants: [{}, {}, {}] })).toMatchObject([
      { facet: 'fewVariants', pointer: '/copyVariants', keyword: 'maxItems' },
    ])
    expect(contract.validate({ copyVariants: [] })).toMatchObject([
      { facet: 'copyVariants', keyword: 'minItems' },
    ])
    expect(contract.validate({})).toMatchObject([
      { facet: 'copyVariants', pointer: '/copyVariants', keyword: 'required' },
    ])
    expect(contract.validate(3)).toMatchObject([{ pointer: '', keyword: 'type' }])
  })

  it('are a finding when they contradict each other', () => {
    expect(compile('copyVariants', 'noVariants').diagnostics).toMatchObject([
      {
        severity: 'hard',
        cause: 'schema_incompatible',
        details: { code: 'plan/facet-conflict', facets: ['copyVariants', 'noVariants'] },
      },
    ])
  })
})

it('keeps references of facets working', () => {
  for (const contract of [compile('tree'), compile('tree', 'leafy')]) {
    expect(contract.validate({ tree: { kids: [{ kids: [] }] } })).toEqual([])
    expect(contract.validate({ tree: { kids: [{ kids: [3] }] } })).toMatchObject([
      { facet: 'tree', pointer: '/tree/kids/0/kids/0', keyword: 'type' },
    ])
  }
})

it('refuses unknown facets and those of the other direction', () => {
  expect(compile('nope', 'objectiveBrief').diagnostics).toMatchObject([
    { cause: 'missing_producer', details: { code: 'plan/facet-unknown', facet: 'nope' } },
    { cause: 'schema_incompatible', details: { code: 'plan/facet-direction', facet: 'objectiveBrief' } },
  ])
})
