import { describe, expect, it } from 'vitest'
import type { Envelope } from '../../domain/envelope.ts'
import type { Facet } from '../../domain/facet.ts'
import { marketingFacets, marketingRegistrations } from '../../presets/marketing/index.ts'
import { addOwnCapabilities, createCatalog } from './catalog.ts'
import { scoreTable } from './score.ts'

/** A catalog on a clock that a test can move. */
function open(more: Partial<Parameters<typeof createCatalog>[0]> = {}) {
  const clock = { time: 1_000, now: () => clock.time }
  return { clock, catalog: createCatalog({ facets: marketingFacets, clock, ...more }) }
}

const writer = { capabilityId: 'writer.en', inputContract: ['toneOfVoice'], outputContract: ['copyVariants'] }
const ids = (capabilities: readonly { capabilityId: string }[]) =>
  capabilities.map(({ capabilityId }) => capabilityId)
const codes = (parsed: ReturnType<ReturnType<typeof createCatalog>['register']>) =>
  parsed.ok ? [] : parsed.issues.map(({ code, at }) => [code, 'pointer' in at ? at.pointer : ''])

describe('registration', () => {
  it('accepts the inventory, and keeps the compiled schemas as the one truth', () => {
    const { catalog } = open()
    for (const given of marketingRegistrations)
      expect(catalog.register(given, { facetsOnly: true }).ok).toBe(true)
    const entry = catalog.getCapabilityById('ContentGeneratorAgent.linkedinVariants')
    expect(entry?.contracts.output).toMatchObject({ required: ['copyVariants'] })
    expect(entry).toMatchObject({ status: 'active', registeredAt: 1_000, lastSeenAt: 1_000 })
  })

  it('refuses unknown facets, facets that go the other way, and values that cannot be parsed', () => {
    const { catalog } = open()
    expect(codes(catalog.register({ ...writer, inputContract: ['toneOfVoise'] }))).toEqual([
      ['facet/unknown', '/inputContract/0'],
    ])
    expect(codes(catalog.register({ ...writer, outputContract: ['toneOfVoice'] }))).toEqual([
      ['facet/direction', '/outputContract/0'],
    ])
    expect(codes(catalog.register({ capabilityId: 'x' })).length).toBeGreaterThan(0)
    expect(catalog.listActive()).toEqual([])
  })

  it('refuses facets that contradict each other', () => {
    const facet = (name: string, type: string): Facet => ({
      name,
      title: name,
      description: name,
      schema: { type },
      semantics: { instruction: '' },
      metadata: { version: '1', direction: 'bidirectional', propertyKey: 'same' },
    })
    const { catalog } = open({ facets: [facet('a', 'string'), facet('b', 'number')] })
    expect(
      codes(catalog.register({ capabilityId: 'x', inputContract: [], outputContract: ['a', 'b'] })),
    ).toEqual([['facet/conflict', '/outputContract']])
  })

  it('takes a registration again as a sign of life, and as the new word', () => {
    const { catalog, clock } = open()
    catalog.register(writer)
    clock.time = 5_000
    catalog.register({ ...writer, version: '2' })
    expect(catalog.getCapabilityById('writer.en')).toMatchObject({ registeredAt: 1_000, lastSeenAt: 5_000 })
    expect(catalog.capability('writer.en')?.version).toBe('2')
  })

  it('has room for so many, and lets the longest silent one go first', () => {
    const { catalog, clock } = open({ maxEntries: 2 })
    const beating = { heartbeat: { intervalSeconds: 1 } }
    catalog.register({ ...writer, ...beating })
    catalog.register({ ...writer, capabilityId: 'b' })
    expect(codes(catalog.register({ ...writer, capabilityId: 'c' }))).toEqual([['catalog/full', '']])
    clock.time += 10_000
    expect(catalog.register({ ...writer, capabilityId: 'c' }).ok).toBe(true)
    expect(ids(catalog.entries().map(({ capability }) => capability))).toEqual(['b', 'c'])
  })
})

describe('life', () => {
  it('goes inactive after three missed heartbeats or its own timeout, and comes back with the next', () => {
    const { catalog, clock } = open()
    catalog.register({ ...writer, heartbeat: { intervalSeconds: 60 } })
    catalog.register({
      ...writer,
      capabilityId: 'strict',
      heartbeat: { intervalSeconds: 60, timeoutSeconds: 70 },
    })
    clock.time += 71_000
    expect(ids(catalog.listActive())).toEqual(['writer.en'])
    clock.time += 110_000
    expect(catalog.listActive()).toEqual([])
    expect(catalog.getCapabilityById('writer.en')?.status).toBe('inactive')
    expect(catalog.capability('writer.en')).toBeDefined()
    expect(catalog.heartbeat('writer.en')).toBe(true)
    expect(ids(catalog.capabilities())).toEqual(['writer.en'])
    expect(catalog.heartbeat('unknown')).toBe(false)
  })

  it('keeps capabilities without a heartbeat active for the time that the operator sets', () => {
    const { catalog, clock } = open({ timeoutMs: 1_000 })
    catalog.register(writer)
    catalog.register({ ...writer, capabilityId: 'own' }, { pinned: true })
    clock.time += 1_001
    expect(ids(catalog.listActive())).toEqual(['own'])
  })

  it('removes capabilities that deregister', () => {
    const { catalog } = open()
    catalog.register(writer)
    expect(catalog.deregister('writer.en')).toBe(true)
    expect(catalog.deregister('writer.en')).toBe(false)
    expect(catalog.find('writer')).toEqual([])
  })
})

const envelope: Envelope = {
  objective: 'Write a LinkedIn post',
  inputs: { language: 'en' },
  constraints: {},
  outputContract: { schema: true, constraints: [] },
  policies: { planner: { selection: { prefer: ['liked'], avoid: ['disliked'] } }, runtime: [] },
  specialInstructions: [],
  metadata: {},
}

describe('choice', () => {
  it('ranks by facets, channel, language, cost and preference, and cuts off the rest', () => {
    const { catalog } = open()
    const add = (capabilityId: string, more: object = {}) =>
      catalog.register({ ...writer, capabilityId, ...more })
    add('plain')
    add('liked')
    add('disliked')
    add('dear', { cost: { tier: 'premium', estimatedTokens: 50_000 } })
    add('linkedin', { inputTraits: { formats: ['linkedin_post'] } })
    add('french', { inputTraits: { languages: ['fr'], formats: ['novel'] } })
    add('busy', { outputContract: ['copyVariants', 'qaFindings', 'recommendationSet', 'writerBrief'] })
    const ranked = catalog.rank(envelope, ['copyVariants'])
    expect(ids(ranked.map(({ capability }) => capability))).toEqual([
      'liked',
      'linkedin',
      'plain',
      'dear',
      'disliked',
      'busy',
    ])
    expect(ranked[1]?.score.parts).toMatchObject({ facets: 1, channel: 1, language: 1, preference: 0.5 })
  })

  it('has weights that are one together', () => {
    const sum = Object.values(scoreTable).reduce((total, { weight }) => total + weight, 0)
    expect(sum).toBeCloseTo(1)
  })

  it('finds capabilities by words, typos included', () => {
    const { catalog } = open()
    for (const given of marketingRegistrations) catalog.register(given)
    expect(ids(catalog.find('linkedin copywriter'))[0]).toBe('ContentGeneratorAgent.linkedinVariants')
    expect(ids(catalog.find('qualty assurance'))[0]).toBe('QualityAssuranceAgent.contentReview')
    expect(ids(catalog.find('copyVariants', 1))).toHaveLength(1)
    catalog.register({ ...writer, summary: 'Sings songs' })
    catalog.register({ ...writer, summary: 'Digs holes' })
    expect(catalog.find('songs')).toEqual([])
  })

  it('lists capabilities that could replace one: same outputs, no further inputs', () => {
    const { catalog } = open()
    catalog.register(writer)
    catalog.register({ ...writer, capabilityId: 'b', inputContract: [] })
    catalog.register({ ...writer, capabilityId: 'needy', inputContract: ['toneOfVoice', 'writerBrief'] })
    catalog.register({ ...writer, capabilityId: 'acts', sideEffect: true })
    expect(ids(catalog.fallbacks('writer.en'))).toEqual(['b'])
    expect(catalog.fallbacks('unknown')).toEqual([])
  })

  it('derives from what an agent supports, though no capability declares the mix', () => {
    const { catalog } = open()
    catalog.register({
      capabilityId: 'A.write',
      inputContract: ['writerBrief'],
      outputContract: ['copyVariants'],
    })
    catalog.register({
      capabilityId: 'A.sum',
      inputContract: ['copyVariants'],
      outputContract: ['rationaleSummary'],
    })
    const [derived, ...others] = catalog.derive({
      input: ['writerBrief'],
      output: ['copyVariants', 'rationaleSummary'],
    })
    expect(derived).toMatchObject({ agent: 'A', from: { capabilityId: 'A.write' } })
    expect(others).toEqual([])
    expect(catalog.derive({ input: ['writerBrief'], output: ['qaFindings'] })).toEqual([])
  })
})

describe('the capabilities of a process', () => {
  it('come with the built-in ones, and never fall silent', () => {
    const { catalog, clock } = open({ timeoutMs: 1 })
    addOwnCapabilities(catalog, [])
    clock.time += 1_000_000
    expect(ids(catalog.listActive())).toEqual(['proviso.structure', 'proviso.answer', 'proviso.check'])
  })

  it('may replace a built-in one, but not each other', () => {
    const parsed = open().catalog.register({
      ...writer,
      capabilityId: 'proviso.answer',
      inputContract: {},
      outputContract: {},
    })
    if (!parsed.ok) throw new Error('it should be registered')
    const { capability } = parsed.value
    const { catalog } = open()
    addOwnCapabilities(catalog, [capability])
    expect(catalog.listActive()).toHaveLength(3)
    expect(() => addOwnCapabilities(open().catalog, [capability, capability])).toThrow(
      'two capabilities have this id',
    )
    expect(() => addOwnCapabilities(open().catalog, [{ ...capability, inputContract: ['odd'] }])).toThrow(
      'Cannot register the capability',
    )
  })
})
