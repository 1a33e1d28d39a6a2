/** The registration that the specification prints is accepted unchanged, and hints fit the reader of the message. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { type OpenAiServer, openAiServer } from '../../models/openai-server.ts'
import { serve, useServeProcesses } from './serve-process.ts'

useServeProcesses()
const models = new Set<OpenAiServer>()
afterEach(async () => {
  for (const model of models) await model.close()
  models.clear()
})

/** Section 5.6.2, letter by letter. */
const sample = `{
  "capabilityId": "writer.en",
  "version": "2025.03.02",
  "displayName": "Content Writer (English)",
  "summary": "Creates long-form and social copy in English with brand-aware tone controls.",
  "inputTraits": {
    "languages": ["en"],
    "formats": ["linkedIn_post", "twitter_thread"],
    "strengths": ["brand_voice_alignment", "cta_generation"],
    "limitations": ["no_paid_ads_claims"]
  },
  "inputContract": ["toneOfVoice", "writerBrief", "audienceProfile"],
  "outputContract": ["copyVariants", "rationaleSummary"],
  "cost": { "tier": "standard", "estimatedTokens": 6000 },
  "preferredModels": ["gpt-5.1"],
  "heartbeat": { "intervalSeconds": 60 },
  "metadata": {
    "owner": "marketing-ai",
    "docsUrl": "https://internal.docs/agents/writer-en"
  }
}`

const curl = async (address: string) =>
  JSON.parse(
    (
      await promisify(execFile)('curl', [
        '-s',
        '-X',
        'POST',
        `${address}/api/v1/flex/capabilities/register`,
        ...['-H', 'authorization: Bearer a-token-for-one-user-only'],
        ...['-H', 'content-type: application/json', '-d', sample],
      ])
    ).stdout,
  )

const variants = [{ headline: 'Audit trail', body: 'See who did what.', callToAction: 'Try it' }]
const envelope = {
  objective: 'One post',
  inputs: {
    toneOfVoice: 'friendly',
    writerBrief: { angle: 'calm', keyPoints: ['audit'] },
    audienceProfile: { persona: 'CFO' },
  },
  outputContract: {
    schema: {
      type: 'object',
      properties: { copyVariants: { type: 'array' }, rationaleSummary: { type: 'string' } },
      required: ['copyVariants', 'rationaleSummary'],
    },
  },
}
const draft = { nodes: [{ id: 'write', capabilityId: 'writer.en' }] }

describe('the registration of the specification', () => {
  it('is accepted by curl, and carried out by its preferred model, also after a restart', async () => {
    const model = await openAiServer([
      { text: JSON.stringify({ copyVariants: variants, rationaleSummary: 'Calm' }) },
    ])
    models.add(model)
    const options = {
      args: ['--preset', 'marketing'],
      env: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: model.url },
    }
    const server = await serve(options)
    expect(await curl(server.address)).toMatchObject({
      capabilityId: 'writer.en',
      status: 'active',
      warnings: [],
    })
    await server.stop()
    const again = await serve({ ...options, folder: server.folder })
    const frames = await again.run({ envelope, draft })
    expect(frames.at(-1)).toMatchObject({
      payload: { status: 'completed', output: { rationaleSummary: 'Calm' } },
    })
    expect(JSON.stringify(model.seen[0]?.body)).toContain('gpt-5.1')
    expect(JSON.stringify(model.seen[0]?.body)).toContain('no_paid_ads_claims')
  })

  it('is accepted without a key for its model, and says that it is inactive and why', async () => {
    const server = await serve({ args: ['--preset', 'marketing'] })
    const answer = await curl(server.address)
    expect(answer).toMatchObject({ capabilityId: 'writer.en' })
    expect(JSON.stringify(answer.warnings)).toContain('OPENAI_API_KEY')
  })
})

describe('hints', () => {
  it('a 401 of a provider says to replace the key, and a hint to edit the draft appears only where there is one', async () => {
    const model = await openAiServer([
      { status: 401, body: { error: { message: 'Incorrect API key provided' } } },
    ])
    models.add(model)
    const server = await serve({ env: { OPENAI_API_KEY: 'sk-wrong', OPENAI_BASE_URL: model.url } })
    const plain = {
      objective: 'One line',
      outputContract: {
        schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      },
    }
    const last = (await server.run({ envelope: plain })).at(-1)
    expect(last).toMatchObject({ payload: { status: 'failed' } })
    const { error } = (last?.payload ?? {}) as { error: { details: { hint: string } } }
    expect(error.details.hint).toMatch(/Set or replace the API key/)
    expect(error.details.hint).not.toMatch(/later|draft/)
  })

  it('a limit that is too small is raised in the envelope', async () => {
    const server = await serve({ args: ['--dev'], env: { FLEX_TOKEN: '' } })
    const slow = { ...envelope, constraints: { deadlineMs: 1 } }
    const last = (await server.run({ envelope: slow })).at(-1)
    const { error } = (last?.payload ?? {}) as { error: { details: { hint: string } } }
    expect(error.details.hint).toContain('`constraints.deadlineMs` of the envelope')
  })
})
