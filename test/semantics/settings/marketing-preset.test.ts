/** The marketing facets and agents are a preset: in no catalog by themselves, and working where they are registered. */
import { createApp } from 'proviso'
import { marketing, marketingTools } from 'proviso/presets/marketing'
import { describe, expect, it } from 'vitest'
import { serveModel } from '../../models/serve-model.ts'
import { runCommand } from '../../support.ts'
import { refusedStart, serve, useServeProcesses } from './serve-process.ts'

useServeProcesses()

const agents = [
  'StrategyManagerAgent.briefing',
  'ContentGeneratorAgent.linkedinVariants',
  'QualityAssuranceAgent.contentReview',
]

interface Listed {
  readonly capabilities: readonly { readonly capabilityId: string; readonly status: string }[]
}

const listed = async (server: { call(path: string): Promise<Response> }) =>
  ((await (await server.call('/api/v1/flex/capabilities')).json()) as Listed).capabilities

const wanting = (facet: string, schema: object, inputs: object = {}) => ({
  objective: 'Launch the audit trail',
  inputs: { toneOfVoice: 'friendly', ...inputs },
  outputContract: { schema: { type: 'object', properties: { [facet]: schema }, required: [facet] } },
})

const brief = { angle: 'calm', keyPoints: ['audit trail'] }
const variants = [{ headline: 'Audit trail', body: 'See who did what.', callToAction: 'Try it' }]

describe('the library', () => {
  it('has no facets and only built-in capabilities until a preset is registered', async () => {
    const bare = await createApp({ env: {} })
    expect(bare.facets()).toEqual([])
    expect(bare.capabilities().map(({ capabilityId }) => capabilityId)).toEqual(
      expect.not.arrayContaining(agents),
    )
    await bare.close()
    const app = await createApp({ ...marketing, env: {} })
    expect(app.facets()).toHaveLength(12)
    // Without a key their models have no provider: they are known, and inactive with the reason.
    expect([...app.inactive().keys()]).toEqual(expect.arrayContaining(agents))
    await app.close()
    expect(marketingTools).toHaveLength(4)
  })
})

describe('a fresh server', () => {
  it('without the preset has none of the agents', async () => {
    const server = await serve({ args: ['--dev'], env: { FLEX_TOKEN: '' } })
    const ids = (await listed(server)).map(({ capabilityId }) => capabilityId)
    expect(ids.filter((id) => agents.includes(id))).toEqual([])
  })

  it.each([
    ['a flag', { args: ['--dev', '--preset', 'marketing'] }],
    ['proviso.toml', { args: ['--dev'], toml: '[catalog]\npresets = ["marketing"]\n' }],
  ])('with the preset by %s plans and runs all three agents offline', async (_, options) => {
    const server = await serve({ ...options, env: { FLEX_TOKEN: '' } })
    const found = (await listed(server)).filter(({ capabilityId }) => agents.includes(capabilityId))
    expect(found.map(({ status }) => status)).toEqual(['active', 'active', 'active'])
    const runs = [
      { agent: agents[0], envelope: wanting('strategicRationale', { type: 'object' }) },
      { agent: agents[1], envelope: wanting('copyVariants', { type: 'array', minItems: 2 }) },
      {
        agent: agents[2],
        envelope: wanting('qaFindings', { type: 'object' }, { writerBrief: brief, copyVariants: variants }),
      },
    ]
    for (const { agent, envelope } of runs) {
      const frames = await server.run({ envelope })
      const used = frames
        .filter(({ type }) => type === 'node_complete')
        .map(({ payload }) => payload['capabilityId'])
      expect(frames.at(-1), JSON.stringify(frames.at(-1))).toMatchObject({
        type: 'complete',
        payload: { status: 'completed' },
      })
      const planned = JSON.stringify(frames.find(({ type }) => type === 'plan_generated')?.payload)
      expect(planned).toContain(agent)
      expect(used).toContain(agent)
    }
  })

  it.each([
    [0, 'failed'],
    [1, 'completed'],
    [5, 'completed'],
    [6, 'failed'],
  ])('with a model that writes %i variants: the run is %s (FLEX-100)', async (count, status) => {
    const copyVariants = Array(count).fill(variants[0])
    const model = await serveModel(() => ({ text: JSON.stringify({ copyVariants }) }))
    const server = await serve({
      args: ['--preset', 'marketing'],
      env: { FLEX_OPENAI_DEFAULT_MODEL: `compatible/${model.url}#m` },
    })
    const given = { writerBrief: brief, planKnobs: {}, audienceProfile: { persona: 'founder' } }
    const envelope = wanting('copyVariants', { type: 'array' }, given)
    const inputs = Object.fromEntries(
      ['toneOfVoice', ...Object.keys(given)].map((name) => [name, { envelope: `/inputs/${name}` }]),
    )
    const draft = { nodes: [{ id: 'write', capabilityId: agents[1], inputs }] }
    const frames = await server.run({ envelope, draft })
    expect(frames.at(-1), JSON.stringify(frames.at(-1))).toMatchObject({
      type: 'complete',
      payload: { status },
    })
    expect(JSON.stringify(frames).includes('output/post-condition')).toBe(status === 'failed')
  })

  it('refuses a preset that does not exist, with the one that was meant', async () => {
    const { code, stderr } = await refusedStart({ args: ['--dev', '--preset', 'marketting'] })
    expect(code).toBe(2)
    expect(stderr).toContain('preset "marketting" not found')
    expect(stderr).toContain('Did you mean marketing?')
  })
})

it('proviso prove plans with the preset', async () => {
  const done = await runCommand([
    'prove',
    'examples/envelopes/linkedin-variants.json',
    '--preset',
    'marketing',
    '--assume-providers',
  ])
  expect(done.code).toBe(0)
  expect(done.stdout).toContain('ContentGeneratorAgent.linkedinVariants')
})
