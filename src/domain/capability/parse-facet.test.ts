/** Facets: both spellings of the specification come to one form. */
import { describe, expect, it } from 'vitest'
import { marketingFacets } from '../../presets/marketing/index.ts'
import { parseFacet } from './parse-facet.ts'

const sample = {
  name: 'toneOfVoice',
  title: 'Tone of Voice',
  description: 'Adjusts emotional style and diction of the generated text.',
  schema: { type: 'string', enum: ['friendly', 'professional', 'inspiring'] },
  semantics: 'Agent should skew language, phrasing, word choice to reflect the tone value.',
  metadata: { version: 'v1', directionality: 'input' },
}

const canonical = {
  ...sample,
  semantics: { instruction: sample.semantics },
  metadata: { version: 'v1', direction: 'input' },
}

function locations(given: unknown) {
  const parsed = parseFacet(given)
  return parsed.ok ? 'accepted' : parsed.issues.map(({ at }) => 'pointer' in at && at.pointer)
}

describe('a facet', () => {
  it.each([
    ['the sample of the specification', sample],
    ['direction and semantics as they are kept', canonical],
    ['an instruction of its own', { ...sample, semantics: undefined, instruction: sample.semantics }],
    ['both spellings when they agree', { ...sample, metadata: { ...sample.metadata, direction: 'input' } }],
  ])('is read from %s', (_, given) => {
    expect(parseFacet(given)).toEqual({ ok: true, value: canonical, warnings: [] })
  })

  it('needs a name, a schema and a direction; the rest is filled', () => {
    const least = { name: 'mood', schema: true, metadata: { direction: 'output' } }
    expect(parseFacet(least)).toMatchObject({
      value: {
        name: 'mood',
        title: 'mood',
        description: '',
        schema: true,
        semantics: { instruction: '' },
        metadata: { version: 'v1', direction: 'output' },
      },
    })
  })

  it.each<[given: unknown, locations: readonly string[]]>([
    [{ ...sample, name: 'a.b' }, ['/name']],
    [{ ...sample, name: '__proto__/x' }, ['/name']],
    [{ ...sample, schema: { type: 'strin' } }, ['/schema/type']],
    [{ ...sample, metadata: { direction: 'sideways' } }, ['/metadata/direction']],
    [{ ...sample, metadata: { direction: 'input', directionality: 'output' } }, ['/metadata/directionality']],
    [{ ...sample, instruction: 'something else' }, ['/instruction']],
    [{ ...sample, titel: 'x' }, ['/titel']],
    [7, ['']],
  ])('is refused with the place: %j', (given, expected) => {
    expect(locations(given)).toEqual(expected)
  })

  it('without a direction is reported', () => {
    expect(locations({ ...sample, metadata: {} })).toContain('/metadata/direction')
  })
})

it('keeps the facets that come with Proviso as they are', () => {
  for (const facet of marketingFacets) {
    expect(parseFacet(facet)).toEqual({ ok: true, value: facet, warnings: [] })
  }
})
