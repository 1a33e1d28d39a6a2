/** The facet catalog: unique names, directions kept, and the capabilities that come with Proviso fit into it. */
import { describe, expect, it } from 'vitest'
import { marketingFacets, marketingRegistrations } from '../../presets/marketing/index.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import type { Facet } from '../facet.ts'
import { createFacetCatalog } from './collect-catalog.ts'
import { parseCapability } from './parse-capability.ts'

const catalog = createFacetCatalog(marketingFacets)

describe('the catalog', () => {
  it('has the twelve facets with their directions', () => {
    const names = (direction: string) =>
      catalog.list().flatMap(({ name, metadata }) => (metadata.direction === direction ? [name] : []))
    expect(names('input')).toEqual([
      'objectiveBrief',
      'audienceProfile',
      'toneOfVoice',
      'assetBundle',
      'qaRubric',
    ])
    expect(names('bidirectional')).toEqual(['writerBrief', 'planKnobs', 'copyVariants'])
    expect(names('output')).toEqual([
      'strategicRationale',
      'rationaleSummary',
      'qaFindings',
      'recommendationSet',
    ])
  })

  it('finds facets by name, and nothing by inherited names', () => {
    expect(catalog.get('copyVariants')?.title).toBe('Copy Variants')
    expect(catalog.get('toString')).toBeUndefined()
  })

  it('resolves many in the order asked for', () => {
    const resolved = catalog.resolveMany(['writerBrief', 'toneOfVoice'], 'input')
    expect(resolved.ok && resolved.value.map(({ name }) => name)).toEqual(['writerBrief', 'toneOfVoice'])
  })

  it('says which names are unknown and which go the other way', () => {
    expect(catalog.resolveMany(['copyVariant', 'qaFindings', 'colour'], 'input')).toMatchObject({
      ok: false,
      issues: [
        { code: 'facet/unknown', at: { pointer: '/0' }, hint: 'Did you mean "copyVariants"?' },
        { code: 'facet/direction', at: { pointer: '/1' } },
        { code: 'facet/unknown', at: { pointer: '/2' }, hint: 'Add it to the catalog first' },
      ],
    })
  })

  it('refuses two facets of one name and dependencies on nothing', () => {
    const facet = marketingFacets[0] as Facet
    expect(() => createFacetCatalog([facet, facet])).toThrow(/"objectiveBrief" is there twice/)
    const needy = { ...facet, metadata: { ...facet.metadata, dependencies: ['nothing'] } }
    expect(() => createFacetCatalog([needy])).toThrow(/depends on "nothing"/)
  })

  it('has schemas that compile under the limits of untrusted schemas and accept what flat policies put there', () => {
    for (const { schema } of catalog.list()) compileSchema(schema, { untrusted: true })
    const accepts = (name: string, value: unknown) =>
      compileSchema(catalog.get(name)?.schema ?? false).accepts(value)
    expect(accepts('toneOfVoice', 'inspiring')).toBe(true)
    expect(accepts('toneOfVoice', ['confident', 'supportive'])).toBe(true)
    expect(accepts('audienceProfile', { persona: 'marketer' })).toBe(true)
    expect(accepts('qaFindings', { scores: {}, issues: [], overallStatus: 'pass', overallScore: 1.2 })).toBe(
      false,
    )
  })
})

describe('the capabilities that come with Proviso', () => {
  it.each(marketingRegistrations)('$capabilityId can be registered', (registration) => {
    const parsed = parseCapability(registration, { facetsOnly: true })
    expect(parsed).toMatchObject({ ok: true, value: { idempotent: true, sideEffect: false } })
    expect(catalog.check(registration)).toEqual([])
  })

  it('a registration with a wrong facet is refused at its place', () => {
    expect(catalog.check({ inputContract: ['qaFindings'], outputContract: ['toneOfVoices'] })).toMatchObject([
      { at: { pointer: '/inputContract/0' }, code: 'facet/direction' },
      { at: { pointer: '/outputContract/0' }, code: 'facet/unknown', hint: 'Did you mean "toneOfVoice"?' },
    ])
    expect(catalog.check({ inputContract: { type: 'object' }, outputContract: [] })).toEqual([])
  })
})
