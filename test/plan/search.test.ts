/** The search planner, promise by promise: what it takes, what it inserts, and how the caller's policies move it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SearchRequest, search, searchPlanner, withBuiltins } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import type { Capability, Envelope, JsonSchema } from '../../src/index.ts'
import { marketingFacets, marketingRegistrations } from '../../src/presets/marketing/index.ts'
import { type PlannerPolicy, parseCapability, parseEnvelope } from '../seams/domain.ts'
import { root } from '../support.ts'
import { capability, constraint, envelope, list, number, object } from './support.ts'

const text = { type: 'string' }
const marketing = marketingRegistrations.map((given) => {
  const parsed = parseCapability(given)
  if (!parsed.ok) throw new Error(parsed.issues[0]?.message)
  return parsed.value
})

function sample(name: string): Envelope {
  const parsed = parseEnvelope(
    JSON.parse(readFileSync(join(root, `examples/envelopes/${name}.json`), 'utf8')),
  )
  if (!parsed.ok) throw new Error(parsed.issues[0]?.message)
  return parsed.value
}

const find = (
  given: Envelope,
  capabilities: readonly Capability[],
  more: Partial<SearchRequest> = {},
): ReturnType<typeof search> =>
  search({ envelope: given, facets: marketingFacets, capabilities: withBuiltins(capabilities), ...more })

const withPolicy = (given: Envelope, planner: PlannerPolicy): Envelope => ({
  ...given,
  policies: { ...given.policies, planner: { ...given.policies.planner, ...planner } },
})

const ids = ({ draft }: ReturnType<typeof search>) => draft.nodes.map(({ id }) => id)
const kindsOf = ({ draft }: ReturnType<typeof search>) => draft.nodes.map(({ kind }) => kind)
const nodeOf = ({ draft }: ReturnType<typeof search>, id: string) =>
  draft.nodes.find((node) => node.id === id)
const codesOf = ({ proof }: ReturnType<typeof search>) =>
  proof.ok ? [] : proof.diagnostics.failures.map(({ details }) => details?.['code'])

const copy = (minItems?: number, maxItems?: number): JsonSchema =>
  list(minItems, maxItems, object({ headline: text, body: text, callToAction: text }))
const posts = envelope(object({ copyVariants: copy() }), [], { inputs: { toneOfVoice: 'friendly' } })
const writer = capability('writer', { in: ['toneOfVoice'], out: ['copyVariants'] })

it('says what to read first when the envelope is passed without parsing', () => {
  const raw = { objective: 'x', outputContract: { schema: object({ headline: text }) } }
  expect(() => find(raw as unknown as Envelope, [])).toThrow(
    expect.objectContaining({ code: 'option/invalid', hint: expect.stringContaining('parseEnvelope') }),
  )
})

describe('the sample envelopes of the specification', () => {
  it.each(['linkedin-variants', 'compliance-launch'])(
    '%s is planned with the marketing inventory',
    (name) => {
      const result = find(sample(name), marketing)
      expect(result.proof.ok).toBe(true)
      expect(ids(result)).toEqual(['structure', 'briefing', 'linkedinVariants'])
    },
  )

  it.each(['linkedin-variants', 'compliance-launch'])('%s is planned on an empty catalog', (name) => {
    const result = find(sample(name), [])
    expect(result.proof.ok).toBe(true)
    expect(ids(result)).toEqual(['answer'])
  })

  it('instructs the writer how many variants are wanted, and holds it to that', () => {
    const result = find(sample('compliance-launch'), marketing)
    const node = nodeOf(result, 'linkedinVariants')
    expect(node?.instructions).toContain('Give exactly 2 in "copyVariants".')
    expect(JSON.stringify(node?.contracts?.output)).toContain('"maxItems":2')
  })

  it('composes instructions from what the facets mean', () => {
    const node = nodeOf(find(sample('compliance-launch'), marketing), 'linkedinVariants')
    expect(node?.instructions).toMatch(
      /Use "toneOfVoice": Skew language[\s\S]*Supply "copyVariants": Structured set/,
    )
    expect(node?.facets).toEqual({
      input: ['writerBrief', 'planKnobs', 'toneOfVoice', 'audienceProfile'],
      output: ['copyVariants'],
    })
  })
})

describe('who supplies what', () => {
  it('takes what the envelope has before anybody is asked', () => {
    const result = find(posts, [writer])
    expect(ids(result)).toEqual(['writer'])
    expect(nodeOf(result, 'writer')?.inputs).toEqual({ toneOfVoice: { envelope: '/inputs/toneOfVoice' } })
  })

  it('lets a structuring node supply the input facets that the envelope lacks, all in one', () => {
    const wide = capability('wide', { in: ['objectiveBrief', 'audienceProfile'], out: ['copyVariants'] })
    expect(ids(find(posts, [wide]))).toEqual(['structure', 'wide'])
  })

  it('does not hand an input back as the answer, unless there is nothing else', () => {
    const rewrite = envelope(object({ text }), [], { inputs: { text: 'old' } })
    expect(ids(find(rewrite, []))).toEqual(['answer'])
    const forbid = withPolicy(rewrite, { selection: { forbid: ['proviso.answer'] } })
    const result = find(forbid, [])
    expect(result.draft.output).toEqual({ properties: { text: { envelope: '/inputs/text' } } })
  })

  it('shares one node among all that use it', () => {
    const review = capability(
      'review',
      { in: ['copyVariants'], out: ['qaFindings'] },
      { nodeKind: 'validation' },
    )
    const both = envelope(object({ copyVariants: copy(), qaFindings: { type: 'object' } }), [], {
      inputs: { toneOfVoice: 'friendly' },
    })
    const result = find(both, [writer, review])
    expect(ids(result)).toEqual(['writer', 'review'])
    expect(nodeOf(result, 'review')?.inputs).toEqual({
      copyVariants: { node: 'writer', pointer: '/copyVariants' },
    })
  })

  it('gives the open answer what the others supply, and only what is left to do', () => {
    const mixed = envelope(object({ copyVariants: copy(), summary: text }), [], {
      inputs: { toneOfVoice: 'friendly' },
    })
    const result = find(mixed, [writer])
    expect(ids(result)).toEqual(['writer', 'answer'])
    expect(nodeOf(result, 'answer')?.inputs).toMatchObject({ copyVariants: { node: 'writer' } })
    expect(nodeOf(result, 'answer')?.contracts?.output).toMatchObject({ required: ['summary'] })
  })

  it('lets a reviewer review what is answered, and nothing made up beside it', () => {
    const reviewer = capability('reviewer', { in: object({ report: text }), out: object({ verdict: text }) })
    const result = find(envelope(object({ report: text, verdict: text })), [reviewer])
    expect(ids(result)).toEqual(['answer', 'reviewer'])
    expect(nodeOf(result, 'reviewer')?.inputs).toEqual({ report: { node: 'answer', pointer: '/report' } })
  })

  it('has one node give answers whose properties bear on each other', () => {
    const either = { type: 'object', anyOf: [object({ a: text }), object({ b: number() })] }
    const result = find(envelope(either), [])
    expect(result.proof.ok).toBe(true)
    expect(result.draft.output).toEqual({ node: 'answer' })
  })

  it.each([{ type: 'string' }, { type: 'array', items: { type: 'number' } }, true])(
    'plans for the schema %j',
    (schema) => {
      expect(find(envelope(schema as JsonSchema), []).proof.ok).toBe(true)
    },
  )

  it('takes a property under the name or the key of its facet', () => {
    const facet = {
      ...(marketingFacets[0] as (typeof marketingFacets)[number]),
      name: 'headlineFacet',
      schema: text,
      metadata: { version: '1', direction: 'bidirectional' as const, propertyKey: 'headline' },
    }
    const maker = capability('maker', { in: [], out: ['headlineFacet'] })
    const result = find(envelope(object({ headlineFacet: text })), [maker], { facets: [facet] })
    expect(result.proof.ok).toBe(true)
    expect(result.draft.output).toEqual({
      properties: { headlineFacet: { node: 'maker', pointer: '/headline' } },
    })
  })

  it('supplies what is not required only where it comes for nothing', () => {
    const schema = { ...object({ copyVariants: copy() }), properties: { copyVariants: copy(), note: text } }
    const result = find(envelope(schema, [], { inputs: { toneOfVoice: 'x' } }), [writer])
    expect(ids(result)).toEqual(['writer'])
  })
})

describe('derived and reduced capabilities', () => {
  it('derives what an agent supports without declaring it, and says so', () => {
    const agent = { ...writer, metadata: { supportedFacets: { output: ['rationaleSummary'] } } }
    const result = find(
      withPolicy(envelope(object({ rationaleSummary: text }), [], { inputs: { toneOfVoice: 'x' } }), {}),
      [agent],
    )
    expect(result.proof.ok).toBe(true)
    expect(nodeOf(result, 'writer')).toMatchObject({
      derived: true,
      facets: { output: ['rationaleSummary'] },
    })
    expect(result.proof.ok && result.proof.plan.metadata['derived']).toEqual(['writer'])
    expect(nodeOf(result, 'writer')?.retry).toEqual({ max: 1, backoffMs: 500 })
  })

  it('leaves out input facets without a supplier, rather than the capability', () => {
    const wide = capability('wide', { in: ['toneOfVoice', 'qaRubric'], out: ['copyVariants'] })
    const result = find(withPolicy(posts, { selection: { forbid: ['proviso.structure'] } }), [wide])
    expect(nodeOf(result, 'wide')?.facets?.input).toEqual(['toneOfVoice'])
    expect(result.proof.ok).toBe(true)
  })
})

describe('selection', () => {
  const other = capability(
    'other',
    { in: ['toneOfVoice'], out: ['copyVariants'] },
    { cost: { tier: 'premium' } },
  )

  it('takes the cheaper of equals', () => {
    expect(ids(find(posts, [other, writer]))).toEqual(['writer'])
  })

  it('prefers, avoids, forbids and requires', () => {
    const planned = (selection: NonNullable<PlannerPolicy['selection']>) =>
      ids(find(withPolicy(posts, { selection }), [other, writer]))
    expect(planned({ prefer: ['other'] })).toEqual(['other'])
    expect(planned({ avoid: ['writer'] })).toEqual(['other'])
    expect(planned({ forbid: ['writer'] })).toEqual(['other'])
    expect(planned({ require: ['other'] })).toEqual(['other'])
    expect(planned({ forbid: ['writer', 'other'] })).toEqual(['answer'])
    expect(planned({ avoid: ['writer', 'other'] })).toEqual(['answer'])
  })

  it('uses a required capability beside the contract, and lets one that polishes have the last word', () => {
    const polish = capability('polish', { in: ['copyVariants'], out: ['copyVariants'] })
    const result = find(withPolicy(posts, { selection: { require: ['polish'] } }), [writer, polish])
    expect(ids(result)).toEqual(['writer', 'polish'])
    expect(result.draft.output).toEqual({
      properties: { copyVariants: { node: 'polish', pointer: '/copyVariants' } },
    })
  })

  it('says so when a required capability cannot be had', () => {
    expect(codesOf(find(withPolicy(posts, { selection: { require: ['unregistered'] } }), [writer]))).toEqual([
      'plan/policy-require',
    ])
  })

  it('uses side effects and people only where nothing else can do it', () => {
    const publisher = { ...other, capabilityId: 'publisher', sideEffect: true, cost: { tier: 'free' } }
    const person = { ...other, capabilityId: 'person', kind: 'human', cost: { tier: 'free' } }
    expect(ids(find(posts, [publisher, person, writer]))).toEqual(['writer'])
    expect(ids(find(posts, [publisher]))).toEqual(['publisher'])
  })
})

describe('scores', () => {
  const speaks = (id: string, languages: string[], formats: string[] = []) =>
    capability(id, { in: ['toneOfVoice'], out: ['copyVariants'] }, { inputTraits: { languages, formats } })

  it('takes who speaks the language', () => {
    const french = { ...posts, inputs: { ...posts.inputs, language: 'fr-FR' } }
    expect(ids(find(french, [speaks('writer.en', ['en']), speaks('writer.fr', ['fr'])]))).toEqual(['fr'])
  })

  it('takes who knows the channel', () => {
    const channel = { ...posts, inputs: { ...posts.inputs, channel: 'linkedin' } }
    const able = [speaks('a.twitter', [], ['twitter_thread']), speaks('b.linkedin', [], ['linkedIn_post'])]
    expect(ids(find(channel, able))).toEqual(['linkedin'])
  })

  it('leaves out who is below the cut-off, and says so', () => {
    const german = { ...posts, inputs: { ...posts.inputs, language: 'de' } }
    const result = find(german, [speaks('writer.en', ['en'])])
    expect(ids(result)).toEqual(['answer'])
    expect(result.choices).toContainEqual({ wanted: 'writer.en', because: 'its score is below the cut-off' })
    expect(ids(find(german, [speaks('writer.en', ['en'])], { cutoff: 0 }))).toEqual(['en'])
  })
})

describe('optimisation', () => {
  const direct = capability(
    'direct',
    { in: ['toneOfVoice'], out: ['copyVariants'] },
    { cost: { tier: 'premium', estimatedTokens: 9_000 } },
  )
  const brief = capability(
    'brief',
    { in: ['toneOfVoice'], out: ['writerBrief'] },
    { cost: { tier: 'free', estimatedTokens: 100 } },
  )
  const scribe = capability(
    'scribe',
    { in: ['writerBrief'], out: ['copyVariants'] },
    { cost: { tier: 'free', estimatedTokens: 100 } },
  )
  const planned = (optimisation: NonNullable<PlannerPolicy['optimisation']>) =>
    ids(find(withPolicy(posts, { optimisation }), [direct, brief, scribe]))

  it('takes few nodes in a row for speed, few tokens for token efficiency, the higher tier for quality', () => {
    expect(planned({ objective: 'speed' })).toEqual(['direct'])
    expect(planned({ objective: 'token_efficiency' })).toEqual(['brief', 'scribe'])
    expect(planned({ objective: 'quality' })).toEqual(['direct'])
  })

  it('saves tokens when more are estimated than the run may have', () => {
    expect(planned({ objective: 'quality', maxTokens: 1_000 })).toEqual(['brief', 'scribe'])
  })

  it('gives soft constraints a producer where quality counts, and not where speed does', () => {
    const scored = envelope(object({ copyVariants: copy() }), [
      constraint('good', { '>=': [{ var: 'qaFindings.overallScore' }, 0.8] }, 'soft'),
    ])
    const given = { ...scored, inputs: { toneOfVoice: 'x' } }
    const review = capability(
      'review',
      { in: ['copyVariants'], out: ['qaFindings'] },
      { nodeKind: 'validation' },
    )
    const with_ = (objective: 'quality' | 'speed') =>
      ids(find(withPolicy(given, { optimisation: { objective } }), [writer, review]))
    expect(with_('quality')).toEqual(['writer', 'review'])
    expect(with_('speed')).toEqual(['writer'])
  })
})

describe('topology', () => {
  const brief = capability(
    'brief',
    { in: ['toneOfVoice'], out: ['writerBrief'] },
    { nodeKind: 'structuring' },
  )
  const scribe = capability('scribe', { in: ['writerBrief'], out: ['copyVariants'] })

  it('plans flat where the caller allows no depth', () => {
    expect(ids(find(withPolicy(posts, { topology: { maxDepth: 1 } }), [brief, scribe]))).toEqual(['answer'])
  })

  it('uses no node of a forbidden kind', () => {
    expect(
      ids(find(withPolicy(posts, { topology: { forbiddenKinds: ['structuring'] } }), [brief, scribe])),
    ).toEqual(['answer'])
  })

  it.each([
    { kind: 'validation', added: 'check' },
    { kind: 'structuring', added: 'structure' },
    { kind: 'fallback', added: 'writer_fallback' },
    { kind: 'branch', added: 'branch_2' },
  ])('adds a node of the required kind $kind that does something', ({ kind, added }) => {
    const result = find(withPolicy(posts, { topology: { requiredKinds: [kind] } }), [writer])
    expect(result.proof.ok).toBe(true)
    expect(kindsOf(result)).toContain(kind)
    expect(ids(result)).toContain(added)
  })

  it('takes a registered capability of the required kind before a built-in one', () => {
    const review = capability(
      'review',
      { in: ['copyVariants'], out: ['qaFindings'] },
      { nodeKind: 'validation' },
    )
    const result = find(withPolicy(posts, { topology: { requiredKinds: ['validation'] } }), [writer, review])
    expect(ids(result)).toEqual(['writer', 'review'])
  })

  it('does not make up a transformation that transforms nothing', () => {
    const result = find(withPolicy(posts, { topology: { requiredKinds: ['transformation'] } }), [writer])
    expect(codesOf(result)).toEqual(['plan/policy-kind'])
  })

  it('lets the contract win over the number of variants', () => {
    const given = withPolicy(
      envelope(object({ copyVariants: copy(1, 2) }), [], { inputs: { toneOfVoice: 'x' } }),
      {
        topology: { variantCount: 3 },
      },
    )
    expect(codesOf(find(given, [writer]))).toEqual(['plan/policy-variants'])
  })
})

describe('branches', () => {
  it('works out one direction per branch before the variants are written', () => {
    const given = withPolicy(posts, {
      directives: { branchVariants: ['team culture', { label: 'growth', focus: 'career' }] },
    })
    const result = find(given, [writer])
    expect(result.proof.ok).toBe(true)
    expect(kindsOf(result)).toEqual(['branch', 'branch', 'execution'])
    expect(nodeOf(result, 'branch_2')).toMatchObject({ label: 'growth', metadata: { branch: 'growth' } })
    expect(nodeOf(result, 'branch_2')?.instructions).toContain('"focus":"career"')
    expect(nodeOf(result, 'writer')?.inputs).toMatchObject({
      direction1: { node: 'branch_1' },
      direction2: { node: 'branch_2' },
    })
    expect(result.proof.ok && result.proof.plan.metadata['branches']).toBe(2)
  })

  it('gives variants that should differ a branch each', () => {
    const given = withPolicy(posts, {
      topology: { variantCount: 3 },
      optimisation: { objective: 'diversity' },
    })
    expect(kindsOf(find(given, [writer])).filter((kind) => kind === 'branch')).toHaveLength(3)
  })

  it('leaves them out where no node could read them, and says so', () => {
    const closed = capability('closed', {
      in: object({ toneOfVoice: text }, { additionalProperties: false }),
      out: ['copyVariants'],
    })
    const result = find(withPolicy(posts, { directives: { branchVariants: 2 } }), [closed])
    expect(ids(result)).toEqual(['closed'])
    expect(result.choices).toContainEqual(
      expect.objectContaining({ wanted: '2 branches', because: expect.stringContaining('no node could') }),
    )
  })
})

describe('constraints', () => {
  it('leaves alone what the schemas prove', () => {
    const given = envelope(
      object({ copyVariants: copy(2, 2) }),
      [constraint('two', { '==': [{ var: 'copyVariants.length' }, 2] })],
      {
        inputs: { toneOfVoice: 'x' },
      },
    )
    const result = find(given, [writer])
    expect(ids(result)).toEqual(['writer'])
    expect(nodeOf(result, 'writer')?.postConditions).toBeUndefined()
  })

  it('holds the node to it that supplies all of it, and instructs it', () => {
    const given = envelope(
      object({ copyVariants: copy() }),
      [constraint('two', { '==': [{ var: 'copyVariants.length' }, 2] })],
      {
        inputs: { toneOfVoice: 'x' },
      },
    )
    const result = find(given, [writer])
    expect(result.proof.ok).toBe(true)
    expect(nodeOf(result, 'writer')?.postConditions).toHaveLength(1)
    expect(nodeOf(result, 'writer')?.retry).toEqual({ max: 2, backoffMs: 500 })
    expect(nodeOf(result, 'writer')?.instructions).toContain('Make sure that copyVariants.length == 2.')
  })

  it('checks after all of them what several nodes supply', () => {
    const a = capability('a', { in: object({}), out: object({ low: number() }) })
    const b = capability('b', { in: object({}), out: object({ high: number() }) })
    const given = envelope(object({ low: number(), high: number() }), [
      constraint('order', { '<': [{ var: 'low' }, { var: 'high' }] }),
    ])
    const result = find(given, [a, b])
    expect(result.proof.ok).toBe(true)
    expect(nodeOf(result, 'check')).toMatchObject({ kind: 'validation', capabilityId: 'proviso.check' })
    expect(result.proof.ok && result.proof.plan.diagnostics.infos[0] === undefined).toBe(true)
  })

  it('does not ask a judge to judge otherwise: its node is the guard', () => {
    const given = envelope(object({ copyVariants: copy() }), [
      constraint('good', { '>=': [{ var: 'qaFindings.overallScore' }, 0.8] }),
    ])
    const review = capability(
      'review',
      { in: ['copyVariants'], out: ['qaFindings'] },
      { nodeKind: 'validation' },
    )
    const result = find({ ...given, inputs: { toneOfVoice: 'x' } }, [writer, review])
    expect(ids(result)).toEqual(['writer', 'review'])
    expect(result.proof.ok).toBe(true)
    expect(nodeOf(result, 'review')).not.toHaveProperty('postConditions')
    expect(nodeOf(result, 'review')).not.toHaveProperty('retry')
  })

  it('does not make up what a constraint reads beside the contract', () => {
    const given = envelope(object({ copyVariants: copy() }), [
      constraint('good', { '>=': [{ var: 'qaFindings.overallScore' }, 0.8] }),
    ])
    const result = find(given, [])
    expect(result.proof.ok).toBe(false)
    expect(!result.proof.ok && result.proof.diagnostics.failures[0]).toMatchObject({
      cause: 'missing_producer',
    })
  })

  it('names the paths that constraints read in what it asks for', () => {
    const given = envelope(object({ cta: { type: 'object' } }), [
      constraint('there', { '==': [{ var: 'cta.present' }, true] }),
    ])
    expect(find(given, []).proof.ok).toBe(true)
  })

  it('leaves out a capability that can never satisfy a constraint', () => {
    const three = capability('three', { in: object({}), out: object({ copyVariants: copy(3) }) })
    const given = envelope(object({ copyVariants: copy() }), [
      constraint('two', { '==': [{ var: 'copyVariants.length' }, 2] }),
    ])
    const result = find(given, [three])
    expect(result.proof.ok).toBe(true)
    expect(ids(result)).toEqual(['answer'])
    expect(result.choices).toContainEqual(expect.objectContaining({ wanted: 'three' }))
  })
})

describe('transformations', () => {
  it('converts what is supplied in another form, and only then', () => {
    const price = capability('price', { in: object({}), out: object({ price: text }) })
    const result = find(envelope(object({ price: number() })), [price])
    expect(result.proof.ok).toBe(true)
    expect(kindsOf(result)).toEqual(['execution', 'transformation'])
    expect(result.proof.ok && result.proof.plan.metadata).toMatchObject({ normalizationInjected: true })
    const fits = find(envelope(object({ price: text })), [price])
    expect(kindsOf(fits)).toEqual(['execution'])
    expect(fits.proof.ok && fits.proof.plan.metadata).toMatchObject({ normalizationInjected: false })
  })
})

describe('fallbacks', () => {
  it('lists who else could do it, in order', () => {
    const second = { ...writer, capabilityId: 'writer.second', cost: { tier: 'premium' } }
    expect(nodeOf(find(posts, [writer, second]), 'writer')?.alternates).toEqual(['writer.second'])
  })

  it('plans a fallback node for a capability that is registered as one', () => {
    const rescue = capability(
      'rescue',
      { in: ['toneOfVoice'], out: ['copyVariants'] },
      { nodeKind: 'fallback' },
    )
    const result = find(posts, [writer, rescue])
    expect(result.proof.ok).toBe(true)
    expect(nodeOf(result, 'writer_fallback')).toMatchObject({ kind: 'fallback', capabilityId: 'rescue' })
    expect(result.draft.edges).toEqual([{ from: 'writer', to: 'writer_fallback', when: 'fail' }])
    expect(result.draft.output).toMatchObject({
      properties: { copyVariants: [{ node: 'writer' }, { node: 'writer_fallback' }] },
    })
  })
})

describe('hints and directives', () => {
  it('puts the properties of the answer in the order that the caller would like', () => {
    const given = envelope(object({ a: text, b: text, c: text }))
    const wished = {
      ...given,
      outputContract: { ...given.outputContract, hints: { fieldOrder: ['c', 'a'], style: 'terse' } },
    }
    const result = find(wished, [])
    expect(Object.keys((result.draft.output as { properties: object }).properties)).toEqual(['c', 'a', 'b'])
    expect(nodeOf(result, 'answer')?.instructions).toContain('Wishes about the form: {"style":"terse"}')
  })

  it('passes free directives to the nodes, and keeps those to itself that it acts on', () => {
    const planned = nodeOf(
      find(withPolicy(posts, { directives: { mood: 'sunny', askBeforeFinish: true } }), [writer]),
      'writer',
    )
    expect(planned?.instructions).toContain('Directives of the caller: {"mood":"sunny"}')
  })
})

describe('planning again', () => {
  const brief = capability('brief', { in: ['toneOfVoice'], out: ['writerBrief'] })
  const scribe = capability('scribe', { in: ['writerBrief'], out: ['copyVariants'] })
  const done = [
    { id: 'brief', capabilityId: 'brief', output: { writerBrief: { angle: 'a', keyPoints: ['k'] } } },
  ]

  it('keeps what is done, by its id', () => {
    const result = find(posts, [brief, scribe], { phase: 'replan', completed: done })
    expect(ids(result)).toEqual(['brief', 'scribe'])
    expect(result.proof.ok).toBe(true)
    expect(nodeOf(result, 'brief')?.metadata).toEqual({ way: 'done' })
  })

  it('does again what the new plan was ordered for, under another id, by another capability if there is one', () => {
    const again = {
      phase: 'replan' as const,
      completed: done,
      trigger: { nodeId: 'brief', rationale: 'Too bland' },
    }
    const alone = find(posts, [brief, scribe], again)
    expect(ids(alone)).toEqual(['brief_2', 'scribe'])
    expect(nodeOf(alone, 'brief_2')?.instructions).toContain('This is planned again, because: Too bland')
    const other = { ...brief, capabilityId: 'strategist' }
    expect(ids(find(posts, [brief, scribe, other], again))).toEqual(['strategist', 'scribe'])
  })

  it('does not keep what came from something that is done again', () => {
    const both = [...done, { id: 'scribe', capabilityId: 'scribe', output: { copyVariants: [] } }]
    const trigger = { nodeId: 'brief' }
    const result = find(posts, [brief, scribe], { phase: 'replan', completed: both, trigger })
    expect(ids(result)).toEqual(['brief_2', 'scribe_2'])
  })

  it('goes round a capability that failed', () => {
    const other = { ...scribe, capabilityId: 'poet', cost: { tier: 'premium' } }
    const result = find(posts, [brief, scribe, other], {
      phase: 'replan',
      completed: done,
      trigger: { nodeId: 'scribe' },
    })
    expect(ids(result)).toEqual(['brief', 'poet'])
  })

  it('takes last what a draft before was rejected for', () => {
    const other = { ...writer, capabilityId: 'poet', cost: { tier: 'premium' } }
    const failure = {
      severity: 'hard',
      status: 'unsatisfied',
      cause: 'schema_incompatible',
      capabilityId: 'writer',
    } as const
    const diagnostics = {
      status: 'rejected' as const,
      satisfactionScore: 0,
      failures: [{ ...failure, details: { code: 'plan/input-mismatch' } }],
      warnings: [],
      infos: [],
    }
    expect(ids(find(posts, [writer, other], { diagnostics }))).toEqual(['poet'])
  })
})

describe('the account', () => {
  it('says of every want what was taken, why, and what would have been next', () => {
    const { choices } = find(sample('compliance-launch'), marketing)
    const [first] = choices
    expect(first).toMatchObject({ wanted: 'copyVariants', taken: 'linkedinVariants' })
    expect(first?.because).toMatch(/declares it \(ContentGeneratorAgent\.linkedinVariants, score 0\.\d+\)/)
    expect(first?.instead?.[0]).toMatch(/^proviso\.answer/)
    expect(choices).toContainEqual({
      wanted: 'toneOfVoice for briefing',
      taken: 'envelope /inputs/toneOfVoice',
      because: 'the envelope has it',
    })
  })

  it('gives every node its reason, and the plan its planner', () => {
    const { draft } = find(sample('compliance-launch'), marketing)
    for (const { rationale } of draft.nodes) expect(rationale).toMatch(/^Supplies /)
    expect(draft.metadata).toMatchObject({ plannerRuntime: 'search', goal: 'balanced' })
  })

  it('returns the best draft it has when there is no plan, with what is missing', () => {
    const result = find(withPolicy(posts, { selection: { forbid: ['proviso.answer'] } }), [])
    expect(result.draft.nodes).toEqual([])
    expect(codesOf(result)).toContain('plan/output-missing')
    expect(result.choices).toContainEqual({ wanted: 'copyVariants', because: 'nothing supplies it' })
  })
})

it('is a planner', async () => {
  const signal = new AbortController().signal
  const request = {
    envelope: posts,
    facets: marketingFacets,
    capabilities: withBuiltins([writer]),
    completed: [],
    signal,
  }
  const draft = await searchPlanner().draft({ ...request, attempt: 1, phase: 'initial' })
  expect(draft.nodes.map(({ id }) => id)).toEqual(['writer'])
  await expect(
    searchPlanner().draft({ ...request, attempt: 1, phase: 'initial', signal: AbortSignal.abort() }),
  ).rejects.toThrow()
})

describe('planning again after a judgement', () => {
  const review = capability(
    'review',
    { in: ['copyVariants'], out: ['qaFindings'] },
    { nodeKind: 'validation' },
  )
  const scored = envelope(
    object({ copyVariants: copy() }),
    [constraint('good', { '>=': [{ var: 'qaFindings.overallScore' }, 0.8] })],
    { inputs: { toneOfVoice: 'x' } },
  )
  const output = { copyVariants: [] }
  const findings = { scores: {}, issues: [], overallStatus: 'fail', overallScore: 0.2 }
  const completed = [
    { id: 'writer', capabilityId: 'writer', output },
    { id: 'review', capabilityId: 'review', output: { qaFindings: findings } },
  ]

  it('does again what was judged, not only the judgement', () => {
    const result = find(scored, [writer, review], {
      phase: 'replan',
      completed,
      trigger: { nodeId: 'review' },
    })
    expect(ids(result)).toEqual(['writer_2', 'review_2'])
  })

  it('lets another capability do it, and the same judge judge', () => {
    const other = { ...writer, capabilityId: 'poet', cost: { tier: 'premium' } }
    const result = find(scored, [writer, other, review], {
      phase: 'replan',
      completed,
      trigger: { nodeId: 'review' },
    })
    expect(ids(result)).toEqual(['poet', 'review_2'])
  })
})
