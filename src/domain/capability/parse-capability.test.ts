/** Registrations: the sample of the specification as it is, few required fields, old ones explained. */
import { describe, expect, it } from 'vitest'
import { parseCapability } from './parse-capability.ts'

const sample = {
  capabilityId: 'writer.en',
  version: '2025.03.02',
  displayName: 'Content Writer (English)',
  summary: 'Creates long-form and social copy in English with brand-aware tone controls.',
  inputTraits: {
    languages: ['en'],
    formats: ['linkedIn_post', 'twitter_thread'],
    strengths: ['brand_voice_alignment', 'cta_generation'],
    limitations: ['no_paid_ads_claims'],
  },
  inputContract: ['toneOfVoice', 'writerBrief', 'audienceProfile'],
  outputContract: ['copyVariants', 'rationaleSummary'],
  cost: { tier: 'standard', estimatedTokens: 6000 },
  preferredModels: ['gpt-5.1'],
  heartbeat: { intervalSeconds: 60 },
  metadata: { owner: 'marketing-ai', docsUrl: 'https://internal.docs/agents/writer-en' },
}

const least = { capabilityId: 'echo', inputContract: [], outputContract: ['copyVariants'] }

function refused(given: unknown, options = {}) {
  const parsed = parseCapability(given, options)
  if (parsed.ok) throw new Error('was accepted')
  return parsed.issues.map(({ at, hint }) => ({ at: 'pointer' in at && at.pointer, hint }))
}

describe('a capability', () => {
  it('is read from the sample of the specification as it is', () => {
    expect(parseCapability(sample, { facetsOnly: true })).toEqual({
      ok: true,
      warnings: [],
      value: {
        ...sample,
        kind: 'local',
        nodeKind: 'execution',
        idempotent: false,
        sideEffect: false,
        postConditions: [],
      },
    })
  })

  it('needs an id and its two contracts; the rest is filled', () => {
    expect(parseCapability(least)).toMatchObject({
      value: {
        ...least,
        version: '1',
        displayName: 'echo',
        summary: '',
        kind: 'local',
        nodeKind: 'execution',
        idempotent: false,
        sideEffect: false,
        postConditions: [],
      },
    })
  })

  it.each([
    ['model', true],
    ['scripted', true],
    ['http', false],
    ['human', false],
  ])('of kind %s is idempotent by default: %j', (kind, idempotent) => {
    expect(parseCapability({ ...least, kind })).toMatchObject({ value: { kind, idempotent } })
    expect(parseCapability({ ...least, kind, idempotent: !idempotent })).toMatchObject({
      value: { idempotent: !idempotent },
    })
  })

  it('may have schemas by hand, but not over the wire', () => {
    const byHand = { ...least, outputContract: { type: 'object' } }
    expect(parseCapability(byHand).ok).toBe(true)
    expect(refused(byHand, { facetsOnly: true })).toEqual([
      { at: '/outputContract', hint: 'List the names of facets' },
    ])
    expect(refused({ ...least, inputContract: { type: 'strin' } })).toEqual([
      expect.objectContaining({ at: '/inputContract/type' }),
    ])
  })

  it('is refused with the place of every mistake', () => {
    const locations = refused({
      capabilityID: 'x',
      inputContract: 'toneOfVoice',
      outputContract: [],
      nodeKind: 'executing',
      cost: { tokens: 1 },
    })
    expect(locations.map(({ at }) => at).sort()).toEqual([
      '/capabilityID',
      '/capabilityId',
      '/cost/tokens',
      '/inputContract',
      '/nodeKind',
    ])
    expect(locations.find(({ at }) => at === '/capabilityID')?.hint).toBe('Did you mean "capabilityId"?')
    expect(locations.find(({ at }) => at === '/nodeKind')?.hint).toBe('Did you mean "execution"?')
  })

  it('reports where the default contract has moved', () => {
    expect(refused({ ...least, defaultContract: {} })).toEqual([
      { at: '/defaultContract', hint: expect.stringContaining('outputContract') },
    ])
  })

  it('lists no facet twice and has readable conditions', () => {
    expect(refused({ ...least, inputContract: ['a', 'b', 'a'], postConditions: [{}] })).toEqual([
      expect.objectContaining({ at: '/inputContract/2' }),
      expect.objectContaining({ at: '/postConditions/0' }),
    ])
  })
})
