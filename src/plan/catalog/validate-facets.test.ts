/** Values against facets: every error names the facet, the place and the keyword. */
import { validateFacetInputs, validateFacetOutputs } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import type { Facet } from '../../domain/facet.ts'
import { marketingFacets as catalog } from '../../presets/marketing/index.ts'

const good = [{ headline: 'H', body: 'B', callToAction: 'C' }]

describe('validateFacetInputs', () => {
  it('has nothing to say about a value that satisfies its facets', () => {
    const facets = ['toneOfVoice', 'audienceProfile']
    const value = { toneOfVoice: 'friendly', audienceProfile: { persona: 'marketer' } }
    expect(validateFacetInputs(value, { facets, catalog })).toEqual([])
  })

  it('names facet, pointer and keyword of each violation', () => {
    const facets = ['toneOfVoice', 'audienceProfile']
    const value = { toneOfVoice: 3, audienceProfile: { persona: 7 } }
    const found = validateFacetInputs(value, { facets, catalog })
    expect(found).toContainEqual(
      expect.objectContaining({
        facet: 'audienceProfile',
        pointer: '/audienceProfile/persona',
        keyword: 'type',
      }),
    )
    expect(found.filter(({ facet }) => facet === 'toneOfVoice')).not.toEqual([])
    expect(found.every(({ pointer, keyword }) => pointer.startsWith('/') && keyword !== '')).toBe(true)
  })

  it('says which facet is missing', () => {
    expect(validateFacetInputs({}, { facets: ['audienceProfile'], catalog })).toMatchObject([
      { facet: 'audienceProfile', pointer: '/audienceProfile', keyword: 'required' },
    ])
  })

  it('refuses an output facet, whatever the value', () => {
    const found = validateFacetInputs({ qaFindings: {} }, { facets: ['qaFindings'], catalog })
    expect(found[0]).toMatchObject({ facet: 'qaFindings', keyword: 'facet-direction' })
  })
})

describe('validateFacetOutputs', () => {
  it('takes what an input side would refuse, and the other way round', () => {
    expect(validateFacetOutputs({ copyVariants: good }, { facets: ['copyVariants'], catalog })).toEqual([])
    const found = validateFacetOutputs({ toneOfVoice: 'friendly' }, { facets: ['toneOfVoice'], catalog })
    expect(found).toMatchObject([{ facet: 'toneOfVoice', keyword: 'facet-direction' }])
  })

  it('says where inside a facet the value is wrong', () => {
    const value = { copyVariants: [...good, { headline: 'H', body: 4, callToAction: 'C' }] }
    expect(validateFacetOutputs(value, { facets: ['copyVariants'], catalog })).toMatchObject([
      { facet: 'copyVariants', pointer: '/copyVariants/1/body', keyword: 'type' },
    ])
  })

  it('fails closed on facets that are unknown or contradict each other', () => {
    const typed = (name: string, type: string): Facet => ({
      name,
      title: name,
      description: name,
      schema: { type },
      semantics: { instruction: '' },
      metadata: { version: '1', direction: 'output', propertyKey: 'text' },
    })
    const own = [typed('words', 'string'), typed('digits', 'number')]
    expect(validateFacetOutputs({}, { facets: ['unknown'], catalog })).toMatchObject([
      { facet: 'unknown', keyword: 'facet-unknown' },
    ])
    const found = validateFacetOutputs({ text: 'a' }, { facets: ['words', 'digits'], catalog: own })
    expect(found[0]).toMatchObject({ facet: 'words', pointer: '/text', keyword: 'facet-conflict' })
  })
})
