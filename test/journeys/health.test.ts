/** Runs of real calls, and what a health report says of them: repairs, skips, fallback steps, and shadow mode end to end. */
import { describe, expect, it } from 'vitest'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { type App, type CapabilityDefinition, defineCapability, type Json } from '../../src/index.ts'
import { serveModel } from '../models/serve-model.ts'
import { healthReport, surveyHealth } from '../seams/health.ts'
import { envelope, journal, open } from './support.ts'

const counted = {
  type: 'object',
  properties: { text: { type: 'string' }, count: { type: 'integer' } },
  required: ['text', 'count'],
} as const

const model = (processing: {
  [key: string]: Json
}): Partial<CapabilityDefinition> & { capabilityId: string } => ({
  capabilityId: 'write',
  kind: 'model',
  inputContract: { type: 'object' },
  outputContract: counted,
  preferredModels: ['compatible/test-model'],
  settings: { processing },
})

/** An app whose one model says these texts. */
async function appSaying(texts: readonly string[], processing: { [key: string]: Json }): Promise<App> {
  const server = await serveModel(texts.map((text) => ({ text })))
  return open({
    providers: [compatible({ baseURL: server.url, apiKey: 'sk-none' })],
    capabilities: [defineCapability(model(processing) as CapabilityDefinition)],
    prices: [{ model: 'compatible/*', inputPerMillion: 1_000, outputPerMillion: 2_000 }],
  })
}

const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const asked = envelope({ outputContract: { schema: counted } })
const fenced = 'Here it is:\n```json\n{"text": "Tea", "count": "2",}\n```'

async function reportOf(app: App) {
  return healthReport(await surveyHealth(app.store, { now: Date.now() + 1_000 }))
}

describe('the health of real runs', () => {
  it('counts what the reader changed, where, and for whom', async () => {
    const app = await appSaying([fenced], { structured_output: 'off', aop: 'full' })
    const done = await app.run(asked, { draft })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea', count: 2 } })
    const attempt = (await app.store.spans(done.runId)).find(({ name }) => name === 'attempt')
    expect(attempt?.attributes).toMatchObject({
      'aros.model_id': 'compatible/test-model',
      'aros.coercion.total': 3,
      'aros.coercion.stage.extract': 1,
      'aros.coercion.stage.syntactic': 1,
      'aros.coercion.stage.semantic': 1,
      'aros.coercion.transforms': ['str->int', 'surroundings', 'trailing-comma'],
      'aros.coercion.places': ['str->int /count'],
    })
    const report = await reportOf(app)
    expect(report.totals).toMatchObject({ runs: 1, coercion_total: 3, coercions_per_100_runs: 300 })
    expect(report.steps).toMatchObject([{ name: 'write', runs: 1, coercions: 3 }])
    expect(report.models).toMatchObject([{ name: 'compatible/test-model', runs: 1, coercions: 3 }])
  })

  it('finds nothing to say of a clean answer', async () => {
    const app = await appSaying(['{"text":"Tea","count":2}'], {})
    await app.run(asked, { draft })
    const report = await reportOf(app)
    expect(report.totals).toMatchObject({ runs: 1, attempts: 1, coercion_total: 0, soe_applied: 1 })
    expect(report.recommendations).toEqual([])
  })

  it('counts the fallback steps that were taken and their time', async () => {
    const app = await appSaying(['no idea', '{"text":"Tea","count":2}'], {})
    await app.run(asked, { draft })
    const { fallback_steps, repairs, totals } = await reportOf(app)
    expect(totals).toMatchObject({ runs: 1, attempts: 1, coercion_failed: 1 })
    expect(fallback_steps.find(({ name }) => name === 'llm')).toEqual({
      name: 'llm',
      taken: 1,
      success: 1,
      success_rate: 1,
    })
    expect(repairs.calls).toBe(1)
    expect(repairs).toMatchObject({ unknown_cost_calls: 0 })
    expect(repairs.cost_usd).toBeCloseTo((repairs.input_tokens + repairs.output_tokens * 2) / 1_000, 6)
  })
})

describe('shadow mode', () => {
  const run = async (processing: { [key: string]: Json }, text = fenced) => {
    const app = await appSaying([text], { structured_output: 'off', ...processing })
    const done = await app.run(asked, {
      draft: { nodes: draft.nodes.map((node) => ({ ...node, callBudget: 1 })) },
    })
    const events = await journal(app, done.runId)
    const traced = events.flatMap((event) => (event.type === 'log' ? [event.payload] : []))
    return { done, traced, report: await reportOf(app) }
  }

  it('says what the reader would do, and changes nothing', async () => {
    const off = await run({ aop: 'off' })
    const shadow = await run({ aop: 'full', shadow: true })
    expect(shadow.done.status).toBe('failed')
    expect(shadow.done.issues).toEqual(off.done.issues)
    const coercions = shadow.traced.filter(({ event }) => event.startsWith('output.coercion.'))
    expect(coercions.length).toBeGreaterThan(0)
    expect(coercions.every(({ payload }) => payload?.['shadow'] === true)).toBe(true)
    expect(
      shadow.traced.map(({ event }) => event).filter((event) => event.startsWith('aros.repair')),
    ).toEqual([])
    expect(shadow.report.totals.coercion_total).toBe(0)
    expect(shadow.report.shadow).toMatchObject({
      would_change: 3,
      would_fail: 0,
      stages: { extract: 1, syntactic: 1, semantic: 1 },
    })
    expect(off.report.shadow).toMatchObject({ would_change: 0 })
  })

  it('is silent, and out of the way, when the answer is clean', async () => {
    const { done, traced, report } = await run({ aop: 'full', shadow: true }, '{"text":"Tea","count":2}')
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea', count: 2 } })
    expect(traced.map(({ event }) => event)).toEqual(['agent.usage'])
    expect(report.shadow).toMatchObject({ would_change: 0, would_fail: 0 })
  })
})
